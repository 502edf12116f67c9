"""One place that types columns: text that says numbers or dates becomes numbers or dates, in all files alike.

What a column is, is decided by the first file that has it, the test set before all others; how its numbers or
dates are written each file shows itself, and one that leaves it open is read as the others.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np

from dataworth.data.convert import MOST_CATEGORIES, column_kind
from dataworth.data.io import dates_in_text as dates
from dataworth.data.io.delimited import CODE, commas_note
from dataworth.data.io.formats import Part
from dataworth.data.io.notes import Kind, Note
from dataworth.data.io.numbers_in_text import PER, Look, look
from dataworth.data.io.numbers_in_text import parse as parse_number
from dataworth.data.vectors import text_keys
from dataworth.wording import counted, listed, option

Is = Literal["number", "date", "text", "other", "empty"]
CLEAR = 0.9
"""The proportion of rows that are numbers from which the others are strays, to be corrected."""
FEW = 20
"""Different texts up to which a column that is not all numbers holds categories, such as 0, 1, 2 and 3+."""
AS_A_FRAME_SAYS = "holds whole numbers as text"
TRIED = 200
"""Rows that are tried before a whole column is."""
NUMBERS = Kind("numbers written as text", "categories", "keeps the text")
GAP = Kind("taken for missing", "categories", "keeps the text")
MIXED, MIXED_OUT = (Kind(start, "numbers", "reads numbers") for start in ("read as text", "left out"))
AS_TEXT = ", and is read as text"
DATES = Kind("dates, of which days, day of the year and weekday are features", "exclude", "leaves them out")
MONTH_FIRST = Kind("dates, read with the month first", "dates", "dmy reads the day first")
GAPS = frozenset(
    re.findall(
        r"\S+",
        """? - -- --- – — . .. n.a. na nil missing unknown tbd k.a. k.a n.v. n.d. s/d
        #nv #div/0! #value! #ref! #num! #null!""",
    )
)
"""Cells that stand for a missing value where the others are numbers or dates."""


@dataclass(frozen=True)
class Wishes:
    """What users say of the types of columns.

    kinds: what columns of a yardstick are, which decides before any file; labels: columns that are labels.
    """

    categories: Collection[str] = ()
    numbers: Collection[str] = ()
    decimal: str | None = None
    dates: str | None = None
    kinds: Mapping[str, Is] = field(default_factory=dict)
    labels: Collection[str] = ()


@dataclass(frozen=True)
class Seen:
    """What the texts of a column are; `mixed` says why text that is mostly numbers is none of them.

    hint: the one text among numbers, which may stand for a missing value.
    """

    kind: Is
    rows: Mapping[str, int] = field(default_factory=dict)
    numbers: Look | None = None
    dates: Mapping[str, dates.Written] = field(default_factory=dict)
    strays: frozenset[str] = frozenset()
    gaps: frozenset[str] = frozenset()
    mixed: str = ""
    hint: str = ""


def settle(parts: Sequence[Part], columns: Sequence[Collection[str]], wishes: Wishes) -> list[dict[str, str]]:
    """Type the given columns of every part, the first part before the others; what is wrong with which.

    Tables and notes of the parts are replaced.
    """
    problems: list[dict[str, str]] = [{} for _ in parts]
    seen: dict[tuple[int, str], Seen] = {}

    def see(i: int, names: Collection[str]) -> None:
        for name in names:
            wanted = name in wishes.numbers or wishes.kinds.get(name) == "number"
            seen[i, name] = _see(parts[i].table[name], parts[i].typed, wanted)

    for i, part in enumerate(parts):
        see(i, columns[i])
        if part.again is not None and part.how.decimal is None and _proven(seen, i, columns[i]) == {","}:
            # A file with decimal commas: 1.234, which pyarrow took for a fraction, is to be seen as text.
            part.notes.append(commas_note(_such(seen, i, columns[i])))
            again = part.again(replace(part.how, decimal=","))
            part.table, part.how = again.table, again.how
            see(i, columns[i])
        problems[i] |= _against(part, {name: seen[i, name] for name in columns[i]}, wishes)
    shown = [_marks(part, _proven(seen, i, columns[i])) for i, part in enumerate(parts)]
    for name in dict.fromkeys(name for names in columns for name in names):
        having = [i for i in range(len(parts)) if (i, name) in seen]
        found = [i for i in having if seen[i, name].kind != "empty"]
        if not found or (
            name in wishes.labels and not _numeric_label(parts[found[0]], seen[found[0], name], name)
        ):
            continue
        kind: Is = seen[found[0], name].kind
        kind = wishes.kinds.get(name, "number" if name in wishes.numbers else kind)
        kind = "text" if name in wishes.categories else kind
        for i in (i for i in having if name not in problems[i]):
            others = [i, *(j for j in found if j != i)]
            marks = [mark for j in others for mark in shown[j]]
            orders = [
                wishes.dates,
                *(order for j in found for order in _alone(dates.orders(seen[j, name].dates))),
            ]
            mark, order = next(iter(marks), None), next(filter(None, orders), None)
            if problem := _apply(parts[i], name, kind, seen[i, name], mark, order, wishes):
                problems[i][name] = problem
        _note_signs(name, [parts[i] for i in having if seen[i, name].kind == "number"])
    return problems


