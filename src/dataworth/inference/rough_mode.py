"""The mode of a small logistic model to the digits that a search needs, for little more than its products.

`newton.find_mode` bounds what is left of Ψ and of log det by 3e-7 nats, for scores that are differences of
evidences. A search compares held-out likelihoods a row, of which the third digit decides: here only the
decrement is looked at, and a factor is kept while curvatures have hardly changed.
"""

from __future__ import annotations

import numpy as np

from ..arrays import Array
from .geometry import Factor, cholesky_factor

DECREMENT = 1e-6
"""Nats of the last step, which is taken and leaves far less."""
KEPT = 0.05
"""How far any row's predictor may move for a factor to be kept."""
FLAT, LONGEST, TRIALS = 0.3, 64.0, 20
"""Share of the slope at which a line search ends; how far it goes, in Newton steps; how often it looks."""
STEPS = 200


def rough_mode(
    X: Array, ones: Array, zeros: Array, prior_variance: float, start: Array | None = None
) -> tuple[Array, Factor]:
    """The mode θ under N(0, C·I), and the factor of I + C XᵀWX close to it.

    >>> X, ones = np.array([[1.0], [1.0], [-1.0]]), np.array([1.0, 1.0, 0.0])
    >>> (theta,), _ = rough_mode(X, ones, 1.0 - ones, prior_variance=4.0)
    >>> bool(abs(theta - 4.0 * 3.0 / (1.0 + np.exp(theta))) < 1e-6)
    True
    """
    scale = np.sqrt(prior_variance)
    X = scale * X  # the prior of what follows is N(0, I)
    lean, pull = 0.5 * (ones - zeros), 0.5 * (ones + zeros)  # ∇ = lean − pull · tanh(f/2)
    coef = np.zeros(X.shape[1]) if start is None else start / scale
    f = X @ coef
    bent, moved = np.tanh(0.5 * f), np.inf
    for _ in range(STEPS):
        if moved > KEPT:
            rooted = X * np.sqrt(0.5 * pull * (1.0 - bent * bent))[:, None]
            normal = rooted.T @ rooted
            normal.flat[:: len(normal) + 1] += 1.0
            factor, moved = cholesky_factor(normal), 0.0
        ascent = X.T @ (lean - pull * bent) - coef
        step = factor.solve(ascent)
        step_f, decrement = X @ step, float(ascent @ step)
        # the best size along the step, by secants in a bracket: f and coef are linear in it
        leaning, drawn, square = float(lean @ step_f), float(coef @ step), float(step @ step)
        pulling, low, high, size = pull * step_f, 0.0, np.inf, 1.0
        for _ in range(TRIALS):
            bent = np.tanh(0.5 * (f + size * step_f))
            slope = leaning - float(pulling @ bent) - drawn - size * square
            if abs(slope) <= FLAT * decrement or decrement < DECREMENT or low == LONGEST:
                break
            low, high = (size, high) if slope > 0 else (low, size)
            size = min(size * decrement / (decrement - slope) if slope < decrement else np.inf, 8.0 * size)
            if not low < size < high:
                size = 0.5 * (low + high) if np.isfinite(high) else 2.0 * low
            size = min(size, LONGEST)
        coef, f = coef + size * step, f + size * step_f
        moved += size * float(np.abs(step_f).max(initial=0.0))
        if decrement < DECREMENT:
            break
    return scale * coef, factor
