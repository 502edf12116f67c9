"""Which rows of a pool are the same row: repeats become counts."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..arrays import Array, Rows
from ..inference.geometry import SLAB

FEW = 8
"""Columns that are looked at first."""


def distinct_rows(X: Array) -> tuple[Array, Rows]:
    """Distinct rows of X in order of first appearance, and the number of each row among them.

    >>> rows, ids = distinct_rows(np.array([[2.0], [1.0], [2.0]]))
    >>> rows.ravel().tolist(), ids.tolist()
    ([2.0, 1.0], [0, 1, 0])
    """
    if X.shape[1] == 0 or len(X) == 0:
        return X[: min(len(X), 1)], np.zeros(len(X), dtype=np.intp)
    if len(np.unique(_hash_rows(X[:, :: -(-X.shape[1] // FEW)]))) == len(X):
        return X, np.arange(len(X))  # a few columns tell all rows apart, as those of measurements do
    # hash first, compare after: sorting 64-bit hashes is far cheaper than sorting rows
    keys = np.concatenate([_hash_rows(X[i : i + SLAB]) for i in range(0, len(X), SLAB)])
    _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
    if len(first) == len(X):
        return X, np.arange(len(X))
    same = all(
        np.array_equal(X[first[inverse[i : i + SLAB]]], X[i : i + SLAB]) for i in range(0, len(X), SLAB)
    )
    if not same:  # a collision of hashes: sort the rows themselves
        packed = (X + 0.0).view(np.dtype((np.void, X.shape[1] * X.itemsize))).ravel()
        _, first, inverse = np.unique(packed, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return X[first[order]], rank[inverse.ravel()]


def _hash_rows(X: Array) -> NDArray[np.uint64]:
    # −0.0 and 0.0 are one value with two bit patterns; adding 0.0 makes them one
    bits = np.ascontiguousarray(X + 0.0).view(np.uint64)
    multipliers = np.random.default_rng(0).integers(0, 2**63, size=X.shape[1], dtype=np.uint64) * 2 + 1
    mixed = bits * multipliers
    mixed ^= mixed >> np.uint64(29)
    return mixed.sum(axis=1, dtype=np.uint64)
