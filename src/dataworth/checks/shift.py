"""DW014: do data and test set differ in what the model cannot see?

The recipe keeps a few directions of the test set's features. A difference in those is part of the score; one
in what it drops is not, and the score then speaks of rows like the test set's that the data do not have. What
is dropped: standardised columns less their projection on the recipe's axes, and the length of that rest;
categories that the test set does not know; which values are missing (they are filled); columns that do not
vary in the test set. A ridge regression tells data from test rows by these alone, and the area under its ROC
curve, over five folds, is compared with ½. Its standard error where there is nothing to tell is √((n₀ + n₁ +
1) / (12 n₀ n₁)).
"""

from __future__ import annotations

import numpy as np

from ..case import Case
from ..data import Dataset
from ..models.base import Array
from ..recipe import Recipe, expand
from .base import Check, Seen, not_run
from .rows import datasets, named, some_rows, standard

ROWS = 500
"""Rows of each side at most: three standard errors are then 0.055, half of what matters."""
FOLDS = 5
TOLD_APART = 0.6
"""AUC from which a shift matters: two means a third of a standard deviation apart, Φ(0.36/√2) = 0.6."""
SURE = 3.0
"""Standard errors: one false alarm in 700, since every dataset of a ranking is looked at."""
LEAST_ROWS = 10
TRACE = 1e-6
"""Spread, in standard units, below which a rest is rounding."""


def look(case: Case) -> Seen:
    """The dataset that is told apart best."""
    recipe, seed = case.yardstick.recipe, case.options.seed
    test = case.test.select(recipe.columns)
    found: dict[str, tuple[float, float]] = {}
    small = False
    for name, data in datasets(case).items():
        rng = np.random.default_rng([seed, 0xD14])
        # a copy in one fold would tell of its twin in another
        distinct = np.sort(np.unique(data.row_keys(), return_index=True)[1])
        if min(len(distinct), len(test)) < LEAST_ROWS:
            small = True
            continue
        sides = [
            data.take(distinct[some_rows(len(distinct), ROWS, rng)]),
            test.take(some_rows(len(test), ROWS, rng)),
        ]
        X = unseen(recipe, sides)
        if X.shape[1]:
            found[name] = told_apart(X, len(sides[0]), rng)
    if not found:
        return not_run("too few rows") if small else Seen(False, 0.5, "the features keep everything")
    worst = max(found, key=lambda name: found[name][0])
    area, stderr = found[worst]
    fires = area > TOLD_APART and area > 0.5 + SURE * stderr
    told = f"{named(worst)}: told from the test set by what the features leave out, AUC {area:.2f}"
    return Seen(bool(fires), area, told, stderr)


def unseen(recipe: Recipe, sides: list[Dataset]) -> Array:
    """What the recipe drops of all rows, in standard units; columns that do not vary are left out."""
    rest = np.vstack([dropped(recipe, side) for side in sides])
    raw = np.vstack([expand(recipe.columns, side.X, recipe.fill) for side in sides])
    codes = np.vstack([side.X for side in sides])
    constant = raw[:, recipe.inverse_scale == 0]
    # to a common size, before squares are taken of columns that may hold anything
    constant = constant / np.maximum(np.abs(constant).max(axis=0, initial=0.0), 1e-300)
    kinds = np.array([column.kind == "categorical" for column in recipe.columns], dtype=bool)
    unknown = (codes[:, kinds] < 0).astype(float)
    missing = np.isnan(codes).astype(float)
    rest[:, np.abs(rest).max(axis=0, initial=0.0) < TRACE] = 0.0
    length = np.sqrt((rest**2).sum(axis=1))[:, None]
    parts = np.hstack([rest, length, unknown, missing, constant])
    spread = parts.std(axis=0)
    varies = spread > 1e-12
    return (parts[:, varies] - parts[:, varies].mean(axis=0)) / spread[varies]


def dropped(recipe: Recipe, data: Dataset) -> Array:
    """Standardised columns less their projection on the recipe's axes."""
    X = standard(recipe, data)
    lengths = np.sqrt((recipe.projection**2).sum(axis=0))
    axes = recipe.projection[:, lengths > 0] / lengths[lengths > 0]
    rest: Array = X - (X @ axes) @ axes.T
    return rest


def told_apart(X: Array, first: int, rng: np.random.Generator) -> tuple[float, float]:
    """Cross-validated AUC by which the first rows are told from the others, and its error under chance."""
    own = np.arange(len(X)) < first
    n, m = int(own.sum()), int((~own).sum())
    folds = np.empty(len(X), dtype=int)
    for side in (own, ~own):
        folds[side] = rng.permutation(int(side.sum())) % FOLDS
    goal = np.where(own, 1.0 / n, -1.0 / m)  # both sides have the same say
    scores = np.empty(len(X))
    for fold in range(FOLDS):
        out = folds == fold
        scores[out] = X[out] @ ridge(X[~out], goal[~out] * len(X))
    return area_under_curve(scores, own), float(np.sqrt((n + m + 1) / (12.0 * n * m)))


def ridge(X: Array, goal: Array) -> Array:
    """Coefficients under a penalty of one per column, in the smaller of the two spaces."""
    n, columns = X.shape
    if columns <= n:
        coefficients: Array = np.linalg.solve(X.T @ X + columns * np.eye(columns), X.T @ goal)
        return coefficients
    return X.T @ np.linalg.solve(X @ X.T + columns * np.eye(n), goal)


def area_under_curve(scores: Array, own: np.ndarray) -> float:
    """Probability that one of the own rows scores above another row; ties count half.

    >>> area_under_curve(np.array([3.0, 1.0, 1.0, 0.0]), np.array([True, True, False, False]))
    0.875
    """
    _, places, counts = np.unique(scores, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - (counts - 1) / 2.0)[places]
    n, m = int(own.sum()), int((~own).sum())
    return float((ranks[own].sum() - n * (n + 1) / 2.0) / (n * m))


CHECK = Check(
    "DW014",
    "shift",
    "data and test set differ in what the features leave out: the model cannot see that shift",
    "compare the two sets' columns; let a yardstick keep more of them, or take data from where the test is",
    look,
)
