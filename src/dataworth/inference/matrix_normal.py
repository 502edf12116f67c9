"""Gaussian regression of several outputs with unknown noise: evidence and posterior in closed form.

Y = XB + E, rows of E ~ N(0, S), B | S ~ MN(0, C·I, S), S ~ InverseWishart(ν, s·I). With row weights w that
sum to n, q outputs, and

    A = I + C XᵀwX,   M = C A⁻¹ XᵀwY,   G = (Y − XM)ᵀw(Y − XM) + MᵀM/C,   K = I + G/s,

the posterior is B | S ~ MN(M, C A⁻¹, S), S ~ InverseWishart(ν + n, s·K), and

    log Z = −½ nq log(π s) + Σ_j log Γ((ν + n − j)/2)/Γ((ν − j)/2) − ½ (ν + n) log det K − ½ q log det A,

j = 0 … q−1. One output is `fit_noise` with the shape ν/2 and the scale s/2.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg import cho_solve, solve_triangular
from scipy.special import digamma

from ..arrays import Array
from .gaussian import log_rising
from .geometry import Factor, graded_features, safe_factor


class MatrixFit(NamedTuple):
    """B | S ~ MN(coef, C A⁻¹, S) and S ~ InverseWishart(degrees, root rootᵀ), and their log evidence.

    factor, basis: of A, in coordinates of the rows' span where they are fewer than features. misfit: the part
    of G that is of the rows. count: n. prior_degrees, prior_scale: ν and s.
    """

    log_z: float
    coef: Array
    factor: Factor
    basis: Array | None
    root: Array
    degrees: float
    misfit: Array
    prior_variance: float
    prior_degrees: float
    prior_scale: float

    def information_gain(self) -> float:
        """KL(posterior ‖ prior) = E log p(Y | B, S) − log Z."""
        n = self.degrees - self.prior_degrees
        # E of the misfit: that of the mean, and q tr XᵀwX (XᵀwX + I/C)⁻¹
        return self._mean_log_likelihood(n, self.misfit, -self.factor.trace_defect()) - self.log_z

    def mean_log_likelihood(self, X: Array, Y: Array, weights: Array) -> float:
        """E log p(Y | B, S) of any rows under the posterior."""
        error = np.sqrt(weights)[:, None] * (Y - X @ self.coef)
        spread = float(weights @ self.leverage(X))
        return self._mean_log_likelihood(float(weights.sum()), error.T @ error, spread)

    def _mean_log_likelihood(self, n: float, misfit: Array, spread: float) -> float:
        """−½ (nq log 2π + n E log|S| + ν tr Ψ⁻¹ misfit + q spread)."""
        q = len(self.root)
        log_det = 2.0 * float(np.log(np.diagonal(self.root)).sum()) - q * float(np.log(2.0))
        log_det -= float(digamma((self.degrees - np.arange(q)) / 2.0).sum())
        away = self.degrees * float(np.trace(cho_solve((self.root, True), misfit)))
        return -0.5 * (n * q * float(np.log(2.0 * np.pi)) + n * log_det + away + q * spread)

    def leverage(self, X: Array) -> Array:
        """xᵀ C A⁻¹ x of rows."""
        inside = X if self.basis is None else X @ self.basis
        half = self.factor.half_solve(inside.T) if inside.size else np.zeros((0, len(X)))
        beyond = 0.0 if self.basis is None else np.maximum((X**2).sum(axis=1) - (inside**2).sum(axis=1), 0.0)
        return np.asarray(self.prior_variance * (np.einsum("ij,ij->j", half, half) + beyond))

    def counted(self, w: float) -> MatrixFit:
        """The noise of rows that count w times under the prior variance C/w: M and A stay."""
        G = self.misfit + self.coef.T @ self.coef / self.prior_variance
        root = np.linalg.cholesky(self.prior_scale * np.eye(len(G)) + w * G)
        rows = self.degrees - self.prior_degrees
        return self._replace(root=np.asarray(root, dtype=float), degrees=self.prior_degrees + w * rows)

    def log_predictives(self, X: Array, Y: Array, weights: Array) -> Array:
        """Log p(y | x, rows) of each row by itself, a multivariate Student t; a row of weight w is w rows."""
        return self.log_densities(self.leverage(X), Y - X @ self.coef, weights)

    def log_densities(self, leverage: Array, error: Array, weights: Array) -> Array:
        """The same from xᵀ C A⁻¹ x and y − Mᵀx of each row."""
        q, grown = len(self.root), 1.0 + weights * leverage
        error = solve_triangular(self.root, error.T, lower=True)
        square = weights * np.einsum("ij,ij->j", error, error) / grown
        log_det = 2.0 * float(np.log(np.diagonal(self.root)).sum())
        rising = sum(log_rising((self.degrees - j) / 2.0, weights / 2.0) for j in range(q))
        constant = weights * (q * float(np.log(np.pi)) + log_det)
        last = q * np.log(grown) + constant + (self.degrees + weights) * np.log1p(square)
        return np.asarray(rising - 0.5 * last, dtype=float)


def fit_matrix_normal(
    X: Array, Y: Array, weights: Array, prior_variance: float, degrees: float, scale: float
) -> MatrixFit:
    """Exact posterior and evidence; a row of weight w counts as w rows. Y is n×q."""
    q, n = Y.shape[1], float(weights.sum())
    largest = prior_variance * float(weights @ np.einsum("ij,ij->i", X, X))
    rows, basis = graded_features(X) if X.shape[1] > X.shape[0] > 0 else (X, None)
    factor = safe_factor(rows, prior_variance * weights, largest)
    told = weights[:, None]
    coef = prior_variance * factor.solve(rows.T @ (told * Y))
    # one step of refinement, as in fit_gaussian
    coef = coef + factor.solve(prior_variance * (rows.T @ (told * (Y - rows @ coef))) - coef)
    error = np.sqrt(told) * (Y - rows @ coef)
    misfit = error.T @ error
    grown = np.eye(q) + (misfit + coef.T @ coef / prior_variance) / scale
    root = np.linalg.cholesky(grown)
    log_det = 2.0 * float(np.log(np.diagonal(root)).sum())
    rising = sum(float(log_rising((degrees - j) / 2.0, n / 2.0)) for j in range(q))
    log_z = rising - 0.5 * (n * q * float(np.log(np.pi * scale)) + (degrees + n) * log_det)
    log_z -= 0.5 * q * factor.log_det()
    return MatrixFit(
        log_z=log_z,
        coef=coef if basis is None else basis @ coef,
        factor=factor,
        basis=basis,
        root=np.sqrt(scale) * root,
        degrees=degrees + n,
        misfit=misfit,
        prior_variance=prior_variance,
        prior_degrees=degrees,
        prior_scale=scale,
    )
