"""Gaussian linear regression with known noise: evidence and posterior in closed form.

y = Xθ + ε, θ ~ N(0, C·I), ε ~ N(0, s²). With A = I + (C/s²) XᵀwX and μ = (C/s²) A⁻¹ Xᵀw y,

    log Z = −½ Σw log(2πs²) − ½ log det A − ½ (Σ w (y − Xμ)²/s² + μᵀμ/C).

(Bishop 2006, equations 3.49–3.54 and 3.86; the residual form of the last term does not cancel.)

With unknown noise, θ|s² ~ N(0, s² C·I) and s² ~ InverseGamma(a, b), everything is said in units of s: with
A and μ as above at s² = 1, n = Σw and Q = Σ w (y − Xμ)² + μᵀμ/C,

    aₙ = a + n/2,  bₙ = b + Q/2,  log Z = −½ n log 2π − ½ log det A + a log b − aₙ log bₙ + log Γ(aₙ)/Γ(a).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import digamma, gammaln

from ..arrays import Array
from .geometry import Factor, graded_features, safe_factor

TIGHT = 1e-8
"""Share of Σ w y² left unexplained below which the rounding of Xθ is felt in the residuals."""
LARGE = 1000.0
"""From here on two terms of Stirling's series give all digits."""


class GaussianFit(NamedTuple):
    """Posterior in the coordinates of `features` (f = features @ coef), and its log evidence."""

    log_z: float
    coef: Array
    factor: Factor
    penalty: float
    misfit: float

    def information_gain(self) -> float:
        """KL(posterior ‖ prior)."""
        return 0.5 * (self.factor.trace_defect() + self.penalty + self.factor.log_det())


class NoiseFit(NamedTuple):
    """θ|s² ~ N(coef, s² C A⁻¹) and s² ~ InverseGamma(shape, scale), and their log evidence."""

    log_z: float
    coef: Array
    factor: Factor
    penalty: float
    shape: float
    scale: float
    prior_shape: float
    prior_scale: float

    def information_gain(self) -> float:
        """KL(posterior ‖ prior): that of θ given s², averaged over s², and that of s²."""
        a, b = self.prior_shape, self.prior_scale
        grown = self.shape - a
        coefficients = 0.5 * (
            self.factor.trace_defect() + self.factor.log_det() + self.penalty * self.shape / self.scale
        )
        noise = (
            grown * float(digamma(self.shape))
            - float(log_rising(a, grown))
            + a * float(np.log(self.scale / b))
            + self.shape * (b - self.scale) / self.scale
        )
        return coefficients + noise


def divergence_from_prior(spectrum: Array, mean: Array, prior_variance: float) -> float:
    """KL(N(μ, P⁻¹) ‖ N(0, C·I)) = ½ Σ (1/λ − 1 + log λ) + ½ ‖μ‖²/C with λ the eigenvalues of C·P.

    A posterior that is the prior is at 0; one of half the variance at μ = √C gains ½ (log 2 + ½).

    >>> divergence_from_prior(np.ones(2), np.zeros(2), 3.0)
    0.0
    >>> gain = divergence_from_prior(np.array([2.0]), np.array([2.0]), 4.0)
    >>> bool(np.isclose(gain, 0.5 * (np.log(2.0) + 0.5)))
    True
    """
    shape = float((1.0 / spectrum - 1.0 + np.log(spectrum)).sum())
    return 0.5 * (shape + float(mean @ mean) / prior_variance)


def fit_gaussian(
    X: Array, y: Array, weights: Array, prior_variance: float, noise_variance: float
) -> GaussianFit:
    """Exact posterior and evidence; a row of weight w counts as w rows."""
    ratio = prior_variance / noise_variance
    largest = ratio * float(weights @ np.einsum("ij,ij->i", X, X))
    rows, basis = graded_features(X) if X.shape[1] > X.shape[0] > 0 else (X, None)  # at most n coordinates
    factor = safe_factor(rows, ratio * weights, largest)
    coef = ratio * factor.solve(rows.T @ (weights * y))
    # one step of refinement: the residual of the normal equations, without their condition number
    coef += factor.solve(ratio * (rows.T @ (weights * (y - rows @ coef))) - coef)
    penalty = float(coef @ coef) / prior_variance
    misfit = float(weights @ (y - rows @ coef) ** 2)
    if misfit < TIGHT * float(weights @ y**2):
        misfit = float(weights @ exact_residual(rows, coef, y) ** 2)
    misfit /= noise_variance
    constant = float(weights.sum()) * float(np.log(2.0 * np.pi * noise_variance))
    log_z = -0.5 * (constant + factor.log_det() + misfit + penalty)
    return GaussianFit(log_z, coef if basis is None else basis @ coef, factor, penalty, misfit)


def exact_residual(X: Array, coef: Array, y: Array) -> Array:
    """y − Xθ as if in twice the digits: each product and sum with its rounding error (Dekker 1971).

    >>> residual = exact_residual(np.array([[0.1]]), np.array([1e8]), np.array([1e7]))
    >>> float(residual[0]) < 0.0  # the float 0.1 is a little more than a tenth
    True
    """
    total, lost = y.astype(float), np.zeros(len(y))
    for column, c in zip(X.T, coef, strict=True):
        product = column * c
        (high, low), (c_high, c_low) = _halves(column), _halves(c)
        rounding = ((high * c_high - product) + high * c_low + low * c_high) + low * c_low
        difference = total - product
        taken = difference - total
        lost += (total - (difference - taken)) - (product + taken) - rounding
        total = difference
    return total + lost


def _halves(a: Array | float) -> tuple[Array | float, Array | float]:
    """A number as two of half its digits, whose products are exact."""
    scaled = 134217729.0 * a
    high = scaled - (scaled - a)
    return high, a - high


def fit_noise(
    X: Array, y: Array, weights: Array, prior_variance: float, shape: float, scale: float
) -> NoiseFit:
    """Exact posterior and evidence with unknown noise."""
    known = fit_gaussian(X, y, weights, prior_variance, 1.0)
    half_rows, half_square = 0.5 * float(weights.sum()), 0.5 * (known.misfit + known.penalty)
    # bₙ = b + Q/2, and a log b − aₙ log bₙ = −a log(1 + Q/2b) − ½ n log bₙ: nothing cancels if b is large
    log_z = (
        float(log_rising(shape, half_rows))
        - shape * float(np.log1p(half_square / scale))
        - half_rows * float(np.log(2.0 * np.pi * (scale + half_square)))
        - 0.5 * known.factor.log_det()
    )
    ends = shape + half_rows, scale + half_square
    return NoiseFit(log_z, known.coef, known.factor, known.penalty, *ends, shape, scale)


def log_rising(start: float, steps: Array | float) -> Array:
    """Log Γ(a + n)/Γ(a), a = start and n = steps, with the digits that subtracting would lose at large a."""
    steps = np.asarray(steps, dtype=float)
    if start < LARGE:
        return np.asarray(gammaln(start + steps) - gammaln(start), dtype=float)
    # Stirling's series, term by term: (a − ½) log(1 + n/a) + n log(a + n) − n, and 1/12a − 1/360a³
    end = start + steps
    series = [1.0 / (12.0 * a) - 1.0 / (360.0 * a**3) for a in (end, start)]
    return (start - 0.5) * np.log1p(steps / start) + steps * (np.log(end) - 1.0) + (series[0] - series[1])
