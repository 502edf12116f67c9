"""Parquet on other file systems than this machine's: s3://, gs://, hf://, and what else fsspec knows."""

from __future__ import annotations

import re
from typing import Any

from dataworth.data.io.delimited import Delimited
from dataworth.data.io.formats import Part, part_of_parquet
from dataworth.errors import DataworthError

URL = re.compile(r"([a-z][a-z0-9+]+):/{1,2}(?=[^/])")
"""A scheme; a path has lost one of its two slashes. A single letter would be a drive."""


def is_url(name: str) -> bool:
    """Whether a name is that of a file on some file system.

    >>> is_url("s3://bucket/a.parquet"), is_url("hf:imdb:train"), is_url("C:/a.csv"), is_url("a.csv")
    (True, False, False, False)
    """
    if name.startswith("hf:"):  # hf:NAME:SPLIT is no address, and a name may be a path
        return name.startswith(("hf://", "hf:/datasets/"))
    return URL.match(name) is not None or name.startswith("file:///")


def part_of_url(name: str, how: Delimited) -> Part:
    """A Parquet file, or all of a pattern or directory, as one table, or a sample of its rows."""
    import pyarrow as pa
    from pyarrow import parquet

    scheme, _, rest = name.partition(":")
    url = f"{scheme}://{rest.lstrip('/')}" if scheme != "file" else f"file:///{rest.lstrip('/')}"
    try:
        system, path = _system(url)
        files = _files(system, path)
        opened = [parquet.ParquetFile(system.open(file, "rb"), pre_buffer=True) for file in files]
    except DataworthError:
        raise
    except ImportError as error:
        raise DataworthError(f"{scheme}:// needs another package ({error}): pip install it") from error
    except (OSError, ValueError, pa.ArrowException) as error:
        reason = " ".join(str(error).split())[:160] or type(error).__name__
        raise DataworthError(f"this cannot be read as Parquet ({reason}): check the address") from error
    return part_of_parquet(url, opened, how)


def _system(url: str) -> tuple[Any, str]:
    try:
        import fsspec
    except ImportError:
        raise DataworthError("an address needs fsspec: pip install fsspec") from None
    system, path = fsspec.core.url_to_fs(url)
    return system, str(path)


def _files(system: Any, path: str) -> list[str]:
    """The file, or those of a directory or pattern, in the order of their names."""
    found = [path]
    if any(mark in path for mark in "*?["):
        found = sorted(system.glob(path))
    elif system.isdir(path):
        found = sorted(system.glob(f"{path.rstrip('/')}/**/*.parquet") or system.glob(f"{path}/*.parquet"))
    if not found or not all(file.endswith(".parquet") for file in found):
        raise DataworthError("only Parquet is read from an address: name .parquet files, or copy it here")
    return found
