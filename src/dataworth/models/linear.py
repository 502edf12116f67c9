"""Bayesian linear regression: y = θᵀx + N(0, s²), θ ~ N(0, C·I) or any Gaussian; exact.

The noise is known, or has a prior of its own (`noise.py`). Evidence in closed form (inference/gaussian.py).
Costs O(n d²) or O(n² d), whichever is less.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from ..arrays import Array, Rows
from ..errors import DataworthError
from ..inference.gaussian import GaussianFit, fit_gaussian
from ..inference.sites import Sites
from ..parallel.threads import one_thread
from .base import Fit, check_pool, positive_number
from .gaussian import (
    GaussianPosterior,
    GaussianPrior,
    GaussianRows,
    RowGaussian,
    Whitening,
    precision_matrix,
    with_intercept,
)
from .noise import InverseGamma, NoiseFitter, NoisePosterior


@dataclass(frozen=True)
class Linear:
    """Gaussian linear regression under N(0, prior_variance · I) with noise N(0, noise_variance).

    With `noise_variance=InverseGamma(shape, scale)` the noise is learnt and `prior_variance` is in its units:
    θ|σ² ~ N(0, σ² · prior_variance · I).

    Args:
        prior_variance: C, of every coefficient, the intercept's too.
        noise_variance: of the targets, if it is known; or what is known of it.
        intercept: whether a column of ones is added.

    Raises:
        DataworthError: a variance is not positive.

    Examples:
        >>> X, y = np.array([[0.0], [1.0], [2.0]]), np.array([0.1, 0.9, 2.1])
        >>> round(Linear(prior_variance=1.0, noise_variance=0.5).fit(X, y).log_evidence, 4)
        -4.0205
        >>> round(Linear(noise_variance=InverseGamma(shape=2.0, scale=1.0)).fit(X, y).log_evidence, 4)
        -4.0549
    """

    prior_variance: float = 1.0
    noise_variance: float | InverseGamma = 1.0
    intercept: bool = True

    takes: ClassVar[str] = "numbers"
    exact: ClassVar[bool] = True

    def __post_init__(self) -> None:
        positive_number(self.prior_variance, "prior_variance")
        if isinstance(self.noise_variance, InverseGamma):
            self.noise_variance.checked()
        else:
            positive_number(self.noise_variance, "noise_variance")

    @one_thread()
    def fit(
        self, X: Array, y: Array, weights: Array | None = None, prior: GaussianPrior | None = None
    ) -> LinearPosterior | NoisePosterior:
        """The exact posterior, with its log evidence; a `prior` stands in for N(0, prior_variance · I)."""
        fitter = self.bind(X, y, prior)
        fit = fitter(np.arange(len(y)), weights=weights)
        if isinstance(fitter, NoiseFitter):
            learnt: NoisePosterior = fit.state
            return learnt
        state: LinearState = fit.state
        precision = state.weights / fitter.noise_variance
        return LinearPosterior(**fitter.told_of(state.fit, state.theta, fitter.X, precision))

    def bind(self, X: Array, y: Array, prior: GaussianPrior | None = None) -> LinearFitter | NoiseFitter:
        """A fitter on this pool."""
        X, y = check_pool(X, y, classes=False)
        if not isinstance(self.noise_variance, InverseGamma):
            return LinearFitter(self, float(self.noise_variance), X, y, prior)
        if prior is not None:
            raise DataworthError(
                "a prior of one's own needs a known noise_variance: give a number, or leave out prior=."
            )
        return NoiseFitter(X, y, self.prior_variance, self.noise_variance, intercept=self.intercept)

    def simulate(self, rng: np.random.Generator, X: Array) -> Array:
        """Targets of rows X: parameters from the prior, then the noise."""
        rows = with_intercept(np.asarray(X, dtype=float), self.intercept)
        noise, variance = self.noise_variance, self.prior_variance
        if isinstance(noise, InverseGamma):
            noise = noise.draw(rng)
            variance *= noise
        theta = np.sqrt(variance) * rng.standard_normal(rows.shape[1])
        return np.asarray(rows @ theta + np.sqrt(noise) * rng.standard_normal(len(rows)), dtype=float)


class LinearState(NamedTuple):
    """The posterior mean, what its evidence was made of, and the rows that it saw."""

    theta: Array
    fit: GaussianFit
    rows: Rows
    weights: Array
    targets: Array

    def information_gain(self) -> float:
        """KL(posterior ‖ prior)."""
        return self.fit.information_gain()


class LinearFitter(GaussianRows):
    """Closed form: nothing to warm-start."""

    numbers = True

    def __init__(
        self, model: Linear, noise_variance: float, X: Array, y: Array, prior: GaussianPrior | None = None
    ) -> None:
        super().__init__(model, X, y, prior)
        self.noise_variance = noise_variance

    def fit_rows(self, rows: Rows, start: tuple[Fit, ...], weights: Array, targets: Array) -> Fit:
        """Exact evidence of the pool's `rows`."""
        above = targets - self.offset[rows]  # what the prior's mean does not say
        fit = fit_gaussian(self.X[rows], above, weights, self.prior_variance, self.noise_variance)
        return Fit(fit.log_z, LinearState(fit.coef, fit, rows, weights, targets))

    def as_prior(self, fit: Fit) -> Whitening:
        """The posterior as coordinates in which it is standard normal, d×d."""
        known: LinearState = fit.state
        precision = precision_matrix(
            self.X[known.rows], known.weights / self.noise_variance, self.prior_variance
        )
        return GaussianPrior(known.theta, precision).whitening(len(precision))

    def log_evidence_under(
        self, prior: Whitening, rows: Rows, weights: Array | None, targets: Array | None = None
    ) -> float:
        """Log evidence of `rows` under another prior: exact, so that it is p(T | D) if the prior is D's."""
        weights, targets = self.told(rows, weights, targets)
        above = targets - self.offset[rows] - prior.offset(self.X[rows])
        return fit_gaussian(prior.rows(self.X[rows]), above, weights, 1.0, self.noise_variance).log_z

    def row_gaussian(self, fit: Fit) -> RowGaussian:
        """The posterior as sites: each row adds τ = w/s² and ν = w (y − offset)/s²."""
        known: LinearState = fit.state
        ids, place = np.unique(known.rows, return_inverse=True)
        tau = np.bincount(place, known.weights, len(ids)) / self.noise_variance
        pull = known.weights * (known.targets - self.offset[known.rows])
        nu = np.bincount(place, pull, len(ids)) / self.noise_variance
        return RowGaussian.of(self.geometry(ids), ids, Sites(tau, nu))

    def predictor(self, fit: Fit, ids: Rows) -> Array:
        """Posterior mean of g = Xθ, without the prior's mean."""
        return np.asarray(self.X[ids] @ fit.state.theta, dtype=float)

    def predict(self, fit: Fit, rows: Rows) -> Array:
        """Posterior mean of the target."""
        return np.asarray(self.predictor(fit, rows) + self.offset[rows], dtype=float)


class LinearPosterior(GaussianPosterior):
    """The exact Gaussian posterior."""

    def predict_proba(self, X: Array) -> Array:
        """Predictive means: for regression, the point forecast."""
        return self.predictor(X)[0]
