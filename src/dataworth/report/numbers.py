"""Numbers as people want to read them: as many digits as the error supports, with their units."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dataworth.arrays import Array
from dataworth.data.labels import Classes
from dataworth.evidence.pair import NATS_PER_BIT
from dataworth.measure.clipping import clip
from dataworth.wording import in_words

from .document import Cell, Interval, Mark, Point, Tone

if TYPE_CHECKING:
    from dataworth.measure.summary import Details
    from dataworth.measure.table import PairTable
    from dataworth.valuation.audit.audit import Audit
    from dataworth.valuation.rank import Ranking
    from dataworth.valuation.score import Score
    from dataworth.yardstick.yardstick import Yardstick

ROUNDING = 1e-9
"""Half-widths of intervals, and values, up to this are what arithmetic leaves of nothing."""


def decimals(scale: float) -> int:
    """Digits after the point that show two significant digits of `scale`: 3 of 0.034, 1 of 2.1, 0 of 140."""
    if not math.isfinite(scale) or scale <= 0:
        return 2
    return min(6, max(0, 1 - math.floor(math.log10(scale))))


def digits_for(value: float, interval: Interval = None) -> int:
    """Digits that suit a value: by half the width of its interval, or three significant ones."""
    if interval is not None and interval[1] - interval[0] > 2 * ROUNDING:
        return decimals((interval[1] - interval[0]) / 2)
    return min(4, decimals(abs(value)) + 1) if abs(value) > ROUNDING else 2


def number(value: float, digits: int, sign: bool = False) -> str:
    """A number with fixed digits: −1.23; +0.5 if the sign is asked for, which 0.0 has not."""
    if not math.isfinite(value):
        return "–"
    value = round(value, digits) + 0.0  # −0.0 + 0.0 is 0.0
    return f"{value:{'+' if sign and value else ''}.{digits}f}".replace("-", "−")


Known = Any
"""What has a value, in nats or as a share, and its interval, which may be None: an estimate, a score, …"""


class Unit(NamedTuple):
    """What values are shown in: its name, and the factor from the values."""

    name: str
    factor: float

    def interval(self, known: Known) -> Interval:
        """The interval in this unit."""
        return None if known.interval is None else tuple(end * self.factor for end in known.interval)

    def per_row(self, table: PairTable) -> Unit:
        """The same, of a test row."""
        return Unit(self.name, self.factor / float(table.test_rows.mean()))

    def digits(self, known: Known) -> int:
        """Digits that suit a value."""
        return digits_for(known.value * self.factor, self.interval(known))

    def show(self, known: Known, sign: bool = False, digits: int | None = None, unit: str = "") -> str:
        """A value, its unit if one is given, and its interval, with digits that suit them unless given."""
        digits, ends = self.digits(known) if digits is None else digits, self.interval(known)
        shown = f"{number(known.value * self.factor, digits, sign)} {unit}".strip()
        told = "no interval" if ends is None else f"[{', '.join(number(end, digits) for end in ends)}]"
        return f"{shown} {told}"

    def named(self, known: Known, sign: bool = False) -> str:
        """A value with this unit, and its interval."""
        return self.show(known, sign, unit=self.name)

    def cell(self, known: Known, sign: bool = False, digits: int | None = None) -> Cell:
        """A value and its interval in a table."""
        return Cell(self.show(known, sign, digits), known.value)

    def mark(self, name: str, known: Known, tone: Tone = "plain", beside: str = "") -> Mark:
        """A value and its interval in a chart."""
        return Mark(name, known.value * self.factor, self.interval(known), tone, beside)

    def point(self, x: float, known: Known) -> Point:
        """A value and its interval at a place of a plane."""
        return Point(x, known.value * self.factor, self.interval(known))


def unit_of(bits: bool) -> Unit:
    """Bits, or nats."""
    return Unit("bits", 1.0 / NATS_PER_BIT) if bits else Unit("nats", 1.0)


class Benchmark(NamedTuple):
    """A benchmark score: its name, and the unit of its changes."""

    name: str
    unit: Unit

    @property
    def short(self) -> str:
        """The name without its unit."""
        return self.name.split(",")[0]

    @property
    def change(self) -> str:
        """The name of a change, with its unit."""
        return f"{self.short}, {self.unit.name}" if self.unit.name else self.short


BENCHMARKS = {
    "accuracy": "test accuracy, %",
    "balanced_accuracy": "balanced test accuracy, %",
    "auc": "test AUC, %",
}


def benchmark(yardstick: Yardstick, unit: Unit, metric: str = "accuracy") -> Benchmark:
    """How a benchmark score is shown."""
    if metric == "log_loss":
        return Benchmark(f"log loss, {unit.name} per test row", unit)
    if not isinstance(yardstick.labels, Classes):
        return Benchmark("test R²", Unit("", 1.0))
    return Benchmark(BENCHMARKS[metric], Unit("points", 100.0))


def per_what(details: Details, table: PairTable) -> str:
    """What a value is counted over: a block of the test set, or a pair."""
    if details.size is not None:
        return "pair of {} data and {} test rows".format(*details.size)
    rows = float(table.test_rows.mean())
    return f"block of {number(rows, 0 if rows.is_integer() else 1)} test rows"


def draws(details: Details) -> str:
    """How many blocks or pairs there were."""
    return f"in {details.pairs} pairs" if details.blocks is None else f"in {details.blocks} blocks"


def counted_pmi(result: Score | Audit | Ranking) -> Array:
    """PMI as it was counted, clipped if it was (k × arms, in nats); the table of a result is raw."""
    clipping, pmi = result.details.clipping, result.table.pmi
    return pmi if clipping is None else clip(pmi, **{clipping["rule"]: clipping["bound"]}).values


def describe_per_row(per_row: float, yardstick: Yardstick, unit: Unit) -> str:
    """What a value per test row means for the right answer."""
    return in_words(per_row, not isinstance(yardstick.labels, Classes), *unit)


def against_nothing(result: Score | Ranking, per_row: float, unit: Unit) -> str:
    """What a value per test row means, and what it is counted from: class proportions, or mean and spread."""
    reference, told = result.table.reference, describe_per_row(per_row, result.yardstick, unit)
    if not len(reference):
        return f"{told}, against no data at all"
    if not isinstance(result.yardstick.labels, Classes):
        return f"{told}, against the mean and spread of labels"
    without = float(reference.mean() / result.table.test_rows.mean())
    by_them = f"{np.exp(without):.2f} by them, {np.exp(without + per_row):.2f} with the data"
    return f"{told}, against class proportions alone ({by_them})"
