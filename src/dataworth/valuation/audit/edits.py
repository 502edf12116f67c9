"""What a blind editor could have made of the rows that curation edited under their ids.

    on a line            what a line through old and new values of a column does: rescaling, shifting; of
                         missing cells, their mean
    on a line by label   the same with the row's label: shrinking to class means
    towards its class    the row moved as far, towards the mean of its own class
    cells permuted       the new cells of a column dealt out among the rows that got one

All but the last leave categories alone. None removes cells: to know which are wrong is knowledge.
"""

from __future__ import annotations

import numpy as np

from ...arrays import Array, Flags, Rows
from ...data.changes import Change
from ...data.dataset import Dataset


def edited_rows(
    change: Change, before: Dataset, after: Dataset, targets: Array, classes: int, seed: int
) -> dict[str, Dataset]:
    """The edited rows, by the name of the control; `targets` are those of `before`, of so many `classes`.

    Both datasets have the same columns in the same order.
    """
    rows = np.flatnonzero(change.edited)
    if not len(rows):
        return {}
    origin = change.origin[rows]
    old, new = before.X[origin], after.X[rows]
    filled = (old != new) & np.isfinite(new)  # a cell missing on both sides, or removed, is none of these
    numeric = filled & np.array([column.kind != "categorical" for column in before.columns])
    label = np.eye(classes)[targets.astype(np.intp)] if classes else targets[:, None]
    made = {
        "edited on a line": on_lines(old, new, numeric),
        "edited on a line by label": on_lines(old, new, numeric, label[origin]),
        "edited towards its class": towards_own_class(before.X, targets, classes, origin, new, numeric),
        "edited cells permuted": permuted(old, new, filled, np.random.default_rng([seed, 0xED17])),
    }
    part = before.take(origin)
    return {name: part.with_features(X) for name, X in made.items()}


def on_lines(old: Array, new: Array, cells: Flags, more: Array | None = None) -> Array:
    """Least squares of each column's new cells on the old ones, where they were there, and on `more`."""
    made = old.copy()
    for j in np.flatnonzero(cells.any(axis=0)):
        i = np.flatnonzero(cells[:, j])
        missing = np.isnan(old[i, j])
        terms = [np.ones(len(i)), np.where(missing, 0.0, old[i, j]), missing]
        A = np.column_stack(terms if more is None else [*terms, more[i]])
        made[i, j] = A @ np.linalg.lstsq(A, new[i, j], rcond=None)[0]
    return made


def towards_own_class(
    X: Array, targets: Array, classes: int, origin: Rows, new: Array, cells: Flags
) -> Array:
    """Each row moved as far as it was, in units of the columns' spreads, towards the mean of its class.

    Of numeric labels the class is the half above or below the median. A missing cell becomes that mean.
    """
    own = targets if classes else (targets > np.median(targets)).astype(float)
    used = np.flatnonzero(cells.any(axis=0))
    made, cells, columns = X[origin].copy(), cells[:, used], X[:, used]
    spread = np.nanstd(columns, axis=0) + 1e-12
    goal = np.zeros((len(origin), len(used)))
    for k in np.unique(own[origin]):
        goal[own[origin] == k] = np.nanmean(
            np.vstack([columns[own == k], np.nanmean(columns, axis=0)]), axis=0
        )
    old = np.where(np.isnan(made[:, used]), goal, made[:, used])
    far, whole = (
        np.sqrt((np.where(cells, (end - old) / spread, 0.0) ** 2).sum(axis=1)) for end in (new[:, used], goal)
    )
    step = np.minimum(far / (whole + 1e-12), 1.0)[:, None]
    made[:, used] = np.where(cells, old + step * (goal - old), made[:, used])
    return made


def permuted(old: Array, new: Array, cells: Flags, rng: np.random.Generator) -> Array:
    """The new cells of each column in another order."""
    made = old.copy()
    for j in np.flatnonzero(cells.any(axis=0)):
        i = np.flatnonzero(cells[:, j])
        made[i, j] = new[rng.permutation(i), j]
    return made
