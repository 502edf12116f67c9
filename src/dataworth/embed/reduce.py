"""Fewer columns: principal components, the same on every run."""

from __future__ import annotations

from typing import Any

import numpy as np

from dataworth.arrays import Array
from dataworth.errors import DataworthError
from dataworth.wording import counted


def pca(X: Any, k: int, fit_on: Any = None) -> Array:
    """The first k principal components of X, by directions found on `fit_on` (by default X itself).

    Each direction is signed so that its largest entry is positive. Data that are to be compared must share
    `fit_on`: two fits give two coordinate systems.

    >>> pca([[0.0, 0.0], [1.0, 2.0], [2.0, 4.0]], 1).round(3).tolist()
    [[-2.236], [0.0], [2.236]]
    """
    from sklearn.decomposition import PCA

    data = np.asarray(X, dtype=np.float64)
    base = data if fit_on is None else np.asarray(fit_on, dtype=np.float64)
    if data.ndim != 2 or base.ndim != 2 or data.shape[1] != base.shape[1]:
        raise DataworthError(
            f"pca was given shapes {data.shape} and {base.shape}: give rows × features, the same in both."
        )
    if not 1 <= k <= min(base.shape):
        raise DataworthError(
            f"{k} principal components were asked for, but {counted(len(base), 'row')} of"
            f" {counted(base.shape[1], 'feature')} have at most {min(base.shape)}: ask for fewer."
        )
    found = PCA(n_components=int(k), svd_solver="full").fit(base)
    largest = np.abs(found.components_).argmax(axis=1)
    signs = np.sign(found.components_[np.arange(k), largest])
    return np.asarray((data - found.mean_) @ (found.components_ * signs[:, None]).T)
