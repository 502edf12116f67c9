"""Importance weights of a log evidence: the problem, the Student t to start from, the doubts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from scipy.special import gammaln, logsumexp

from ..arrays import Array
from ..errors import DataworthError
from .geometry import graded_features
from .logistic import Counts

BLOCK = 1 << 14
"""Numbers in one block of draws × rows: its handful of temporary arrays then stay in the cache."""


class RefereeRefuses(DataworthError):
    """The evidence could not be established: what was reached, what was needed, what to do."""


class Problem(NamedTuple):
    """log p(y|z) = −Σ w log(1 + exp(−(shift + rows·z))), z ~ N(0, I): every row signed by its label."""

    rows: Array
    shift: Array
    weights: Array


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
        rows = graded_features(rows)[0]
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
    e = np.exp(-np.abs(margins))
    norm = 1.0 + e
    slope = np.where(margins >= 0.0, e, 1.0) / norm
    return (np.minimum(margins, 0.0) - np.log(norm)) @ weights, slope * weights


def blocks(draws: int, rows: int) -> Iterator[slice]:
    """Slices of the draws whose margins are held at once."""
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


FEWEST = 400.0
"""Smallest effective sample size that is believed: below it, the spread of the weights is itself unknown."""
LARGEST_SHARE = 0.2
"""Of the sum of squared weights, from one draw: above it, the error rests on that draw."""
DISAGREEMENT = 4.0
"""Standard errors between two independent halves; by chance alone, once in 16,000 answers."""


class Refereed(NamedTuple):
    """A log evidence, its standard error, effective sample size and chains.

    What is exact needs no chains, and its effective sample size is infinite.
    """

    log_z: float
    error: float = 0.0
    ess: float = np.inf
    draws: int = 0


class Weights:
    """Independent importance weights of one fixed proposal, and what they are worth.

    log_z: log of the mean weight. ess: (Σw)² / Σw². unevenness: log(draws / ess), the variance of log w if
    that were normal; small weights do not matter here. error: standard error of log Z, that of the mean
    weight over the mean weight. largest_share: of the largest weight in Σw², which the error is made of.
    """

    def __init__(self, log_w: Array) -> None:
        self.log_w, self.draws = log_w, len(log_w)
        total, squares = logsumexp(log_w), logsumexp(2.0 * log_w)
        self.log_z = float(total) - float(np.log(self.draws))
        self.ess = float(np.exp(2.0 * total - squares))
        self.unevenness = float(np.log(self.draws / self.ess))
        spread = max(1.0 / self.ess - 1.0 / self.draws, 0.0)
        self.error = float(np.sqrt(spread * self.draws / max(self.draws - 1, 1)))
        self.largest_share = float(np.exp(2.0 * log_w.max() - squares))

    def doubts(self, target: float) -> str:
        """Why not to believe this, or nothing."""
        if self.ess < FEWEST:
            return "too few effective draws"
        if self.error > target:
            return "the standard error is too large"
        if self.largest_share > LARGEST_SHARE:
            return f"one draw carries {self.largest_share:.0%} of the variance"
        half = self.draws // 2
        a, b = Weights(self.log_w[:half]), Weights(self.log_w[half:])
        if abs(a.log_z - b.log_z) > DISAGREEMENT * np.hypot(a.error, b.error):
            return f"two halves of the draws disagree ({a.log_z:.3f} and {b.log_z:.3f})"
        return ""


DEGREES = 8.0
"""Of freedom, of the Student t."""


class Proposal(NamedTuple):
    """z = mean + axes·u with orthogonal axes of lengths `scales`: moments of a Gaussian, or of a t's core."""

    mean: Array
    axes: Array
    scales: Array

    @classmethod
    def from_moments(cls, mean: Array, covariance: Array) -> Proposal:
        """Principal axes; a posterior under a log-concave likelihood is nowhere wider than the prior."""
        square, directions = np.linalg.eigh(covariance)
        scales = np.sqrt(np.clip(square, 1e-24, 1.0))
        return cls(mean, directions * scales, scales)

    def covariance(self) -> Array:
        """axes·axesᵀ."""
        return np.asarray(self.axes @ self.axes.T)


def student(rng: np.random.Generator, draws: int, d: int) -> Array:
    """Draws of a standard t in d dimensions."""
    scale = np.sqrt(rng.chisquare(DEGREES, (draws, 1)) / DEGREES)
    return np.asarray(rng.standard_normal((draws, d)) / scale)


def log_student(square: Array, d: int) -> Array:
    """Its log density where ‖u‖² = square."""
    constant = gammaln((DEGREES + d) / 2) - gammaln(DEGREES / 2) - 0.5 * d * np.log(DEGREES * np.pi)
    return np.asarray(constant - 0.5 * (DEGREES + d) * np.log1p(square / DEGREES))
