"""Known-answer probes: on the test set alone, what would a change be worth whose answer is known?

One half of the test set stands in for the data. A proportion of its labels is made wrong, then those rows are
removed: the gain in log p of blocks of the other half is what finding so many wrong labels is worth. In the
same way half of those rows grows to all of them.

With J blocks, a gain of mean m and standard deviation s a block is shown 4 times in 5 if

    m √J / s ≥ t.975 + t.80   (J − 1 degrees of freedom; 2.95 for 20 blocks).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from ..arrays import Array, Rows
from ..models import Linear, MultiLinear, Softmax, with_intercept
from .kinds import YardstickModel
from .predictive import Known, both_ways, halves, log_predictives

PROPORTIONS = (0.02, 0.05, 0.1, 0.2)
"""Of labels made wrong."""
HALVINGS, HALVINGS_OF_SEVERAL = 2, 1
"""Halvings of the test set, and of one with several classes, whose fits cost more."""
EYE_PROPORTIONS, EYE_HALVINGS, EYE_ROWS, EYE_BLOCKS = (0.05, 0.1, 0.2), 2, 200, 20
"""The same for comparing maps in the yardstick's search, with at most so many rows of a half."""
SHOWN, OFTEN = 0.975, 0.8

Score = Callable[[Rows, Array, list[Rows]], Array]
"""Log p of blocks of rows, given rows with some targets."""


class Gain(NamedTuple):
    """Mean and standard deviation over blocks, nats a block."""

    mean: float
    sd: float

    @classmethod
    def of(cls, found: list[Array]) -> Gain:
        """Spread is taken within each half, of two blocks or more."""
        spreads = [np.var(part, ddof=1) for part in found if len(part) > 1]
        return cls(float(np.mean(np.concatenate(found))), float(np.sqrt(np.mean(spreads or 0.0))))

    def t(self, blocks: int) -> float:
        """The t-value that so many blocks would give it."""
        return self.mean * np.sqrt(blocks) / self.sd if self.sd > 0 else 0.0


@dataclass(frozen=True)
class Sight:
    """What an audit with these test rows could see.

    blocks, rows_a_block: how the test set is cut. size: rows that stood in for the data. labels: the gain of
    removing wrong labels, by their proportion. growth: the gain of half as many rows growing to `size`.
    """

    blocks: int
    rows_a_block: int
    size: int
    labels: dict[float, Gain]
    growth: Gain

    @property
    def proportion(self) -> float | None:
        """The least proportion of wrong labels whose removal is shown 4 times in 5; None: none is."""
        found = self._at(np.log(list(self.labels)))
        return None if found is None else float(np.exp(found))

    @property
    def rise(self) -> float | None:
        """The gain of removing those, nats a block."""
        return self._at([gain.mean for gain in self.labels.values()])

    @property
    def rows(self) -> int | None:
        """How many more rows of the same kind are shown 4 times in 5; None: not as many as there are."""
        return self.size - self.size // 2 if self.growth.t(self.blocks) >= needed_t(self.blocks) else None

    def _at(self, values: Any) -> float | None:
        """Values by proportion where t reaches what is needed and stays there, linear between two.

        A few rows that happen to matter, of 2 %, are not yet a proportion that is seen: 5, 10 and 20 % of
        wrong labels must be as well.
        """
        t = np.array([gain.t(self.blocks) for gain in self.labels.values()])
        needed = needed_t(self.blocks)
        first = int(np.append(-1, np.flatnonzero(t < needed)).max()) + 1
        if first == len(t):
            return None
        place = 0.0 if first == 0 else float(first - (t[first] - needed) / (t[first] - t[first - 1]))
        return float(np.interp(place, np.arange(len(t)), values))

    def needed(self, change: float, sd: float) -> int | None:
        """Test rows that would show a change of this mean and standard deviation a block 4 times in 5."""
        if change == 0.0 or not np.isfinite(sd / change):
            return None
        return int(np.ceil((needed_t(self.blocks) * sd / change) ** 2)) * self.rows_a_block


def needed_t(blocks: int) -> float:
    """The t-value that is shown 4 times in 5 at the 95 % level."""
    degrees = max(1, blocks - 1)
    return float(stdtrit(degrees, SHOWN) + stdtrit(degrees, OFTEN))


