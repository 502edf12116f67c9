"""Cells of text columns: numbers and dates as people write them, and what the cells of a column are.

A column of numbers has one decimal mark, a column of dates one order of day and month: the one by which more
of its cells can be read (`58,20`; `23/04/2021`). Where both read as many (`1,234`; `03/04/2021`) it is open.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Any, Literal, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dataworth.arrays import Flags
from dataworth.data.convert import MOST_CATEGORIES, column_kind
from dataworth.wording import option

Is = Literal["number", "date", "text", "as it is", "other", "empty"]
OF_TYPES: dict[str, Is] = {"numeric": "number", "boolean": "number", "date or time": "date"}
NA_VALUES = (
    "", "NA", "N/A", "n/a", "NaN", "nan", "-nan", "-NaN", "null", "NULL", "None", "<NA>", "#N/A", "#NA",
)  # fmt: skip
"""Cells of a text file that stand for a missing value in every column."""
NULL_TOKENS = tuple(
    "? - -- --- – — . .. n.a. na nil missing unknown tbd k.a. k.a n.v. n.d. s/d"  # noqa: SIM905
    " #nv #div/0! #value! #ref! #num! #null!".split()
)
"""Cells that stand for a missing value where the others are numbers or dates, in any case of letters."""
CLEAR = 0.9
"""The proportion of rows that are numbers from which the others are to be corrected."""
FEW = 20
"""Different texts up to which a column that is not all numbers holds categories, such as 0, 1, 2 and 3+."""
TRIED = 200
"""Rows that are tried before a whole column is."""
AS_A_FRAME_SAYS = "holds whole numbers as text"
SIGNS = ("$", "€", "£", "¥", "%", "CHF", "USD", "EUR", "GBP")
"""Signs that numbers of a column may carry, all of them the same; they do not change the value."""
GROUPERS = "'’ \u00a0\u2009\u202f"
NUMBER = {
    mark: rf"^[-+]?((\d+|[1-9]\d{{0,2}}([{other}]\d{{3}})+|\d{{1,3}}([{GROUPERS}]\d{{3}})+)([{mark}]\d*)?|"
    rf"[{mark}]\d+)([eE][-+]?\d+)?$"
    for mark, other in (".,", ",.")
}
"""Numbers by their decimal mark; the other one may group thousands."""


def to_numbers(column: Any, mark: str, signs: Sequence[str] = ()) -> Any:
    """A text column as numbers with this decimal mark; null where a cell is none."""
    body = pc.utf8_trim_whitespace(column)
    if signs:
        own = f"(?:{'|'.join(map(re.escape, signs))})"
        body = pc.replace_substring_regex(body, rf"^([-+−–]?)\s*{own}\s*|\s*{own}$", r"\1")
    body = pc.replace_substring_regex(body, "^[−–]", "-")
    bare = pc.replace_substring_regex(body, f"[{GROUPERS}{'.' if mark == ',' else ','}]", "")
    point = pc.replace_substring(bare, mark, ".")
    valid = pc.match_substring_regex(body, NUMBER[mark])
    return pc.if_else(valid, point, pa.scalar(None, point.type)).cast(pa.float64())


def is_null_token(column: Any) -> Any:
    """Where a text column holds a token for a missing value, as a pyarrow mask."""
    lower = pc.utf8_lower(pc.utf8_trim_whitespace(column))
    return pc.is_in(lower, value_set=pa.array(NULL_TOKENS, column.type))


PLAIN_FORMS: dict[str, tuple[Any, ...]] = {
    r"\d{4}-\d\d-\d\d": (pa.date32(), pa.timestamp("s"), pa.timestamp("us"), pa.timestamp("us", "UTC")),
    "(true|false)$": (pa.bool_(),),
    r"-?\d+$": (pa.int64(), pa.float64()),
    r"[-+]?(\d*\.?\d+|\d+\.|inf|nan)": (pa.float64(),),
}
"""How programs write dates, truth values and numbers, and the types that each may have."""


def plain_values(column: Any) -> Any:
    """A text column as what all its cells are as programs write it, or None; digits as 007 are text."""
    # The first cell tells nearly always: a cast that fails takes longer than one that succeeds.
    first = str(column.drop_null()[0].as_py())
    forms = (kinds for form, kinds in PLAIN_FORMS.items() if re.match(form, first, re.IGNORECASE))
    for kind in next(forms, ()):
        try:
            values = column.cast(kind)
        except pa.ArrowInvalid:
            continue
        codes = kind == pa.int64() and pc.any(pc.match_substring_regex(column, r"^0\d+$")).as_py()
        return None if codes else values
    return None


DAY = re.compile(
    r"(\d{1,4}[-/. ]\s*(?:\d{1,2}|[A-Za-z]{3,9})[-/., ]\s*\d{2,4}|[A-Za-z]{3,9}\.? \d{1,2},? \d{4})"
    r"(?:[T ,]+(\d{1,2}:\d\d)(:\d\d)?(\.\d{1,6})?\s*([AaPp][Mm])?)?$"
)
FORMS: dict[str, tuple[str, ...]] = {
    "dmy": (
        "%Y-%m-%d", "%Y/%m/%d", "%Y.%m.%d", "%d.%m.%Y", "%d/%m/%Y", "%d-%m-%Y", "%d.%m.%y", "%d/%m/%y",
        "%d-%m-%y", "%d-%b-%Y", "%d-%b-%y", "%d %b %Y", "%d %B %Y", "%d. %B %Y", "%b %d, %Y", "%B %d, %Y",
        "%b %d %Y", "%B %d %Y",
    )
}  # fmt: skip
FORMS["mdy"] = tuple(re.sub("%d([-/])%m", r"%m\1%d", form) for form in FORMS["dmy"])
"""Forms of dates as Python writes them; dots mean that the day comes first."""
WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
DAY_LONG = 8.64e10  # microseconds


def to_instants(column: Any, order: str) -> Any:
    """A text column as timestamps, with this order of day and month; null where a cell is no date."""
    forms = list(FORMS[order])

    def instant(text: str) -> datetime | None:
        if (found := DAY.match(text.strip())) is None:
            return None
        day, minutes, seconds, part, half = found.groups()
        clock = f"{minutes or '0:00'}{seconds or ':00'}{half or ''}"
        for form in forms:
            with suppress(ValueError):
                when = datetime.strptime(f"{day} {clock}", f"{form} {'%I:%M:%S%p' if half else '%H:%M:%S'}")
                forms.insert(0, forms.pop(forms.index(form)))  # the next cell is written alike
                return when + timedelta(seconds=float(part or 0))
        return None

    coded = column.dictionary_encode()
    known = [instant(text) for text in coded.dictionary.to_pylist()]
    return pa.array(known, pa.timestamp("us")).take(coded.indices)


WAYS: dict[str, tuple[str, str]] = {"number": (".", ","), "date": ("mdy", "dmy")}
"""Decimal marks, and orders of day and month; of two that are as good the first is taken."""
PLAIN = r"^-?\d*\.?\d*$"


class Reading(NamedTuple):
    """How a text column is read best: which cells can be, and the way, "" where both are as good.

    open: a cell that is then one thing or the other; such: one that no program writes, or that is not digits.
    """

    valid: Flags
    how: str
    open: str
    such: str
    signs: tuple[str, ...] = ()


def best_reading(column: Any, kind: str) -> Reading:
    """How the numbers, or the dates, of a text column without missing cells are written."""
    signs: tuple[str, ...] = ()
    if kind == "number":
        signs = tuple(sign for sign in SIGNS if pc.any(pc.match_substring(column, sign)).as_py())
    first, second = (read_as(column, kind, how, signs) for how in WAYS[kind])
    valid = [np.asarray(one.is_valid()) for one in (first, second)]
    proven = int(valid[0].sum()) - int(valid[1].sum())

    def such(where: Flags) -> str:
        return str(column[int(np.argmax(where))].as_py()) if where.any() else ""

    best = valid[proven < 0]
    plain, digits = (np.asarray(pc.match_substring_regex(column, form)) for form in (PLAIN, r"^\d+$"))
    odd = such(best & ~plain) or such(best & ~digits)
    differ = np.asarray(pc.fill_null(pc.not_equal(first, second), False))
    how, open_ = (WAYS[kind][proven < 0], "") if proven else ("", such(differ))
    return Reading(best, how, open_, odd, signs)


def read_as(column: Any, kind: str, how: str, signs: Sequence[str] = ()) -> Any:
    """A text column as numbers or dates, in this way ("": either); null where a cell is none."""
    how = how or WAYS[kind][0]
    return to_numbers(column, how, signs) if kind == "number" else to_instants(column, how)


def features_of(column: Any, name: str, hours: bool = True) -> dict[str, Any]:
    """What of a pyarrow column of dates or times is a feature, as pyarrow columns by name.

    `[elapsed]`, days since 1970; `[day]`, the day of the year; `[weekday]`, a category; `[hour]`, with its
    fraction, if `hours`. A time of day alone has its hour, a duration its days.
    """
    column = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column

    def over(values: Any, unit: float) -> Any:
        return pc.divide(values.cast(pa.int64()).cast(pa.float64(), safe=False), unit)

    if pa.types.is_time(column.type):
        return {f"{name}[hour]": over(column.cast(pa.time64("ns")), 3.6e12)}
    if pa.types.is_duration(column.type):
        return {f"{name}[elapsed]": over(column.cast(pa.duration("us")), DAY_LONG)}
    zone = getattr(column.type, "tz", None)
    stamps = column.cast(pa.timestamp("us", zone), safe=False).cast(pa.int64()).cast(pa.timestamp("us"))
    made = {
        f"{name}[elapsed]": over(stamps, DAY_LONG),
        f"{name}[day]": pc.day_of_year(stamps).cast(pa.float64()),
        f"{name}[weekday]": pa.array(WEEKDAYS).take(pc.day_of_week(stamps)),
    }
    rest = pc.subtract(stamps, pc.floor_temporal(stamps, unit="day"))
    return made | ({f"{name}[hour]": over(rest, 3.6e9)} if hours else {})


def has_hours(column: Any) -> bool:
    """Whether some of the dates are not at midnight."""
    clock = features_of(column, "").get("[hour]")
    return clock is not None and bool(pc.any(pc.not_equal(clock, 0.0)).as_py())


class Look(NamedTuple):
    """What the cells of a column are; `mixed` says why text that looks like numbers is text.

    values: the column, where all cells are written as programs do; tokens: how many rows have each.
    """

    kind: Is
    values: Any = None
    readings: Mapping[str, Reading] = {}
    tokens: Mapping[str, int] = {}
    mixed: str = ""

    @property
    def plain(self) -> Any:
        """The type that all cells have as programs write it, if they do."""
        return None if self.values is None else self.values.type


def look_at(column: Any, name: str, typed: bool, wanted: bool) -> Look:
    """What a column holds. typed: its format calls it text; wanted: it is to be numbers."""
    if column.null_count == len(column):
        return Look("empty")
    if (held := column_kind(column)) != "categorical":
        return Look(OF_TYPES.get(held, "other"))
    if pa.types.is_dictionary(column.type) and not wanted:
        return Look("text")
    texts = texts_of(column)
    if not typed and (values := plain_values(texts)) is not None:
        return Look("date" if pa.types.is_temporal(values.type) else "number", values)
    texts = texts.drop_null()
    absent = is_null_token(texts)
    said = texts.filter(pc.invert(absent))
    if len(said) == 0:
        return Look("text")
    tokens = {one["values"]: one["counts"] for one in texts.filter(absent).value_counts().to_pylist()}
    tried = said.slice(0, TRIED)
    if 2 * sum(best_reading(tried, kind).valid.sum() for kind in WAYS) < len(tried):
        return Look("text", mixed=_unit(tried, name))
    readings = {"number": best_reading(said, "number")}
    numeric, signs = readings["number"].valid, readings["number"].signs
    if numeric.mean() <= CLEAR:
        readings["date"] = best_reading(said, "date")
    strict = typed or len(texts.unique()) <= FEW
    kinds: tuple[Is, ...] = ("date",) if len(signs) > 1 else ("number", "date")
    for kind in (kind for kind in kinds if kind in readings):
        good = readings[kind].valid
        if good.any() and (wanted or (good.mean() > CLEAR and (good.all() or not strict))):
            why = "" if wanted or kind == "date" else _codes(said.filter(pa.array(good)), typed)
            return Look("text" if why else kind, None, readings, tokens, why)
    if len(signs) > 1:
        return Look("text", mixed=f"is in {' and '.join(signs)}")
    if numeric.mean() < 0.5:
        return Look("text")
    others = said.filter(pa.array(~numeric)).unique().to_pylist()
    # not 3+, which says something
    alone = len(others) == 1 and not any(letter.isdigit() for letter in others[0])
    told = f", which {option('na_values', others[0])} reads as missing" if alone else ""
    return Look("text", mixed=f"mixes numbers with text, such as {others[0]!r}{told}")


def _codes(cells: Any, typed: bool) -> str:
    """Why digits are codes: some begin with a zero, or a format with types calls a few of them text."""
    if not pc.all(pc.match_substring_regex(cells, r"^\d+$")).as_py():
        return ""
    zeros = cells.filter(pc.match_substring_regex(cells, r"^0\d+$"))
    if len(zeros):
        return f"has leading zeros, such as {zeros[0].as_py()!r}"
    return AS_A_FRAME_SAYS if typed and len(cells.unique()) <= MOST_CATEGORIES else ""


def _unit(cells: Any, name: str) -> str:
    """Of numbers that all carry one unit it is said how pandas takes it off."""
    texts = cells.to_pylist()
    units = [re.match(r"[-+]?\d[\d.,]*\s*([^\W\d_]{1,6})$", text) for text in texts]
    if len(unit := {found and found[1] for found in units}) > 1 or unit == {None}:
        return ""
    line = f"frame[{name!r}] = frame[{name!r}].str.removesuffix({unit.pop()!r}).str.strip().astype(float)"
    return f"holds numbers with a unit, such as {texts[0]!r}: in pandas, {line} makes it numbers"


def texts_of(column: Any) -> Any:
    """A text column as one pyarrow array of strings."""
    column = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    return column if column.type == pa.string() else column.cast(pa.string())
