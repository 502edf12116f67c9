"""Whatever holds a table: files, directories, patterns, addresses, frames, Hugging Face datasets, Bunches."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from glob import glob
from os import PathLike
from pathlib import Path
from typing import Any

from dataworth.atomic import parse_json, read_whole
from dataworth.data.io.delimited import AS_FOUND, Delimited
from dataworth.data.io.files import (
    SUFFIXES,
    Part,
    part_of_files,
    part_of_parquet,
    refuse_images,
    sample_note,
    sample_of_batches,
    size_of,
    suffix_of,
)
from dataworth.data.io.frames import HUB, part_of_object, tidy
from dataworth.data.io.images import SPLITS
from dataworth.data.io.notes import Kind, Note
from dataworth.errors import DataworthError
from dataworth.wording import counted, option

URL = re.compile(r"([a-z][a-z0-9+]+):/{1,2}(?=[^/])")
"""A scheme; a path has lost one of its two slashes. A single letter would be a drive."""
AS_ASKED = Kind("read as missing, as asked", "missing", "says what is")
LARGE = 1 << 27
"""Bytes of text, or of numbers in a table, from which a file is large."""
DESCRIBED, MIN_DESCRIBED = 100_000, 1000
"""Rows that a large file is described by; of very wide ones fewer, so that they are not large either."""
DRAWN_FROM, BLOCKS = 20_000, 100
"""Rows of a large file that pairs are drawn from, at least, and how many disjoint draws they hold.

They are a sample of the population as all rows are, so that the interval holds, whose width goes with
√(1/(m − 1) + 1/k) for m disjoint draws: of a hundred it is that of k pairs, or of the test set, which has
fewer."""


def part_of(source: Any, how: Delimited = AS_FOUND) -> Part:
    """The table of a source, with what was decided to read it."""
    named = isinstance(source, str | PathLike)
    part = _part_of_path(str(source), how) if named else part_of_object(source)
    if how.sample is not None and part.total is None and part.table.num_rows > how.sample:
        part.table, part.total = sample_of_batches(part.table.to_batches(), how.sample)
        part.notes.append(sample_note(part.table.num_rows, part.total))
    part.table, found = cleaned(part.table, how.na_values)
    for name, marker, count in found:
        what = f"{counted(count, 'cell')} of {marker!r} in column {name!r} read as missing"
        choice = f"without {option('missing', marker)} they stay"
        about = f"{name!r} ({marker!r})"
        part.notes.append(Note(what, choice, plain=True, kind=AS_ASKED, about=about, cells=count))
        part.cleaned.add(name)
    return part


def cleaned(table: Any, na_values: Sequence[str]) -> tuple[Any, list[tuple[str, str, int]]]:
    """The table without 16-bit numbers, with names of classes, and with cells missing that are `na_values`.

    Also says which column had which of them, and how often.
    """
    table = tidy(table)
    found = []
    for j, name in enumerate(table.column_names if na_values else ()):
        for marker in na_values:
            column, count = _without(table.column(j), marker)
            if count:
                table = table.set_column(j, name, column)
                found.append((name, marker, count))
    return table, found


def _without(column: Any, marker: str) -> tuple[Any, int]:
    """The column without the cells that are the marker, and how many those were; numbers are numbers.

    >>> import pyarrow as pa
    >>> [_without(pa.chunked_array([some]), "-9")[1] for some in (["1", " -9", "2"], [1.5, -9.0])]
    [1, 1]
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = column.type
    if pa.types.is_dictionary(kind):
        column, kind = column.cast(kind.value_type), kind.value_type
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        equal = pc.equal(pc.utf8_trim_whitespace(column), pa.scalar(marker, kind))
    elif pa.types.is_integer(kind) or pa.types.is_floating(kind):
        try:
            equal = pc.equal(column.cast(pa.float64(), safe=False), float(marker))
        except ValueError:
            return column, 0
    else:
        return column, 0
    count = int(pc.sum(equal).as_py() or 0)
    return (pc.if_else(equal, pa.scalar(None, kind), column), count) if count else (column, 0)


def _part_of_path(name: str, how: Delimited) -> Part:
    if is_url(name):
        from pyarrow import parquet

        with _refusing(name):
            opened = [parquet.ParquetFile(opened_url(file), pre_buffer=True) for file in files_of(name)]
        return part_of_parquet(name, opened, how)
    if name.startswith(HUB):
        return part_of_object(name)
    path = Path(name)
    if path.is_dir():
        refuse_images(path)
    files = [Path(file) for file in files_of(name)] or [path]
    splits = {split for file in files if (split := _split_of(file, path)) is not None}
    if len(files) > 1 and len(splits) > 1:
        raise DataworthError(f"its files are of the splits {', '.join(sorted(splits))}: name those of one")
    return part_of_files(name, files, how)


