"""Bayesian linear regression: y = θᵀx + N(0, s²), θ ~ N(0, C·I) or any Gaussian; exact.

The noise is known, or has a prior of its own (`InverseGamma`: θ|σ² ~ N(0, σ² C·I), and the posterior is
normal-inverse-gamma, a coefficient's a Student t). Evidence in closed form (inference/gaussian.py).
Costs O(n d²) or O(n² d), whichever is less.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, NamedTuple

import numpy as np
from scipy.special import gammaln

from ..arrays import Array, Rows
from ..errors import DataworthError
from ..inference.gaussian import GaussianFit, NoiseFit, fit_gaussian, fit_noise
from ..inference.sites import Sites
from ..parallel.threads import one_thread
from .base import Fit, Fitter, check_pool, check_theta, positive_number
from .gaussian import (
    GaussianPosterior,
    GaussianPrior,
    GaussianRows,
    RowGaussian,
    Whitening,
    precision_matrix,
    with_intercept,
)


class InverseGamma(NamedTuple):
    """σ² ~ InverseGamma(shape a, scale b): 1/σ² has mean a/b; the noise is known to about 2a observations.

    Args:
        shape: a, half the number of observations that the knowledge is worth.
        scale: b.

    Raises:
        DataworthError: when `Linear` takes it: one of them is not positive.

    Examples:
        >>> InverseGamma(shape=2.0, scale=1.0)
        InverseGamma(shape=2.0, scale=1.0)
    """

    shape: float
    scale: float


class NoiseFitter(Fitter):
    """Closed form: nothing to warm-start."""

    numbers = exact = True

    def __init__(self, model: Linear, noise: InverseGamma, X: Array, y: Array) -> None:
        self.X, self.y, self.intercept = with_intercept(X, model.intercept), y, model.intercept
        self.prior_variance, self.noise = float(model.prior_variance), noise

    def fit_rows(self, rows: Rows, start: tuple[Fit, ...], weights: Array, targets: Array) -> Fit:
        """Exact evidence of the pool's `rows`."""
        seen = self.X[rows], targets, weights
        fit = fit_noise(*seen, self.prior_variance, *self.noise)
        return Fit(fit.log_z, NoisePosterior(fit, seen, self.prior_variance, self.intercept))

    def predict(self, fit: Fit, rows: Rows) -> Array:
        """Posterior mean of the target."""
        return np.asarray(self.X[rows] @ fit.state.mean, dtype=float)


