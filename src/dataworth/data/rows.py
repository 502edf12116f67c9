"""Which rows are the same: one matcher, for changes, leaks and duplicates.

A copy of a row may come with six digits. No key made by rounding finds it surely: of 1,280 numbers some
always lie at the edge of a bin. So rows are compared in two steps.

**Candidates.** With c a fifth of a column's typical size, g(x) = asinh(x/c) has |g(a) − g(b)| ≤ ε for any two
numbers with |a − b| ≤ ε·max(|a|, |b|, c). A projection Σ wⱼ g(xⱼ) on random weights w then moves by at most
ε·Σ|wⱼ|: rows that lie farther apart in one of a few projections are different, and rounding cannot part
rows that are the same. Sorting by one projection within cells of another leaves few pairs to look at.

**Verification.** Every cell must agree within ε. Missing equals missing, −0 equals 0, categories count by
their text, and whole numbers of no more than `digits` digits must be equal.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from ..arrays import Array, Flags, Rows
from .convert import CODED, Column
from .dataset import SLAB, Dataset, digest8

FLOOR = 0.2
"""Numbers below this part of their column's typical size agree if they do on its scale: 1e-9 may be written
as 0.000000."""
PROJECTIONS = 4
CELL = 16
"""Width of a cell, in windows: a row in eight stands in two cells."""
MOST_CANDIDATES = 64
"""Rows that a row is compared with at most: where more are as near, features tell no row from another."""
PAIRS = 1 << 18
"""Pairs that are looked at together."""
SAMPLE = 1000
"""Rows of each dataset from which a column's typical size is told."""


def same_rows(*parts: Dataset, digits: int = 6) -> list[Rows]:
    """A number for each row of each dataset (of the same columns): equal numbers for equal features.

    Numbers agree if they differ by no more than one in this significant digit.
    """
    return equal_and_same(*parts, digits=digits)[1]


def equal_and_same(*parts: Dataset, digits: int) -> tuple[list[Rows], list[Rows]]:
    """As `same_rows`, first for features that are equal to the last bit, then for those that agree."""
    ends = np.cumsum([len(part) for part in parts])[:-1]
    keys = np.concatenate([part.row_keys() for part in parts])
    _, first, exact = np.unique(keys, return_index=True, return_inverse=True)
    near = exact if len(first) < 2 else _Cells(parts, digits).classes(first)[exact]
    # numbered in the order of appearance
    _, first, near = np.unique(near, return_index=True, return_inverse=True)
    return np.split(exact, ends), np.split(np.argsort(np.argsort(first))[near], ends)


def pair_up(wanted: Rows, given: Rows) -> Rows:
    """For each of `given` the place of its own copy in `wanted`, the k-th to the k-th; −1 without one."""
    _, codes = np.unique(np.concatenate([wanted, given]), return_inverse=True)
    left, right = codes[: len(wanted)], codes[len(wanted) :]
    stride = max(len(wanted), len(given)) + 1
    return first_of(left * stride + copy_number(left), right * stride + copy_number(right))


def first_of(wanted: Rows, given: Rows) -> Rows:
    """For each of `given` the first place in `wanted` that equals it; −1 without one."""
    if len(wanted) == 0:
        return np.full(len(given), -1, dtype=np.intp)
    unique, first = np.unique(wanted, return_index=True)
    place = np.minimum(np.searchsorted(unique, given), len(unique) - 1)
    return np.where(unique[place] == given, first[place], -1)


def copy_number(codes: Rows) -> Rows:
    """How many equal codes stand before each."""
    order = np.argsort(codes, kind="stable")
    ordered = codes[order]
    starts = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]][: len(codes)])
    numbers = np.empty(len(codes), dtype=np.intp)
    numbers[order] = np.arange(len(codes)) - np.repeat(starts, np.diff(np.r_[starts, len(codes)]))
    return numbers


def floors(parts: Sequence[Dataset]) -> Array:
    """A fifth of each column's typical size, from some rows of each dataset."""
    sample = [np.linspace(0, len(p) - 1, min(SAMPLE, len(p))).astype(np.intp) for p in parts]
    size = np.abs(np.vstack([p.X[rows] for p, rows in zip(parts, sample, strict=True)]))
    known = size > 0
    logs = np.log(size, out=np.zeros_like(size), where=known).sum(axis=0)
    return np.asarray(FLOOR * np.exp(logs / np.maximum(known.sum(axis=0), 1)))