def files_of(name: str) -> list[str]:
    """The files of a path, a pattern, a directory or an address; none if there is none."""
    if is_url(name):
        with _refusing(name):
            system, place = _system(name)
            return [system.unstrip_protocol(file) for file in _parquet_at(system, place)]
    path = Path(name)
    if path.is_dir():
        return list(map(str, _files_of_directory(path)))
    return [name] if path.exists() else sorted(glob(name, recursive=True))


def _files_of_directory(directory: Path) -> list[Path]:
    """The files of a directory that hold its rows; several splits are refused, never joined."""
    if (directory / "dataset_dict.json").is_file():  # saved by DatasetDict.save_to_disk
        splits = _named_in(directory / "dataset_dict.json", lambda said: said["splits"])
        if len(splits) > 1:
            raise DataworthError(
                f"this holds the splits {', '.join(splits)}: name one, as in {directory / splits[0]}"
            )
        return _files_of_directory(directory / splits[0])
    if (directory / "state.json").is_file():  # by Dataset.save_to_disk, beside which caches may lie
        names = _named_in(
            directory / "state.json", lambda said: [one["filename"] for one in said["_data_files"]]
        )
        return [directory / name for name in names]
    found = [
        file for file in sorted(directory.rglob("*")) if file.is_file() and not file.name.startswith(".")
    ]
    for suffix in (".parquet", ".arrow", *(s for s in SUFFIXES if s not in (".parquet", ".arrow", ".json"))):
        if files := [file for file in found if file.name.lower().endswith(suffix)]:
            return files
    raise DataworthError("this is a directory without tables, but a file is expected: name a file")


def _named_in(file: Path, find: Callable[[Any], Any]) -> list[str]:
    """Names of files beside a file that says them; none may lead elsewhere."""
    try:
        names = find(parse_json(read_whole(file)))
    except (OSError, ValueError, KeyError, TypeError, IndexError, AttributeError):
        names = None
    good = isinstance(names, list) and names and all(isinstance(name, str) and name for name in names)
    if not good or any(Path(name).name != name for name in names):
        raise DataworthError(f"{file.name} names no files beside it: save the dataset again")
    return list(names)


def _split_of(file: Path, under: Path) -> str | None:
    """The split that a name such as train-00000-of-00002.parquet or test/part-1.csv tells."""
    place = file.relative_to(under) if file.is_relative_to(under) else Path(file.name)
    return next((word for word in re.split(r"[^a-z]+", str(place).lower()) if word in SPLITS), None)


def rows_to_describe(source: Any) -> int | None:
    """How many rows of a large file are drawn to describe it; None (all) if it is not large."""
    size = _size(source)
    return None if size is None else max(MIN_DESCRIBED, min(DESCRIBED, LARGE // (8 * size[1])))


def rows_for_pairs(sources: Iterable[Any], size: int) -> int | None:
    """How many rows of each file pairs of a size are drawn from; None (all) if none is large."""
    return None if all(_size(source) is None for source in sources) else max(DRAWN_FROM, BLOCKS * size)


def _size(source: Any) -> tuple[int, int] | None:
    """Bytes and columns of a file, if it is large."""
    path = Path(source) if isinstance(source, str | PathLike) else None
    if path is None or not path.is_file():
        return None
    try:
        found = size_of(path, suffix_of(path))
    except (OSError, ValueError):  # which reading says better
        return None
    size = found.text + 8 * found.rows * found.columns
    return (size, found.columns) if size > LARGE else None


# Addresses: Parquet on other file systems, s3://, gs://, hf://, and what else fsspec knows


def is_url(name: str) -> bool:
    """Whether a name is that of a file on some file system.

    >>> is_url("s3://bucket/a.parquet"), is_url("hf:imdb:train"), is_url("C:/a.csv"), is_url("a.csv")
    (True, False, False, False)
    """
    if name.startswith(HUB):  # hf:NAME:SPLIT is no address, and a name may be a path
        return name.startswith(("hf://", "hf:/datasets/"))
    return URL.match(name) is not None or name.startswith("file:///")


def opened_url(name: str) -> Any:
    """A file at an address, open."""
    with _refusing(name):
        system, path = _system(name)
        return system.open(path, "rb")


def _system(name: str) -> tuple[Any, str]:
    """The file system of an address, and the path there; a path has lost a slash of the address."""
    try:
        import fsspec
    except ImportError:
        raise DataworthError("an address needs fsspec: pip install fsspec") from None
    scheme, _, rest = name.partition(":")
    system, path = fsspec.core.url_to_fs(f"{scheme}:{'///' if scheme == 'file' else '//'}{rest.lstrip('/')}")
    return system, str(path)


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


def _parquet_at(system: Any, path: str) -> list[str]:
    """The file, or those of a directory or pattern, in the order of their names."""
    found = [path]
    if any(mark in path for mark in "*?["):
        found = sorted(system.glob(path))
    elif system.isdir(path):
        found = sorted(system.glob(f"{path.rstrip('/')}/**/*.parquet") or system.glob(f"{path}/*.parquet"))
    if not found or not all(file.endswith(".parquet") for file in found):
        raise DataworthError("only Parquet is read from an address: name .parquet files, or copy it here")
    return found
