"""What is integrated: signed rows under a standard normal prior, their likelihood, and what it costs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from ...arrays import Array
from ...errors import DataworthError
from ..geometry import graded_features
from ..logistic import Counts

BLOCK = 1 << 14
"""Numbers in one block of draws × rows: its handful of temporary arrays then stay in the cache."""


class RefereeRefuses(DataworthError):
    """The evidence could not be established: what was reached, what was needed, what to do."""


class Problem(NamedTuple):
    """log p(y|z) = −Σ w log(1 + exp(−(shift + rows·z))), z ~ N(0, I): every row signed by its label."""

    rows: Array
    shift: Array
    weights: Array

    def width(self) -> int:
        """Number of coordinates."""
        return self.rows.shape[1]


def whiten(X: Array, counts: Counts, prior_variance: float, offset: Array | float) -> Problem:
    """z = θ/√C in at most min(n, d) coordinates: the likelihood is constant on the complement of the rows.

    A row seen with both labels becomes two rows of opposite sign, so that no difference of large numbers is
    taken in either tail.
    """
    X = np.asarray(X, dtype=float)
    seen = counts.ones + counts.zeros > 0
    ones, zeros = counts.ones[seen], counts.zeros[seen]
    shift = np.broadcast_to(np.asarray(offset, dtype=float), len(X))[seen]
    rows = np.sqrt(prior_variance) * X[seen]
    if rows.shape[1] > rows.shape[0] > 0:
        rows = graded_features(rows)
    up, down = ones > 0, zeros > 0
    return Problem(
        np.vstack([rows[up], -rows[down]]),
        np.concatenate([shift[up], -shift[down]]),
        np.concatenate([ones[up], zeros[down]]),
    )


def log_likelihood(margins: Array, weights: Array) -> tuple[Array, Array]:
    """Σ w log σ(m) for each row of margins m, and its derivative w σ(−m) by each; exact in both tails.

    log σ(m) = min(m, 0) − log(1 + e^−|m|).
    """
    e = np.abs(margins)
    np.negative(e, out=e)
    np.exp(e, out=e)
    norm = 1.0 + e
    low = np.minimum(margins, 0.0)
    slope = np.where(margins >= 0.0, e, 1.0)
    slope /= norm
    if (weights == 1.0).all():
        # factors in (1, 2]: a thousand of them cannot overflow, and one logarithm is cheaper than a thousand
        value = low.sum(axis=1)
        for i in range(0, margins.shape[1], 1000):
            value -= np.log(np.multiply.reduce(norm[:, i : i + 1000], axis=1))
        return value, slope
    low -= np.log(norm, out=norm)
    return low @ weights, slope * weights


def blocks(draws: int, rows: int) -> Iterator[slice]:
    """Slices of the draws whose margins are held at once.

    >>> list(blocks(20, BLOCK))
    [slice(0, 16, None), slice(16, 20, None)]
    """
    size = max(16, BLOCK // max(rows, 1))
    for start in range(0, draws, size):
        yield slice(start, min(start + size, draws))


class Meter:
    """Counts likelihoods, and stops where the budget ends."""

    def __init__(self, budget: int) -> None:
        self.budget = self.left = int(budget)

    def spend(self, likelihoods: int) -> None:
        """Take from what is left."""
        self.left -= likelihoods
        if self.left < 0:
            raise RefereeRefuses(
                f"the evidence could not be established: a budget of {self.budget:,} likelihoods ended "
                "before enough draws that count; take a larger budget, fewer rows or features, or a narrower "
                "prior."
            )
