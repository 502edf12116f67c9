"""DW014: do data and test set differ in what the model cannot see?

What the recipe drops: columns less their projection on its axes (and landmarks, if it has a kernel), and the
length of that rest; unknown categories; which values are missing; columns that do not vary in the test set.

A ridge regression tells data from test rows by these alone, in five folds. The recipe was learned from the
very test rows, so each fold is measured by as many principal axes of the *other* folds' test rows: there the
area under the ROC curve is ½ on average if the sets are alike, with a standard error of
√((n₀ + n₁ + 1) / (12 n₀ n₁)) over all folds.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import svd

from ..arrays import Array
from ..data.dataset import Dataset
from ..data.vectors import binary_size
from ..inference.gaussian import fit_gaussian
from ..measure import Case, area
from ..wording import listed
from ..yardstick.recipe import Recipe, expand
from .base import CheckOutcome, not_run
from .rows import datasets, named, some_rows

ROWS = 500
"""Rows of each side at most: four standard errors are then 0.07, less than what matters."""
WIDE = 200
"""Columns from which half as many rows have to do."""
FOLDS = 5
TOLD_APART = 0.6
"""AUC from which a shift matters: two means a third of a standard deviation apart, Φ(0.36/√2) = 0.6."""
SURE = 4.0
"""Standard errors. Folds share the rows they are told apart by, which widens the spread of the area to 1.3 to
1.6 times its error (simulated): so these are 2.5 or more of it. Every dataset of a ranking is looked at."""
TOLD = 3
"""Columns that are named."""
LEAST_ROWS = 2 * FOLDS
TRACE = 1e-6
"""Spread, in standard units, below which a rest is rounding."""


def shift(case: Case) -> CheckOutcome:
    """DW014: the dataset that is told apart best."""
    recipe = case.yardstick.recipe
    test = case.test.select(recipe.columns)
    most = ROWS if len(recipe.center) <= WIDE else ROWS // 2
    found: dict[str, Apart] = {}
    small = False
    for name, data in datasets(case).items():
        rng = np.random.default_rng([case.options.seed, 0xD14])
        # a copy in one fold would tell of its twin in another
        distinct = np.sort(np.unique(data.row_keys(), return_index=True)[1])
        if min(len(distinct), len(test)) < LEAST_ROWS:
            small = True
            continue
        ours = data.take(distinct[some_rows(len(distinct), most, rng)])
        theirs = test.take(some_rows(len(test), most, rng))
        if anything_dropped(recipe, ours, theirs):
            found[name] = told_apart(recipe, ours, theirs, rng)
    if not found:
        return not_run("too few rows") if small else CheckOutcome(False, 0.5, "the features keep everything")
    worst = max(found, key=lambda name: found[name].area)
    area, stderr, columns = found[worst]
    limit = max(TOLD_APART, 0.5 + SURE * stderr)
    fires = area > limit
    told = f"{named(worst)}: told from the test set by what the features leave out with AUC {area:.2f}, "
    told += f"allowed up to {limit:.2f}"
    told += f"; farthest apart in {listed(columns, TOLD)}" if fires and columns else ""
    return CheckOutcome(bool(fires), area, told, stderr)


def anything_dropped(recipe: Recipe, *sides: Dataset) -> bool:
    """Whether rows have anything that the recipe does not keep."""
    axes = np.linalg.qr(recipe.directions)[0]
    if any((np.abs(X - (X @ axes) @ axes.T) > TRACE).any() for X in (recipe.scaled(one.X) for one in sides)):
        return True
    raw, flags = columns_of(recipe, *sides)
    return bool(np.ptp(flags, axis=0).any() or np.ptp(raw[:, recipe.inverse_scale == 0], axis=0).any())


def columns_of(recipe: Recipe, *sides: Dataset) -> tuple[Array, Array]:
    """Of all rows: columns as numbers, none of them missing; and which categories are unknown to the recipe
    and which values are missing, as 0 and 1."""
    X = np.vstack([data.X for data in sides])
    kinds = np.array([column.kind == "categorical" for column in recipe.columns], dtype=bool)
    return expand(recipe.columns, X, recipe.fill), np.hstack([X[:, kinds] < 0, np.isnan(X)]).astype(float)


def names_of(recipe: Recipe) -> list[str]:
    """The column that each of `columns_of` is of."""
    kinds = [(one.name, one.kind == "categorical", len(one.categories)) for one in recipe.columns]
    expanded = [name for name, many, times in kinds for _ in range(times if many else 1)]
    return [*expanded, *(name for name, many, _ in kinds if many), *(name for name, _, _ in kinds)]


class Apart(NamedTuple):
    """AUC by which two sets are told apart, its error, and the columns whose means show it, by how much."""

    area: float
    stderr: float
    columns: list[str]


def told_apart(recipe: Recipe, ours: Dataset, theirs: Dataset, rng: np.random.Generator) -> Apart:
    """How well rows of the data are told from test rows that they were not learned with."""
    n, m = len(ours), len(theirs)
    own = np.arange(n + m) < n
    raw, flags = columns_of(recipe, ours, theirs)
    raw /= binary_size(raw)
    columns = farthest(np.hstack([raw, flags]), own, names_of(recipe))
    flags = flags[:, np.ptp(flags, axis=0) > 0]
    folds = np.empty(n + m, dtype=int)
    for side in (own, ~own):
        folds[side] = rng.permutation(int(side.sum())) % FOLDS
    kept = recipe.directions.shape[1]
    X = np.empty((n + m, raw.shape[1] + flags.shape[1] + 1))
    for fold in range(FOLDS):
        X[folds == fold] = unseen(raw, flags, folds == fold, ~own & (folds != fold), kept)
    spread = X.std(axis=0)
    X = X[:, spread > TRACE] / spread[spread > TRACE]
    stderr = float(np.sqrt((n + m + 1) / (12.0 * n * m)))
    if not X.shape[1]:
        return Apart(0.5, stderr, columns)
    width = X.shape[1]
    if width > len(X):
        X = turned(X - X.mean(axis=0))
    goal = np.where(own, 1.0 / n, -1.0 / m) * (n + m)  # both sides have the same say
    areas = []
    for fold in range(FOLDS):
        out = folds == fold
        center = X[~out].mean(axis=0)
        rows = X[~out] - center
        told = fit_gaussian(rows, goal[~out], np.ones(len(rows)), 1.0 / width, 1.0)  # ridge regression
        scores = (X[out] - center) @ told.coef
        areas.append(area(scores, own[out], np.ones(len(scores))))
    return Apart(float(np.mean(areas)), stderr, columns)


def turned(X: Array) -> Array:
    """Rows with the same inner products, which are all that ridge regression knows, in as many columns.

    >>> X = np.array([[1.0, 2.0, 3.0], [0.0, 1.0, -1.0]])
    >>> np.allclose(turned(X) @ turned(X).T, X @ X.T)
    True
    """
    values, vectors = np.linalg.eigh(X @ X.T)
    return np.asarray(vectors * np.sqrt(np.maximum(values, 0.0)))


def farthest(X: Array, own: NDArray[np.bool_], names: Sequence[str]) -> list[str]:
    """Names of columns whose two means are more than `SURE` standard errors apart, the farthest first.

    As they are, not what is left of them: a rest has something of every column in it.
    """
    spread = X.std(axis=0)
    error = spread * np.sqrt(1.0 / own.sum() + 1.0 / (~own).sum())
    apart = np.abs(X[own].mean(axis=0) - X[~own].mean(axis=0))
    apart = np.divide(apart, error, out=np.zeros_like(apart), where=spread > TRACE)
    order = np.argsort(-apart, kind="stable")
    return list(dict.fromkeys(str(names[j]) for j in order if apart[j] > SURE))


def unseen(raw: Array, flags: Array, rows: NDArray[np.bool_], learned: NDArray[np.bool_], kept: int) -> Array:
    """What is left of some rows by a recipe of `kept` axes that is learned from others."""
    base = raw[learned]
    center, spread = base.mean(axis=0), base.std(axis=0)
    varies = spread > 1e-12 * np.abs(base).max(axis=0, initial=0.0)
    scale = np.divide(1.0, spread, out=np.zeros_like(spread), where=varies)
    X = (raw[rows] - center) * scale
    _, sizes, directions = svd((base - center) * scale, full_matrices=False, lapack_driver="gesvd")
    axes = directions[:kept][sizes[:kept] > 1e-6 * max(float(sizes[0]), 1e-300)].T
    rest = X - (X @ axes) @ axes.T
    length = np.sqrt((rest**2).sum(axis=1))
    # where the test set does not vary, the only unit is the size of what the rows have
    size = np.maximum(raw.max(axis=0) - center, center - raw.min(axis=0))
    constant = np.divide(raw[rows] - center, size, out=np.zeros_like(X), where=~varies & (size > 0))
    return np.column_stack([rest + constant, length, flags[rows]])
