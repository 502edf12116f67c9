"""An order of rows that depends on what they say: random choices made in it depend on the *set* of rows.

Each column becomes ranks, so that units do not matter, and each row a sum of mixed 64-bit numbers,

    h(row) = Σ_c mix(signature of c, rank of the row in c),    signature of c = Σ_rows mix(rank, label),

in which neither the order of columns nor their names matter. Sums are modulo 2⁶⁴: exact in any order.
Constant and repeated columns say nothing; a category is the 0/1 columns that stand for it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..arrays import Array, Rows
from .dataset import Dataset, label_keys

Numbers = NDArray[np.uint64]
SLAB = 4096
"""Columns that are ranked together."""


def canonical(data: Dataset) -> Dataset:
    """The same rows in their canonical order; rows that are equal in everything may change places.

    >>> data = Dataset([[3.0, 1.0], [1.0, 2.0], [2.0, 2.0]], ["a", "b", "a"])
    >>> canonical(data).X.tolist() == canonical(data.take([2, 0, 1])).X.tolist()
    True
    """
    return data.take(canonical_order(data))


def canonical_order(data: Dataset) -> Rows:
    """Row numbers, in the order of the rows' hashes.

    >>> X = np.random.default_rng(0).normal(size=(9, 3))
    >>> one, two = Dataset(X, X[:, 0] > 0), Dataset(1000.0 * X[::-1, [2, 0, 1, 1]], X[::-1, 0] > 0)
    >>> (8 - canonical_order(two)).tolist() == canonical_order(one).tolist()
    True
    """
    label = _label_ranks(data)
    total = _mix(label)
    if data.weights is not None:
        total += _mix(_ranks(data.weights[:, None])[:, 0] + np.uint64(1 << 40))
    seen: set[bytes] = set()
    for ranks in _ranked(data):
        signature = _mix(ranks * np.uint64(0x9E3779B97F4A7C15) + label[:, None]).sum(axis=0, dtype=np.uint64)
        mixed = _mix(ranks + _mix(signature))
        for j in np.flatnonzero(ranks.any(axis=0)):
            own = mixed[:, j].tobytes()
            if own not in seen:
                seen.add(own)
                total += mixed[:, j]
    return np.argsort(total, kind="stable")


def _ranked(data: Dataset) -> list[Numbers]:
    """Ranks of all columns, some columns at a time."""
    coded = np.array([column.kind == "categorical" for column in data.columns], dtype=bool)
    plain = data.X[:, ~coded] if coded.any() else data.X
    parts = [plain[:, i : i + SLAB] for i in range(0, plain.shape[1], SLAB)]
    for j in np.flatnonzero(coded):
        places = np.unique(data.X[:, j])
        parts.append((data.X[:, j][:, None] == places[~np.isnan(places)]).astype(float))
    return [_ranks(part) for part in parts]


def _ranks(X: Array) -> Numbers:
    """Dense ranks of each column, 0 the least; of two values the rarer is 1. What is missing comes last.

    >>> _ranks(np.array([[5.0, 1.0], [np.nan, 0.0], [5.0, 1.0], [4.0, 1.0]])).T.tolist()
    [[1, 2, 1, 0], [0, 1, 0, 0]]
    """
    known = np.where(np.isnan(X), np.inf, X)
    order = np.argsort(known, axis=0, kind="stable")
    ordered = np.take_along_axis(known, order, axis=0)
    steps = np.zeros(X.shape, dtype=np.uint64)
    steps[1:] = ordered[1:] != ordered[:-1]
    ranks = np.empty_like(steps)
    np.put_along_axis(ranks, order, steps.cumsum(axis=0, dtype=np.uint64), axis=0)
    two = (ranks.max(axis=0, initial=0) == 1) & (2 * ranks.sum(axis=0) > len(X))
    ranks[:, two] = 1 - ranks[:, two]
    return ranks


def _label_ranks(data: Dataset) -> Numbers:
    """Numeric labels by size; classes by how many rows they have, then by name."""
    if data.y.dtype.kind in "fiu":
        return _ranks(data.y.astype(float)[:, None])[:, 0]
    keys, place, sizes = np.unique(label_keys(data.y), return_inverse=True, return_counts=True)
    return np.argsort(np.lexsort((keys, sizes))).astype(np.uint64)[place]


def _mix(numbers: Numbers) -> Numbers:
    """SplitMix64 (Steele, Lea & Flood 2014): every bit of the result depends on every bit of the number."""
    z = numbers + np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(z ^ (z >> np.uint64(31)))
