"""Importance sampling of a log evidence: the problem, its weights and whether to believe them, and draws.

Draws come from a Student t fitted to the posterior's moments, or, for several classes, from the prior."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from scipy.special import gammaln, logsumexp

from ..arrays import Array
from ..errors import DataworthError
from .geometry import GRAM_LIMIT, Primal, graded_features, largest_square
from .logistic import Counts
from .newton import find_mode

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
    e = np.exp(-np.abs(margins))
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
    """A log evidence, its standard error, effective sample size and draws, and how it was found.

    `method` is "importance" (draws are draws) or "annealed" (draws are chains); "exact" needs none, and its
    effective sample size is infinite.
    """

    log_z: float
    error: float
    ess: float
    draws: int
    method: str


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

    def answer(self, method: str) -> Refereed:
        """As a result."""
        return Refereed(self.log_z, self.error, self.ess, self.draws, method)


def until_believed(
    draw: Callable[[int], Array], draws: int, price: int, target: float, meter: Meter, doublings: int = 10
) -> Weights:
    """Draws, then as many again while in doubt and within the budget; one costs `price` likelihoods."""
    weights = Weights(draw(max(2, min(draws, meter.left // price))))
    for _ in range(doublings):
        if not weights.doubts(target) or weights.draws * price > meter.left:
            break
        weights = Weights(np.concatenate([weights.log_w, draw(weights.draws)]))
    return weights


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


def laplace_start(problem: Problem) -> Proposal:
    """Laplace's Gaussian: only a place to start, so a mode found roughly is good enough."""
    size = max(1.0, float(problem.weights.max())) * largest_square(problem.rows)
    signed = Counts(problem.weights, np.zeros(len(problem.weights)))
    geometry = Primal(problem.rows, 1.0, root=size > GRAM_LIMIT)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        mode = find_mode(geometry, signed, None, problem.shift)
    return Proposal.from_moments(mode.coef, mode.factor.solve(np.asfortranarray(np.eye(len(mode.coef)))))


def student(rng: np.random.Generator, draws: int, d: int) -> Array:
    """Draws of a standard t in d dimensions."""
    scale = np.sqrt(rng.chisquare(DEGREES, (draws, 1)) / DEGREES)
    return np.asarray(rng.standard_normal((draws, d)) / scale)


def log_student(square: Array, d: int) -> Array:
    """Its log density where ‖u‖² = square."""
    constant = gammaln((DEGREES + d) / 2) - gammaln(DEGREES / 2) - 0.5 * d * np.log(DEGREES * np.pi)
    return np.asarray(constant - 0.5 * (DEGREES + d) * np.log1p(square / DEGREES))


def student_draws(
    problem: Problem, proposal: Proposal, draws: int, rng: np.random.Generator, meter: Meter
) -> Iterator[tuple[Array, Array]]:
    """Blocks of draws z from the Student t, with their log weights log p(y|z) N(z; 0, I) / t(z)."""
    d = problem.rows.shape[1]
    rows, centre = problem.rows @ proposal.axes, problem.shift + problem.rows @ proposal.mean
    constant = float(np.log(proposal.scales).sum()) - 0.5 * d * float(np.log(2.0 * np.pi))
    for part in blocks(draws, len(problem.rows)):
        size = part.stop - part.start
        meter.spend(size)
        u = student(rng, size, d)
        z = proposal.mean + u @ proposal.axes.T
        log_w = log_likelihood(u @ rows.T + centre, problem.weights)[0]
        log_w += constant - 0.5 * np.einsum("ij,ij->i", z, z)
        log_w -= log_student(np.einsum("ij,ij->i", u, u), d)
        yield z, log_w


def adapt_by_weights(
    problem: Problem, proposal: Proposal, rng: np.random.Generator, meter: Meter, rounds: int = 4
) -> tuple[Proposal, float]:
    """Population Monte Carlo: moments of weighted draws, a few times; the proposal and its effective share.

    Weights too uneven to estimate a covariance are flattened (w^γ) until they can.
    """
    d = problem.rows.shape[1]
    draws = 1000 + 40 * d
    for last in (*[False] * (rounds - 1), True):
        parts = list(student_draws(problem, proposal, draws, rng, meter))
        z, log_w = np.concatenate([p[0] for p in parts]), np.concatenate([p[1] for p in parts])
        efficiency = Weights(log_w).ess / draws
        if last or efficiency > 0.6:
            break
        flat = log_w
        while Weights(flat).ess < 10.0 * d:
            flat = 0.8 * flat
        proposal = moments(z, flat, proposal)
    return proposal, efficiency


def moments(z: Array, log_w: Array, before: Proposal) -> Proposal:
    """Weighted mean and covariance, the latter shrunk towards the one before as if that were d draws."""
    w = np.exp(log_w - logsumexp(log_w))
    mean = w @ z
    apart = z - mean
    covariance = (apart * w[:, None]).T @ apart
    d, effective = len(mean), 1.0 / float(w @ w)
    share = d / (d + effective)
    return Proposal.from_moments(mean, (1.0 - share) * covariance + share * before.covariance())


def importance(
    problem: Problem,
    proposal: Proposal,
    efficiency: float,
    target: float,
    rng: np.random.Generator,
    meter: Meter,
) -> Weights:
    """Fresh draws from the fixed t, as many as the pilot says are needed."""

    def draw(size: int) -> Array:
        return np.concatenate([w for _, w in student_draws(problem, proposal, size, rng, meter)])

    draws = int(1.2 * max(1.0 / target**2, FEWEST) / efficiency)
    return until_believed(draw, draws, 1, target, meter, doublings=2)
