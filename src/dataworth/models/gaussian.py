"""Gaussians of a linear predictor: a prior with any mean and precision, and posteriors held as rows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy.linalg import solve_triangular

from ..arrays import Array, Rows
from ..errors import DataworthError
from ..inference.geometry import (
    GRAM_LIMIT,
    Dual,
    Factor,
    Primal,
    cholesky_factor,
    choose_geometry,
    gram_factor,
    root_factor,
)
from ..inference.sites import Conditioned, Sites, condition
from .base import Fit


def with_intercept(X: Array, intercept: bool) -> Array:
    """X with a column of ones, which stands under the same prior as the other columns."""
    return np.hstack([X, np.ones((len(X), 1))]) if intercept else np.ascontiguousarray(X)


def precision_matrix(rows: Array, row_precision: Array, prior_variance: float) -> Array:
    """XᵀWX + I/C, dense.

    >>> precision_matrix(np.array([[1.0, 2.0]]), np.array([4.0]), 0.5).tolist()
    [[6.0, 8.0], [8.0, 18.0]]
    """
    weighted = rows * np.sqrt(row_precision)[:, None]
    precision: Array = weighted.T @ weighted
    precision.flat[:: len(precision) + 1] += 1.0 / prior_variance
    return precision


class GaussianPrior(NamedTuple):
    """N(mean, precision⁻¹) over the coefficients, the intercept's last."""

    mean: Array
    precision: Array

    def whitening(self, features: int) -> Whitening:
        """Coordinates in which it is N(0, I); a prior that is none is a sentence."""
        try:
            mean, precision = (np.asarray(part, dtype=float) for part in self)
        except (TypeError, ValueError):
            raise DataworthError("the prior's mean or precision is not an array of numbers.") from None
        if mean.shape != (features,) or precision.shape != (features, features):
            raise DataworthError(
                f"the prior has a mean of shape {mean.shape} and a precision of shape {precision.shape}; "
                f"the model has {features} coefficients, the intercept's last."
            )
        if not (np.isfinite(mean).all() and np.isfinite(precision).all()):
            raise DataworthError("the prior's mean or precision is not finite; give numbers.")
        scale = float(np.abs(precision).max(initial=0.0))
        if not np.allclose(precision, precision.T, rtol=0.0, atol=1e-10 * scale):
            raise DataworthError("the prior's precision is not symmetric; give a symmetric matrix.")
        try:
            root = cholesky_factor(0.5 * (precision + precision.T)).matrix
        except np.linalg.LinAlgError:
            raise DataworthError(
                "the prior's precision is not positive definite; a proper prior's is."
            ) from None
        return Whitening(mean, root)


def check_prior(prior: object) -> None:
    """A prior, or a sentence that says how to make one."""
    if not isinstance(prior, GaussianPrior):
        raise DataworthError(
            f"prior is a {type(prior).__name__}; give dw.GaussianPrior(mean, precision) or "
            "a posterior's as_prior()."
        )


class Whitening(NamedTuple):
    """θ = m + L⁻ᵀ z with precision L Lᵀ: in z the prior is standard normal, and f = Xm + (X L⁻ᵀ) z."""

    mean: Array
    root: Array

    def rows(self, X: Array) -> Array:
        """X L⁻ᵀ."""
        if not X.size:
            return X
        return np.ascontiguousarray(solve_triangular(self.root, X.T, lower=True, check_finite=False).T)

    def offset(self, X: Array) -> Array:
        """X m."""
        return np.asarray(X @ self.mean, dtype=float)

    def theta(self, z: Array) -> Array:
        """From z (one a row, or one) to θ."""
        back = solve_triangular(self.root, z.T, lower=True, trans="T", check_finite=False)
        return np.asarray(self.mean + back.T, dtype=float)

    def coordinates(self, theta: Array) -> Array:
        """From θ to z."""
        return np.asarray((theta - self.mean) @ self.root, dtype=float)

    def log_det(self) -> float:
        """Log |dz/dθ|."""
        return float(np.log(np.diagonal(self.root)).sum())


class RowGaussian(NamedTuple):
    """A posterior as sites on rows `ids` of a pool: prior × Π exp(ν g − ½ τ g²) / exp(log_norm).

    `mean` is the posterior's g at those rows.
    """

    ids: Rows
    sites: Sites
    mean: Array
    log_norm: float

    @classmethod
    def of(cls, geometry: Dual | Primal, ids: Rows, sites: Sites) -> RowGaussian:
        """Condition the prior on sites."""
        given: Conditioned = condition(geometry, sites)
        return cls(ids, sites, given.mean, given.log_norm(sites))

    def log_sites(self, g: Array, variance: Array | float = 0.0) -> float:
        """Σ ν g − ½ τ g², or its mean over a Gaussian of g with that mean and variance."""
        tau, nu = self.sites
        return float(nu @ g - 0.5 * (tau @ (g * g + variance)))


