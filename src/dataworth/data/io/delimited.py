"""Delimited text to pyarrow tables: one place that finds its encoding, separator, header and decimal mark.

All of it is found in the beginning of the file, and pyarrow then reads the whole; what differs from UTF-8,
the suffix's separator and decimal points is a note with the option that says otherwise.
"""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from dataworth.data.io.notes import Kind, Note
from dataworth.data.io.numbers_in_text import look
from dataworth.data.io.numbers_in_text import parse as parse_number
from dataworth.data.io.parsing import AS_FOUND as AS_FOUND
from dataworth.data.io.parsing import MISSING, collapsed, parsed
from dataworth.data.io.parsing import Delimited as Delimited
from dataworth.errors import DataworthError
from dataworth.wording import listed, option

SEPARATORS = ",;\t|"
NAMES = {"\t": "tabs", " ": "spaces", ",": "','", ";": "';'", "|": "'|'"}
WORDS = {"tab": "\t", "\\t": "\t", "space": " ", "comma": ",", "semicolon": ";", "pipe": "|"}
BEGINNING = 1 << 18
"""Bytes that are looked at before the file is read; more, where they hold less than `LEAST_LINES`."""
LEAST_LINES, MOST_BEGINNING = 4, 1 << 26
LOOKED_AT = 500
"""Rows of the beginning that are looked at."""
MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF32_LE, "utf-32"), (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"),
)  # fmt: skip
CODE = re.compile(r"0\d+$")
COMMAS = Kind("numbers have decimal commas: '1,234' is 1.234", "decimal", ", confirms that")


