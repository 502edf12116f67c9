"""Delimited text: its encoding and separator are found, and pyarrow then reads all cells as text."""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pv

from dataworth.data.convert import refuse_twice
from dataworth.data.io.cells import NA_VALUES, NUMBER, as_texts
from dataworth.data.io.notes import Note
from dataworth.errors import DataworthError
from dataworth.limits import refuse_columns
from dataworth.wording import option

SEPARATORS = {",": "','", ";": "';'", "\t": "tabs", "|": "'|'"}
EMPTY = "the file is empty: write rows to it"
BEGINNING, MIN_LINES, MAX_BEGINNING = 1 << 18, 4, 1 << 26
"""Bytes that are looked at before the file is read; more, where they hold fewer lines."""
LOOKED_AT, CELLS = 500, 1 << 20
"""Rows of the beginning that are looked at, and their cells."""
MIN_BLOCK, MAX_BLOCK = 1 << 20, 1 << 26
"""Bytes that are parsed together: a line must fit in, and each column gets an array of its own in each."""
MARKS = {codecs.BOM_UTF8: "utf-8-sig", codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}


@dataclass(frozen=True)
class Delimited:
    """How a file is to be read, as asked for; then how its text is written, as found.

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


def sniff(path: Path, asked: Delimited, usual: str | None) -> tuple[Delimited, list[Note]]:
    """How a file is written, and what to say of it; `usual` is the separator that its suffix promises."""
    with pa.input_stream(str(path)) as stream:  # the first lines, and whether they are all
        start = stream.read(BEGINNING)
        if start.count(b"\n") < MIN_LINES:
            start += stream.read(MAX_BEGINNING)
        whole = not stream.read(1)
    if not start:
        raise DataworthError(EMPTY)
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
    with pa.input_stream(str(path)) as stream:  # unpacks .gz by itself
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
            whole = pa.concat_arrays(batch.columns)  # there may be very many, nearly always without spaces
            tidy = pc.utf8_trim_whitespace(whole).equals(whole)
            columns = batch.columns if tidy else list(map(_trimmed, batch.columns))
            yield batch if tidy else pa.record_batch(columns, names=batch.schema.names)


def _trimmed(column: Any) -> Any:
    """A column without the spaces around its texts, which hide numbers and missing values."""
    tidy = pc.utf8_trim_whitespace(column)
    if tidy.equals(column):
        return column
    return pc.if_else(pc.is_in(tidy, value_set=as_texts(NA_VALUES)), pa.nulls(1, pa.string())[0], tidy)


def _encoding(path: Path, start: bytes) -> str:
    """What the mark at the beginning says, else UTF-8 if the whole file is, else Windows-1252."""
    if marked := [encoding for mark, encoding in MARKS.items() if start.startswith(mark)]:
        return marked[0]
    if b"\0" in start:
        raise DataworthError(
            f"this is no text, or UTF-16 without a mark: say {option('encoding', 'utf-16-le')}"
        )
    try:
        with pa.input_stream(str(path)) as stream, io.TextIOWrapper(stream, "utf-8", newline="\n") as text:
            while text.read(1 << 22):
                pass
    except UnicodeDecodeError:
        return "cp1252"
    return "utf-8"


def _with_columns(asked: Delimited, text: str, usual: str | None, notes: list[Note]) -> Delimited:
    """The separator and the names of the columns, from the beginning of a text."""
    said = re.match(r"sep=(.)\r?\n", text)  # as Excel writes it
    sep = asked.sep or (said and said[1])
    text = text[said.end() :] if said else text
    if sep is None:
        sep = _separator(text, usual)
        if usual != sep:
            notes.append(Note(f"columns are separated by {SEPARATORS[sep]}", f"{option('sep')} changes that"))
    refuse_columns(text[: text.find("\n")].count(sep) + 1)
    reader = csv.reader(io.StringIO(text), delimiter=sep)
    first = next(_rows(reader), None)
    if first is None:
        raise DataworthError(EMPTY)
    before = reader.line_num  # more than one, if a name has a line break
    rows, header = list(_rows(reader)), asked.header is not False
    if asked.header is None:
        _refuse_headless(first, rows)
    names = [" ".join(cell.split()) if header else f"column {j + 1}" for j, cell in enumerate(first)]
    if (body := rows if header else [first, *rows]) and all(len(row) == len(names) + 1 for row in body):
        # a column that the header lacks: nothing after a last mark, or R's row names
        names = ["rownames", *names] if any(row[-1].strip() for row in body) else [*names, ""]
    # as pandas names them
    columns = tuple(name or f"Unnamed: {j}" for j, name in enumerate(names))
    refuse_twice(columns)
    return replace(asked, sep=sep, skipped=bool(said) + before * header, columns=columns)


def _rows(reader: Any) -> Iterator[list[str]]:
    """The first rows of a csv.reader that are not empty; up to a cell that is too long for it."""
    cells = 0
    try:
        for _, row in zip(range(LOOKED_AT), reader, strict=False):
            if row:
                yield row
            if (cells := cells + len(row)) > CELLS:
                return
    except csv.Error:
        return


def _separator(text: str, usual: str | None) -> str:
    """The separator that gives all rows as many columns as the header; of several the one with most."""
    lines = text[:20_000].splitlines()[:50]
    head, whole = "".join(lines[:1]), lines[:-1] if len(lines) > 10 else lines
    tried = [sep for sep in dict.fromkeys((usual or ",", *SEPARATORS)) if sep in head]
    if not tried and usual is None and len(head.split()) > 1:
        how = "give the frame pandas.read_csv(file, sep=r'\\s+')"
        raise DataworthError(f"columns are separated by spaces: {how}")
    widths = {sep: {len(row) for row in _rows(csv.reader(whole, delimiter=sep))} for sep in tried}
    fits = {sep: max(found) for sep, found in widths.items() if len(found) == 1 and found != {1}}
    # where none fits all rows: one of the header, so that pyarrow says which row differs
    return max(fits, key=fits.__getitem__, default=[*tried, usual or ","][0])


def _refuse_headless(row: Sequence[str], rest: Sequence[Sequence[str]]) -> None:
    """A sentence where the first row has numbers that no column is called by; 0, 1, 2 … are names."""
    forms = tuple(map(re.compile, NUMBER.values()))
    numbers = [cell for cell in map(str.strip, row) if any(form.match(cell) for form in forms)]
    whole = [int(cell) for cell in numbers if cell.isdigit()]
    if rest and numbers and (len(whole) < len(numbers) or whole != [whole[0] + j for j in range(len(whole))]):
        raise DataworthError(
            f"the first row has {numbers[0]!r}: say {option('header', 'no')} if it is data,"
            f" {option('header', 'yes')} if that is the name of a column"
        )
