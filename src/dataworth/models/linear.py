"""Bayesian linear regression with known noise: y = θᵀx + N(0, s²), θ ~ N(0, C·I) or any Gaussian; exact.

Evidence in closed form (inference/gaussian.py). Costs O(n d²) or O(n² d), whichever is less.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..inference.gaussian import GaussianFit, fit_gaussian
from ..inference.sites import Sites
from .base import Array, Fit, Rows, check_pool, positive_number
from .gaussian import (
    GaussianPosterior,
    GaussianPrior,
    GaussianRows,
    RowGaussian,
    check_prior,
    with_intercept,
)


@dataclass(frozen=True)
class Linear:
    """Gaussian linear regression under N(0, prior_variance · I) with noise N(0, noise_variance).

    >>> X = np.array([[0.0], [1.0], [2.0]])
    >>> posterior = Linear(prior_variance=1.0, noise_variance=0.5).fit(X, np.array([0.1, 0.9, 2.1]))
    >>> round(posterior.log_evidence, 4)
    -4.0205
    """

    prior_variance: float = 1.0
    noise_variance: float = 1.0
    intercept: bool = True

    def __post_init__(self) -> None:
        positive_number(self.prior_variance, "prior_variance")
        positive_number(self.noise_variance, "noise_variance")

    def fit(
        self, X: Array, y: Array, weights: Array | None = None, prior: GaussianPrior | None = None
    ) -> LinearPosterior:
        """The exact posterior, with its log evidence; a `prior` stands in for N(0, prior_variance · I)."""
        fitter = self.bind(X, y, prior)
        state: LinearState = fitter(np.arange(len(y)), weights=weights).state
        return LinearPosterior(
            log_evidence=state.fit.log_z,
            mean=state.theta,
            prior_variance=fitter.prior_variance,
            rows=fitter.X,
            row_precision=np.asarray(np.ones(len(y)) if weights is None else weights) / self.noise_variance,
            log_det=state.fit.factor.log_det(),
            gain=state.fit.information_gain(),
            intercept=self.intercept,
            whitening=fitter.whitening,
        )

    def bind(self, X: Array, y: Array, prior: GaussianPrior | None = None) -> LinearFitter:
        """A fitter on this pool."""
        if prior is not None:
            check_prior(prior)
        return LinearFitter(self, *check_pool(X, y, classes=False), prior)


class LinearState(NamedTuple):
    """The posterior mean, what its evidence was made of, and the rows that it saw."""

    theta: Array
    fit: GaussianFit
    rows: Rows
    weights: Array
    targets: Array


class LinearFitter(GaussianRows):
    """Closed form: nothing to warm-start."""

    def __init__(self, model: Linear, X: Array, y: Array, prior: GaussianPrior | None = None) -> None:
        self.model = model
        self.prior_variance = float(model.prior_variance)
        self.X = with_intercept(X, model.intercept)
        self.y = y
        self.spread = float(np.var(y)) if len(y) else 1.0
        self.offset = np.zeros(len(y))
        if prior is not None:
            self.whitening = prior.whitening(self.X.shape[1])
            self.offset = self.whitening.offset(self.X)
            self.X = self.whitening.rows(self.X)
            self.prior_variance = 1.0

    def __call__(
        self,
        rows: Rows,
        start: tuple[Fit, ...] = (),
        *,
        weights: Array | None = None,
        targets: Array | None = None,
    ) -> Fit:
        """Exact evidence of the pool's `rows`."""
        weights = np.ones(len(rows)) if weights is None else np.asarray(weights, dtype=float)
        y = self.y[rows] if targets is None else targets
        above = y - self.offset[rows]  # what the prior's mean does not say
        fit = fit_gaussian(self.X[rows], above, weights, self.prior_variance, self.model.noise_variance)
        return Fit(fit.log_z, LinearState(fit.coef, fit, rows, weights, y))

    def log_predictive(
        self, fit: Fit, rows: Rows, *, weights: Array | None = None, targets: Array | None = None
    ) -> float:
        """Log p(T | D): exact, so the chain rule gives it."""
        known: LinearState = fit.state
        weights = np.ones(len(rows)) if weights is None else np.asarray(weights, dtype=float)
        targets = self.y[rows] if targets is None else targets
        joint = self(
            np.concatenate([known.rows, rows]),
            weights=np.concatenate([known.weights, weights]),
            targets=np.concatenate([known.targets, targets]),
        )
        return joint.log_z - fit.log_z

    def row_gaussian(self, fit: Fit) -> RowGaussian:
        """The posterior as sites: each row adds τ = w/s² and ν = w (y − offset)/s²."""
        known: LinearState = fit.state
        ids, place = np.unique(known.rows, return_inverse=True)
        tau = np.bincount(place, known.weights, len(ids)) / self.model.noise_variance
        pull = known.weights * (known.targets - self.offset[known.rows])
        nu = np.bincount(place, pull, len(ids)) / self.model.noise_variance
        return RowGaussian.of(self.geometry(ids), ids, Sites(tau, nu))

    def predictor(self, fit: Fit, ids: Rows) -> Array:
        """Posterior mean of g = Xθ, without the prior's mean."""
        mean: Array = self.X[ids] @ fit.state.theta
        return mean

    def predict(self, fit: Fit, rows: Rows) -> Array:
        """Posterior mean of the target."""
        return np.asarray(self.predictor(fit, rows) + self.offset[rows], dtype=float)

    def accuracy(self, fit: Fit, rows: Rows, weights: Array | None = None) -> float:
        """R²: 1 − mean squared error over the pool's variance (one constant for every block and arm)."""
        if len(rows) == 0 or (weights is not None and not weights.any()):
            return float("nan")
        error = float(np.average((self.y[rows] - self.predict(fit, rows)) ** 2, weights=weights))
        return 1.0 - error / self.spread if self.spread > 0 else float("nan")

    def information_gain(self, fit: Fit) -> float:
        """KL(posterior ‖ prior)."""
        gain: float = fit.state.fit.information_gain()
        return gain


class LinearPosterior(GaussianPosterior):
    """The exact Gaussian posterior."""

    def predict_proba(self, X: Array) -> Array:
        """Predictive means: for regression, the point forecast."""
        return self.predictor(X)[0]