def sight(
    model: YardstickModel,
    tempering: float,
    X: Array,
    y: Array,
    *,
    rows_a_block: int,
    blocks: int,
    size: int | None = None,
    seed: int = 0,
    groups: NDArray[np.str_] | None = None,
) -> Sight:
    """Known-answer probes of a model on test rows X with targets y; `size`: of the data, if fewer."""
    rng = np.random.default_rng([seed, 0x5EE])
    numeric = isinstance(model, Linear | MultiLinear)
    score = block_scorer(model, tempering, X, y)
    several = not numeric and y.max() > 1
    splits = halves(len(y), rng, HALVINGS_OF_SEVERAL if several else HALVINGS, groups)
    most = len(y) // 2 if size is None else size
    pairs = [(own[:most], others) for own, others in both_ways(splits)]
    labels = label_gains(score, y, pairs, rows_a_block, PROPORTIONS, numeric, rng)
    growth = []
    for own, others in pairs:
        cut = in_blocks(others, rows_a_block)
        whole, half = (score(rows, y[rows], cut) for rows in (own, own[: len(own) // 2]))
        growth.append(whole - half)
    rows = min(len(own) for own, _ in pairs)
    return Sight(blocks, rows_a_block, rows, {q: Gain.of(g) for q, g in labels.items()}, Gain.of(growth))


def block_scorer(model: YardstickModel, tempering: float, X: Array, y: Array) -> Score:
    """Log p of blocks, row by row, given rows that count `tempering` times."""
    if isinstance(model, Softmax):
        return _by_fitter(model.bind(X, y), tempering)
    rows, classes, one = with_intercept(X, model.intercept), int(y.max()) + 1, np.ones(len(y))

    def score(own: Rows, targets: Array, cut: list[Rows]) -> Array:
        others = np.concatenate(cut)
        known = Known(rows[own], targets, one[own], rows[others], y[others], classes)
        return in_sums(log_predictives(model, tempering, known), cut)

    return score


def _by_fitter(fitter: Any, tempering: float) -> Score:
    """Of several classes, whose fitter predicts rows at a fraction of the cost of draws."""

    def score(own: Rows, targets: Array, cut: list[Rows]) -> Array:
        fit = fitter(own, weights=np.full(len(own), tempering), targets=targets)
        return block_predictives(fitter, fit, cut)

    return score


def predicts(fitter: Any) -> bool:
    """Whether a fitter predicts rows from its Gaussian."""
    return hasattr(fitter, "row_predictives") or hasattr(fitter, "log_predictives")


def block_predictives(fitter: Any, fit: Any, cut: list[Rows]) -> Array:
    """Log p of blocks of rows given a fit; of several classes row by row, at a hundredth of the cost."""
    if not hasattr(fitter, "row_predictives"):
        return np.array(fitter.log_predictives(fit, [(block, None) for block in cut]))
    own = np.concatenate(cut)
    return in_sums(fitter.row_predictives(fit, own, np.ones(len(own))), cut)


def in_sums(rows: Array, cut: list[Rows]) -> Array:
    """Sums over blocks of numbers of their rows, one block after the other."""
    return np.add.reduceat(rows, np.cumsum([0, *map(len, cut[:-1])]))


def label_gains(
    score: Score,
    y: Array,
    pairs: list[tuple[Rows, Rows]],
    rows_a_block: int,
    proportions: tuple[float, ...],
    numeric: bool,
    rng: np.random.Generator,
) -> dict[float, list[Array]]:
    """Gain of every block by removing wrong labels from each first half, by proportion."""
    gains: dict[float, list[Array]] = {q: [] for q in proportions}
    for own, others in pairs:
        cut = in_blocks(others, rows_a_block)
        order = rng.permutation(len(own))
        for q in proportions:
            count = max(1, round(q * len(own)))
            bad, kept = order[:count], np.sort(order[count:])
            told = y[own].copy()
            told[bad] = wrong(told, bad, y, numeric, rng)
            gains[q].append(score(own[kept], y[own[kept]], cut) - score(own, told, cut))
    return gains


def wrong(told: Array, bad: Rows, y: Array, numeric: bool, rng: np.random.Generator) -> Array:
    """Labels for the bad rows that are not theirs: another class, or another row's number."""
    if numeric:
        return np.asarray(y[rng.permutation(len(y))[: len(bad)]])
    classes = int(y.max()) + 1
    return np.asarray((told[bad] + rng.integers(1, classes, len(bad))) % classes)


def in_blocks(rows: Rows, rows_a_block: int) -> list[Rows]:
    """Blocks of so many rows, two at least; what is left over is left out."""
    size = max(1, min(rows_a_block, len(rows) // 2))
    return [rows[i : i + size] for i in range(0, len(rows) - size + 1, size)]


def eye(
    score: Score,
    y: Array,
    splits: list[tuple[Rows, Rows]],
    numeric: bool,
    seed: int,
) -> float:
    """Mean t of known-answer probes, by which maps of a yardstick are compared."""
    rng = np.random.default_rng([seed, 0xE7E])
    pairs = [(own[:EYE_ROWS], others[:EYE_ROWS]) for own, others in both_ways(splits[:EYE_HALVINGS])]
    rows = max(1, min(len(y), 2 * EYE_ROWS) // EYE_BLOCKS)
    gains = label_gains(score, y, pairs, rows, EYE_PROPORTIONS, numeric, rng)
    return float(np.mean([Gain.of(found).t(EYE_BLOCKS) for found in gains.values()]))
