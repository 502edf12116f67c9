"""What a blind editor could have made of the cells that a curation edited under the ids of their rows.

All but `permuted_cells` leave categories alone. None removes cells: to know which are wrong is knowledge.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ...arrays import Array, Flags, Rows
from ...data.dataset import Dataset


class Cells(NamedTuple):
    """Edited rows: the rows of `before`, which of them, how they look now, and the labels of all.

    label: one column a class (0 or 1), or the numeric label. filled: the cells that have another value now.
    """

    X: Array
    rows: Rows
    new: Array
    label: Array
    filled: Flags
    numeric: Flags

    @classmethod
    def of(cls, before: Dataset, rows: Rows, new: Array, label: Array) -> Cells:
        """A cell missing on both sides, or removed, is not filled."""
        filled = (before.X[rows] != new) & np.isfinite(new)
        kinds = np.array([column.kind != "categorical" for column in before.columns])
        return cls(before.X, rows, new, label, filled, filled & kinds)


def affine_cells(cells: Cells, rng: np.random.Generator, more: Array | None = None) -> Array:
    """Least squares of each column's new cells on the old ones, where they were there, and on `more`.

    It repeats rescaling and shifting; missing cells get the mean of the new ones.
    """
    made = cells.X[cells.rows]
    for j in np.flatnonzero(cells.numeric.any(axis=0)):
        i = np.flatnonzero(cells.numeric[:, j])
        missing = np.isnan(made[i, j])
        terms = [np.ones(len(i)), np.where(missing, 0.0, made[i, j]), missing]
        A = np.column_stack(terms if more is None else [*terms, more[i]])
        made[i, j] = A @ np.linalg.lstsq(A, cells.new[i, j], rcond=None)[0]
    return made


def affine_cells_by_label(cells: Cells, rng: np.random.Generator) -> Array:
    """The same with the row's label among the regressors, as in shrinking to class means."""
    return affine_cells(cells, rng, cells.label[cells.rows])


def class_mean_shrinkage(cells: Cells, rng: np.random.Generator) -> Array:
    """Each row moved as far as it was, in units of the columns' spreads, towards the mean of its class.

    Of numeric labels the class is the half above or below the median. A missing cell becomes that mean.
    """
    label = cells.label
    own = label.argmax(axis=1) if label.shape[1] > 1 else (label[:, 0] > np.median(label)).astype(np.intp)
    used = np.flatnonzero(cells.numeric.any(axis=0))
    made, moved, columns = cells.X[cells.rows], cells.numeric[:, used], cells.X[:, used]
    spread = np.nanstd(columns, axis=0) + 1e-12
    goal = np.zeros((len(cells.rows), len(used)))
    for k in np.unique(own[cells.rows]):
        class_rows = np.vstack([columns[own == k], np.nanmean(columns, axis=0)])
        goal[own[cells.rows] == k] = np.nanmean(class_rows, axis=0)
    old = np.where(np.isnan(made[:, used]), goal, made[:, used])
    ends = (np.where(moved, (end - old) / spread, 0.0) for end in (cells.new[:, used], goal))
    far, whole = (np.linalg.norm(way, axis=1) for way in ends)
    step = np.minimum(far / (whole + 1e-12), 1.0)[:, None]
    made[:, used] = np.where(moved, old + step * (goal - old), made[:, used])
    return made


def permuted_cells(cells: Cells, rng: np.random.Generator) -> Array:
    """The new cells of each column in another order."""
    made = cells.X[cells.rows]
    for j in np.flatnonzero(cells.filled.any(axis=0)):
        i = np.flatnonzero(cells.filled[:, j])
        made[i, j] = cells.new[rng.permutation(i), j]
    return made


Editor = Callable[[Cells, np.random.Generator], Array]
EDITORS: dict[str, tuple[Editor, str]] = {
    "affine_edit": (affine_cells, "cells rescaled and shifted"),
    "affine_edit_by_label": (affine_cells_by_label, "cells rescaled and shifted, by label"),
    "class_mean_edit": (class_mean_shrinkage, "rows shrunk towards their class"),
    "permute_cells": (permuted_cells, "edited cells permuted"),
}
"""By the name of the baseline: what it makes of the edited rows, and a label."""
