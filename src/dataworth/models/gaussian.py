"""Gaussians of a linear predictor: a prior with any mean and precision, and posteriors held as rows."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import solve_triangular

from ..arrays import Array, Rows
from ..errors import DataworthError
from ..inference.geometry import SLAB, Dual, Factor, Primal, cholesky_factor, choose_geometry, safe_factor
from ..inference.sites import Conditioned, Sites, condition
from .base import Fit, Fitter, check_theta


def distinct_rows(X: Array) -> tuple[Array, Rows]:
    """Distinct rows of X in order of first appearance, and the number of each row among them.

    >>> rows, ids = distinct_rows(np.array([[2.0], [1.0], [2.0]]))
    >>> rows.ravel().tolist(), ids.tolist()
    ([2.0, 1.0], [0, 1, 0])
    """
    place: dict[bytes, int] = {}
    ids = np.empty(len(X), dtype=np.intp)
    for i in range(0, len(X), SLAB):
        # −0.0 and 0.0 are one value with two bit patterns; adding 0.0 makes them one
        for j, row in enumerate(np.ascontiguousarray(X[i : i + SLAB] + 0.0), start=i):
            ids[j] = place.setdefault(blake2b(row, digest_size=16).digest(), len(place))
    if len(place) == len(X):
        return X, ids
    return X[np.unique(ids, return_index=True)[1]], ids


def room_for_rows(rows: int, features: int) -> Array:
    """An array to fill, with a column of ones beside it: with an intercept, a large pool is not copied."""
    return np.ones((rows, features + 1))[:, :features]


def with_intercept(X: Array, intercept: bool) -> Array:
    """X with a column of ones, which stands under the same prior as the other columns.

    >>> X = room_for_rows(2, 1)
    >>> X[:, 0] = 5.0, 6.0
    >>> with_intercept(X, True).tolist(), np.shares_memory(with_intercept(X, True), X)
    ([[5.0, 1.0], [6.0, 1.0]], True)
    """
    if not intercept:
        return np.ascontiguousarray(X)
    whole: Array | None = X.base
    if whole is None or np.shape(whole) != (len(X), X.shape[1] + 1):
        return np.hstack([X, np.ones((len(X), 1))])
    same = whole[:, :-1].__array_interface__ == X.__array_interface__ and (whole[:, -1] == 1.0).all()
    return whole if same else np.hstack([X, np.ones((len(X), 1))])


def precision_matrix(rows: Array, row_precision: Array, prior_variance: float) -> Array:
    """XᵀWX + I/C, dense."""
    weighted = rows * np.sqrt(row_precision)[:, None]
    precision: Array = weighted.T @ weighted
    precision.flat[:: len(precision) + 1] += 1.0 / prior_variance
    return precision


class GaussianPrior(NamedTuple):
    """N(mean, precision⁻¹) over the coefficients, the intercept's last.

    It is what `Logistic().fit` and `Linear().fit` take as `prior=`.

    Args:
        mean: one number a coefficient.
        precision: the inverse of the covariance, symmetric and positive definite.

    Raises:
        DataworthError: when a model takes it: the shapes do not fit, or the precision is not positive
            definite.

    Examples:
        >>> import dataworth as dw
        >>> X, y = np.array([[0.0], [1.0], [2.0]]), np.array([0.0, 1.0, 1.0])
        >>> prior = dw.GaussianPrior(np.zeros(2), np.eye(2))
        >>> own, default = dw.Linear().fit(X, y, prior=prior), dw.Linear().fit(X, y)
        >>> abs(own.log_evidence - default.log_evidence) < 1e-12
        True
    """

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
    """A posterior of mean g as sites on rows `ids` of a pool: prior × Π exp(ν g − ½ τ g²) / exp(log_norm)."""

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


class GaussianRows(Fitter):
    """A pool of rows under a Gaussian prior: what the forms of the score ask of a fitter.

    With a `prior` of one's own, rows are held in coordinates in which it is N(0, I), and `offset` is what its
    mean says of each row's predictor.
    """

    def __init__(self, model: Any, X: Array, y: Array, prior: GaussianPrior | None) -> None:
        X = with_intercept(X, model.intercept)
        self.X, self.y, self.intercept = X, y, model.intercept
        self.prior_variance = float(model.prior_variance)
        self.offset, self.whitening = np.zeros(len(X)), None
        if prior is None:
            return
        if not isinstance(prior, GaussianPrior):
            raise DataworthError(
                f"prior is a {type(prior).__name__}; give dw.GaussianPrior(mean, precision) or "
                "a posterior's as_prior()."
            )
        self.whitening = prior.whitening(X.shape[1])
        self.offset, self.X = self.whitening.offset(X), self.whitening.rows(X)
        self.prior_variance = 1.0

    def told_of(self, solution: Any, mean: Array, rows: Array, row_precision: Array) -> dict[str, Any]:
        """A `GaussianPosterior`'s fields, from a solution that has log_z, a factor and a gain."""
        return {
            "log_evidence": solution.log_z,
            "centre": mean,
            "prior_variance": self.prior_variance,
            "rows": rows,
            "row_precision": row_precision,
            "log_det": solution.factor.log_det(),
            "gain": solution.information_gain(),
            "intercept": self.intercept,
            "whitening": self.whitening,
        }

    def settle(self, fit: Fit) -> Fit:
        """The fit with a posterior in its last digits, for forms that depend on it to first order."""
        return fit

    @abstractmethod
    def row_gaussian(self, fit: Fit) -> RowGaussian:
        """The fit's posterior as sites on rows."""

    @abstractmethod
    def predictor(self, fit: Fit, ids: Rows) -> Array:
        """The fit's g = Xθ at rows of the pool, without the prior's mean."""

    def log_predictive(self, fit: Fit, rows: Rows, *, weights: Array | None = None) -> float:
        """Log evidence of `rows` with the fit's Gaussian as their prior: log p(T | D) if N(μ, Σ) is D's."""
        return self.log_predictives(fit, [(rows, weights)])[0]

    def log_predictives(self, fit: Fit, sets: Sequence[tuple[Rows, Array | None]]) -> list[float]:
        """The same of several sets of rows, each on its own: the fit is made a prior once."""
        prior = self.as_prior(fit).whitening(self.X.shape[1])
        return [self.log_evidence_under(prior, *one) for one in sets]

    def gaussians(self, fit: Fit) -> list[GaussianPrior]:
        """The fit's N(μ, Σ), as the prior of what is seen next."""
        return [self.as_prior(fit)]

    def features(self, rows: Rows) -> Array:
        """Features of rows of the pool, with their column of ones."""
        return self.X[rows]

    def row_scores(self, at: Sequence[tuple[Array, Array]], rows: Rows, weights: Array) -> Array:
        """log ∫ p(yᵢ | f)^wᵢ N(f; mᵢ, vᵢ) df of rows of the pool, from means and variances."""
        ((mean, variance),) = at
        return self.label_integral(mean, variance, weights, self.y[rows])

    def predicted(self, means: Sequence[Array]) -> Array:
        """What means of the linear predictor say of rows: numbers."""
        return means[0]

    @abstractmethod
    def label_integral(self, mean: Array, variance: Array, weights: Array, targets: Array) -> Array:
        """log ∫ p(y | f)^w N(f; m, v) df of every row."""

    @abstractmethod
    def as_prior(self, fit: Fit) -> GaussianPrior:
        """A fit's N(μ, Σ) in the pool's coordinates, as the prior of what is seen next, d×d."""

    @abstractmethod
    def log_evidence_under(self, prior: Whitening, rows: Rows, weights: Array | None) -> float:
        """Log evidence of a set of rows under another prior than the pool's."""

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


