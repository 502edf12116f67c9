"""Numbers as people write them: decimal commas, thousands, currencies, percent, units.

A cell is read exactly: its digits and its decimal mark go to `float`, which rounds correctly. Whether a mark
is decimal or groups thousands is proven by some cells (`1.234,50`; `58,20`; `1,234,567`; `0,125`) and open in
others (`1,234`). What one cell proves holds for its column; where nothing is proven the caller decides.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

MULTIPLIERS = {"k": 3, "K": 3, "M": 6, "mn": 6, "B": 9, "bn": 9}
"""Powers of ten."""
SYMBOLS = (
    "US$",
    "A$",
    "C$",
    "NZ$",
    "HK$",
    "R$",
    "$",
    "€",
    "\x80",  # the euro sign of Windows-1252, read as Latin-1
    "£",
    "¥",
    "₹",
    "₽",
    "₩",
    "₺",
    "₫",
    "zł",
    "kr",
    "Fr.",
)
CODES = """USD EUR GBP CHF JPY CNY INR AUD CAD NZD SEK NOK DKK PLN CZK HUF BRL RUB TRY MXN KRW ZAR SGD HKD"""
CURRENCIES = (*SYMBOLS, *re.findall(r"\w+", CODES))
UNITS = re.findall(
    r"\S+",
    """kg g mg t lb lbs oz km m cm mm mi ft in ha l ml h hr hrs min s sec ms d day days week weeks month
    months yr yrs year years °C °F ° kB KB MB GB TB kW kWh W V A Hz MHz GHz bpm kcal mmHg mph
    km/h m² m³ sqm sqft""",
)
PER = {"%": -2, "‰": -3}
GROUPING = "'’ \u00a0\u2009\u202f"
"""Marks that group thousands and are never decimal."""


def _any(words: Sequence[str]) -> str:
    return "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True))


CELL = re.compile(
    rf"(?P<open>\()?(?P<sign>[-+−–]?)\s*(?P<before>{_any(CURRENCIES)})?\s*(?P<inner>[-+−–]?)"
    rf"(?P<body>\d(?:[\d.,{GROUPING}]*\d)?\.?|[.,]\d+)(?P<power>[eE][-+]?\d+)?"
    rf"\s*(?:(?P<after>{_any([*CURRENCIES, *UNITS, *PER])})"
    rf"|(?P<times>{_any([*MULTIPLIERS])})\s*(?P<behind>{_any(CURRENCIES)})?)?(?P<close>\))?$"
)
GROUPS = {mark: re.compile(rf"\d{{1,3}}(?:{re.escape(mark)}\d{{3}})+$") for mark in ".," + GROUPING}
LAKHS = re.compile(r"\d{1,2}(?:,\d{2})+,\d{3}$")


class Cell(NamedTuple):
    """A cell that is a number; `decimal` is its decimal mark, "?" if it can be either, "" if it has none."""

    body: str
    decimal: str
    grouped: bool
    negative: bool
    power: str
    times: str
    unit: str
    money: bool

    def value(self, decimal: str) -> float:
        """The number, with the column's decimal mark where the cell leaves it open."""
        mark = decimal if self.decimal == "?" else self.decimal
        digits = self.body
        for other in GROUPING + ".,":
            digits = digits if other == mark else digits.replace(other, "")
        digits = digits.replace(mark, ".") if mark else digits
        power = int(self.power[1:] or 0) + MULTIPLIERS.get(self.times, 0) + PER.get(self.unit, 0)
        return float(f"{'-' * self.negative}{digits}e{power}")


def parse(text: str) -> Cell | None:
    """A cell as a number, if it is one.

    >>> parse("1.234,50 €").value(","), parse("(12%)").value("."), parse("1'234.5").value(".")
    (1234.5, -0.12, 1234.5)
    >>> parse("1,234").decimal, parse("0,234").decimal, parse("1.2.3"), parse("1_000"), parse("12b")
    ('?', ',', None, None, None)
    """
    found = CELL.match(text)
    if found is None or (found["open"] is None) != (found["close"] is None):
        return None
    before, after = found["before"] or "", found["after"] or found["behind"] or ""
    signs = found["sign"] + found["inner"]
    if (before and after) or len(signs) > 1 or (signs and found["open"]):
        return None
    body, power = found["body"], found["power"] or ""
    read = _marks(body, bool(power))
    if read is None:
        return None
    decimal, grouped = read
    negative = bool(found["open"]) or signs in ("-", "−", "–")
    unit = before or after
    return Cell(body, decimal, grouped, negative, power, found["times"] or "", unit, unit in CURRENCIES)