def _note_signs(name: str, parts: Sequence[Part]) -> None:
    """Say of numbers without a percent sign that others have one: 5 beside 5 % may be a hundred times it."""
    signs = {part.units[name] for part in parts if name in part.units}
    for part in parts if signs else ():
        if name not in part.units:
            sign = sorted(signs)[0]
            means = f"5{sign} is read as {5 * 10.0 ** PER[sign]:g}"
            what = f"column {name!r} is without the {sign} of other files, where {means}"
            part.notes.append(Note(what, "write it alike in all files"))


def _alone(found: Collection[str]) -> list[str]:
    return list(found) if len(found) == 1 else []


def _proven(seen: Mapping[tuple[int, str], Seen], i: int, names: Collection[str]) -> set[str]:
    """The decimal marks that some column of a part proves."""
    looks = [seen[i, name].numbers for name in names if seen[i, name].kind == "number"]
    return {mark for one in looks if one is not None for mark in one.proven}


def _marks(part: Part, proven: Collection[str]) -> list[str]:
    """The decimal mark of a part, if it shows one: fractions that pyarrow read in a text have points."""
    import pyarrow as pa

    if part.how.decimal is not None:
        return [part.how.decimal]
    points = not part.typed and any(pa.types.is_floating(kind) for kind in part.table.schema.types)
    return _alone({*proven, "."} if points else proven)


def _against(part: Part, seen: Mapping[str, Seen], wishes: Wishes) -> dict[str, str]:
    """A sentence for columns whose cells prove another decimal mark than was asked for, if none proves that.

    What pyarrow read with the mark that was asked for is looked at as text: 1.234 proves nothing.
    """
    import pyarrow as pa

    other = "," if wishes.decimal == "." else "."
    free = [name for name, one in seen.items() if one.kind == "number" and name not in wishes.categories]
    looks = {name: one for name in free if (one := seen[name].numbers) is not None and one.proven}
    if wishes.decimal is None or {mark for one in looks.values() for mark in one.proven} != {other}:
        return {}
    read = [name for name in free if pa.types.is_floating(part.table.schema.field(name).type)]
    if part.again is not None and read:
        texts = part.again(replace(part.how, as_text=(*part.how.as_text, *read))).table
        again = [_see(texts[name], part.typed, True).numbers for name in read]
        if any(one is not None and wishes.decimal in one.proven for one in again):
            return {}
    such = next(text for one in looks.values() for text, cell in one.cells.items() if cell.decimal == other)
    have = f"{'has' if len(looks) == 1 else 'have'} decimal {'commas' if other == ',' else 'points'}"
    sentence = (
        f"{listed(list(looks))} {have}, such as {such!r}, but {option('decimal', wishes.decimal)} was said:"
        f" say {option('decimal', other)} instead, or keep the text with {option('categories')}"
    )
    return dict.fromkeys(looks, sentence)


def _such(seen: Mapping[tuple[int, str], Seen], i: int, names: Collection[str]) -> str:
    """A cell that proves a decimal mark."""
    looks = [seen[i, name].numbers for name in names if seen[i, name].kind == "number"]
    return next(t for one in looks if one for t, cell in one.cells.items() if cell.decimal not in ("", "?"))


def _numeric_label(part: Part, seen: Seen, name: str) -> bool:
    """Whether a label is to be a number: few different texts are classes, and stay as they are written."""
    if seen.rows:
        return seen.kind == "number" and len(seen.rows) > FEW
    return seen.kind == "number" and len(part.table[name].unique()) > FEW


