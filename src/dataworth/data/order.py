"""An order of rows that depends on what they say: random choices made in it depend on the *set* of rows.

Each column becomes ranks, so that units do not matter, and each row a sum of mixed 64-bit numbers,

    h(row) = Σ_c mix(signature of c, rank of the row in c),    signature of c = Σ_rows mix(rank, label),

in which neither the order of columns nor their names matter. Sums are modulo 2⁶⁴: exact in any order.
Constant and repeated columns say nothing; a category is the 0/1 columns that stand for it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from ..arrays import Array, Flags, Rows
from ..errors import DataworthError
from .dataset import Dataset, label_keys
from .labels import Numeric, learn_targets

Numbers = NDArray[np.uint64]
STEP = np.uint64(0x9E3779B97F4A7C15)
MISSING = np.uint64(1 << 48)
"""The rank of what is missing."""
CELLS, KEPT = 1 << 22, 1 << 26
"""Cells that are ranked together; and of a table whose ranks are kept, not made twice: 500 MB."""


def canonical(data: Dataset) -> Dataset:
    """The same rows in their canonical order; rows that are equal in everything may change places."""
    return data.take(canonical_order(data))


def canonical_order(data: Dataset) -> Rows:
    """Row numbers, in the order of the rows' hashes."""
    kept = list(_ranked(data)) if len(data) * _width(data) <= KEPT else None
    counts = np.ones(len(data), dtype=bool) if data.weights is None else data.weights > 0
    label = _label_ranks(data, _hashes(kept or _ranked(data), np.zeros(len(data), dtype=np.uint64)), counts)
    total = _hashes(kept or _ranked(data), label, labelled=True) + _mix(label)
    if data.weights is not None:
        total += _mix(_ranks(data.weights[:, None])[:, 0] + np.uint64(1 << 40))
    return np.argsort(total, kind="stable")


def _hashes(columns: Iterable[Numbers], label: Numbers, labelled: bool = False) -> Numbers:
    """h of every row; a column that repeats another, or is constant, adds nothing.

    Of a column and its reverse, the one of smaller signature counts: units may also change their sign. Where
    there are no labels to tell, as of a column of distinct numbers, both count.
    """
    total = np.zeros(len(label), dtype=np.uint64)
    seen: set[bytes] = set()
    for ranks in columns:
        last = np.where(ranks == MISSING, np.uint64(0), ranks).max(axis=0, initial=0)
        ways = [ranks, np.where(ranks == MISSING, ranks, last - ranks)]
        signs = [_mix(way * STEP + label[:, None]).sum(axis=0, dtype=np.uint64) for way in ways]
        key = _mix(np.minimum(*signs))
        one, other = (_mix(way + key) for way in ways)
        mixed = np.where(signs[0] <= signs[1], one, other)
        if not labelled:
            mixed = np.where(signs[0] == signs[1], one + other, mixed)
        own = np.ascontiguousarray(mixed.T[ranks.any(axis=0)])
        places = {blake2b(row, digest_size=16).digest(): j for j, row in enumerate(own)}
        total += own[[j for told, j in places.items() if told not in seen]].sum(axis=0, dtype=np.uint64)
        seen |= places.keys()
    return total


def _width(data: Dataset) -> int:
    """Columns that are ranked: one for each category."""
    return sum(len(c.categories) if c.kind == "categorical" else 1 for c in data.columns)


def _ranked(data: Dataset) -> Iterator[Numbers]:
    """Ranks of all columns, some columns at a time."""
    coded = np.array([column.kind == "categorical" for column in data.columns], dtype=bool)
    plain = data.X[:, ~coded] if coded.any() else data.X
    step = max(1, CELLS // max(1, len(data)))
    yield from (_ranks(plain[:, i : i + step]) for i in range(0, plain.shape[1], step))
    for j in np.flatnonzero(coded):
        places = np.unique(data.X[:, j])
        places = places[~np.isnan(places)]
        for i in range(0, len(places), step):
            yield _ranks((data.X[:, j][:, None] == places[i : i + step]).astype(float))


def _ranks(X: Array) -> Numbers:
    """Dense ranks of each column, 0 the least."""
    known = np.where(np.isnan(X), np.inf, X)
    order = np.argsort(known, axis=0, kind="stable")
    ordered = np.take_along_axis(known, order, axis=0)
    steps = np.zeros(X.shape, dtype=np.uint64)
    steps[1:] = ordered[1:] != ordered[:-1]
    ranks = np.empty_like(steps)
    np.put_along_axis(ranks, order, steps.cumsum(axis=0, dtype=np.uint64), axis=0)
    return np.where(np.isnan(X), MISSING, ranks)


def average_ranks(values: Array) -> Array:
    """Ranks from 1 up; equal values share the mean of theirs. (`scipy.stats` takes half a second to import.)

    >>> average_ranks(np.array([3.0, 1.0, 3.0])).tolist()
    [2.5, 1.0, 2.5]
    """
    _, place, times = np.unique(values, return_inverse=True, return_counts=True)
    return np.asarray((np.cumsum(times) - 0.5 * (times - 1))[place])


def _label_ranks(data: Dataset, rows: Numbers, counts: Flags) -> Numbers:
    """Numeric labels by size; classes by how many rows they have, then by these rows, never by name.

    A label of a row without weight says nothing.
    """
    try:
        numbers = isinstance(learn_targets(data), Numeric)
    except DataworthError:  # whoever needs two classes says so
        numbers = False
    if numbers:
        return _ranks(np.where(counts, data.y.astype(float), 0.0)[:, None])[:, 0]
    _, place = np.unique(label_keys(data.y), return_inverse=True)
    sizes = np.bincount(place, counts)
    marks = np.zeros(len(sizes), dtype=np.uint64)
    np.add.at(marks, place[counts], rows[counts])
    rank = np.argsort(np.lexsort((marks, sizes))).astype(np.uint64)
    return np.where(counts, rank[place], np.uint64(0))


def _mix(numbers: Numbers) -> Numbers:
    """SplitMix64 (Steele, Lea & Flood 2014): every bit of the result depends on every bit of the number."""
    z = numbers + STEP
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(z ^ (z >> np.uint64(31)))
