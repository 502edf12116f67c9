"""Delimited text: its encoding, separator and header are found, and pyarrow then reads all cells as text.

What differs from UTF-8, the suffix's separator and a header is a note with the option that says otherwise.
What the cells mean is decided later, in one place (`schema`).
"""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pv

from dataworth.data.io.cells import NA_VALUES, NUMBER
from dataworth.data.io.notes import Note
from dataworth.errors import DataworthError
from dataworth.wording import listed, option

SEPARATORS = {",": "','", ";": "';'", "\t": "tabs", "|": "'|'", " ": "spaces"}
BEGINNING, MIN_LINES, MAX_BEGINNING = 1 << 18, 4, 1 << 26
"""Bytes that are looked at before the file is read; more, where they hold fewer lines."""
LOOKED_AT = 500
"""Rows of the beginning that are looked at."""
MIN_BLOCK, MAX_BLOCK = 1 << 20, 1 << 26
"""Bytes that are parsed together. A line must fit in; and each column gets an array of its own in each block,
so that a block of few rows with very many columns would be arrays of nothing."""
MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF32_LE, "utf-32"), (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"),
)  # fmt: skip


@dataclass(frozen=True)
class Delimited:
    """How a file is to be read, as asked for; then how its text is written, as found.

    na_values: cells that stand for a missing value, beside the usual ones; sample: rows to draw at random;
    skipped: lines before the rows; line: bytes of a line.
    """

    sep: str | None = None
    encoding: str | None = None
    header: bool | None = None
    sheet: str | None = None
    na_values: tuple[str, ...] = ()
    sample: int | None = None
    columns: tuple[str, ...] = ()
    skipped: int = 0
    line: int = 0


AS_FOUND = Delimited()
"""Nothing asked for."""


