"""The Bernoulli–logit likelihood of rows with repeats.

Rows with identical features are one row with two weights: `ones` (how often it was seen with label 1)
and `zeros` (with label 0). Repeats, row weights and contradicting labels are then the same thing, and a
duplicated row can never make a Gram matrix singular.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from ..arrays import Array


class Counts(NamedTuple):
    """Weight of label 1 and of label 0 at each distinct row."""

    ones: Array
    zeros: Array

    def at(self, ids: NDArray[np.intp]) -> Counts:
        """Those of some rows."""
        return Counts(self.ones[ids], self.zeros[ids])

    def terms(self, f: Array) -> Terms:
        """The likelihood at the linear predictor f."""
        return terms(f, self)

    def along(self, f: Array, step_f: Array, gradient: Array) -> Callable[[float], tuple[float, float]]:
        """Slope of log p(y|f + s·Δf) in s less that at 0, where the gradient is as given, and its bend."""
        # ∇ = ½(ones − zeros) − ½(ones + zeros) tanh(f/2) has no digits in the tails, nor needs a slope some
        constant = float((0.5 * (self.ones - self.zeros) - gradient) @ step_f)
        pull = 0.5 * (self.ones + self.zeros) * step_f
        pull_square = 0.5 * pull * step_f
        total = float(pull_square.sum())
        half_f, half_step = 0.5 * f, 0.5 * step_f

        def slope_and_bend(s: float) -> tuple[float, float]:
            bent = np.tanh(half_f + s * half_step)
            return constant - float(pull @ bent), float(pull_square @ (bent * bent)) - total

        return slope_and_bend


class Terms(NamedTuple):
    """Log-likelihood, its gradient, its curvature W = −∂²/∂f², and tanh(f/2) = −W′/W."""

    value: float
    gradient: Array
    curvature: Array
    tanh_half: Array

    @property
    def ranks(self) -> int:
        """Of each row's W."""
        return 1

    def square(self, f: Array) -> float:
        """fᵀWf."""
        return float(self.curvature @ f**2)

    def log_det_moves(self, f: Array) -> Array:
        """A bound on each row's share in d log det along f: leverages are below 1, and W′/W = −tanh(f/2)."""
        return np.asarray(np.abs(f * self.tanh_half) * (self.curvature > 0))


def terms(f: Array, counts: Counts) -> Terms:
    """Likelihood terms at the linear predictor f, exact in both tails.

    Everything is built from e = exp(−|f|) ≤ 1, so nothing overflows, and σ(−f) is never computed as
    1 − σ(f), which would lose all digits of the small one.
    """
    ones, zeros = counts
    e = np.exp(-np.abs(f))
    major = 1.0 / (1.0 + e)  # σ(|f|)
    minor = e * major  # σ(−|f|)
    positive = f >= 0
    up = np.where(positive, major, minor)  # σ(f)
    down = np.where(positive, minor, major)  # σ(−f)
    log_norm = np.log1p(e)
    value = ones @ (np.minimum(f, 0.0) - log_norm) + zeros @ (-np.maximum(f, 0.0) - log_norm)
    return Terms(
        float(value),
        ones * down - zeros * up,
        (ones + zeros) * (major * minor),
        np.copysign((1.0 - e) * major, f),
    )


NARROW = 1.0
REACH = 40.0
"""The bump log(1 + exp(−|f|)) is below 1e-17 beyond."""


def mean_softplus(mean: Array, spread: Array) -> Array:
    """E log(1 + exp(f)) for each f ~ N(mean, spread²).

    softplus(f) = max(f, 0) + log(1 + exp(−|f|)). Where s < 1 it is smooth on the scale of f and Gauss–Hermite
    quadrature has ten digits. Where s ≥ 1 the hinge is integrated in closed form, m Φ(m/s) + s φ(m/s), and
    the bump that is left by Gauss–Legendre.
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
    """Σ ones·E log σ(f) + zeros·E log σ(−f), with log σ(f) = f − softplus(f)."""
    softplus = mean_softplus(mean, np.sqrt(np.maximum(variance, 0.0)))
    return float(counts.ones @ mean - (counts.ones + counts.zeros) @ softplus)


def _normal(x: Array) -> Array:
    return np.asarray(np.exp(-0.5 * x * x) / np.sqrt(2.0 * np.pi), dtype=float)
