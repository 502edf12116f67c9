"""Monte-Carlo integration: log p(T | D) − log p(T), each by averaging the likelihood over draws.

    log (1/M) Σₘ p(T | θₘ), θₘ ~ N(μ_D, Σ_D),   less the same with θₘ ~ N(0, C·I)

As in the paper: 2,000 draws, log-sum-exp. Only θ's predictor at T's rows matters, which is Gaussian too, so
it is drawn there, n numbers a draw instead of d: the same in distribution.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import solve_triangular
from scipy.special import expit, logsumexp

from dataworth import Logistic
from dataworth.arrays import Array

from ..known_mi import KnownPairs
from .base import Guess, mean_guess

DRAWS = 2000
FACTORS = 1000
"""Factors up to 2 whose product cannot overflow."""
JITTER = 1e-8
"""Part of the mean variance that is added to each: covariances of repeated rows are singular."""


@dataclass(frozen=True)
class MonteCarlo:
    """Mean over pairs of the two averages' log ratio."""

    model: Logistic
    name: str = "monte-carlo"

    def __call__(self, pairs: KnownPairs, seed: int) -> Guess:
        """Mean and standard error over pairs."""
        return mean_guess(self.values(pairs, np.random.default_rng([seed, 0x3C])))

    def values(self, pairs: KnownPairs, rng: np.random.Generator) -> Array:
        """The log ratio of each pair."""
        found = np.empty(len(pairs))
        for i, (data, test) in enumerate(zip(pairs.data, pairs.test, strict=True)):
            rows, signs = pairs.X[test], 2.0 * pairs.y[test] - 1.0
            prior = self.model.prior_variance * (rows @ rows.T)
            mean, covariance = self.posterior_at(rows, pairs.X[data], pairs.y[data])
            given = log_mean_likelihood(mean, covariance, signs, rng)
            found[i] = given - log_mean_likelihood(np.zeros(len(rows)), prior, signs, rng)
        return found

    def posterior_at(self, rows: Array, X: Array, y: Array) -> tuple[Array, Array]:
        """Mean and covariance of the predictor at rows, given X and y: K_tt − K_td (W⁻¹ + K_dd)⁻¹ K_dt."""
        mode = self.model.fit(X, y).mean
        p = expit(X @ mode)
        root = np.sqrt(p * (1.0 - p))
        scale = self.model.prior_variance
        B = np.eye(len(X)) + scale * (root[:, None] * (X @ X.T) * root)
        half = solve_triangular(np.linalg.cholesky(B), scale * (root[:, None] * (X @ rows.T)), lower=True)
        return rows @ mode, scale * (rows @ rows.T) - half.T @ half


def log_mean_likelihood(mean: Array, covariance: Array, signs: Array, rng: np.random.Generator) -> float:
    """Log of the mean of Π σ(± f) over draws f ~ N(mean, covariance), which may be singular."""
    covariance = covariance.copy()
    covariance.flat[:: len(covariance) + 1] += JITTER * float(np.trace(covariance) / len(covariance))
    f = mean + rng.standard_normal((DRAWS, len(mean))) @ np.linalg.cholesky(covariance).T
    return float(logsumexp(log_likelihood(signs * f)) - np.log(DRAWS))


def log_likelihood(margins: Array) -> Array:
    """Σ log σ(m) along each row, = Σ min(m, 0) − log Π (1 + e^−|m|): one logarithm for many factors.

    >>> log_likelihood(np.array([[0.0, 800.0], [-800.0, 3.0]])).round(4).tolist()
    [-0.6931, -800.0486]
    """
    total = np.minimum(margins, 0.0).sum(axis=1)
    factors = 1.0 + np.exp(-np.abs(margins))
    for start in range(0, margins.shape[1], FACTORS):
        total -= np.log(factors[:, start : start + FACTORS].prod(axis=1))
    return np.asarray(total)
