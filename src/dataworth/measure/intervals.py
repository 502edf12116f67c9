"""Intervals that say what they cover.

*whole*: t over what the test set was drawn in, its rows or groups of them (blocks of rows where a model does
not predict rows one by one); covers the sampling of T with D fixed. A variance that a few of them make is not
known well: with the kurtosis κ of n numbers it has 2n / (κ − 1) degrees of freedom, and at most n − 1 (which
it has of up to 30, too few to tell κ).
Where few numbers count, as in slices, the mean's own skewness g = Σr³ / (Σr²)^{3/2} (r: what each number adds
to its error) moves both ends, by Hall's transformation (1992) of t = (v − truth) / s.e.,

    h(t) = t + g t²/3 + g² t³/27 + g/6,

which is monotone, and nearer to Student's t than t is.
*pairs*: pairs drawn from one finite dataset overlap, so the spread over pairs is not the error of their
mean. With m = min(N_D/n_D, N_T/n_T) independent blocks in the data, mean ± t·s·√(1/(m−1) + 1/k).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..arrays import Array, Flags

LEVEL = 0.95
FEW = 30
"""Numbers up to which their kurtosis is not told from chance."""
NEGLIGIBLE_A_BLOCK, NEGLIGIBLE_A_ROW = 0.02, 0.001
"""Nats a block, and nats a test row: a change below the larger of the two is none, however sure."""


def negligible(rows: float) -> float:
    """Nats a block of so many test rows below which a change is none, however sure.

    Solvers, and temperings on a grid, leave a few thousandths of a nat, the same in every block.
    """
    return max(NEGLIGIBLE_A_BLOCK, NEGLIGIBLE_A_ROW * rows)


@dataclass(frozen=True)
class Estimate:
    """A mean with its standard error and interval; both None where the data cannot support them.

    `monte_carlo` is the part of the error that more pairs would remove; the rest only more rows remove.
    `skew`: of the mean's own error; 0 where it is not asked for.
    """

    value: float
    stderr: float | None
    interval: tuple[float, float] | None
    monte_carlo: float = 0.0
    degrees: float = float("inf")
    skew: float = 0.0

    def at(self, level: float) -> Estimate:
        """The same estimate with an interval of another level."""
        if self.stderr is None:
            return self
        return make_estimate(self.value, self.stderr, self.degrees, level, self.monte_carlo, self.skew)

    def within(self, least: float, most: float) -> Estimate:
        """The same estimate, its interval without what cannot be."""
        if self.interval is None:
            return self
        low, high = (min(max(bound, least), most) for bound in self.interval)
        return replace(self, interval=(low, high))

    @property
    def positive(self) -> bool:
        """Shown above zero."""
        return self.interval is not None and self.interval[0] > 0

    @property
    def negative(self) -> bool:
        """Shown below zero."""
        return self.interval is not None and self.interval[1] < 0

    def p_above(self) -> float:
        """One-sided p-value of "it is not above zero"."""
        from scipy.special import ndtr, stdtr

        if self.stderr is None:
            return 1.0
        if self.stderr == 0.0:
            return 0.0 if self.value > 0 else 1.0
        t, g = self.value / self.stderr, self.skew
        t = -(t + g * t**2 / 3 + g**2 * t**3 / 27 + g / 6)
        return float(ndtr(t) if np.isinf(self.degrees) else stdtr(self.degrees, t))

    def to_dict(self, unit: float = 1.0) -> dict[str, Any]:
        """Value, standard error and interval, divided by a unit."""
        return {
            "value": self.value / unit,
            "stderr": None if self.stderr is None else self.stderr / unit,
            "interval": None if self.interval is None else [bound / unit for bound in self.interval],
        }


def t_quantile(degrees: float, level: float = LEVEL) -> float:
    """Two-sided quantile of Student's t."""
    from scipy.special import ndtri, stdtrit  # scipy.stats takes a second to import

    tail = 0.5 + level / 2
    return float(ndtri(tail) if np.isinf(degrees) else stdtrit(degrees, tail))


def two_sided(mean: Estimate) -> float:
    """p-value of a mean that is zero, by Student's t; without an error, nothing is proved."""
    mirrored = replace(mean, value=-mean.value, skew=-mean.skew)
    return min(1.0, 2.0 * min(mean.p_above(), mirrored.p_above()))


