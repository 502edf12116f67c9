"""Delimited text, once it is known how it is written, by pyarrow: all of it, or a sample of its rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from dataworth.data.io.notes import Note
from dataworth.data.io.sampled import sample_note, sample_of_batches
from dataworth.data.memory import free_memory, refuse_too_large
from dataworth.wording import option

MISSING = (
    "",
    "NA",
    "N/A",
    "n/a",
    "NaN",
    "nan",
    "-nan",
    "-NaN",
    "null",
    "NULL",
    "None",
    "<NA>",
    "#N/A",
    "#NA",
)
"""The cells of a text file that stand for a missing value."""
SLAB = 10_000
"""Columns that are read together."""
TIMES_ITS_TEXT = 5
"""How much more memory a table takes than its text, at most, while it is read."""
LEAST_BLOCK, MOST_BLOCK = 1 << 20, 1 << 26
"""Bytes that are parsed together. A line must fit in; and each column gets an array of its own in each block,
so that a block of few rows with very many columns would be arrays of nothing."""


@dataclass(frozen=True)
class Delimited:
    """How a file is written: what was asked for, then what was found; `notes` say what was found.

    as_text, numbers: columns that are not to be made numbers, or are to be; missing: cells that stand for a
    missing value, beside the usual ones; skipped: lines before the rows;
    trimmed: columns of which some texts had spaces around them; sample: how many rows to draw at random, and
    total: of how many they were drawn; line: bytes of a line.
    """

    sep: str | None = None
    encoding: str | None = None
    decimal: str | None = None
    header: bool | None = None
    sheet: str | None = None
    as_text: tuple[str, ...] = ()
    numbers: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    notes: tuple[Note, ...] = ()
    columns: tuple[str, ...] = ()
    skipped: int = 0
    trimmed: tuple[str, ...] = ()
    sample: int | None = None
    total: int | None = None
    line: int = 0


AS_FOUND = Delimited()
"""Nothing asked for."""


def parsed(path: Path, how: Delimited) -> tuple[Any, Delimited]:
    """The file as a table, or a sample of its rows, which is noted."""
    import pyarrow as pa
    import pyarrow.csv

    encoding = "utf-8" if how.encoding == "utf-8-sig" else str(how.encoding)
    if how.sample is not None and how.sep != " ":
        text, rows, total = _sampled(path, how, encoding)
        found = how if rows == total else replace(how, notes=(*how.notes, sample_note(rows, total)))
        return _typed(pa.BufferReader(text), how, "utf-8", 0), replace(found, total=total)
    refuse_too_large(
        TIMES_ITS_TEXT * unpacked_size(path),
        "reading all of it",
        f"read some rows, with {option('sample', 100_000)}",
    )
    source = pa.input_stream(str(path))
    if how.sep == " ":  # columns that are lined up have no single separator: made so before pyarrow reads
        with source as stream:
            text = collapsed(stream.read().decode(encoding)).encode()
        source, encoding = pa.BufferReader(text), "utf-8"
    return _typed(source, how, encoding, how.skipped), how


def unpacked_size(path: Path) -> int:
    """Bytes of the text of a file; of a packed one as many as are counted before no memory could hold it."""
    import pyarrow as pa

    if path.suffix.lower() != ".gz":
        return path.stat().st_size
    size, most = 0, free_memory()
    with pa.input_stream(str(path)) as stream:
        while (more := len(stream.read(1 << 22))) and TIMES_ITS_TEXT * size <= most:
            size += more
    return size


def _sampled(path: Path, how: Delimited, encoding: str) -> tuple[Any, int, int]:
    """Rows of a file drawn at random, as text; how many they are, and of how many."""
    import pyarrow as pa
    import pyarrow.csv

    assert how.sample is not None
    with pa.input_stream(str(path)) as stream:
        reader = pa.csv.open_csv(
            stream,
            read_options=pa.csv.ReadOptions(
                encoding=encoding,
                skip_rows=how.skipped,
                column_names=list(how.columns),
                block_size=_block(8 * how.line),
            ),
            parse_options=pa.csv.ParseOptions(delimiter=how.sep, newlines_in_values=True),
            convert_options=pa.csv.ConvertOptions(column_types=dict.fromkeys(how.columns, pa.string())),
        )
        table, total = sample_of_batches(iter(reader), how.sample)
    sink = pa.BufferOutputStream()
    pa.csv.write_csv(table, sink, pa.csv.WriteOptions(include_header=False, delimiter=how.sep))
    return sink.getvalue(), table.num_rows, total


def _block(wanted: int) -> int:
    return min(max(wanted, LEAST_BLOCK), MOST_BLOCK)


def _typed(source: Any, how: Delimited, encoding: str, skipped: int) -> Any:
    """Text as a table whose columns have types."""
    with source as stream:
        if len(how.columns) <= SLAB:
            return _read(stream, how, encoding, skipped, how.columns)
        import pyarrow as pa

        # pyarrow takes six kilobytes for each column that it reads: not for all of 100,000 at once.
        text = stream.read_buffer()
        parts = _cut(text, how, encoding, skipped)
        columns = []
        for j in range(0, len(how.columns), SLAB):
            own = how.columns[j : j + SLAB]
            if parts is None:
                columns += _read(pa.BufferReader(text), how, encoding, skipped, own).columns
            else:
                columns += _read_narrow(b"\n".join(parts.pop(0)), replace(how, columns=own), encoding).columns
            pa.default_memory_pool().release_unused()
        return pa.table(columns, names=list(how.columns))


def _cut(text: Any, how: Delimited, encoding: str, skipped: int) -> list[list[memoryview]] | None:
    """The lines of a wide text, each in parts of `SLAB` columns, so that none is read more than once.

    None where cells may hold separators or line breaks (quotes, two bytes a character), or where not all rows
    are as wide: what is wrong there is for the reader to say.
    """
    raw, wide = np.frombuffer(text, dtype=np.uint8), len(how.columns)
    if not raw.all() or (raw == ord('"')).any() or encoding.startswith("utf-16"):
        return None
    breaks = np.flatnonzero(raw == ord("\n"))
    starts = np.r_[0, breaks + 1][skipped:]
    ends = np.r_[breaks, len(raw)][skipped:]
    parts: list[list[memoryview]] = [[] for _ in range(0, wide, SLAB)]
    for start, end in zip(starts.tolist(), ends.tolist(), strict=True):
        line = raw[start : end - (end > start and raw[end - 1] == ord("\r"))]
        separators = np.flatnonzero(line == ord(str(how.sep)))
        if not len(line):
            continue
        if len(separators) != wide - 1:
            return None
        places = [-1, *separators[SLAB - 1 :: SLAB].tolist(), len(line)]
        for part, left, right in zip(parts, places[:-1], places[1:], strict=True):
            part.append(line[left + 1 : right].data)
    return parts


def _read_narrow(text: bytes, how: Delimited, encoding: str) -> Any:
    """Some columns of a wide text, alone; those whose first cell has a decimal point are likely numbers."""
    import pyarrow as pa

    first = text[: text.find(b"\n")].decode(encoding).split(how.sep)
    likely = [name for name, cell in zip(how.columns, first, strict=True) if _decimal(cell, how)]
    known = dict.fromkeys({*likely} - {*how.as_text}, pa.float64())
    try:
        # trying all types takes three times as long
        return _read(pa.BufferReader(text), how, encoding, 0, how.columns, known)
    except pa.ArrowInvalid:
        return _read(pa.BufferReader(text), how, encoding, 0, how.columns, {})


def _decimal(cell: str, how: Delimited) -> bool:
    point = how.decimal or "."
    return cell.count(point) == 1 and cell.lstrip(" -").replace(point, "").strip().isdecimal()


def _read(
    stream: Any,
    how: Delimited,
    encoding: str,
    skipped: int,
    columns: Sequence[str],
    known: Mapping[str, Any] | None = None,
) -> Any:
    """Some columns of a text; in a part of a wide one types may be known, and an empty line is a cell."""
    import pyarrow as pa
    import pyarrow.csv

    return pa.csv.read_csv(
        stream,
        read_options=pa.csv.ReadOptions(
            encoding=encoding,
            skip_rows=skipped,
            column_names=list(how.columns),
            block_size=_block(128 * how.line),
        ),
        parse_options=pa.csv.ParseOptions(
            delimiter=how.sep, newlines_in_values=True, ignore_empty_lines=known is None
        ),
        convert_options=pa.csv.ConvertOptions(
            include_columns=list(columns),
            null_values=list(MISSING),
            strings_can_be_null=True,
            decimal_point=how.decimal or ".",
            column_types={**(known or {}), **dict.fromkeys({*how.as_text} & {*columns}, pa.string())},
        ),
    )


def collapsed(text: str) -> str:
    """Columns that are lined up by spaces, with one space between them.

    >>> collapsed("  a   b\\n1.5  20\\n")
    'a b\\n1.5 20\\n'
    """
    return "".join(" ".join(line.split()) + "\n" for line in text.splitlines() if line.strip())
