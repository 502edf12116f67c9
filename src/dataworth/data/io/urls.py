"""Parquet on other file systems than this machine's: s3://, gs://, hf://, and what else fsspec knows."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
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
    from pyarrow import parquet

    with _refusing(name):
        opened = [parquet.ParquetFile(opened_url(file), pre_buffer=True) for file in files_of_url(name)]
    return part_of_parquet(_whole(name), opened, how)


def files_of_url(name: str) -> list[str]:
    """The Parquet files of an address, a pattern or a directory, by their addresses."""
    with _refusing(name):
        system, path = _system(_whole(name))
        return [system.unstrip_protocol(file) for file in _files(system, path)]


def opened_url(name: str) -> Any:
    """A file at an address, open."""
    with _refusing(name):
        system, path = _system(_whole(name))
        return system.open(path, "rb")


def _whole(name: str) -> str:
    """The address, with the slashes that a path has lost."""
    scheme, _, rest = name.partition(":")
    return f"{scheme}://{rest.lstrip('/')}" if scheme != "file" else f"file:///{rest.lstrip('/')}"


@contextmanager
def _refusing(name: str) -> Iterator[None]:
    import pyarrow as pa

    try:
        yield
    except DataworthError:
        raise
    except ImportError as error:
        scheme = name.partition(":")[0]
        raise DataworthError(f"{scheme}:// needs another package ({error}): pip install it") from error
    except (OSError, ValueError, pa.ArrowException) as error:
        reason = " ".join(str(error).split())[:160] or type(error).__name__
        raise DataworthError(f"this cannot be read as Parquet ({reason}): check the address") from error


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
