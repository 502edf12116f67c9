"""Gaussian approximations as one site per row: p(θ|S) ∝ p(θ) Πᵢ exp(νᵢ gᵢ − ½ τᵢ gᵢ²), g = Xθ, θ ~ N(0, C·I).

Laplace's method, EP and exact Gaussian regression all give posteriors of this kind, and every form of the
score is made of their normalisers

    G(S) = log ∫ p(θ) Πᵢ exp(νᵢ gᵢ − ½ τᵢ gᵢ²) dθ = −½ log det(I + Kτ) + ½ νᵀΣν,   K = C·X Xᵀ,

without ever forming a d×d covariance where rows are fewer than features.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg import solve_triangular
from scipy.linalg.lapack import dtrtri

from ..arrays import Array
from .geometry import Dual, Factor, Primal
from .logistic import Counts, terms

LEAST_LEVERAGE = 1e-6
"""Leverages τv below this are not taken as 1 − (1 − τv): fewer digits than needed would be left of v."""


class Sites(NamedTuple):
    """Precision τ ≥ 0 and shift ν of each row's Gaussian factor."""

    tau: Array
    nu: Array


class Conditioned(NamedTuple):
    """The Gaussian that sites make of the prior: coefficients and mean of g, and the factor of I + Kτ."""

    coef: Array
    mean: Array
    factor: Factor

    def log_norm(self, sites: Sites) -> float:
        """G = −½ log det(I + Kτ) + ½ νᵀΣν."""
        return 0.5 * (float(sites.nu @ self.mean) - self.factor.log_det())


class Marginals(NamedTuple):
    """Variance v of each g, and what its own site leaves of the cavity's: kept = 1 − τv = v / v_cavity."""

    variance: Array
    kept: Array


def expand(f: Array, offset: Array | float, counts: Counts) -> Sites:
    """The likelihood's second-order expansion at f as sites on g = f − offset."""
    at = terms(f, counts)
    return Sites(at.curvature, at.gradient + at.curvature * (f - offset))


def condition(geometry: Dual | Primal, sites: Sites) -> Conditioned:
    """Condition the prior on sites: mean and factor.

    >>> one = Dual(np.array([[3.0]]))  # prior variance 3; a site as of one observation 2 with variance 1
    >>> sites = Sites(np.array([1.0]), np.array([2.0]))
    >>> given = condition(one, sites)
    >>> round(float(given.mean[0]), 12), round(given.log_norm(sites), 6)
    (1.5, 0.806853)
    """
    tau, nu = sites
    if isinstance(geometry, Dual):
        root = np.sqrt(tau)
        factor = geometry.factorise(root)
        coef = nu - root * factor.solve(root * (geometry.gram @ nu))
        return Conditioned(coef, geometry.gram @ coef, factor)
    factor, pull = geometry.factorise(tau, nu)
    coef = geometry.prior_variance * factor.solve(pull)
    return Conditioned(coef, geometry.predictor(coef), factor)


def marginals(geometry: Dual | Primal, sites: Sites, factor: Factor) -> Marginals:
    """Variances of g under the conditioned Gaussian, each to nearly full precision.

    n×n: I − τ^½ Σ τ^½ = B⁻¹, so 1 − τv is the diagonal of B⁻¹ and does not cancel; v follows from it, or
    directly where the row's own site hardly matters.
    """
    if isinstance(geometry, Dual):
        if not len(geometry.gram):
            return Marginals(np.zeros(0), np.zeros(0))
        half, _ = dtrtri(factor.matrix, lower=1)
        kept = np.einsum("ij,ij->j", half, half)
        leverage = 1.0 - kept
        faint = np.flatnonzero(leverage < LEAST_LEVERAGE)
        variance = leverage / np.where(sites.tau > 0, sites.tau, 1.0)
        if len(faint):
            spread = half @ (np.sqrt(sites.tau)[:, None] * geometry.gram[:, faint])
            variance[faint] = geometry.gram[faint, faint] - np.einsum("ij,ij->j", spread, spread)
        return Marginals(variance, kept)
    variance = np.empty(len(geometry))
    trans = "N" if factor.lower else "T"
    for part, X in geometry.slabs():
        half = solve_triangular(factor.matrix, X.T, lower=factor.lower, trans=trans, check_finite=False)
        variance[part] = geometry.prior_variance * np.einsum("ij,ij->j", half, half)
    return Marginals(variance, np.maximum(1.0 - sites.tau * variance, np.finfo(float).tiny))