@dataclass(kw_only=True, eq=False, repr=False)
class GaussianPosterior:
    """N(μ, Σ), Σ = C·A⁻¹, A = I + C XᵀWX; held as rows and weights, d×d only when asked for.

    With a `whitening`, all of that is said of z, and θ follows from it.
    """

    log_evidence: float
    centre: Array
    prior_variance: float
    rows: Array
    row_precision: Array
    log_det: float
    gain: float
    intercept: bool
    whitening: Whitening | None = None

    @property
    def mean(self) -> Array:
        """Posterior mean (for Laplace's method: the mode) of the coefficients, the intercept's last."""
        return self.centre if self.whitening is None else self.whitening.theta(self.centre)

    @property
    def precision(self) -> Array:
        """Σ⁻¹, dense."""
        precision = precision_matrix(self.rows, self.row_precision, self.prior_variance)
        if self.whitening is None:
            return precision
        return np.asarray(self.whitening.root @ precision @ self.whitening.root.T, dtype=float)

    def as_prior(self) -> GaussianPrior:
        """This posterior as the prior of what is seen next."""
        return GaussianPrior(self.mean, self.precision)

    @cached_property
    def _factor(self) -> Factor:
        weights = self.prior_variance * self.row_precision
        squares = weights * np.einsum("ij,ij->i", self.rows, self.rows)
        return safe_factor(self.rows, weights, float(squares.max(initial=0.0)))

    def log_density(self, theta: Array) -> float:
        """Log N(θ; μ, Σ), without forming Σ."""
        z, log_scale = check_theta(theta, len(self.centre)), 0.0
        if self.whitening is not None:
            z, log_scale = self.whitening.coordinates(z), self.whitening.log_det()
        offset = z - self.centre
        square = offset @ offset / self.prior_variance + self.row_precision @ (self.rows @ offset) ** 2
        log_norm = self.log_det - len(offset) * np.log(2.0 * np.pi * self.prior_variance)
        return float(0.5 * (log_norm - square) + log_scale)

    def sample(self, rng: np.random.Generator, m: int) -> Array:
        """θ = μ + √C L⁻ᵀ z with A = L Lᵀ and z standard normal."""
        z = rng.standard_normal((len(self.centre), m))
        drawn = self.centre + np.sqrt(self.prior_variance) * self._factor.half_solve(z, transposed=True).T
        return drawn if self.whitening is None else self.whitening.theta(drawn)

    def predictor(self, X: Array) -> tuple[Array, Array]:
        """Mean and variance of the linear predictor θᵀx at each row."""
        rows, offset = with_intercept(np.asarray(X, dtype=float), self.intercept), np.zeros(len(X))
        if self.whitening is not None:
            rows, offset = self.whitening.rows(rows), self.whitening.offset(rows)
        half = self._factor.half_solve(rows.T)
        return rows @ self.centre + offset, self.prior_variance * np.einsum("ij,ij->j", half, half)

    def information_gain(self) -> float:
        """KL(posterior ‖ prior) in nats."""
        return self.gain
