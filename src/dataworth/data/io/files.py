"""Files to pyarrow tables: the format follows from the suffix, and every refusal is one sentence.

Several files with the same columns are one table, and a sample of rows is drawn from the batches of all of
them: every set of n rows is as likely as any other, and memory does not grow with the files.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from dataworth.data.io.delimited import AS_FOUND, Delimited, renaming_note, sniff, text_batches, unique
from dataworth.data.io.formats import READERS, TIMES_ITS_TEXT, read_excel, refuse_bomb, unpacked_size
from dataworth.data.io.images import holds_images
from dataworth.data.io.notes import Note, naming
from dataworth.data.io.sealed import is_sealed
from dataworth.data.memory import refuse_too_large
from dataworth.errors import DataworthError
from dataworth.wording import counted, listed, option

DELIMITED = {
    ".csv": ",", ".csv.gz": ",", ".tsv": "\t", ".tsv.gz": "\t", ".tab": "\t", ".txt": None, ".txt.gz": None,
}  # fmt: skip
"""Suffixes of delimited text, with the separator that each promises."""
SUFFIXES = (*DELIMITED, *READERS, ".parquet", ".xlsx")
CELL = 24
"""Bytes that a number takes while a table is read: in the table, in the Dataset, and once on the way."""
SEED = 0x5A3B1E


@dataclass
class Part:
    """A table on its way to a Dataset.

    name: what sentences call it, if it is a file; typed: whether its format has types, so that what is text
    was meant to be; how: how its text is written; total: of how many rows these were drawn, if they were;
    cleaned: columns in which a cell was taken for missing because the user said so.
    """

    name: str | None
    table: Any
    typed: bool = True
    notes: list[Note] = field(default_factory=list)
    how: Delimited = AS_FOUND
    total: int | None = None
    cleaned: set[str] = field(default_factory=set)


@dataclass(frozen=True)
class _Content:
    """What a file holds: names of columns, rows when they are asked for, and what reading decided."""

    names: list[str]
    batches: Callable[[], Iterable[Any]]
    how: Delimited
    notes: Sequence[Note] = ()


def part_of_files(name: str, files: Sequence[Path], how: Delimited = AS_FOUND) -> Part:
    """Files with the same columns as one table, or a sample of its rows."""
    suffixes = [_checked_suffix(file) for file in files]
    if how.sample is None:
        _refuse_too_large(files, suffixes)
    found = []
    for file, suffix in zip(files, suffixes, strict=True):
        with naming(file.name if len(files) > 1 else None), reading(suffix):
            if how.sample is None or suffix not in DELIMITED:  # a sample of text takes constant memory
                refuse_bomb(file)
            found.append(_content(file, suffix, how))
            if odd := set(found[0].names) ^ set(found[-1].names):
                both = f"{files[0].name} and {file.name}"
                raise DataworthError(f"{both} differ in {listed(sorted(odd))}: name files of one table")
    with reading(suffixes[0]):
        part = assemble(name, found, suffixes[0] not in (*DELIMITED, ".xlsx"), how)
    if part.table.num_rows == 0:
        raise DataworthError("the file has no rows: write some to it")
    return part


def part_of_parquet(name: str, opened: Sequence[Any], how: Delimited) -> Part:
    """Open Parquet files, wherever they are, as one table, or a sample of its rows."""
    return assemble(name, [_of_parquet(file, how) for file in opened], True, how)


def assemble(name: str, found: Sequence[_Content], typed: bool, how: Delimited) -> Part:
    """What several files hold as one table with distinct names of columns."""
    import pyarrow as pa

    part = Part(name, None, typed, how=replace(found[0].how, sample=None))
    part.notes = list(dict.fromkeys(note for one in found for note in one.notes))
    names = found[0].names
    if how.sample is None:
        try:
            tables = [_whole(one) for one in found]
            tables = [one if one.column_names == names else one.select(names) for one in tables]
            part.table = tables[0]
            if len(tables) > 1:
                part.table = pa.concat_tables(tables, promote_options="permissive")
        except pa.ArrowInvalid as error:
            if len(found) == 1:
                raise
            raise DataworthError("its files have columns of different types: make them the same") from error
    else:
        part.table, total = sample_of_batches(chain.from_iterable(one.batches() for one in found), how.sample)
        if total > part.table.num_rows:
            part.notes.append(sample_note(part.table.num_rows, total))
        part.total = total
    # A damaged file can point outside itself, which would end the process later, not raise.
    part.table.validate(full=True)
    part.table = with_unique_names(part.table, part.notes)
    return part


def _whole(content: _Content) -> Any:
    import pyarrow as pa

    batches = list(content.batches())
    if not batches:
        return pa.table([pa.array([], pa.string())] * len(content.names), names=content.names)
    return pa.Table.from_batches(batches)


def _content(path: Path, suffix: str, how: Delimited) -> _Content:
    from pyarrow import parquet

    if suffix in DELIMITED:
        found, notes = sniff(path, how, DELIMITED[suffix])
        return _Content(list(found.columns), lambda: text_batches(path, found), found, notes)
    if suffix == ".parquet":
        return _of_parquet(parquet.ParquetFile(path, page_checksum_verification=True), how)
    notes = []
    table = read_excel(path, how.sheet, notes) if suffix == ".xlsx" else READERS[suffix](path)
    return _Content(table.column_names, table.to_batches, how, notes)


def _of_parquet(file: Any, how: Delimited) -> _Content:
    # Its own batches, not a dataset of pyarrow, which would add columns for directories named like "part=1".
    whole = how.sample is None
    batches = (lambda: file.read().to_batches()) if whole else (lambda: file.iter_batches(1 << 14))
    return _Content(file.schema_arrow.names, batches, how)


class Size(NamedTuple):
    """How large a file is before it is read: bytes of text, or rows × columns of Parquet."""

    text: int = 0
    rows: int = 0
    columns: int = 1


def size_of(file: Path, suffix: str) -> Size:
    """The size of a text or Parquet file; of others nothing is known before they are read."""
    from pyarrow import parquet

    if suffix in DELIMITED:
        return Size(unpacked_size(file))
    if suffix != ".parquet":
        return Size()
    with parquet.ParquetFile(file) as opened:
        return Size(0, opened.metadata.num_rows, max(1, opened.metadata.num_columns))


def _refuse_too_large(files: Sequence[Path], suffixes: Sequence[str]) -> None:
    """A sentence before files are read that do not fit in memory together."""
    needed, rows = 0.0, 0
    for file, suffix in zip(files, suffixes, strict=True):
        with naming(file.name if len(files) > 1 else None), reading(suffix):
            size = size_of(file, suffix)
        rows += size.rows
        needed += TIMES_ITS_TEXT * size.text + CELL * size.rows * size.columns
    instead = f"read some rows, with {option('sample', min(100_000, rows // 2) or 100_000)}"
    refuse_too_large(needed, "reading all of it", instead)


@contextmanager
def reading(suffix: str) -> Iterator[None]:
    """Whatever goes wrong in a file is a sentence."""
    try:
        yield
    except DataworthError:
        raise
    except MemoryError as error:
        why = "it asks for more memory than there is: it is damaged, or has too many rows for this machine"
        raise DataworthError(why) from error
    except Exception as error:  # a damaged file can make a parser raise anything
        reason = " ".join(str(error).split())[:160]
        if isinstance(error, UnicodeDecodeError) or "UTF8" in reason.replace("-", "").upper():
            other = (
                f"say which it is with {option('encoding')}" if suffix in DELIMITED else "save it as UTF-8"
            )
            name = error.encoding if isinstance(error, UnicodeDecodeError) else "UTF-8"
            raise DataworthError(f"this is not {name} text: {other}") from error
        if "allow_pickle" in reason:  # numpy's advice, which would run whatever code the file holds
            reason = "it is no archive of plain arrays"
        if "straddling" in reason:
            raise DataworthError(
                "a line is longer than 16 MB: cut its texts, or leave the row out"
            ) from error
        if reason.startswith("Empty"):
            raise DataworthError("the file is empty: write rows to it") from error
        why = reason or type(error).__name__
        raise DataworthError(
            f"this cannot be read as {suffix} ({why}): check that the file is complete"
        ) from error


def _checked_suffix(path: Path) -> str:
    """The suffix of a file that can be read."""
    if is_sealed(path):
        raise DataworthError("these are sealed data, without rows: give rows (only score and rank take it)")
    suffix = suffix_of(path)
    if not suffix:
        refuse_images(path)
    if not path.exists():
        raise DataworthError("there is no such file: check the path")
    if not path.is_file():
        raise DataworthError("this is a pipe or a device, which may have no end: save it as a file")
    if not suffix:
        known = " ".join(dict.fromkeys(SUFFIXES))
        hint = "save it as .xlsx" if path.suffix.lower() == ".xls" else "convert the file, or rename it"
        raise DataworthError(f"the suffix is not one of {known}: {hint}")
    return suffix


def suffix_of(path: Path) -> str:
    """The longest known suffix, so that .csv.gz is not taken for .gz."""
    name = path.name.lower()
    return max((suffix for suffix in SUFFIXES if name.endswith(suffix)), key=len, default="")


def refuse_images(path: Path) -> None:
    """A sentence where images are given for a table."""
    if holds_images(path):
        place = shlex.quote(str(path))
        raise DataworthError(
            "these are images, but features are numbers: make a table of vectors of them first, with"
            f" dataworth embed {place} -o vectors.parquet"
        )


def with_unique_names(table: Any, notes: list[Note]) -> Any:
    """The table with distinct column names, and a note if it had others."""
    names = list(map(str, table.column_names))
    if note := renaming_note(names):
        notes.append(note)
    return table if note is None else table.rename_columns(unique(names))


def sample_note(rows: int, total: int) -> Note:
    """That a sample was read, and of what."""
    what = f"{rows:,} of its {counted(total, 'row')} were drawn at random"
    return Note(what.replace(str(total), f"{total:,}", 1), f"{option('sample')} changes how many")


def sample_of_batches(batches: Iterable[Any], rows: int) -> tuple[Any, int]:
    """So many rows of a stream of record batches, in their order; and how many there were.

    The rows with the n smallest of independent random keys are kept.

    >>> import pyarrow as pa
    >>> stream = (pa.record_batch({"a": range(10 * i, 10 * i + 10)}) for i in range(100))
    >>> table, total = sample_of_batches(stream, 5)
    >>> table.num_rows, total
    (5, 1000)
    """
    import pyarrow as pa

    rng = np.random.default_rng(SEED)
    kept: list[Any] = []
    total, keys, highest = 0, np.zeros(0), np.inf

    def lowest() -> None:
        nonlocal kept, keys
        table = pa.concat_tables(kept, promote_options="permissive")
        if len(keys) > rows:
            best = np.sort(np.argpartition(keys, rows)[:rows])
            table, keys = table.take(pa.array(best)).combine_chunks(), keys[best]
        kept = [table]

    for batch in batches:
        own = rng.random(batch.num_rows)
        total += batch.num_rows
        low = np.flatnonzero(own < highest)
        kept.append(pa.Table.from_batches([batch.take(pa.array(low))]))
        keys = np.concatenate([keys, own[low]])
        if len(keys) > 2 * rows:
            lowest()
            highest = keys.max()
    lowest()
    return kept[0], total