class GaussianRows(ABC):
    """A pool of rows under a Gaussian prior: what the forms of the score ask of a fitter."""

    X: Array
    prior_variance: float
    whitening: Whitening | None = None

    def settle(self, fit: Fit) -> Fit:
        """The fit with a posterior in its last digits, for forms that depend on it to first order."""
        return fit

    @abstractmethod
    def row_gaussian(self, fit: Fit) -> RowGaussian:
        """The fit's posterior as sites on rows."""

    @abstractmethod
    def predictor(self, fit: Fit, ids: Rows) -> Array:
        """The fit's g = Xθ at rows of the pool, without the prior's mean."""

    @abstractmethod
    def log_predictive(
        self, fit: Fit, rows: Rows, *, weights: Array | None = None, targets: Array | None = None
    ) -> float:
        """Log evidence of `rows` with the fit's Gaussian as their prior: log p(T | D) if N(μ, Σ) is D's."""

    def geometry(self, ids: Rows) -> Dual | Primal:
        """The prior at rows of the pool."""
        return choose_geometry(self.X, self.prior_variance, ids)

    def at(self, theta: Array, ids: Rows) -> Array:
        """g = Xθ at rows for a vector of coefficients, without the prior's mean."""
        theta = np.asarray(theta, dtype=float)
        if theta.shape != (self.X.shape[1],):
            raise DataworthError(
                f"eta has shape {theta.shape}; the model has {self.X.shape[1]} coefficients, "
                "the intercept's last."
            )
        if not np.isfinite(theta).all():
            raise DataworthError("eta is not finite; give numbers.")
        z = theta if self.whitening is None else self.whitening.coordinates(theta)
        return np.asarray(self.X[ids] @ z, dtype=float)


class GaussianPosterior:
    """N(μ, Σ), Σ = C·A⁻¹, A = I + C XᵀWX; held as rows and weights, d×d only when asked for.

    With a `whitening`, all of that is said of z, and θ follows from it.
    """

    def __init__(
        self,
        *,
        log_evidence: float,
        mean: Array,
        prior_variance: float,
        rows: Array,
        row_precision: Array,
        log_det: float,
        gain: float,
        intercept: bool,
        whitening: Whitening | None = None,
    ) -> None:
        self.log_evidence = log_evidence
        self.prior_variance = prior_variance
        self._mean = mean
        self._rows = rows
        self._row_precision = row_precision
        self._log_det = log_det
        self._gain = gain
        self._intercept = intercept
        self._whitening = whitening

    @property
    def mean(self) -> Array:
        """Posterior mean (for Laplace's method: the mode) of the coefficients, the intercept's last."""
        return self._mean if self._whitening is None else self._whitening.theta(self._mean)

    @property
    def precision(self) -> Array:
        """Σ⁻¹, dense."""
        precision = precision_matrix(self._rows, self._row_precision, self.prior_variance)
        if self._whitening is None:
            return precision
        return np.asarray(self._whitening.root @ precision @ self._whitening.root.T, dtype=float)

    def as_prior(self) -> GaussianPrior:
        """This posterior as the prior of what is seen next."""
        return GaussianPrior(self.mean, self.precision)

    @cached_property
    def _factor(self) -> Factor:
        weights = self.prior_variance * self._row_precision
        squares = weights * np.einsum("ij,ij->i", self._rows, self._rows)
        return (root_factor if squares.max(initial=0.0) > GRAM_LIMIT else gram_factor)(self._rows, weights)

    def log_density(self, theta: Array) -> float:
        """Log N(θ; μ, Σ), without forming Σ."""
        if np.shape(theta) != self._mean.shape:
            raise DataworthError(
                f"theta has shape {np.shape(theta)}; log_density takes one θ of length {len(self._mean)}."
            )
        z, log_scale = np.asarray(theta, dtype=float), 0.0
        if self._whitening is not None:
            z, log_scale = self._whitening.coordinates(z), self._whitening.log_det()
        offset = z - self._mean
        square = offset @ offset / self.prior_variance + self._row_precision @ (self._rows @ offset) ** 2
        log_norm = self._log_det - len(offset) * np.log(2.0 * np.pi * self.prior_variance)
        return float(0.5 * (log_norm - square) + log_scale)

    def sample(self, rng: np.random.Generator, m: int) -> Array:
        """θ = μ + √C L⁻ᵀ z with A = L Lᵀ and z standard normal."""
        z = rng.standard_normal((len(self._mean), m))
        drawn = self._mean + np.sqrt(self.prior_variance) * self._half_solve(z, transposed=True).T
        return drawn if self._whitening is None else self._whitening.theta(drawn)

    def predictor(self, X: Array) -> tuple[Array, Array]:
        """Mean and variance of the linear predictor θᵀx at each row."""
        rows, offset = with_intercept(np.asarray(X, dtype=float), self._intercept), np.zeros(len(X))
        if self._whitening is not None:
            rows, offset = self._whitening.rows(rows), self._whitening.offset(rows)
        half = self._half_solve(rows.T)
        return rows @ self._mean + offset, self.prior_variance * np.einsum("ij,ij->j", half, half)

    def _half_solve(self, target: Array, *, transposed: bool = False) -> Array:
        """L⁻¹ b, or L⁻ᵀ b, with A = L Lᵀ held as L or as its transpose."""
        factor = self._factor
        trans = "N" if factor.lower != transposed else "T"
        solution: Array = solve_triangular(
            factor.matrix, target, lower=factor.lower, trans=trans, check_finite=False
        )
        return solution

    def information_gain(self) -> float:
        """KL(posterior ‖ prior) in nats."""
        return self._gain
