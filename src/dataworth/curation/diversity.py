"""How diverse rows are: read-outs, not curations."""

from __future__ import annotations

import numpy as np

from ..arrays import Array


def vendi(X: Array) -> float:
    """The Vendi score: exp of the entropy of the eigenvalues of K / n, K the cosines of the rows.

    The effective number of different rows: 1 if all are alike, n if all are orthogonal (Friedman and Dieng).

    >>> round(vendi(np.eye(4)), 6), round(vendi(np.ones((4, 2))), 6)
    (4.0, 1.0)
    """
    unit = unit_rows(X)
    n, d = unit.shape
    values = np.linalg.eigvalsh((unit @ unit.T if n <= d else unit.T @ unit) / n)
    values = values[values > 1e-12]
    return float(np.exp(-(values * np.log(values)).sum()))


def mean_cosine(X: Array) -> float:
    """The mean cosine of two different rows."""
    unit = unit_rows(X)
    n, total = len(unit), unit.sum(axis=0)
    return float((total @ total - (unit**2).sum()) / (n * (n - 1)))


def unit_rows(X: Array) -> Array:
    """Rows of length 1."""
    return np.asarray(X / np.maximum(np.linalg.norm(X, axis=1, keepdims=True), np.finfo(float).tiny))