def _see(column: Any, typed: bool, wanted: bool) -> Seen:
    """What a column is; `wanted`: it is to be numbers, whatever it looks like."""
    import pyarrow as pa

    if column.null_count == len(column):
        return Seen("empty")
    kind = column_kind(column)
    if kind in ("numeric", "boolean"):
        return Seen("number")
    if kind == "date or time":
        return Seen("date")
    if kind != "categorical":
        return Seen("other")
    if pa.types.is_dictionary(column.type) and not wanted:
        return Seen("text")
    tried = column.slice(0, TRIED).drop_null().to_pylist() or column.drop_null().slice(0, TRIED).to_pylist()
    tried = [text for text in map(str, tried) if text.strip().lower() not in GAPS]
    if 2 * sum(parse_number(t) is not None or dates.parse(t) is not None for t in tried) < len(tried):
        return Seen("text")
    counts = column.drop_null().value_counts()
    texts = map(str, counts.field("values").to_pylist())
    rows: Counter[str] = Counter()
    for text, times in zip(texts, counts.field("counts").to_pylist(), strict=True):
        rows[text.strip()] += times
    gaps = frozenset(text for text in rows if text.lower() in GAPS)
    said = {text: times for text, times in rows.items() if text not in gaps}
    numbers = look(said)
    days = {text: day for text in said if (day := dates.parse(text)) is not None}
    for one, cells in (("number", numbers.cells), ("date", days)):
        strays = frozenset(said) - frozenset(cells)
        clear = sum(said[text] for text in cells) > CLEAR * sum(said.values())
        if cells and (wanted or (clear and not (strays and (typed or len(rows) <= FEW)))):
            if one == "number" and not wanted and (why := _names(numbers, typed)):
                return Seen("text", rows, numbers, {}, strays, gaps, why)
            return Seen(one, rows, numbers, days if one == "date" else {}, strays, gaps)  # type: ignore[arg-type]
    why, others = "", [text for text in said if text not in numbers.cells]
    if len(numbers.currencies) > 1:
        why = f"is in {' and '.join(numbers.currencies)}"
    elif numbers.proportion >= 0.5:
        why = f"mixes numbers with text, such as {others[0]!r}"
    # not 3+, which says something
    alone = len(others) == 1 and not any(letter.isdigit() for letter in others[0])
    return Seen("text", mixed=why, hint=others[0] if why and alone else "")


def _names(numbers: Look, typed: bool) -> str:
    """Why digits are names: some begin with a zero, or a format with types calls a few of them text."""
    if not all(text.isdigit() for text in numbers.cells):
        return ""
    if code := next((text for text in numbers.cells if CODE.match(text)), ""):
        return f"has leading zeros, such as {code!r}"
    return AS_A_FRAME_SAYS if typed and len(numbers.cells) <= MOST_CATEGORIES else ""


def _apply(
    part: Part, name: str, kind: Is, seen: Seen, shown: str | None, order: str | None, wishes: Wishes
) -> str | None:
    """Make the column of a part what it is to be; a sentence if it cannot be. `shown`: the decimal mark."""
    if seen.kind in ("empty", "other") or kind in ("other", "empty"):
        return None
    if kind == "text":
        if not seen.rows and seen.kind == "number":
            _as_text(part, name)
        if seen.mixed and name not in wishes.categories:
            does = "reads it as numbers" if seen.rows else "says which rows are no numbers"
            what = f"column {name!r} {seen.mixed}{AS_TEXT}"
            choice = f"{option('numbers', name)} {does}"
            if seen.hint:
                choice = f"{option('missing', seen.hint)} reads that as missing, {choice}"
            about = f"{name!r} ({seen.mixed})"
            note = Note(what, choice, seen.mixed == AS_A_FRAME_SAYS, MIXED, about, column=name)
            part.notes.append(note)
        return None
    if seen.kind == "text" and kind == "number" and seen.rows:
        seen = replace(seen, kind="number")  # digits that would be names if others did not say otherwise
    if seen.kind == "text" or (seen.kind == kind and not seen.rows):
        return None  # text where others have numbers is said when they are compared
    if seen.kind != kind:
        return (
            f"column {name!r} holds {seen.kind}s, but {kind}s elsewhere: leave it out with"
            f" {option('exclude', name)}"
        )
    if seen.strays:
        return _stray(part, name, kind, seen.strays)
    if kind == "number":
        values = _numbers(part, name, seen, shown, wishes.decimal)
    else:
        values = _instants(part, name, seen, order)
    if gaps := sum(seen.rows[text] for text in seen.gaps):
        shown = ", ".join(map(repr, sorted(seen.gaps)))
        what = f"{shown} in column {name!r} is taken for missing ({counted(gaps, 'row')})"
        about, choice = f"{name!r} ({shown})", f"{option('categories', name)} keeps the text"
        part.notes.append(Note(what, choice, kind=GAP, about=about, cells=gaps))
    _set(part, name, values)
    return None