def read_delimited(path: Path, asked: Delimited, usual: str | None) -> tuple[Any, Delimited]:
    """A file as a pyarrow table, and how it is written; `usual` is the separator that its suffix promises."""
    import pyarrow as pa

    start, whole = _beginning(path)
    if not start:
        raise DataworthError("the file is empty: write rows to it")
    for encoding in [asked.encoding] if asked.encoding is not None else _encodings(start):
        try:
            text = codecs.getincrementaldecoder(encoding)().decode(start, final=whole)
            found = _look_at(asked, text if whole else text[: text.rfind("\n") + 1] or text, encoding, usual)
            table, found = parsed(path, replace(found, line=len(start) // max(1, start.count(b"\n"))))
        except LookupError:
            raise DataworthError(
                f"there is no encoding {encoding!r}: say another with {option('encoding')}"
            ) from None
        except UnicodeDecodeError:
            continue
        except pa.ArrowInvalid as error:
            if "UTF8" not in str(error).replace("-", "").upper():
                raise
            continue
        columns = table.columns
        if not any(pa.types.is_binary(column.type) for column in columns):
            tidy = list(map(trimmed, columns))
            changed = [n for n, a, b in zip(found.columns, columns, tidy, strict=True) if a is not b]
            return pa.Table.from_arrays(tidy, names=found.columns), replace(found, trimmed=tuple(changed))
    raise DataworthError(
        f"this is not {asked.encoding or 'UTF-8'} text: say which it is with {option('encoding')}"
    )


def _beginning(path: Path) -> tuple[bytes, bool]:
    """The first lines of a file, and whether they are all of it."""
    import pyarrow as pa

    with pa.input_stream(str(path)) as stream:  # unpacks .gz by itself
        start = stream.read(BEGINNING)
        while start.count(b"\n") < LEAST_LINES and len(start) < MOST_BEGINNING:
            more = stream.read(len(start))
            if not more:
                return start, True
            start += more
        return start, not stream.read(1)


def _encodings(start: bytes) -> tuple[str, ...]:
    """What the text may be, the first that fits: its mark says so, or the zeros of UTF-16."""
    for mark, encoding in MARKS:
        if start.startswith(mark):
            return (encoding,)
    if start[:4000].count(b"\0") > 0.3 * len(start[:4000]):
        return ("utf-16-be",) if start[:1] == b"\0" else ("utf-16-le",)
    return "utf-8", "cp1252", "latin-1"


def _look_at(asked: Delimited, text: str, encoding: str, usual: str | None) -> Delimited:
    """How the beginning of a file is written."""
    notes = []
    text = text.removeprefix("\ufeff")  # a mark that was not asked for
    if encoding not in ("utf-8", "utf-8-sig"):
        # of bounded length: else the time grows with the square of a long cell
        strange = re.search(r"[^\s,;|\"]{0,20}[^\x00-\x7f,;|\"][^\s,;|\"]{0,20}", text)
        such = f", such as {strange[0][:40]!r}" if strange else ""
        if asked.encoding is None:
            what = f"the text is not UTF-8 and is read as {encoding}"
            kind = Kind(what, "encoding", "changes that")
            notes.append(Note(f"{what}{such}", f"{option('encoding')} changes that", kind=kind))
    skipped, sep = 0, asked.sep
    if said := re.match(r"sep=(.)\r?\n", text):  # as Excel writes it
        skipped, text, sep = 1, text[said.end() :], sep or said[1]
    if sep is None:
        sep = _separator(text, usual)
        if usual != sep:
            notes.append(Note(f"columns are separated by {NAMES[sep]}", f"{option('sep')} changes that"))
    if sep == " ":
        text = collapsed(text)
    reader = csv.reader(io.StringIO(text), delimiter=sep)
    first = next(_rows(reader), None)
    if first is None:
        raise DataworthError("the file is empty: write rows to it")
    before = reader.line_num  # more than one, if a name has a line break
    rows = list(_rows(reader))
    header = asked.header
    if header is None:
        header = not _headless(first, rows)
        if not header:
            named = "columns are named 'column 1', 'column 2', …"
            notes.append(Note(f"the first row is no header, and {named}", f"{option('header')} changes that"))
    names = [" ".join(cell.split()) if header else f"column {j + 1}" for j, cell in enumerate(first)]
    skipped += before if header else 0
    rows = rows if header else [first, *rows]
    names = _as_wide(names, rows)
    if note := renaming_note(names):
        notes.append(note)
    names = unique(names)
    cells = {name: [row[j].strip() for row in rows if j < len(row)] for j, name in enumerate(names)}
    codes = [name for name, column in cells.items() if name not in asked.numbers and _codes(column)]
    decimal = asked.decimal
    if decimal is None:
        decimal, such = _decimal(cells)
        if decimal == ",":
            notes.append(commas_note(such))
        elif sep == ";":
            notes += _open_notes(cells)
    return replace(
        asked, sep=sep, encoding=encoding, decimal=decimal, notes=tuple(notes), skipped=skipped,
        as_text=(*asked.as_text, *codes), columns=tuple(names),
    )  # fmt: skip


def _rows(reader: Any) -> Iterator[list[str]]:
    """The first rows of a csv.reader that are not empty; up to a cell that is too long for it."""
    try:
        for _, row in zip(range(LOOKED_AT), reader, strict=False):
            if row:
                yield row
    except csv.Error:
        return


def commas_note(such: str) -> Note:
    """A file has decimal commas: what that means for numbers that leave it open."""
    what = f"numbers have decimal commas, such as {such!r}, and '1,234' is 1.234"
    return Note(what, f"{option('decimal', ',')} confirms that", kind=COMMAS)


def unique(names: Sequence[str]) -> list[str]:
    """The names, those that occur again with a number, as pandas gives them.

    >>> unique(["a", "b", "a", "a.1", "a"])
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
    return list(found)


def renaming_note(names: Sequence[str]) -> Note | None:
    """What becomes of names that occur more than once; of columns without a name nothing."""
    twice = [name for name, times in Counter(names).items() if times > 1 and name]
    if not twice:
        return None
    again = [new for old, new in zip(names, unique(names), strict=True) if old in twice and new != old]
    return Note(
        f"{listed(twice)} more than once, read also as {listed(again)}",
        f"{option('exclude')} leaves some out",
    )


def _as_wide(names: list[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """The names, with one for a column that the header lacks: R's row names, or nothing after a last mark."""
    if not rows or any(len(row) != len(names) + 1 for row in rows):
        return names
    return [*names, ""] if not any(row[-1].strip() for row in rows) else ["rownames", *names]


def _separator(text: str, usual: str | None) -> str:
    """The separator that gives all rows as many columns as the header; of several the one with most."""
    lines = text[:20_000].splitlines()[:50]
    head = lines[0] if lines else ""
    best, most = usual or ",", 1
    for sep in dict.fromkeys((usual or ",", *SEPARATORS)):
        if sep in head:
            tried = csv.reader(lines[:-1] if len(lines) > 10 else lines, delimiter=sep)
            widths = [len(row) for row in _rows(tried)]
            if len(set(widths)) == 1 and widths[0] > most:
                best, most = sep, widths[0]
    if most == 1 and usual not in (",", "\t") and len(head.split()) > 1:
        return " "
    if most == 1:  # no separator fits all rows: the one of the header, so that pyarrow says which row differs
        found = [sep for sep in SEPARATORS if sep in head]
        return best if best in found or not found else found[0]
    return best


def _headless(row: Sequence[str], rest: Sequence[Sequence[str]]) -> bool:
    """Whether the first row is data: it has numbers that no column is called by."""
    first = [cell.strip() for cell in row]
    numbers = [parse_number(cell) is not None for cell in first]
    if not any(numbers) or not rest:
        return False
    if any(re.fullmatch(r"-?\d*\.\d+(e[-+]?\d+)?", cell) for cell in first):
        return True
    whole = [int(cell) for cell in first if cell.isdigit()]
    if whole == list(range(whole[0], whole[0] + len(whole))) if whole else True:
        return False  # 0, 1, 2 …: columns that are numbered
    words = [j for j, number in enumerate(numbers) if not number]
    return all(any(j < len(row) and row[j].strip() == first[j] for row in rest) for j in words)


def _codes(column: Sequence[str]) -> bool:
    """Whether digits are names, such as postal codes: some begin with a zero that a number does not have."""
    return any(cell[:1] == "0" and CODE.match(cell) for cell in column) and all(
        cell.isdigit() or cell in MISSING for cell in column
    )


def _decimal(cells: dict[str, list[str]]) -> tuple[str | None, str]:
    """The decimal comma, if some column proves it and none a decimal point, and a cell that shows it."""
    such = ""
    for column in cells.values():
        with_commas = [cell for cell in column if "," in cell]
        if len(with_commas) > len(column) / 3 and look(Counter(with_commas)).proven == {","}:
            such = such or next(cell for cell in with_commas if "," in cell)
    if not such:
        return None, ""
    for column in cells.values():
        with_points = [cell for cell in column if "." in cell]
        if len(with_points) > len(column) / 3 and look(Counter(with_points)).proven == {"."}:
            return None, ""
    return ",", such


def _open_notes(cells: dict[str, list[str]]) -> list[Note]:
    """Where semicolons separate, commas are often decimal: 1.234 may be 1234, unless a cell shows points."""
    looks = {name: look(Counter(c for c in column if "." in c)) for name, column in cells.items()}
    notes = []
    for name, one in looks.items():
        if one.open and not any(other.proven for other in looks.values()):
            such = one.open[0]
            what = f"column {name!r} leaves open what {such!r} is: it is read as {such}"
            notes.append(Note(what, f"{option('decimal', ',')} reads {one.cells[such].value(','):.12g}"))
    return notes


def trimmed(column: Any) -> Any:
    """A column without the spaces around its texts, which hide numbers and missing values."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not pa.types.is_string(column.type):
        return column
    trimmed = pc.utf8_trim_whitespace(column)
    if trimmed.equals(column):
        return column
    absent = pc.is_in(trimmed, value_set=pa.array(MISSING))
    return pc.if_else(absent, pa.scalar(None, pa.string()), trimmed)