def _marks(body: str, power: bool) -> tuple[str, bool] | None:
    """The decimal mark of digits and marks, and whether thousands are grouped; None if it is no number."""
    groupers = {c for c in body if c in GROUPING}
    marks = [c for c in body if c in ".,"]
    if groupers:
        whole, mark, _ = body.partition(marks[0]) if marks else (body, "", "")
        if len(groupers) > 1 or len(marks) > 1 or not GROUPS[groupers.pop()].match(whole):
            return None
        return mark, True
    if not marks:
        return "", False
    if len(set(marks)) == 2:
        last = marks[-1]
        whole, _, _ = body.partition(last)
        return (last, True) if marks.count(last) == 1 and _grouped(whole) else None
    if len(marks) > 1:  # grouped thousands, which leave the other mark for decimals
        return ("." if marks[0] == "," else ",", True) if _grouped(body) else None
    whole, mark, rest = body.partition(marks[0])
    open_ = len(rest) == 3 and 1 <= len(whole) <= 3 and whole[0] != "0" and not power
    return ("?", False) if open_ else (mark, False)


def _grouped(whole: str) -> bool:
    return any(GROUPS[mark].match(whole) for mark in ".,") or bool(LAKHS.match(whole))


@dataclass(frozen=True)
class Look:
    """What the different texts of a column are as numbers: `cells`, without those that are none.

    rows: how often each text occurs; proven: decimal marks that some cell proves; unit: what all have;
    currencies: those that occur, if there are several, which have no common number.
    """

    cells: Mapping[str, Cell]
    rows: Mapping[str, int]
    proven: frozenset[str]
    unit: str
    currencies: tuple[str, ...] = ()

    @property
    def proportion(self) -> float:
        """The proportion of rows that are numbers."""
        return sum(self.rows[text] for text in self.cells) / max(1, sum(self.rows.values()))

    @property
    def open(self) -> list[str]:
        """Texts that are one number with a decimal comma and another with a decimal point."""
        return [text for text, cell in self.cells.items() if cell.decimal == "?"]

    def plain(self, mark: str) -> bool:
        """Whether every number is digits, with a decimal point or this mark, as a program writes it."""
        proven = self.proven == {mark}
        return not self.unit and all(
            (cell.decimal in ("", ".", mark) or (proven and cell.decimal == "?" and mark in cell.body))
            and not (cell.grouped or cell.times)
            for cell in self.cells.values()
        )

    def decimal(self, otherwise: str) -> str:
        """The column's decimal mark: the one proven, or what is said otherwise."""
        return next(iter(self.proven)) if len(self.proven) == 1 else otherwise


def look(rows: Mapping[str, int]) -> Look:
    """Texts, and how often each occurs, as numbers.

    A unit or a multiplier counts only if most cells have one, and only if they have the same: `12 B` among
    house numbers is no milliard, and dollars and euros have no common number.

    >>> look({"58,20": 3, "1,234": 1, "n/a": 1}).proven, look({"$5": 1, "€5": 1}).proportion
    (frozenset({','}), 0.0)
    """
    found = {text: cell for text in rows if (cell := parse(text)) is not None}
    total = sum(rows.values())
    units: dict[str, int] = {}
    for text, cell in found.items():
        units[cell.unit] = units.get(cell.unit, 0) + rows[text]
    unit = max(units, key=lambda one: units[one], default="")
    if unit == "" and any(one in CURRENCIES for one in units):  # $5 beside 5
        unit = max((one for one in units if one in CURRENCIES), key=lambda one: units[one])
    times = sum(rows[text] for text, cell in found.items() if cell.times and not cell.money)

    def fits(cell: Cell) -> bool:
        if cell.times and not cell.money and times <= total / 2:
            return False
        if cell.unit == unit:
            return True
        if unit in PER:  # a number without its percent sign may be a hundred times another
            return cell.unit == "" and not cell.body.strip("0.,")
        return cell.unit == "" and (unit in CURRENCIES or unit == "")

    money = tuple(sorted(one for one in units if one in CURRENCIES))
    if len(money) > 1:
        return Look({}, rows, frozenset(), "", money)
    cells = {text: cell for text, cell in found.items() if fits(cell)}
    proven = frozenset(cell.decimal for cell in cells.values()) - {"", "?"}
    return Look(cells, rows, proven, unit if cells else "")
