"""A Gaussian posterior of a linear predictor, shared by the models that have one."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from scipy.linalg import solve_triangular

from ..errors import DataworthError
from ..inference.geometry import GRAM_LIMIT, Factor, gram_factor, root_factor
from .base import Array


def with_intercept(X: Array, intercept: bool) -> Array:
    """X with a column of ones, which stands under the same prior as the other columns."""
    return np.hstack([X, np.ones((len(X), 1))]) if intercept else np.ascontiguousarray(X)


class GaussianPosterior:
    """N(μ, Σ), Σ = C·A⁻¹, A = I + C XᵀWX; held as rows and weights, d×d only when asked for."""

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
    ) -> None:
        self.log_evidence = log_evidence
        self.mean = mean
        self.prior_variance = prior_variance
        self._rows = rows
        self._row_precision = row_precision
        self._log_det = log_det
        self._gain = gain
        self._intercept = intercept

    @cached_property
    def _factor(self) -> Factor:
        weights = self.prior_variance * self._row_precision
        squares = weights * np.einsum("ij,ij->i", self._rows, self._rows)
        return (root_factor if squares.max(initial=0.0) > GRAM_LIMIT else gram_factor)(self._rows, weights)

    def log_density(self, theta: Array) -> float:
        """Log N(θ; μ, Σ), without forming Σ."""
        if np.shape(theta) != self.mean.shape:
            raise DataworthError(
                f"theta has shape {np.shape(theta)}; log_density takes one θ of length {len(self.mean)}."
            )
        offset = np.asarray(theta, dtype=float) - self.mean
        square = offset @ offset / self.prior_variance + self._row_precision @ (self._rows @ offset) ** 2
        return float(0.5 * (self._log_det - square - len(offset) * np.log(2.0 * np.pi * self.prior_variance)))

    def sample(self, rng: np.random.Generator, m: int) -> Array:
        """θ = μ + √C L⁻ᵀ z with A = L Lᵀ and z standard normal."""
        z = rng.standard_normal((len(self.mean), m))
        return self.mean + np.sqrt(self.prior_variance) * self._half_solve(z, transposed=True).T

    def predictor(self, X: Array) -> tuple[Array, Array]:
        """Mean and variance of the linear predictor θᵀx at each row."""
        rows = with_intercept(np.asarray(X, dtype=float), self._intercept)
        half = self._half_solve(rows.T)
        return rows @ self.mean, self.prior_variance * np.einsum("ij,ij->j", half, half)

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