def sniff(path: Path, asked: Delimited, usual: str | None) -> tuple[Delimited, list[Note]]:
    """How a file is written, and what to say of it; `usual` is the separator that its suffix promises."""
    with pa.input_stream(str(path)) as stream:  # the first lines, and whether they are all
        start = stream.read(BEGINNING)
        if start.count(b"\n") < MIN_LINES:
            start += stream.read(MAX_BEGINNING)
        whole = not stream.read(1)
    if not start:
        raise DataworthError("the file is empty: write rows to it")
    encoding = asked.encoding or _encoding(path, start)
    try:
        text = codecs.getincrementaldecoder(encoding)().decode(start, final=whole)
    except LookupError:
        wrong = f"there is no encoding {encoding!r}: say another with {option('encoding')}"
        raise DataworthError(wrong) from None
    text = (text if whole else text[: text.rfind("\n") + 1] or text).removeprefix("\ufeff")
    notes = []
    if not asked.encoding and not encoding.startswith("utf-8"):
        # of bounded length: else the time grows with the square of a long cell
        strange = re.search(r"[^\s,;|\"]{0,20}[^\x00-\x7f,;|\"][^\s,;|\"]{0,20}", text)
        such, decision = repr(strange[0][:40]) if strange else "", f"not UTF-8 and is read as {encoding}"
        notes.append(Note(f"the text is {decision}", f"{option('encoding')} changes that", such))
    found = replace(asked, encoding=encoding, line=len(start) // max(1, start.count(b"\n")))
    return _with_columns(found, text, usual, notes), notes


def text_batches(path: str | Path, how: Delimited, columns: Sequence[str] | None = None) -> Iterator[Any]:
    """The rows of a file as record batches of texts without spaces around them, in their order."""
    encoding = "utf-8" if how.encoding == "utf-8-sig" else str(how.encoding)
    source = pa.input_stream(str(path))  # unpacks .gz by itself
    if how.sep == " ":  # columns that are lined up have no single separator: made so before pyarrow reads
        text = collapsed(source.read().decode(encoding))
        source, encoding = pa.BufferReader(text.encode()), "utf-8"
    with source as stream:
        reader = pv.open_csv(
            stream,
            read_options=pv.ReadOptions(
                encoding=encoding,
                skip_rows=how.skipped,
                column_names=list(how.columns),
                block_size=min(max(128 * how.line, MIN_BLOCK), MAX_BLOCK),
                use_threads=False,
            ),
            parse_options=pv.ParseOptions(delimiter=how.sep, newlines_in_values=True),
            convert_options=pv.ConvertOptions(
                include_columns=list(how.columns if columns is None else columns),
                column_types=dict.fromkeys(how.columns, pa.string()),
                null_values=list(NA_VALUES),
                strings_can_be_null=True,
            ),
        )
        for batch in reader:
            yield pa.record_batch(list(map(_trimmed, batch.columns)), names=batch.schema.names)


def _trimmed(column: Any) -> Any:
    """A column without the spaces around its texts, which hide numbers and missing values."""
    tidy = pc.utf8_trim_whitespace(column)
    if tidy.equals(column):
        return column
    return pc.if_else(pc.is_in(tidy, value_set=pa.array(NA_VALUES)), pa.scalar(None, pa.string()), tidy)


def _encoding(path: Path, start: bytes) -> str:
    """The first encoding that fits the whole file: its mark says so, or the zeros of UTF-16."""
    for mark, encoding in MARKS:
        if start.startswith(mark):
            return encoding
    if start[:4000].count(b"\0") > 0.3 * len(start[:4000]):
        return "utf-16-be" if start[:1] == b"\0" else "utf-16-le"
    for encoding in ("utf-8", "cp1252"):
        with suppress(UnicodeDecodeError), pa.input_stream(str(path)) as stream:
            decoder = codecs.getincrementaldecoder(encoding)()
            while piece := stream.read(1 << 22):
                decoder.decode(piece)
            decoder.decode(b"", final=True)
            return encoding
    return "latin-1"


def _with_columns(asked: Delimited, text: str, usual: str | None, notes: list[Note]) -> Delimited:
    """The separator and the names of the columns, from the beginning of a text."""
    skipped, sep = 0, asked.sep
    if said := re.match(r"sep=(.)\r?\n", text):  # as Excel writes it
        skipped, text, sep = 1, text[said.end() :], sep or said[1]
    if sep is None:
        sep = _separator(text, usual)
        if usual != sep:
            notes.append(Note(f"columns are separated by {SEPARATORS[sep]}", f"{option('sep')} changes that"))
    text = collapsed(text) if sep == " " else text
    reader = csv.reader(io.StringIO(text), delimiter=sep)
    first = next(_rows(reader), None)
    if first is None:
        raise DataworthError("the file is empty: write rows to it")
    before = reader.line_num  # more than one, if a name has a line break
    rows, header = list(_rows(reader)), asked.header
    if header is None:
        header = not _headless(first, rows)
    if not header and asked.header is None:
        named = "the first row is no header, and columns are named 'column 1', 'column 2', …"
        notes.append(Note(named, f"{option('header')} changes that"))
    names = [" ".join(cell.split()) if header else f"column {j + 1}" for j, cell in enumerate(first)]
    if (body := rows if header else [first, *rows]) and all(len(row) == len(names) + 1 for row in body):
        # a column that the header lacks: nothing after a last mark, or R's row names
        names = ["rownames", *names] if any(row[-1].strip() for row in body) else [*names, ""]
    skipped += before * header
    return replace(asked, sep=sep, skipped=skipped, columns=tuple(unique(names, notes)))


def _rows(reader: Any) -> Iterator[list[str]]:
    """The first rows of a csv.reader that are not empty; up to a cell that is too long for it."""
    try:
        for _, row in zip(range(LOOKED_AT), reader, strict=False):
            if row:
                yield row
    except csv.Error:
        return


def unique(names: Sequence[str], notes: list[Note]) -> list[str]:
    """The names, those that occur again with a number, as pandas gives them; and a note if some do.

    >>> unique(["a", "b", "a", "a.1", "a"], [])
    ['a', 'b', 'a.2', 'a.1', 'a.3']
    """
    given, last = set(names), dict.fromkeys(names, 0)
    found: dict[str, None] = {}
    for name in names:
        new = name
        while new in found or (new != name and new in given):
            last[name] += 1
            new = f"{name}.{last[name]}"
        found[new] = None
    if twice := [name for name, times in Counter(names).items() if times > 1 and name]:
        again = [new for old, new in zip(names, found, strict=True) if old in twice and new != old]
        told = f"{listed(twice)} more than once, read also as {listed(again)}"
        notes.append(Note(told, f"{option('exclude')} leaves some out"))
    return list(found)


def _separator(text: str, usual: str | None) -> str:
    """The separator that gives all rows as many columns as the header; of several the one with most."""
    lines = text[:20_000].splitlines()[:50]
    head = lines[0] if lines else ""
    best, most = usual or ",", 1
    tried = [sep for sep in dict.fromkeys((best, *",;\t|")) if sep in head]
    for sep in tried:
        rows = csv.reader(lines[:-1] if len(lines) > 10 else lines, delimiter=sep)
        widths = {len(row) for row in _rows(rows)}
        if len(widths) == 1 and max(widths) > most:
            best, most = sep, max(widths)
    if most == 1 and usual not in (",", "\t") and len(head.split()) > 1:
        return " "
    # no separator fits all rows: one of the header, so that pyarrow says which row differs
    return best if most > 1 or not tried else tried[0]


def _headless(row: Sequence[str], rest: Sequence[Sequence[str]]) -> bool:
    """Whether the first row is data: it has numbers that no column is called by."""
    first = [cell.strip() for cell in row]
    numbers = [any(re.match(form, cell) for form in NUMBER.values()) for cell in first]
    if not any(numbers) or not rest:
        return False
    if any(re.fullmatch(r"-?\d*\.\d+(e[-+]?\d+)?", cell) for cell in first):
        return True
    whole = [int(cell) for cell in first if cell.isdigit()]
    if not whole or whole == list(range(whole[0], whole[0] + len(whole))):
        return False  # 0, 1, 2 …: columns that are numbered
    words = [j for j, number in enumerate(numbers) if not number]
    return all(any(j < len(row) and row[j].strip() == first[j] for row in rest) for j in words)


def collapsed(text: str) -> str:
    """Columns that are lined up by spaces, with one space between them.

    >>> collapsed("  a   b\\n1.5  20\\n")
    'a b\\n1.5 20\\n'
    """
    return "".join(" ".join(line.split()) + "\n" for line in text.splitlines() if line.strip())