def _numbers(part: Part, name: str, seen: Seen, shown: str | None, asked: str | None) -> dict[str, Any]:
    """The texts of a column as numbers; where they leave the decimal mark open, as asked or shown."""
    found = seen.numbers
    assert found is not None
    mark = found.decimal(asked or shown or ".")
    values = {text: cell.value(mark) for text, cell in found.cells.items()}
    choice = f"{option('categories', name)} keeps the text"
    kind: Kind | None = NUMBERS
    such = next((t for t, cell in found.cells.items() if cell.decimal or cell.grouped or cell.unit), "")
    if not found.plain(part.how.decimal or "."):
        what = f"column {name!r} holds numbers as text: {such!r} is read as {values[such]:.12g}"
        if found.open and not found.proven and asked is None:
            such, other, kind = found.open[0], "," if mark == "." else ".", None
            what = f"column {name!r} leaves open what {such!r} is: it is read as {values[such]:.12g}"
            if shown is None:
                choice = f"{option('decimal', other)} reads {found.cells[such].value(other):.12g}"
            else:
                what += ", as other numbers are"
        elif len(found.proven) == 2:
            what += ", with decimal commas and decimal points"
        about = f"{name!r} ({such!r} is {values[such]:.12g})"
        part.notes.append(Note(what, choice, kind=kind, about=about))
    elif part.typed:
        such = next(iter(values))
        what = f"column {name!r} holds numbers as text, such as {such!r}: read as numbers"
        part.notes.append(Note(what, choice, kind=kind, about=repr(name)))
    if found.unit in PER:
        part.units[name] = found.unit
    return values


def _instants(part: Part, name: str, seen: Seen, order: str | None) -> dict[str, Any]:
    proven = _alone(dates.orders(seen.dates))
    used = proven[0] if proven else order or "mdy"
    values = {text: day.instant(used) for text, day in seen.dates.items()}
    such = next((text for text, day in seen.dates.items() if day.order == "?"), next(iter(values)))
    choice, kind = f"{option('exclude', name)} leaves it out", DATES
    if not proven and order is None and seen.dates[such].order == "?":
        choice, kind = f"{option('dates', 'dmy')} reads the day first", MONTH_FIRST
    day = values[such]
    shown = "nothing" if day is None else f"{day:%Y-%m-%d}"
    about = f"{name!r} ({such!r} is {shown})"
    what = f"column {name!r} holds dates: {such!r} is read as {shown}"
    part.notes.append(Note(what, choice, kind=kind, about=about, column=name))
    return values


def left_out(note: Note, why: str) -> Note:
    """The note of a column that is read as text, if that text is then left out."""
    what = f"{note.what.removesuffix(AS_TEXT)}, and is left out, for {why}"
    return replace(note, what=what, plain=False, kind=MIXED_OUT)


def _stray(part: Part, name: str, kind: str, strays: Collection[str]) -> str:
    column = part.table[name]
    rows = [
        row for row, text in enumerate(column.to_pylist()) if text is not None and str(text).strip() in strays
    ]
    such = str(column[rows[0]].as_py()).strip()
    more = f" (and in {len(rows) - 1} more)" if len(rows) > 1 and len(strays) == 1 else ""
    meant = option("missing", such) if len(strays) == 1 else f"{option('missing')} and each of the texts"
    drawn = part.how.total not in (None, len(column))  # from among others: it does not say where it stood
    where = "a row that was drawn" if drawn else f"data row {part.before + rows[0] + 1}"
    return (
        f"column {name!r} holds {kind}s, but {such!r} in {where}{more}:"
        f" correct it, or if it stands for a missing value, say so with {meant};"
        f" {option('categories', name)} reads all as text"
    )


def _set(part: Part, name: str, values: Mapping[str, Any]) -> None:
    """Replace texts by what they say; what says nothing is missing."""
    import pyarrow as pa

    coded = part.table[name].combine_chunks().dictionary_encode()
    said = [values.get(str(text).strip()) for text in coded.dictionary.to_pylist()]
    made = pa.array(said, pa.float64() if all(not hasattr(v, "year") for v in said) else pa.timestamp("us"))
    at = part.table.schema.get_field_index(name)
    part.table = part.table.set_column(at, name, made.take(coded.indices))


def _as_text(part: Part, name: str) -> None:
    """Numbers as the text that they are written as; where nothing is written, as the shortest."""
    import pyarrow as pa

    if part.again is not None:
        column = part.again(replace(part.how, as_text=(*part.how.as_text, name))).table[name]
    else:
        own = part.table[name]
        plain = np.asarray(own.drop_null().to_numpy())
        texts = np.full(len(own), None, dtype=object)
        texts[~np.asarray(own.is_null())] = text_keys(plain)
        column = pa.array(texts, pa.string())
    part.table = part.table.set_column(part.table.schema.get_field_index(name), name, column)
