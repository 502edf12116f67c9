"""Importance sampling: a Student t fitted to the posterior's moments, then fresh draws from it."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from scipy.special import gammaln, logsumexp

from ...arrays import Array
from ..geometry import GRAM_LIMIT, Primal, largest_square
from ..logistic import Counts
from ..newton import find_mode
from .problem import Meter, Problem, blocks, log_likelihood
from .weights import FEWEST, Weights, until_believed

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
    return Proposal.from_moments(mode.coef, mode.factor.solve(np.asfortranarray(np.eye(problem.width()))))


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
    d = problem.width()
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
    d = problem.width()
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