def two_sided_p(values: Array) -> float:
    """p-value of a zero mean of some numbers."""
    return two_sided(over_blocks(values))


def make_estimate(
    value: float,
    stderr: float,
    degrees: float,
    level: float = LEVEL,
    monte_carlo: float = 0.0,
    skew: float = 0.0,
) -> Estimate:
    """value − h⁻¹(±t)·stderr, which is value ± t·stderr without skewness.

    >>> [round(bound, 3) for bound in make_estimate(0.0, 1.0, float("inf"), skew=-0.2).interval]
    [-2.339, 1.722]
    """
    ends = t_quantile(degrees, level) * np.array([1.0, -1.0])
    moved = ends - skew / 6.0
    root = np.cbrt(1.0 + skew * moved)
    ends = 3.0 * moved / (root**2 + root + 1.0)  # 3 (root − 1) / skew
    low, high = (value - ends * stderr).tolist()
    return Estimate(value, float(stderr), (low, high), float(monte_carlo), degrees, float(skew))


def over_blocks(values: Array, level: float = LEVEL) -> Estimate:
    """Mean over disjoint blocks, with Student's t; one block has no interval.

    >>> e = over_blocks(np.array([1.0, 2.0, 3.0]))
    >>> round(e.value, 3), round(e.stderr, 3)
    (2.0, 0.577)
    """
    mean = float(values.mean())
    if len(values) < 2:
        return Estimate(mean, None, None)
    stderr = float(values.std(ddof=1)) / np.sqrt(len(values))
    return make_estimate(mean, stderr, degrees_of(values), level)


def degrees_of(values: Array) -> float:
    """Degrees of freedom of the variance of some numbers, by their kurtosis if they are many."""
    n, square = len(values), (values - values.mean()) ** 2
    excess = float((square**2).mean()) - float(square.mean()) ** 2
    if n <= FEW or excess <= 0.0:
        return n - 1.0
    return min(n - 1.0, max(1.0, 2.0 * n * float(square.mean()) ** 2 / excess))


def over_pairs(values: Array, blocks: float, level: float = LEVEL) -> Estimate:
    """Mean over overlapping pairs from data that hold `blocks` independent ones."""
    mean, k = float(values.mean()), len(values)
    if blocks < 2 or k < 2:
        return Estimate(mean, None, None)
    spread = float(values.std(ddof=1))
    stderr = spread * np.sqrt(1.0 / (blocks - 1.0) + 1.0 / k)
    return make_estimate(mean, stderr, k - 1, level, monte_carlo=spread / np.sqrt(k))


def against_controls(after: Array, controls: Array, level: float = LEVEL) -> Estimate:
    """`after` (blocks) minus its controls (blocks × replicates), in the design *whole*.

    A random removal is one draw of many: `after` must stand out from the spread of the controls, not only
    from their mean. The variance is that over blocks of the test set plus s²(1 + 1/R) between replicates,
    degrees of freedom by Welch and Satterthwaite.
    """
    replicates = controls.shape[1]
    gap = over_blocks(after - controls.mean(axis=1), level)
    if replicates == 1 or gap.stderr is None:
        return gap
    between = float(controls.mean(axis=0).var(ddof=1)) * (1.0 + 1.0 / replicates)
    total = gap.stderr**2 + between
    if total == 0:
        return gap
    degrees = total**2 / (gap.stderr**4 / gap.degrees + between**2 / (replicates - 1))
    return make_estimate(gap.value, float(np.sqrt(total)), degrees, level)


def discoveries(p_values: Array, rate: float) -> Flags:
    """Which are shown if at most this proportion of them is to be false, on average.

    The k smallest, k being the largest with p₍ₖ₎ ≤ rate · k/n (Benjamini & Hochberg 1995).

    >>> discoveries(np.array([0.01, 0.9, 0.04, 0.03]), 0.1).tolist()
    [True, False, True, True]
    """
    ordered = np.sort(p_values)
    below = ordered[ordered <= rate * np.arange(1, len(ordered) + 1) / max(1, len(ordered))]
    return np.asarray(p_values <= below.max(initial=-1.0))