class NoisePosterior:
    """θ|σ² ~ N(μ, σ² C A⁻¹), σ² ~ InverseGamma(shape, scale); draws and densities are of (θ, log σ²)."""

    def __init__(
        self, fit: NoiseFit, seen: tuple[Array, Array, Array], prior_variance: float, intercept: bool
    ) -> None:
        self.log_evidence, self.mean = fit.log_z, fit.coef
        self.noise = InverseGamma(fit.shape, fit.scale)
        self._fit, self._seen = fit, seen
        self._prior_variance, self._intercept = prior_variance, intercept

    @cached_property
    def _around(self) -> GaussianPosterior:
        """θ − μ in units of σ: N(0, C A⁻¹)."""
        X, _, weights = self._seen
        return GaussianPosterior(
            log_evidence=0.0,
            centre=np.zeros(len(self.mean)),
            prior_variance=self._prior_variance,
            rows=X,
            row_precision=weights,
            log_det=self._fit.factor.log_det(),
            gain=0.0,
            intercept=False,
        )

    def log_density(self, theta: Array) -> float:
        """Log p(θ, log σ² | data) at one vector (θ, log σ²)."""
        what = f"the {len(self.mean)} coefficients and then the log of the noise variance"
        theta = check_theta(theta, len(self.mean) + 1, what)
        coefficients, log_noise = theta[:-1], float(theta[-1])
        a, b = self.noise
        around = self._around.log_density((coefficients - self.mean) * np.exp(-0.5 * log_noise))
        noise = a * np.log(b) - gammaln(a) - a * log_noise - b * np.exp(-log_noise)
        return float(around - 0.5 * len(self.mean) * log_noise + noise)

    def sample(self, rng: np.random.Generator, m: int) -> Array:
        """σ² from its inverse gamma, then θ = μ + σ · N(0, C A⁻¹)."""
        variance = self.noise.scale / rng.gamma(self.noise.shape, size=m)
        theta = self.mean + np.sqrt(variance)[:, None] * self._around.sample(rng, m)
        return np.column_stack([theta, np.log(variance)])

    def predict_proba(self, X: Array) -> Array:
        """Predictive means: for regression, the point forecast."""
        rows = with_intercept(np.asarray(X, dtype=float), self._intercept)
        return np.asarray(rows @ self.mean, dtype=float)

    def information_gain(self) -> float:
        """KL(posterior ‖ prior) in nats."""
        return self._fit.information_gain()


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
            positive_number(self.noise_variance.shape, "the noise's shape")
            positive_number(self.noise_variance.scale, "the noise's scale")
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
        return LinearPosterior(**fitter.told_of(state.fit, state.fit.coef, fitter.X, precision))

    def bind(self, X: Array, y: Array, prior: GaussianPrior | None = None) -> LinearFitter | NoiseFitter:
        """A fitter on this pool."""
        X, y = check_pool(X, y, classes=False)
        if not isinstance(self.noise_variance, InverseGamma):
            return LinearFitter(self, float(self.noise_variance), X, y, prior)
        if prior is not None:
            raise DataworthError(
                "a prior of one's own needs a known noise_variance: give a number, or leave out prior=."
            )
        return NoiseFitter(self, self.noise_variance, X, y)

    def simulate(self, rng: np.random.Generator, X: Array) -> Array:
        """Targets of rows X: parameters from the prior, then the noise."""
        rows = with_intercept(np.asarray(X, dtype=float), self.intercept)
        noise, variance = self.noise_variance, self.prior_variance
        if isinstance(noise, InverseGamma):
            noise = float(noise.scale / rng.gamma(noise.shape))
            variance *= noise
        theta = np.sqrt(variance) * rng.standard_normal(rows.shape[1])
        return np.asarray(rows @ theta + np.sqrt(noise) * rng.standard_normal(len(rows)), dtype=float)


class LinearState(NamedTuple):
    """The posterior with its evidence, and the rows that it saw."""

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
        return Fit(fit.log_z, LinearState(fit, rows, weights, targets))

    def as_prior(self, fit: Fit) -> GaussianPrior:
        """The exact posterior."""
        known: LinearState = fit.state
        precision = known.weights / self.noise_variance
        return GaussianPrior(
            known.fit.coef, precision_matrix(self.X[known.rows], precision, self.prior_variance)
        )

    def log_evidence_under(self, prior: Whitening, rows: Rows, weights: Array | None) -> float:
        """Exact, so that it is log p(T | D) if the prior is D's posterior."""
        own, targets = self.told(rows, weights, None)
        above = targets - self.offset[rows] - prior.offset(self.X[rows])
        return fit_gaussian(prior.rows(self.X[rows]), above, own, 1.0, self.noise_variance).log_z

    def label_integral(self, mean: Array, variance: Array, weights: Array, targets: Array) -> Array:
        """Of Gaussians, in closed form."""
        tau = weights / self.noise_variance
        square = tau * (targets - mean) ** 2 / (1.0 + tau * variance)
        return np.asarray(
            -0.5 * (square + np.log1p(tau * variance) + weights * np.log(2.0 * np.pi * self.noise_variance))
        )

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
        return np.asarray(self.X[ids] @ fit.state.fit.coef, dtype=float)

    def predict(self, fit: Fit, rows: Rows) -> Array:
        """Posterior mean of the target."""
        return np.asarray(self.predictor(fit, rows) + self.offset[rows], dtype=float)


class LinearPosterior(GaussianPosterior):
    """The exact Gaussian posterior."""

    def predict_proba(self, X: Array) -> Array:
        """Predictive means: for regression, the point forecast."""
        return self.predictor(X)[0]
