"""What the columns of a file are: the one place that decides whether text is numbers, dates or text.

What a column is, is decided by the first file that has it, the test set before all others, or a yardstick
before any file. How its numbers or dates are written each file shows itself; one that leaves it open is read
as the test set is. The test set never follows the data.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dataworth.data.convert import MOST_CATEGORIES, Column, column_kind
from dataworth.data.io import dates
from dataworth.data.io.files import Part
from dataworth.data.io.notes import AS_TEXT, DATES, MIXED, Kind, Note
from dataworth.data.io.numbers import LEADING_ZERO, Written, is_null_token, plain_values, to_numbers, written
from dataworth.data.io.schema import ColumnType, Is, texts_of
from dataworth.wording import counted, listed, option

CLEAR = 0.9
"""The proportion of rows that are numbers from which the others are to be corrected."""
FEW = 20
"""Different texts up to which a column that is not all numbers holds categories, such as 0, 1, 2 and 3+."""
TRIED = 200
"""Rows that are tried before a whole column is."""
AS_A_FRAME_SAYS = "holds whole numbers as text"
NUMBERS = Kind("numbers written as text", "categories", "keeps the text")
TAKEN = Kind("taken for missing", "categories", "keeps the text")
MONTH_FIRST = Kind("dates, read with the month first", "dates", "dmy reads the day first")
COMMAS = Kind("numbers have decimal commas: '1,234' is 1.234", "decimal", ", confirms that")
OF_TYPES: dict[str, Is] = {"numeric": "number", "boolean": "number", "date or time": "date"}
UNIT = re.compile(r"[-+]?\d[\d.,]*\s*([^\W\d_]{1,6})$")


@dataclass(frozen=True)
class TypeOverrides:
    """What users say of the types of columns; `kinds`: what columns of a yardstick are."""

    categories: Collection[str] = ()
    numbers: Collection[str] = ()
    decimal: str | None = None
    dates: str | None = None
    kinds: Mapping[str, Is] = field(default_factory=dict)

    @classmethod
    def of(cls, columns: Collection[Column], **said: Any) -> TypeOverrides:
        """With the columns of a yardstick, which has parts of a date for a date."""
        kinds: dict[str, Is] = {}
        for column in columns:
            base, _, part = column.name.partition("[")
            if part in ("elapsed]", "day]", "weekday]", "hour]"):
                kinds[base] = "date"
            elif column.kind in ("categorical", "text"):
                kinds[column.name] = "text"
            elif column.kind in ("numeric", "boolean"):
                kinds[column.name] = "number"
        return cls(kinds=kinds, **said)


@dataclass(frozen=True)
class Look:
    """What the texts of a column are; `mixed` says why text that is mostly numbers is none of them.

    plain, values: the type that all cells have as programs write it, and the column of that type; tokens:
    cells that stand for a missing value, with how many rows have each; help: what a user can do about
    mixed text.
    """

    kind: Is
    plain: Any = None
    values: Any = None
    numbers: Written | None = None
    dates: Mapping[str, dates.Written] = field(default_factory=dict)
    tokens: Mapping[str, int] = field(default_factory=dict)
    mixed: str = ""
    help: str = ""


def look_at(column: Any, typed: bool, wanted: bool) -> Look:
    """What a column holds. typed: its format calls it text; wanted: it is to be numbers."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if column.null_count == len(column):
        return Look("empty")
    if (held := column_kind(column)) != "categorical":
        return Look(OF_TYPES.get(held, "other"))
    if pa.types.is_dictionary(column.type) and not wanted:
        return Look("text")
    texts = texts_of(column)
    if not typed and (values := plain_values(texts)) is not None:
        return Look("date" if pa.types.is_temporal(values.type) else "number", values.type, values)
    texts = texts.drop_null()
    absent = is_null_token(texts)
    said = texts.filter(pc.invert(absent))
    tokens = {one["values"]: one["counts"] for one in texts.filter(absent).value_counts().to_pylist()}
    tried = said.slice(0, TRIED)
    if 2 * (written(tried).valid | _are_dates(tried, _dates(tried))).sum() < len(tried):
        return _of_units(tried)
    numbers, distinct = written(said), len(texts.unique())
    days = _dates(said) if numbers.valid.mean() <= CLEAR else {}
    several = len(numbers.signs) > 1
    tests: list[tuple[Is, Any]] = [
        ("number", numbers.valid & (not several)), ("date", _are_dates(said, days)),
    ]  # fmt: skip
    for one, good in tests:
        strays = not good.all()
        if good.any() and (wanted or (good.mean() > CLEAR and not (strays and (typed or distinct <= FEW)))):
            why = "" if wanted or one == "date" else _names(said.filter(pa.array(good)), typed)
            kind: Is = "text" if why else one
            return Look(kind, None, None, numbers, days if one == "date" else {}, tokens, why)
    if several:
        return Look("text", mixed=f"is in {' and '.join(numbers.signs)}")
    if numbers.valid.mean() < 0.5:
        return Look("text")
    others = said.filter(pa.array(~numbers.valid)).unique().to_pylist()
    # not 3+, which says something
    alone = len(others) == 1 and not any(letter.isdigit() for letter in others[0])
    told = f"{option('missing', others[0])} reads that as missing, " if alone else ""
    return Look("text", mixed=f"mixes numbers with text, such as {others[0]!r}", help=told)


