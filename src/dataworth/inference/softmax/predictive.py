"""The evidence of a few rows under any Gaussian of their predictors: Laplace's method, n×n.

In K−1 contrasts of classes the predictors of m rows are g ~ N(g₀, S), S of m(K−1) squared. With ∇ and W of
the likelihood at g and b = W(g − g₀) + ∇, Newton's step is g ← g₀ + S a, a = b − W (I + S W)⁻¹ S b, and

    log Z = log p(y|g) − ½ aᵀ S a − ½ log det(I + S W)   at its end.
"""

from __future__ import annotations

import numpy as np

from ...arrays import Array
from .likelihood import terms
from .stacked import contrast_curvature, contrasts

STEPS, HALVINGS = 50, 30
TOLERANCE = 1e-9


def log_evidence(mean: Array, covariance: Array, counts: Array) -> float:
    """Log evidence of class counts (m×K) whose contrasts have this mean (m×K−1) and covariance.

    >>> likely = log_evidence(np.array([[2.0]]), np.eye(1), np.array([[0.0, 1.0]]))
    >>> -0.2 < likely < log_evidence(np.array([[9.0]]), np.eye(1), np.array([[0.0, 1.0]])) < 0.0
    True
    """
    rows, k = mean.shape
    Q = contrasts(k + 1)
    a, g = np.zeros(rows * k), mean.ravel()
    at = terms(mean @ Q.T, counts)
    value = at.value
    for _ in range(STEPS):
        W = _block_diagonal(contrast_curvature(Q, at.mass))
        b = W @ (g - mean.ravel()) + (at.gradient @ Q).ravel()
        bent = covariance @ W
        bent.flat[:: len(bent) + 1] += 1.0
        step = b - W @ np.linalg.solve(bent, covariance @ b) - a
        step_g, size, before = covariance @ step, 1.0, value
        for _ in range(HALVINGS):
            moved_a, moved = a + size * step, g + size * step_g
            at = terms(moved.reshape(rows, k) @ Q.T, counts)
            value = at.value - 0.5 * float(moved_a @ (moved - mean.ravel()))
            if value >= before - TOLERANCE:
                break
            size *= 0.5
        a, g = moved_a, moved
        if value - before < TOLERANCE:
            break
    bent = covariance @ _block_diagonal(contrast_curvature(Q, at.mass))
    bent.flat[:: len(bent) + 1] += 1.0
    return value - 0.5 * float(np.linalg.slogdet(bent)[1])


def _block_diagonal(parts: Array) -> Array:
    """Square blocks (m×k×k) along the diagonal."""
    rows, k, _ = parts.shape
    whole = np.zeros((rows, k, rows, k))
    whole[np.arange(rows), :, np.arange(rows), :] = parts
    return whole.reshape(rows * k, rows * k)
