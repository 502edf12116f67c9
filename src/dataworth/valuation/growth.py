"""How the value of data grows with their rows: the two laws of `outlook`, fitted and averaged."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..arrays import Array
from ..measure.intervals import over_blocks

HELD_OUT = 0.5
"""Parts larger than this are what laws are tried on."""
KEPT = 0.7
"""Proportion of what the data are worth beyond the law at their own size that more rows keep."""
WIDE, GAINED = 1.2, 0.6
"""What makes ranges hold nine times in ten, at twice and at four times the rows: settled on six sets (magic,
phoneme, satimage, spambase, splice, ring; six seeds), `dataworth study values` reports others."""
RATES = 10.0 ** np.arange(-4.0, 1.01, 0.25)
"""Of the Gaussian law: what a row tells of each number, in units of what is not known beforehand."""
LEAST_LUCK = 1e-3
FALLS = 2.0
"""Standard deviations of luck by which all rows must be worth less than half of them."""
FARTHEST = 100.0


class Law(NamedTuple):
    """u(k) = level + slope · shape(k)."""

    level: float
    slope: float
    rate: float | None

    def __call__(self, rows: Array | float, block: float) -> Array:
        """Nats per block of so many test rows."""
        return np.asarray(self.level + self.slope * shape(rows, self.rate, block))


def shape(rows: Array | float, rate: float | None, block: float) -> Array:
    """The logarithm, or the Gaussian law of a rate.

    >>> bool(shape(1e9, 0.1, 10.0) < 0.5 * np.log(1 + 0.1 * 10.0))
    True
    """
    if rate is None:
        return np.asarray(np.log(rows))
    seen, tested = 1.0 + rate * np.asarray(rows, dtype=float), 1.0 + rate * block
    return np.asarray(0.5 * np.log(seen * tested / (seen + tested - 1.0)))


def fitted(sizes: Array, values: Array, weights: Array, block: float, rates: Array | list[None]) -> Law:
    """Weighted least squares, at the best of some rates; a Gaussian law never falls."""
    best, least = Law(float(np.average(values, weights=weights)), 0.0, None), np.inf
    for rate in rates:
        x = shape(sizes, rate, block)
        centre, level = (float(np.average(part, weights=weights)) for part in (x, values))
        slope = float(weights @ ((x - centre) * (values - level))) / float(weights @ (x - centre) ** 2)
        slope = slope if rate is None else max(slope, 0.0)
        law = Law(level - slope * centre, slope, rate)
        misfit = float(weights @ (values - law(sizes, block)) ** 2)
        if misfit < least:
            best, least = law, misfit
    return best


@dataclass(frozen=True)
class Curve:
    """Sizes of parts in ascending order, all rows last; worth is parts × blocks."""

    sizes: Array
    worth: Array

    @classmethod
    def of(cls, sizes: Mapping[str, int], pmi: Callable[[str], Array]) -> Curve:
        """From arms and what they are worth."""
        names = sorted(sizes, key=lambda name: sizes[name])
        return cls(
            np.array([sizes[name] for name in names], dtype=float), np.array([pmi(name) for name in names])
        )

    @property
    def means(self) -> list[tuple[float, float]]:
        """Each size, and the mean value of its parts."""
        return [(k, float(self.worth[self.sizes == k].mean())) for k in np.unique(self.sizes)]

    @property
    def falls(self) -> bool:
        """Whether all rows are worth less than half of them, beyond blocks and luck."""
        half = self.worth[np.abs(self.sizes - 0.5 * self.sizes[-1]) < 1.0].mean(axis=0)
        loss = over_blocks(self.worth[-1] - half)
        return loss.negative and -loss.value > FALLS * float(self.luck(self.sizes[-1:])[0])

    def luck(self, sizes: Array) -> Array:
        """Standard deviation of what parts of a size are worth, a power of the size told from small parts.

        Parts of one dataset overlap: those of size k of n differ by √(1 − k/n) of what independent ones do.
        """
        n = self.sizes[-1]
        small = [k for k in np.unique(self.sizes) if k <= HELD_OUT * n + 1.0]
        found = [self.worth[self.sizes == k].mean(axis=1).std(ddof=1) / np.sqrt(1.0 - k / n) for k in small]
        x, y = np.log(small), np.log(np.array(found) + LEAST_LUCK)
        power = float(np.clip(np.polyfit(x, y, 1)[0], -1.0, 0.0))
        return np.asarray(np.exp(np.mean(y - power * x) + power * np.log(sizes)))

    def laws(self, block: float) -> Forecast:
        """Both laws, fitted to all sizes; each has its say by how it foretold the larger parts."""
        sizes, values = (np.array(part) for part in zip(*self.means, strict=True))
        counts = np.array([(self.sizes == k).sum() for k in sizes])
        weights = np.minimum(counts, np.maximum(sizes[-1] / sizes, 1.0)) / self.luck(sizes) ** 2
        small = sizes <= HELD_OUT * sizes[-1] + 1.0
        laws, misses = [], []
        for rates in ([None], RATES):
            tried = fitted(sizes[small], values[small], weights[small], block, rates)
            misses.append(float(weights[~small] @ (values[~small] - tried(sizes[~small], block)) ** 2))
            laws.append(fitted(sizes, values, weights, block, rates))
        gaussian = 1.0 / (1.0 + np.exp(0.5 * np.clip(misses[1] - misses[0], -700.0, 700.0)))
        luck = float(self.luck(sizes[-1:])[0])
        return Forecast(laws[0], laws[1], float(gaussian), sizes[-1], values[-1], luck, block)


class Forecast(NamedTuple):
    """Both laws, the Gaussian's proportion, the rows and the value that there are, and the luck in it."""

    logarithm: Law
    bent: Law
    gaussian: float
    have: float
    value: float
    luck: float
    block: float

    def __call__(self, rows: float) -> float:
        """The value of so many rows in all."""
        return float(self._mean(rows) + KEPT * (self.value - self._mean(self.have)))

    def _mean(self, rows: float) -> float:
        told = [float(law(rows, self.block)) for law in (self.logarithm, self.bent)]
        return (1.0 - self.gaussian) * told[0] + self.gaussian * told[1]

    def range(self, rows: float) -> tuple[float, float]:
        """Where the value lies in nine cases of ten.

        WIDE √log₂(k/n) · √(luck² + (GAINED · gain)²): with every doubling as much again is not known.
        """
        value, doublings = self(rows), float(np.log2(max(rows / self.have, 1.0)))
        half = WIDE * float(np.sqrt(doublings) * np.hypot(self.luck, GAINED * (value - self.value)))
        return value - half, value + half

    def rows_for(self, target: float, have: int) -> int | None:
        """Rows in all that the target takes; None beyond a hundred times what there is."""
        if self.value >= target:
            return have
        low, high = float(have), FARTHEST * have
        if self(high) < target:
            return None
        while high - low > 0.5:
            middle = 0.5 * (low + high)
            low, high = (low, middle) if self(middle) >= target else (middle, high)
        return int(np.ceil(high))