def _dates(texts: Any) -> dict[str, dates.Written]:
    found = ((text, dates.parse(text.strip())) for text in texts.unique().to_pylist())
    return {text: day for text, day in found if day is not None}


def _are_dates(texts: Any, days: Mapping[str, dates.Written]) -> Any:
    import pyarrow as pa
    import pyarrow.compute as pc

    flags = pc.is_in(texts, value_set=pa.array(list(days), pa.string()))
    return np.asarray(flags.to_numpy(zero_copy_only=False), dtype=bool)


def _names(cells: Any, typed: bool) -> str:
    """Why digits are names: some begin with a zero, or a format with types calls a few of them text."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not pc.all(pc.match_substring_regex(cells, r"^\d+$")).as_py():
        return ""
    zeros = cells.filter(pc.match_substring_regex(cells, LEADING_ZERO))
    if len(zeros):
        return f"has leading zeros, such as {zeros[0].as_py()!r}"
    return AS_A_FRAME_SAYS if typed and len(pa.array(cells).unique()) <= MOST_CATEGORIES else ""


def _of_units(cells: Any) -> Look:
    """Text; of numbers that all carry one unit it is said how pandas takes it off."""
    texts = cells.to_pylist()
    units = [found[1] if (found := UNIT.match(text)) else "" for text in texts]
    if not texts or not units[0] or units.count(units[0]) < CLEAR * len(units):
        return Look("text")
    line = f".str.removesuffix({units[0]!r}).str.strip().astype(float)"
    return Look("text", mixed=f"holds numbers with a unit, such as {texts[0]!r}", help=line)


def fit(
    part: Part, columns: Mapping[str, str], overrides: TypeOverrides, known: Mapping[str, ColumnType]
) -> tuple[dict[str, ColumnType], dict[str, str]]:
    """The types of a file's columns, and what is wrong with which; decisions are noted in the part.

    Args:
        part: the file.
        columns: the roles of its columns; labels, weights and features are typed, others compared as text.
        overrides: what the user, or a yardstick, says.
        known: the types of the files before it, the test set first.
    """
    import pyarrow as pa

    typed = {name for name, role in columns.items() if role in ("label", "weight", "feature")}
    looks = {}
    for name in columns:
        wanted = name in typed and (name in overrides.numbers or overrides.kinds.get(name) == "number")
        looks[name] = look_at(part.table[name], part.typed and name not in part.cleaned, wanted)
    inspected = [name for name in typed if name not in overrides.categories]
    shown = _decimal_marks(part, looks, inspected, overrides.decimal)
    problems = _against(looks, inspected, shown, overrides.decimal)
    mark = next(iter(shown)) if len(shown) == 1 else ""
    if not part.typed and overrides.decimal is None and mark == ",":
        what = f"numbers have decimal commas, such as {shown[',']!r}, and '1,234' is 1.234"
        part.notes.append(Note(what, f"{option('decimal', ',')} confirms that", kind=COMMAS))
    types: dict[str, ColumnType] = {}
    for name, look in looks.items():
        leading = known.get(name)
        if name not in typed or (columns[name] == "label" and not _numeric_label(part, look, name, leading)):
            types[name] = ColumnType("as it is" if look.kind != "empty" else "empty", look.plain)
            continue
        kind = _kind(name, look, overrides, leading)
        types[name] = ColumnType(kind, look.plain)
        if name in problems or kind in ("other", "empty") or look.kind in ("other", "empty"):
            continue
        if kind == "text":
            if look.mixed and name not in overrides.categories:
                part.notes.append(_mixed_note(name, look))
            continue
        if look.kind == "text" and (look.numbers is None or kind == "date"):
            types[name] = ColumnType("text")  # text where others have numbers is said when they are compared
        elif look.kind not in (kind, "text"):
            problems[name] = (
                f"column {name!r} holds {look.kind}s, but {kind}s elsewhere: leave it out with"
                f" {option('exclude', name)}"
            )
        elif kind == "number" and look.numbers is not None:
            own = mark or (leading.mark if leading is not None else "")
            types[name] = _number_type(part, name, look, own, overrides)
        elif kind == "number" and look.plain == pa.float64():
            types[name] = ColumnType("number", look.plain, ".")
        elif kind == "date" and look.dates:
            types[name] = _date_type(part, name, look, overrides.dates or (leading.order if leading else ""))
        if leading is not None and (wrong := _unsettled(name, leading, types[name])):
            problems[name] = wrong
        _note_tokens(part, name, look)
    table, ready = part.table, {name for name, to in types.items() if to.plain and to.kind != "text"}
    arrays = [
        looks[name].values if name in ready else table.column(j) for j, name in enumerate(table.column_names)
    ]
    part.table = pa.Table.from_arrays(arrays, names=table.column_names, metadata=table.schema.metadata)
    return types, problems


def _unsettled(name: str, leading: ColumnType, own: ColumnType) -> str:
    """A sentence where a file shows that the test set, which left it open, was read otherwise by default."""
    if leading.open and own.mark == ",":
        said = f"has decimal commas here, which the test set leaves open ({leading.open!r}): say"
        return f"column {name!r} {said} {option('decimal', ',')} or {option('decimal', '.')}"
    if leading.open and own.order == "dmy":
        said = f"has the day first here, which the test set leaves open ({leading.open!r}): say"
        return f"column {name!r} {said} {option('dates', 'dmy')} or {option('dates', 'mdy')}"
    return ""


def _kind(name: str, look: Look, overrides: TypeOverrides, leading: ColumnType | None) -> Is:
    if name in overrides.categories:
        return "text"
    if name in overrides.kinds:
        return overrides.kinds[name]
    if name in overrides.numbers:
        return "number"
    return look.kind if leading is None or leading.kind in ("empty", "as it is") else leading.kind


def _numeric_label(part: Part, look: Look, name: str, leading: ColumnType | None) -> bool:
    """Whether a label that is written as text is to be a number: few different texts are classes."""
    if leading is not None and leading.kind != "empty":
        return leading.kind == "number"
    return look.kind == "number" and look.plain is None and len(part.table[name].unique()) > FEW


def _decimal_marks(
    part: Part, looks: dict[str, Look], names: Collection[str], asked: str | None
) -> dict[str, str]:
    """The decimal marks that cells of a file prove, each with such a cell.

    1.234 may be a fraction or, in German, 1234: columns of such numbers are looked at once more where the
    file shows commas, or separates columns by semicolons and shows nothing.
    """
    import pyarrow as pa

    def proven() -> dict[str, str]:
        found = [looks[name].numbers for name in names if looks[name].kind == "number"]
        return {mark: such for one in reversed(found) if one for mark, such in one.proven.items()}

    shown = proven()
    opened = any(one.numbers is not None and one.numbers.open for one in looks.values())
    if part.typed or not (asked or "," in shown or opened or part.how.sep == ";"):
        return shown
    floats = [name for name in names if looks[name].plain == pa.float64()]
    closer = {name: written(texts_of(part.table[name]).drop_null()) for name in floats}
    shown = {mark: such for one in closer.values() for mark, such in one.proven.items()} | shown
    if asked == "," or shown.keys() == {","} or (part.how.sep == ";" and not shown and not asked):
        for name, one in closer.items():
            if one.open and not one.proven:
                looks[name] = Look("number", numbers=one)
    return shown


def _against(
    looks: Mapping[str, Look], names: Collection[str], shown: Mapping[str, str], asked: str | None
) -> dict[str, str]:
    """A sentence for columns that prove another decimal mark than was asked for, if none proves that."""
    other = "," if asked == "." else "."
    if asked is None or shown.keys() != {other}:
        return {}
    import pyarrow as pa

    own = []
    for name in (name for name in looks if name in names):
        numbers = looks[name].numbers
        proves = looks[name].plain == pa.float64() if numbers is None else other in numbers.proven
        own += [name] if proves and looks[name].kind == "number" else []
    have = f"{'has' if len(own) == 1 else 'have'} decimal {'commas' if other == ',' else 'points'}"
    sentence = (
        f"{listed(own)} {have}, such as {shown[other]!r}, but {option('decimal', asked)} was said:"
        f" say {option('decimal', other)} instead, or keep the text with {option('categories')}"
    )
    return dict.fromkeys(own, sentence)


def _number_type(part: Part, name: str, look: Look, shown: str, overrides: TypeOverrides) -> ColumnType:
    """How the numbers of a column are written; where they leave the decimal mark open, as asked or shown."""
    import pyarrow as pa

    found, asked = look.numbers, overrides.decimal
    assert found is not None
    mark = found.decimal(asked or shown)
    made = ColumnType("number", None, mark, found.signs, open="" if mark else found.open)

    def value(text: str, mark: str) -> str:
        return f"{to_numbers(pa.array([text]), mark, made.signs)[0].as_py():.12g}"

    choice = f"{option('categories', name)} keeps the text"
    kind: Kind | None = NUMBERS
    such = found.such
    if not found.plain(asked or shown or "."):
        what = f"column {name!r} holds numbers as text: {such!r} is read as {value(such, made.mark)}"
        if found.open and not found.proven and asked is None:
            such, other, kind = found.open, "." if made.mark == "," else ",", None
            what = f"column {name!r} leaves open what {such!r} is: it is read as {value(such, made.mark)}"
            if not shown:
                choice = f"{option('decimal', other)} reads {value(such, other)}"
            else:
                what += ", as other numbers are"
        elif len(found.proven) == 2:
            what += ", with decimal commas and decimal points"
        about = f"{name!r} ({such!r} is {value(such, made.mark)})"
        part.notes.append(Note(what, choice, kind=kind, about=about))
    elif part.typed and name not in part.cleaned:
        first = part.table[name].drop_null()[0].as_py()
        what = f"column {name!r} holds numbers as text, such as {first!r}: read as numbers"
        part.notes.append(Note(what, choice, kind=kind, about=repr(name)))
    return made


def _date_type(part: Part, name: str, look: Look, otherwise: str) -> ColumnType:
    """How the dates of a column are written; where the day is open, as asked or as in the test set."""
    orders = dates.orders(look.dates)
    order = next(iter(orders)) if len(orders) == 1 else otherwise
    such = next((text for text, day in look.dates.items() if day.order == "?"), next(iter(look.dates)))
    choice, kind = f"{option('exclude', name)} leaves it out", DATES
    if not order and look.dates[such].order == "?":
        choice, kind = f"{option('dates', 'dmy')} reads the day first", MONTH_FIRST
    elif look.dates[such].order != "?":
        order = order or "mdy"  # nothing is open
    day = look.dates[such].instant(order or "mdy")
    shown = "nothing" if day is None else f"{day:%Y-%m-%d}"
    what = f"column {name!r} holds dates: {such!r} is read as {shown}"
    about = f"{name!r} ({such!r} is {shown})"
    part.notes.append(Note(what, choice, kind=kind, about=about, column=name))
    return ColumnType("date", order=order, open="" if order else such)


def _note_tokens(part: Part, name: str, look: Look) -> None:
    if not look.tokens:
        return
    count, shown = sum(look.tokens.values()), ", ".join(map(repr, sorted(look.tokens)))
    what = f"{shown} in column {name!r} is taken for missing ({counted(count, 'row')})"
    choice = f"{option('categories', name)} keeps the text"
    part.notes.append(Note(what, choice, kind=TAKEN, about=f"{name!r} ({shown})", cells=count))


def _mixed_note(name: str, look: Look) -> Note:
    what = f"column {name!r} {look.mixed}{AS_TEXT}"
    does = "reads it as numbers" if look.numbers is not None else "says which rows are no numbers"
    choice = f"{look.help}{option('numbers', name)} {does}"
    if look.help.startswith(".str"):
        choice = f"in pandas, frame[{name!r}] = frame[{name!r}]{look.help} makes it numbers"
    plain = look.mixed == AS_A_FRAME_SAYS
    return Note(what, choice, plain, MIXED, f"{name!r} ({look.mixed})", column=name)
