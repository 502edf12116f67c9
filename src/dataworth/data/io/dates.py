"""Dates as people write them, to instants; and what of an instant is a feature.

`2021-04-03`, `3.4.2021`, `04/03/2021 2:15 pm`, `3 Apr 2021`, `April 3, 2021`, with a time or without. Which
of two numbers is the day is proven where one exceeds 12; dots mean that the day comes first.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, NamedTuple

import numpy as np

MONTHS = {m: i + 1 for i, m in enumerate("jan feb mar apr may jun jul aug sep oct nov dec".split())}  # noqa: SIM905
TIME = (
    r"(?:(?:T|,?\s+)(?P<hour>\d{1,2}):(?P<minute>\d{2})(?::(?P<second>\d{2})(?:[.,](?P<part>\d+))?)?"
    r"\s*(?P<half>[AaPp]\.?[Mm]\.?)?\s*(?P<zone>Z|UTC|[+-]\d{2}:?\d{2})?)?$"
)
FORMS = [
    re.compile(form + TIME)
    for form in (
        r"(?P<year>\d{4})(?P<mark>[-/.])(?P<month>\d{1,2})(?P=mark)(?P<day>\d{1,2})",
        r"(?P<first>\d{1,2})(?P<mark>[-/.])(?P<second_>\d{1,2})(?P=mark)(?P<year>\d{4})",
        r"(?P<first>\d{2})(?P<mark>[-/.])(?P<second_>\d{2})(?P=mark)(?P<year>\d{2})",
        r"(?P<day>\d{1,2})[-/. ]+(?P<name>[A-Za-z]{3,9})[-/., ]+(?P<year>\d{4}|\d{2})",
        r"(?P<name>[A-Za-z]{3,9})\.? +(?P<day>\d{1,2})(?:st|nd|rd|th)?,? +(?P<year>\d{4})",
    )
]
WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
TURN = 69
"""Two-digit years up to 68 are of this century, as in POSIX."""


class Written(NamedTuple):
    """A date as it is written; `order` is dmy or mdy, "?" if it can be either, "" if it cannot be asked."""

    year: int
    first: int
    second: int
    order: str
    after_midnight: timedelta

    def instant(self, order: str) -> datetime | None:
        """The instant, with the column's order where the cell leaves it open; None if there is none."""
        swap = (order if self.order == "?" else self.order) == "mdy"
        month, day = (self.first, self.second) if swap else (self.second, self.first)
        try:
            return datetime(self.year, month, day) + self.after_midnight
        except (ValueError, OverflowError):
            return None


def parse(text: str) -> Written | None:
    """A cell as a date, if it is one.

    >>> parse("3.4.2021").instant("mdy").isoformat(), parse("04/23/2021 2:15 pm").instant("dmy").isoformat()
    ('2021-04-03T00:00:00', '2021-04-23T14:15:00')
    >>> parse("04/03/2021").order, parse("1.2.3"), parse("2021-13-40")
    ('?', None, None)
    """
    found = next((match for form in FORMS if (match := form.match(text))), None)
    if found is None:
        return None
    parts = found.groupdict()
    year = int(parts["year"])
    if len(parts["year"]) == 2:
        year += 2000 if year < TURN else 1900
    order = ""  # a name, a year in front or dots leave nothing open, and prove nothing for other cells
    if parts.get("first") is not None:
        first, second = int(parts["first"]), int(parts["second_"])
        if parts["mark"] != ".":
            order = "dmy" if first > 12 else "mdy" if second > 12 else "?" if first != second else ""
    else:
        month = parts.get("month") or MONTHS.get(parts["name"][:3].lower())
        if month is None:
            return None
        first, second = int(parts["day"]), int(month)
    after = _after_midnight(parts)
    if after is None:
        return None
    made = Written(year, first, second, order, after)
    return None if made.instant("dmy") is None else made


