"""Rows that are the same although their columns were moved: point-set registration in ranks.

A table in other units, or moved to the moments of another one, has no cell in common with what it was made
from, and new ids say nothing. But each increasing map of a column keeps its ranks. With

    u_j(x) = F_j(x_j),   F_j: distribution function of column j over the rows that are paired so far,

two rows are a pair if each is the other's nearest in u, and what is paired gives the next F. The first round
is made with u, and if that shows nothing with |u − ½|, whose pairs say which columns are turned.

Of two samples of one distribution some rows are pairs by chance (45 % in many columns, more in few); of rows
that were moved, shaken a little, or mixed linearly, nearly all are. Chance is measured on the rows
themselves: on random parts of them, as unequal in size. Pairs are the same rows if few are left over,

    1 − paired ≤ LEFT (1 − paired by chance),

and so many are no chance. `benchmarks/row_matching.py` counts what is found, and taken for what it is not.
"""

from __future__ import annotations

import numpy as np
from scipy.special import bdtrc

from ..arrays import Array, Flags, Rows
from .dataset import Dataset
from .rows import ComparedCells

LEFT = 1 / 3
LEVEL = 1e-6
"""Probability (binomial) that chance makes so many pairs."""
PARTS = 4
"""Times that rows are parted at random to see what chance does."""
FEWEST, MOST = 10, 5000
"""Distinct rows from which on pairs are looked for (fewer show nothing), and up to which: each is compared
with all."""
COLUMNS, ROUNDS = 64, 8
TRIMMED = 0.9
"""Proportion of the pairs, those with the nearest ranks, that the next round learns from."""


def moved_codes(before: Dataset, after: Dataset, codes: tuple[Rows, Rows], digits: int) -> Rows:
    """Codes of the rows of `after`, of which those that are moved rows of `before` get their codes.

    codes: of the rows of both; rows that have an equal on the other side are settled.

    >>> X = np.random.default_rng(0).normal(size=(30, 3))
    >>> codes = np.arange(30), np.arange(30, 60)
    >>> moved = Dataset(np.exp(X[::-1]), np.ones(30))
    >>> moved_codes(Dataset(X, np.ones(30)), moved, codes, 6).tolist() == codes[0][::-1].tolist()
    True
    """
    places = []
    for own, other in (codes, codes[::-1]):
        code, first = np.unique(own, return_index=True)
        places.append(first[~np.isin(code, other)])
    if not all(FEWEST <= len(rows) <= MOST for rows in places):
        return codes[1]
    cells = ComparedCells((before, after), digits)
    left, right = register(cells.take(places[0]), cells.take(len(before) + places[1]))
    same = np.arange(codes[1].max() + 1)
    same[codes[1][places[1][right]]] = codes[0][places[0][left]]
    return same[codes[1]]


def register(before: Array, after: Array) -> tuple[Rows, Rows]:
    """Places of rows that are the same, in both; none if these are different rows."""
    used = np.flatnonzero(_varies(before) & _varies(after))
    used = used[np.linspace(0, len(used) - 1, min(len(used), COLUMNS)).astype(np.intp)]
    nothing = np.zeros(0, dtype=np.intp)
    if not len(used):
        return nothing, nothing
    before, after = before[:, used], after[:, used]
    for turned in (False, True):
        left, right = _pairs(before, after, turned)
        rows = min(len(before), len(after))
        alone = 1.0 - len(left) / rows
        if alone <= LEFT:  # else no chance is small enough
            chance = _by_chance(before, after, turned)
            if alone <= LEFT * (1.0 - chance) and bdtrc(len(left) - 1, rows, chance) < LEVEL:
                return left, right
    return nothing, nothing


def _by_chance(before: Array, after: Array, turned: bool) -> float:
    """Proportion of pairs between parts of the larger table, as unequal in size as the tables are."""
    smaller, larger = sorted((before, after), key=len)
    rng, part = np.random.default_rng(0), len(larger) * len(smaller) // (len(larger) + len(smaller))
    orders = [rng.permutation(len(larger)) for _ in range(PARTS)]
    pairs = sum(len(_pairs(larger[order[part:]], larger[order[:part]], turned)[0]) for order in orders)
    return (pairs + 1) / (PARTS * part + 1)


def _pairs(before: Array, after: Array, turned: bool) -> tuple[Rows, Rows]:
    left, right = np.arange(len(before)), np.arange(len(after))
    found = left[:0], right[:0]
    for turn in range(ROUNDS):
        u, v = _ranks(before, before[left]), _ranks(after, after[right])
        if turned and turn == 0:
            left, right = _mutual(np.abs(u - 0.5), np.abs(v - 0.5))
            after = after * np.where(((u[left] - 0.5) * (v[right] - 0.5)).sum(axis=0) < 0, -1.0, 1.0)
            continue
        pairs = _mutual(u, v)
        if len(pairs[0]) <= len(found[0]):
            break
        found = left, right = pairs
        gap = np.abs(_ranks(before[left], before[left]) - _ranks(after[right], after[right])).max(axis=1)
        near = gap <= max(float(np.quantile(gap, TRIMMED)), 1.01 / len(gap))
        left, right = left[near], right[near]
    return found


def _ranks(X: Array, known: Array) -> Array:
    """F_j(x_j), with half of the step where values repeat; missing is larger than all numbers."""
    u = np.empty_like(X)
    for j, column in enumerate(np.sort(known, axis=0).T):
        u[:, j] = np.searchsorted(column, X[:, j]) + np.searchsorted(column, X[:, j], side="right")
    return np.asarray(u / (2 * len(known)))


def _mutual(u: Array, v: Array) -> tuple[Rows, Rows]:
    """Pairs of rows of which each is the other's nearest."""
    distance = (u**2).sum(axis=1)[:, None] + (v**2).sum(axis=1) - 2.0 * u @ v.T
    nearest, back = distance.argmin(axis=0), distance.argmin(axis=1)
    right = np.flatnonzero(back[nearest] == np.arange(len(v)))
    return nearest[right], right


def _varies(X: Array) -> Flags:
    return np.array([len(np.unique(column)) > 1 for column in X.T], dtype=bool)