class _Cells:
    """The cells of several datasets, one below the other, as numbers that can be compared."""

    def __init__(self, parts: Sequence[Dataset], digits: int) -> None:
        self.parts, self.whole, self.epsilon = parts, 10.0**digits, 10.0 ** (1 - digits)
        self.texts = [[_numbered(column) for column in part.columns] for part in parts]
        self.text = np.array([column.kind in CODED for column in parts[0].columns], dtype=bool)
        self.ends = np.cumsum([len(part) for part in parts])
        self.floor = floors(parts)

    def take(self, rows: Rows) -> Array:
        """Some rows; a category is a number made from its text."""
        X = np.empty((len(rows), len(self.text)))
        part = np.searchsorted(self.ends, rows, side="right")
        for k in np.unique(part):
            here = part == k
            own = self.parts[k].X[rows[here] - (self.ends[k] - len(self.parts[k]))]
            for j in np.flatnonzero(self.text):
                known = own[:, j] >= 0  # neither missing nor unknown
                own[known, j] = self.texts[k][j][own[known, j].astype(np.intp)]
            X[here] = own
        return X

    def classes(self, rows: Rows) -> Rows:
        """A class for each of these (distinct) rows: the same for rows that agree."""
        shadows, window = self.projected(rows)
        same = [pairs[:, self.agree(rows[pairs[0]], rows[pairs[1]])] for pairs in _near(shadows, window)]
        i, j = np.concatenate([np.zeros((2, 0), dtype=np.intp), *same], axis=1)
        if not len(i):
            return np.arange(len(rows))
        from scipy.sparse import coo_array
        from scipy.sparse.csgraph import connected_components

        graph = coo_array((np.ones(len(i), dtype=bool), (i, j)), shape=(len(rows), len(rows)))
        codes = connected_components(graph, directed=False)[1].astype(np.intp)
        # a ~ b ~ c ~ … may lead anywhere where rows lie densely: such chains are cut to a window's length
        lowest = np.full(int(codes.max()) + 1, np.inf)
        np.minimum.at(lowest, codes, shadows[:, 0])
        link = np.floor((shadows[:, 0] - lowest[codes]) / window[0]).astype(np.intp)
        return np.unique(np.column_stack([codes, link]), axis=0, return_inverse=True)[1].reshape(-1)

    def projected(self, rows: Rows) -> tuple[Array, Array]:
        """Projections of the rows, and how far apart each can be for rows that agree."""
        weights = np.random.default_rng(0).standard_normal((len(self.text), PROJECTIONS))
        shadows = np.empty((len(rows), PROJECTIONS))
        for start in range(0, len(rows), SLAB):
            X = self.take(rows[start : start + SLAB])
            X = np.where(np.isnan(X), np.sqrt(0.5), np.where(self.text, X, np.arcsinh(X / self.floor)))
            shadows[start : start + SLAB] = X @ weights
        reach = np.abs(weights[~self.text]).sum(axis=0)
        # besides the tolerance, what sums of so many numbers may lose in rounding
        lost = 1e-12 * (1.0 + np.abs(shadows).max()) * (1 + len(weights))
        return shadows, 1.001 * self.epsilon * reach + lost

    def agree(self, left: Rows, right: Rows) -> Flags:
        """Whether rows agree, pair by pair."""
        found = np.empty(len(left), dtype=bool)
        step = max(1, SLAB * 64 // max(1, len(self.text)))
        for start in range(0, len(left), step):
            a, b = (self.take(rows[start : start + step]) for rows in (left, right))
            size = np.maximum(np.maximum(np.abs(a), np.abs(b)), self.floor)
            near = np.abs(a - b) <= np.where(self.text, 0.0, self.epsilon) * size
            near &= (a == b) | (size >= self.whole) | (a != np.rint(a)) | (b != np.rint(b))
            found[start : start + step] = (near | (np.isnan(a) & np.isnan(b))).all(axis=1)
        return found


def _numbered(column: Column) -> Array:
    """A number in [1, 2) for each category of a column, from its text."""
    return np.array(
        [1.0 + (int.from_bytes(digest8(c), "little") >> 12) * 2.0**-52 for c in column.categories]
    )


def _near(shadows: Array, window: Array) -> Iterator[Rows]:
    """Pairs of rows that lie within the window in every projection, some at a time, as 2 × pairs."""
    # cells of the second projection; a row near the edge of its cell stands in the next one as well
    place = shadows[:, 1] / (CELL * window[1])
    cell = np.floor(place)
    inside = place - cell
    lower, upper = np.flatnonzero(inside < 1 / CELL), np.flatnonzero(inside > 1 - 1 / CELL)
    row = np.concatenate([np.arange(len(shadows)), lower, upper])
    cell = np.concatenate([cell, cell[lower] - 1, cell[upper] + 1])
    order = np.lexsort((shadows[row, 0], cell))
    row, cell = row[order], np.unique(cell[order], return_inverse=True)[1]
    # one number that sorts by cell, then by the first projection: cells lie more than a window apart
    height = shadows[row, 0] - shadows[:, 0].min()
    height += cell * (height.max() + 2 * window[0])
    reach = height + window[0] + 4 * np.spacing(height[-1])
    count = np.searchsorted(height, reach, side="right") - np.arange(len(row)) - 1
    count = np.minimum(count, MOST_CANDIDATES)
    ends = np.cumsum(count)
    start = 0
    while start < len(row):
        stop = max(start + 1, int(np.searchsorted(ends, (ends[start - 1] if start else 0) + PAIRS)))
        some = count[start:stop]
        left = np.repeat(np.arange(start, stop), some)
        right = left + 1 + np.arange(len(left)) - np.repeat(np.cumsum(some) - some, some)
        pairs = row[np.stack([left, right])]
        near = (np.abs(shadows[pairs[0]] - shadows[pairs[1]]) <= window).all(axis=1)
        yield pairs[:, near]
        start = stop