def _after_midnight(parts: Mapping[str, Any]) -> timedelta | None:
    hour, minute, second = (int(parts[name] or 0) for name in ("hour", "minute", "second"))
    if parts["half"]:
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + 12 * (parts["half"][0] in "pP")
    if hour > 24 or minute > 59 or second > 60:
        return None
    after = timedelta(hours=hour, minutes=minute, seconds=float(f"{second}.{parts['part'] or 0}"))
    zone = parts["zone"] or ""
    if zone[:1] in ("+", "-"):
        ahead = timedelta(hours=int(zone[1:3]), minutes=int(zone[-2:]))
        after += ahead if zone[0] == "-" else -ahead
    return after


def orders(cells: Mapping[str, Written]) -> set[str]:
    """Which orders of day and month some cell proves."""
    return {cell.order for cell in cells.values()} & {"dmy", "mdy"}


def to_instants(column: Any, order: str) -> Any:
    """A text column as timestamps, with this order of day and month where a cell leaves it open; else null.

    >>> import pyarrow as pa
    >>> to_instants(pa.array(["3.4.2021", "k.A."]), "mdy").to_pylist()
    [datetime.datetime(2021, 4, 3, 0, 0), None]
    """
    import pyarrow as pa

    coded = column.dictionary_encode()
    coded = coded.combine_chunks() if isinstance(coded, pa.ChunkedArray) else coded
    found = [parse(str(text).strip()) for text in coded.dictionary.to_pylist()]
    known = [None if day is None else day.instant(order) for day in found]
    return pa.array(known, pa.timestamp("us")).take(coded.indices)


def features_of(column: Any, name: str, hours: bool = True) -> dict[str, Any]:
    """What of a pyarrow column of dates or times is a feature, as pyarrow columns by name.

    `[elapsed]`, days since 1970; `[day]`, the day of the year; `[weekday]`, a category; `[hour]`, with its
    fraction, if `hours`. A time of day alone has its hour, a duration its days.

    >>> import pyarrow as pa
    >>> made = features_of(pa.array([datetime(1970, 1, 2, 6, 30)]), "when")
    >>> {name: values.to_pylist() for name, values in made.items()}
    {'when[elapsed]': [1.2708333333333333], 'when[day]': [2.0], 'when[weekday]': ['Fri'], 'when[hour]': [6.5]}
    """
    import pyarrow as pa

    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    kind = column.type
    here = ~np.asarray(column.is_null())

    def whole(values: Any) -> Any:
        full = np.full(len(column), np.nan)
        full[here] = values
        return pa.array(full, from_pandas=True)

    present = column.drop_null()
    if pa.types.is_time(kind):
        seconds = present.cast(pa.time64("ns")).cast(pa.int64()).to_numpy() / 3.6e12
        return {f"{name}[hour]": whole(seconds)}
    if pa.types.is_duration(kind):
        return {
            f"{name}[elapsed]": whole(present.cast(pa.duration("us")).cast(pa.int64()).to_numpy() / 8.64e10)
        }
    micro = (
        present.cast(pa.timestamp("us", getattr(kind, "tz", None)), safe=False).cast(pa.int64()).to_numpy()
    )
    days, rest = np.divmod(micro, 86_400_000_000)
    stamps = days.astype("datetime64[D]")
    weekdays = np.array(WEEKDAYS, dtype=object)[(days + 3) % 7]
    texts = np.full(len(column), None, dtype=object)
    texts[here] = weekdays
    made = {
        f"{name}[elapsed]": whole(micro / 8.64e10),
        f"{name}[day]": whole((stamps - stamps.astype("datetime64[Y]")).astype(int) + 1),
        f"{name}[weekday]": pa.array(texts, pa.string()),
    }
    return made | ({f"{name}[hour]": whole(rest / 3.6e9)} if hours else {})


def has_hours(column: Any) -> bool:
    """Whether some of the dates of a pyarrow column have a time.

    >>> import pyarrow as pa
    >>> has_hours(pa.array([datetime(2021, 1, 2)])), has_hours(pa.array([datetime(2021, 1, 2, 6)]))
    (False, True)
    """
    import pyarrow as pa

    if not pa.types.is_timestamp(column.type):
        return False
    zone = column.type.tz
    micro = column.drop_null().cast(pa.timestamp("us", zone), safe=False).cast(pa.int64()).to_numpy()
    return bool((micro % 86_400_000_000).any())
