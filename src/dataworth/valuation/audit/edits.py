"""What a blind editor could have made of the columns that a curation edited.

Editors see how the edited cells changed, and the test set's features, never its labels. They act on all rows,
or on rows that chance chooses: to know which cells are wrong is knowledge, and none removes cells. All but
`permuted_cells` leave categories alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from ...arrays import Array, Flags, Rows
from ...data.dataset import Dataset


class Cells(NamedTuple):
    """Edited rows: the rows of `before`, which of them, how they look now, and the labels of all.

    label: one column a class (0 or 1), or the numeric label. filled: the cells that have another value now.
    columns: which are no categories. test: the features of the test set, if they are known.
    """

    X: Array
    rows: Rows
    new: Array
    label: Array
    filled: Flags
    columns: Flags
    test: Array | None = None

    @classmethod
    def of(cls, before: Dataset, rows: Rows, new: Array, label: Array, test: Array | None = None) -> Cells:
        """A cell missing on both sides, or removed, is not filled."""
        filled = (before.X[rows] != new) & np.isfinite(new)
        columns = np.array([column.kind != "categorical" for column in before.columns])
        return cls(before.X, rows, new, label, filled, columns, test)

    @property
    def numeric(self) -> Flags:
        """The filled cells that are no categories."""
        return self.filled & self.columns

    def alike(self, j: int, missing: bool) -> tuple[Rows, Rows]:
        """Edited rows of a column whose cell was missing, or was not; and all rows of which that is true.

        Which cells are wrong is the curator's knowledge: a blind editor does the same to all of them.
        """
        empty = np.isnan(self.X[:, j]) == missing
        edited = np.flatnonzero(self.filled[:, j] & empty[self.rows])
        return edited, np.flatnonzero(empty) if len(edited) else np.zeros(0, dtype=np.intp)

    def numeric_parts(self) -> Iterator[tuple[int, Rows, Rows]]:
        """Every numeric column with its edited rows and all that are alike."""
        for j in np.flatnonzero(self.numeric.any(axis=0)).tolist():
            yield from ((j, *self.alike(j, missing)) for missing in (True, False))


def affine_cells(cells: Cells, rng: np.random.Generator, more: Array | None = None) -> Array:
    """Least squares of each column's new cells on the old ones, and on `more`, applied to all rows.

    It repeats rescaling and shifting, with labels also shrinking to class means; missing cells get the mean
    of the new ones.
    """
    made = cells.X.copy()
    for j, edited, rows in cells.numeric_parts():
        if len(edited):
            old = np.nan_to_num(cells.X[:, j])
            A = np.column_stack([np.ones(len(old)), old, *([] if more is None else [more])])
            line = np.linalg.lstsq(A[cells.rows[edited]], cells.new[edited, j], rcond=None)[0]
            made[rows, j] = A[rows] @ line
    return made


def monotone_cells(cells: Cells, rng: np.random.Generator) -> Array:
    """The monotone function of the old cells nearest to the new ones, column by column, on all rows.

    It repeats logarithms, ranks and quantiles of another table; missing cells stay missing.
    """
    from sklearn.isotonic import IsotonicRegression

    made = cells.X.copy()
    for j in np.flatnonzero(cells.numeric.any(axis=0)).tolist():
        edited, rows = cells.alike(j, missing=False)
        if len(edited):
            curve = IsotonicRegression(increasing="auto", out_of_bounds="clip")
            curve.fit(cells.X[cells.rows[edited], j], cells.new[edited, j])
            made[rows, j] = curve.predict(cells.X[rows, j])
    return made


def match_test_moments(cells: Cells, rng: np.random.Generator) -> Array:
    """Each edited column with the test set's mean and standard deviation; all columns, if none was edited."""
    made, edited = cells.X.copy(), cells.numeric.any(axis=0)
    if cells.test is None:
        return made
    for j in np.flatnonzero(edited if edited.any() else cells.columns).tolist():
        own, goal = (column[np.isfinite(column)] for column in (cells.X[:, j], cells.test[:, j]))
        if len(own) and len(goal) and own.std() > 0:
            made[:, j] = goal.mean() + (made[:, j] - own.mean()) * (goal.std() / own.std())
    return made


def class_mean_shrinkage(cells: Cells, rng: np.random.Generator) -> Array:
    """Edited rows moved as far as they were towards the mean of their class, all others as far on average.

    Of numeric labels the class is the half above or below the median. A missing cell becomes that mean.
    """
    label = cells.label
    own = label.argmax(axis=1) if label.shape[1] > 1 else (label[:, 0] > np.median(label)).astype(np.intp)
    used = np.flatnonzero(cells.numeric.any(axis=0))
    columns, moved = cells.X[:, used], cells.numeric[:, used]
    spread = np.nanstd(columns, axis=0) + 1e-12
    goal = np.zeros_like(columns)
    for k in np.unique(own):
        class_rows = np.vstack([columns[own == k], np.nanmean(columns, axis=0)])
        goal[own == k] = np.nanmean(class_rows, axis=0)
    old = np.where(np.isnan(columns), goal, columns)
    ends = (
        np.where(moved, (end - old[cells.rows]) / spread, 0.0)
        for end in (cells.new[:, used], goal[cells.rows])
    )
    far, whole = (np.linalg.norm(way, axis=1) for way in ends)
    parts = np.minimum(far / (whole + 1e-12), 1.0)
    step = np.full(len(old), parts.mean())
    step[cells.rows] = parts
    made, towards = cells.X.copy(), old + step[:, None] * (goal - old)
    for j, _, rows in cells.numeric_parts():
        made[rows, j] = towards[rows, np.searchsorted(used, j)]
    return made


def permuted_cells(cells: Cells, rng: np.random.Generator) -> Array:
    """The new cells of each column in another order, on rows that chance chooses."""
    made = cells.X.copy()
    for j in np.flatnonzero(cells.filled.any(axis=0)).tolist():
        for missing in (True, False):
            edited, rows = cells.alike(j, missing)
            made[rng.permutation(rows)[: len(edited)], j] = cells.new[rng.permutation(edited), j]
    return made


Editor = Callable[[Cells, np.random.Generator], Array]
EDITORS: dict[str, tuple[Editor, str]] = {
    "affine_edit": (affine_cells, "cells rescaled and shifted"),
    "affine_edit_by_label": (
        lambda cells, rng: affine_cells(cells, rng, cells.label),
        "cells rescaled and shifted, by label",
    ),
    "monotone_edit": (
        monotone_cells,
        "cells moved by a monotone function of each column",
    ),
    "class_mean_edit": (class_mean_shrinkage, "rows shrunk towards their class"),
    "permute_cells": (permuted_cells, "edited cells permuted, on rows at random"),
}
"""By the name of the baseline: what it makes of all rows, and a label."""
