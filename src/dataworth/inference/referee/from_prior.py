"""Softmax evidence by drawing from the prior: log Z = log E p(y | F), which approximates nothing.

Only the predictors F = XΘ of the rows seen matter. Each class's are N(0, C·XXᵀ), independent of the others':
F = √C L z with L Lᵀ = XXᵀ, which has min(n, d) columns. It needs draws that fit all labels at once by chance,
so it is for few rows; with p(y) ≈ e^−7 and less a hundred thousand draws no longer do.
"""

from __future__ import annotations

import numpy as np

from ...arrays import Array
from .weights import Weights

AT_ONCE = 100_000
"""Predictors of all classes that are held in memory."""


def softmax_from_prior(
    X: Array, counts: Array, prior_variance: float, rng: np.random.Generator, draws: int
) -> Weights:
    """Likelihoods of class counts (rows × classes) at draws from the prior; `log_z` is their log mean.

    Without features all classes are alike, and one row has one of three by 1/3:

    >>> weights = softmax_from_prior(np.ones((1, 1)), np.eye(3)[:1], 4.0, np.random.default_rng(0), 20_000)
    >>> abs(weights.log_z - np.log(1 / 3)) < 4 * weights.error < 0.1
    True
    """
    rows, classes = counts.shape
    root = np.sqrt(prior_variance) * np.asarray(np.linalg.qr(X.T, mode="r")).T
    totals = counts.sum(axis=1)
    step = max(1, AT_ONCE // max(rows * classes, 1))
    parts = []
    for done in range(0, draws, step):
        f = root @ rng.standard_normal((classes, root.shape[1], min(step, draws - done)))
        top = f.max(axis=0)
        log_sum = top + np.log(np.exp(f - top).sum(axis=0))
        parts.append(np.einsum("cim,ic->m", f, counts) - totals @ log_sum)
    return Weights(np.concatenate(parts))
