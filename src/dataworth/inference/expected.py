"""Mean log-likelihood of labels when the linear predictor is Gaussian: E log σ(±f), f ~ N(m, s²).

    log σ(f) = f − softplus(f),   softplus(f) = max(f, 0) + log(1 + exp(−|f|))

Where s < 1 softplus is smooth on the scale of f and Gauss–Hermite quadrature has ten digits. Where s ≥ 1 the
hinge is integrated in closed form, m Φ(m/s) + s φ(m/s), and the bump that is left by Gauss–Legendre.
"""

from __future__ import annotations

import numpy as np
from scipy.special import ndtr

from ..arrays import Array
from .logistic import Counts

NARROW = 1.0
REACH = 40.0
"""The bump log(1 + exp(−|f|)) is below 1e-17 beyond."""


def mean_softplus(mean: Array, spread: Array) -> Array:
    """E log(1 + exp(f)) for each f ~ N(mean, spread²).

    >>> mean_softplus(np.array([0.0, 0.0]), np.array([0.0, 100.0])).round(4).tolist()  # log 2, 100/√(2π) + …
    [0.6931, 39.9008]
    """
    found, wide = np.empty(len(mean)), spread >= NARROW
    nodes, weights = np.polynomial.hermite_e.hermegauss(40)
    at = mean[~wide, None] + spread[~wide, None] * nodes
    found[~wide] = np.logaddexp(0.0, at) @ (weights / weights.sum())
    m, s = mean[wide, None], spread[wide, None]
    levels, level_weights = np.polynomial.legendre.leggauss(80)
    u = 0.5 * REACH * (1.0 + levels)
    bump = 0.5 * REACH * level_weights * np.log1p(np.exp(-u))
    hinge = (m * ndtr(m / s) + s * _normal(m / s))[:, 0]
    found[wide] = hinge + (_normal((u - m) / s) + _normal((u + m) / s)) / s @ bump
    return found


def mean_log_likelihood(mean: Array, variance: Array, counts: Counts) -> float:
    """Σ ones·E log σ(f) + zeros·E log σ(−f)."""
    softplus = mean_softplus(mean, np.sqrt(np.maximum(variance, 0.0)))
    return float(counts.ones @ mean - (counts.ones + counts.zeros) @ softplus)


def _normal(x: Array) -> Array:
    return np.asarray(np.exp(-0.5 * x * x) / np.sqrt(2.0 * np.pi), dtype=float)
