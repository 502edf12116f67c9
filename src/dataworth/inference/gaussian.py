"""Gaussian linear regression with known noise: evidence and posterior in closed form.

y = Xθ + ε, θ ~ N(0, C·I), ε ~ N(0, s²). With A = I + (C/s²) XᵀwX and μ = (C/s²) A⁻¹ Xᵀw y,

    log Z = −½ Σw log(2πs²) − ½ log det A − ½ (Σ w (y − Xμ)²/s² + μᵀμ/C).

(Bishop 2006, equations 3.49–3.54 and 3.86; the residual form of the last term does not cancel.)
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .geometry import GRAM_LIMIT, Factor, graded_features, gram_factor, root_factor
from .logistic import Array


class GaussianFit(NamedTuple):
    """Posterior in the coordinates of `features` (f = features @ coef), and its log evidence."""

    log_z: float
    coef: Array
    factor: Factor
    penalty: float

    def information_gain(self) -> float:
        """KL(posterior ‖ prior)."""
        return 0.5 * (self.factor.trace_defect() + self.penalty + self.factor.log_det())


def fit_gaussian(
    X: Array, y: Array, weights: Array, prior_variance: float, noise_variance: float
) -> GaussianFit:
    """Exact posterior and evidence; a row of weight w counts as w rows.

    >>> one = np.ones((1, 1))
    >>> fit = fit_gaussian(one, np.array([0.0]), np.ones(1), prior_variance=3.0, noise_variance=1.0)
    >>> bool(np.isclose(fit.log_z, -0.5 * np.log(2 * np.pi * 4.0)))
    True
    """
    ratio = prior_variance / noise_variance
    rows = X
    wide = X.shape[1] > X.shape[0] > 0
    large = X.size and ratio * float(weights @ np.einsum("ij,ij->i", X, X)) > GRAM_LIMIT
    if wide:
        rows = graded_features(X)  # at most n coordinates
    factorise = root_factor if large else gram_factor
    factor = factorise(rows, ratio * weights)
    coef = ratio * factor.solve(rows.T @ (weights * y))
    # one step of refinement: the residual of the normal equations, without their condition number
    coef += factor.solve(ratio * (rows.T @ (weights * (y - rows @ coef))) - coef)
    penalty = float(coef @ coef) / prior_variance
    misfit = float(weights @ (y - rows @ coef) ** 2) / noise_variance
    constant = float(weights.sum()) * float(np.log(2.0 * np.pi * noise_variance))
    log_z = -0.5 * (constant + factor.log_det() + misfit + penalty)
    if rows is not X:
        # back to θ: the posterior mean lies in the row space, θ = Xᵀ(XXᵀ)⁺ Zβ, found by least squares
        coef = np.asarray(np.linalg.lstsq(X, rows @ coef, rcond=None)[0], dtype=float)
    return GaussianFit(log_z, coef, factor, penalty)
