"""Confidence is not information: a score that does not care how sure the data are of what they say.

Rows that are counted r times sharpen a posterior without telling anything new. Where a model is less sure
than its data allow, whatever sharpens it (doubling rows, labels of its own making, rescaled features) would
raise the score. So data are scored at whatever tempering r suits the test set, by a mixture in which the
rows of each block of the test set are predicted with weights that the *other* blocks give:

    S[r, i]  = log p_r(y_i | x_i, D), what D tells of a test row if its own are counted r times
    w[r, j]  ∝ exp Σ_{i ∉ T_j} S[r, i]
    score_i  = log Σ_r w[r, j] exp S[r, i]     for rows i of the block T_j

Temperings are powers of two; the window is the best of them with its neighbours.

A Gaussian posterior N(μ, P⁻¹) of rows that count once, under the prior N(0, C·I), needs no further fit for
that (`Tempered`):

    P_r = I/C + r (P − I/C),   P_r μ_r = r P μ.

Where rows are few or their labels wrong, that predicts better than a fit at r: the posterior of rows counted
many times follows every one of them.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import numpy as np
from scipy.special import logsumexp

from ..arrays import Array, Rows

UP, DOWN = 10, 3
"""Steps that a walk may go up from where it starts, and down from where each row counts once. Rows that count
less than an eighth could not mislead, and test sets on which they do would not know of those where not."""
LIGHT, HARDLY = 1e-3, 1e-12
"""Shares of the heaviest weight: lighter ones are no unit of the others; and do not count as rows."""
WORTH = 0.01
"""Nats, over all blocks, that a step must gain: where a model can be as sure as it likes, the walk ends."""


def mixture(scores: Array, block: Rows | None = None) -> Array:
    """One score a row, from scores at every tempering of a window (temperings × rows).

    block: of every row; each is a block of its own if none is given.

    >>> same = np.array([[-3.0, -2.0], [-3.0, -2.0]])
    >>> mixture(same).tolist()
    [-3.0, -2.0]
    >>> mixture(np.array([[-1.0, -9.0], [-9.0, -1.0]])).round(2).tolist()  # each block is told by the other
    [-8.31, -8.31]
    """
    block = np.arange(scores.shape[1]) if block is None else block
    blocks = np.array([np.bincount(block, one) for one in scores])
    others = blocks.sum(axis=1, keepdims=True) - blocks
    weights = others - logsumexp(others, axis=0)
    return np.asarray(logsumexp(weights[:, block] + scores, axis=0), dtype=float)


def repeats(rows: Rows, targets: Array, weights: Array) -> float:
    """How often the data as a whole are repeated: they are fitted as if they stood there once.

    The largest number that divides the weight of every distinct row and label; of weights that are not whole
    numbers, nor multiples of one that is not far lighter, their mean. Some rows that stand there more often
    than others are another matter.

    >>> repeats(np.array([0, 1, 0, 1]), np.array([0, 1, 0, 1]), np.ones(4))  # all of it twice
    2.0
    >>> repeats(np.array([0, 1, 0]), np.array([0, 1, 1]), np.full(3, 6.0)), repeats(*np.ones((3, 2)) * 0.3)
    (6.0, 0.6)
    """
    counts = np.unique(np.column_stack([rows, targets]), axis=0, return_inverse=True)[1].ravel()
    totals = np.bincount(counts, weights)
    totals = totals[totals > 0]
    if not len(totals):
        return 1.0
    if (totals == np.round(totals)).all() and totals.max() < 2**53:
        return float(np.gcd.reduce(totals.astype(np.int64)))
    shares = totals / totals.max()
    unit, often = float(totals.min()), float(totals[shares > HARDLY].mean())
    if shares.min() >= LIGHT and (totals / unit == np.round(totals / unit)).all():
        often = unit
    return max(often, float(np.finfo(float).tiny))  # of which the inverse is a number


def climb(
    at: Callable[[int], Array], start: int | None = 0, block: Rows | None = None, near: int | None = None
) -> tuple[int, Array]:
    """The best tempering 2^k, and the mixture's scores over it and its neighbours.

    `at` gives the scores of all test rows at k; rows of one block have one number in `block`. The best k is
    the first from which a step up is not worth it, between 8 times less than once and UP steps above `start`;
    it is looked for from `near` (default: `start`), by secants. If there is no start, each row counts once.

    >>> best, scores = climb(lambda k: np.array([-((k - 2) ** 2), 0.0]))
    >>> best, scores.round(2).tolist()  # the window is 1, 2, 3; the other block cannot tell them apart
    (2, [-0.55, 0.0])
    """
    if start is None:
        return 0, at(0)
    seen = cache(at)
    low, high = -DOWN - 1, start + UP
    here, gains = min(max(start if near is None else near, low + 1), high - 1), dict[int, float]()
    while high - low > 1:
        gains[here] = float(seen(here + 1).sum() - seen(here).sum()) - WORTH
        low, high = (here, high) if gains[here] > 0 else (low, here)
        here = min(max(_zero(gains, low, high), low + 1), high - 1)
    return high, mixture(np.array([seen(k) for k in range(high - 1, high + 2)]), block)


def _zero(gains: dict[int, float], low: int, high: int) -> int:
    """Where a falling function of whole numbers, known at some, is first not above zero: a guess."""
    if len(gains) == 1:
        return high - 1 if high in gains else low + 1
    (a, one), (b, other) = sorted(gains.items(), key=lambda known: abs(known[1]))[:2]
    slope = (other - one) / (b - a)
    return int(np.ceil(a - one / slope)) if slope < 0 else (low + high) // 2


def pulls(window: Array) -> tuple[Array, Array]:
    """Of scores at the best tempering and its neighbours: what each row gains a step, and how many steps the
    tempering moved because the row was there (to first order; they add up to the best one's distance).

    The best tempering t maximises Σ_i S_i(t): with s_i = S_i′ and h = −Σ S_i″, row i moved it by s_i / h. All
    rows together gain nothing by a step; some of them do, and so their mean also varies with the others. A
    window in which all temperings are as good averages over it: 2/3 is the variance of its three steps.

    >>> gained, moved = pulls(np.array([[0.0, -8.0], [-1.0, -1.0], [-8.0, 0.0]]))
    >>> gained.tolist(), moved.round(2).tolist()
    ([-4.0, 4.0], [-0.3, 0.3])
    """
    low, here, high = window
    gained = (high - low) / 2.0
    bent = float((2.0 * here - low - high).sum())
    return gained, np.asarray(gained / (max(0.0, bent) + 1.5))


class Tempered(NamedTuple):
    """A Gaussian posterior at some rows, at any tempering: all are diagonal in the axes of P − I/C."""

    rows: Array
    pull: Array
    gain: Array
    prior_variance: float

    @classmethod
    def of(cls, mean: Array, precision: Array, prior_variance: float, rows: Array) -> Tempered:
        """N(mean, precision⁻¹) under N(0, C·I), at rows of features.

        >>> own = Tempered.of(np.array([1.0]), np.array([[3.0]]), 1.0, np.array([[2.0]]))
        >>> mean, variance = own.at(1.0)  # as it is
        >>> mean.round(6).tolist(), variance.round(6).tolist()
        ([2.0], [1.333333])
        """
        added = precision.copy()
        added.flat[:: len(mean) + 1] -= 1.0 / prior_variance
        gain, axes = np.linalg.eigh(added)
        return cls(rows @ axes, axes.T @ (precision @ mean), np.maximum(gain, 0.0), prior_variance)

    def at(self, r: float) -> tuple[Array, Array]:
        """Mean and variance of the linear predictor of every row."""
        precision = 1.0 / self.prior_variance + r * self.gain
        return self.rows @ (r * self.pull / precision), (self.rows**2) @ (1.0 / precision)
