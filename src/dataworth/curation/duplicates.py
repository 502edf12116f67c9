"""Keep one of each set of rows that agree, or nearly agree; or repeat every row."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ..arrays import Array, Rows
from ..data.dataset import Dataset, label_keys
from ..data.rows import copy_number, same_rows
from .base import SEED, Method, at_least, points, strata

DIGITS = 6
"""Digits to which features are compared: copies may have been stored in single precision."""


@dataclass(frozen=True)
class Deduplicate(Method):
    """The first of each set of rows with the same features (to 6 digits) and the same label.

    Weights are not added up: the copies are taken for one observation. Rows that differ in their label stay.

    >>> Deduplicate()(Dataset([[1.0], [2.0], [1.0], [1.0]], [0, 1, 0, 1])).y.tolist()
    [0, 1, 1]
    """

    name = "deduplicate"
    what = "keep one of each set of equal rows"
    strategic = None
    why = (
        "it looks at the data alone and a copy holds nothing new; but where copies came about by accident, "
        "a model that takes them for new rows was too sure, and may be worth more without them"
    )

    def __call__(self, data: Dataset) -> Dataset:
        """The first copies, in their old order."""
        return data.take(copy_number(codes_with_labels(data)) == 0)


def codes_with_labels(data: Dataset) -> Rows:
    """A number for each row: equal for rows with the same features and the same label."""
    labels = np.unique(label_keys(data.y), return_inverse=True)[1]
    return same_rows(data, digits=DIGITS)[0] * (1 + len(data)) + labels


SAMPLE = 1000
"""Rows whose distances from each other stand for all: half a million pairs are enough for a median."""
BLOCK, AXES = 32, 8
"""Rows whose neighbours are looked up at a time, and directions along which a tree finds them: rows that are
near are near along all."""


@dataclass(frozen=True)
class NearDeduplicate(Method):
    """Rows in order, without those closer to an earlier one kept with the same label than `distance`.

    Distances are Euclidean between standardised rows (`points`), in units of the median distance between two
    rows, so that the same threshold serves any number and any scale of columns.

    >>> data = Dataset([[0.0], [1.0], [1.001], [3.0]], [0, 0, 0, 0])
    >>> NearDeduplicate()(data).X.ravel().tolist()
    [0.0, 1.0, 3.0]
    """

    distance: float = field(default=0.05, metadata=at_least(0))

    name = "near-deduplicate"
    what = "keep one of each set of rows that nearly agree"
    strategic = None
    why = (
        "it looks at the data alone; but where near copies came about by accident, a model that takes them "
        "for new rows was too sure, and may be worth more without them"
    )

    def __call__(self, data: Dataset) -> Dataset:
        """The rows kept, in their old order."""
        from sklearn.metrics import pairwise_distances

        X, radius = points(data), 0.0
        if len(X) > 1:  # in units of the median distance between at most a thousand rows, evenly spread
            some = X[np.unique(np.linspace(0, len(X) - 1, min(SAMPLE, len(X))).astype(int))]
            radius = self.distance * float(np.median(pairwise_distances(some)[np.triu_indices(len(some), 1)]))
        keep = np.zeros(len(data), dtype=bool)
        for rows in strata(data):
            keep[rows] = _first_of_each(X[rows], radius)
        return data.take(keep)


def _first_of_each(X: Array, radius: float) -> np.ndarray:
    """Greedily: a row stays unless an earlier one that stayed lies within the radius."""
    from scipy.spatial import cKDTree

    keep = np.ones(len(X), dtype=bool)
    radius = radius * (1 + 1e-9) + 1e-9  # rounding is not to part equal rows
    some = np.random.default_rng(SEED).standard_normal((X.shape[1], min(AXES, X.shape[1])))
    along = X @ np.linalg.qr(X.T @ (X @ some))[0]  # nearly the principal axes
    tree = cKDTree(along)
    for start in range(0, len(X), BLOCK):
        rows = start + np.flatnonzero(keep[start : start + BLOCK])
        for i, others in zip(rows, tree.query_ball_point(along[rows], radius), strict=True):
            later = np.array([j for j in others if j > i], dtype=np.intp)
            if keep[i] and len(later):
                keep[later[((X[later] - X[i]) ** 2).sum(axis=1) <= radius**2]] = False
    return keep


@dataclass(frozen=True)
class Duplicate(Method):
    """Every row `times` times.

    >>> len(Duplicate(3)(Dataset([[0.0], [1.0]], [0, 1])))
    6
    """

    times: int = field(default=2, metadata=at_least(1))

    name = "duplicate"
    what = "repeat every row"
    strategic = True
    why = "it says nothing new, only louder"

    def __call__(self, data: Dataset) -> Dataset:
        """The rows, then the rows again."""
        return data.take(np.tile(np.arange(len(data)), self.times))
