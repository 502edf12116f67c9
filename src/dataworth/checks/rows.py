"""The rows that checks look at: datasets that have any, in standard units, and how near they lie.

Distances are between standardised columns, x ↦ (expand(x) − center) · inverse_scale of the yardstick's
recipe, all of them: a recipe of one axis brings rows together that differ in everything else. Whether a
distance r is small is a question of how densely rows lie there, so it is compared with that to the k-th
neighbour, r_k. If rows are spread evenly over a d-dimensional neighbourhood,

    P(r < c·r_k) ≈ k·cᵈ·(rows asked ÷ rows that r_k was measured among),

so c is made as small as keeps that at `CHANCE`, with d as Levina and Bickel estimate it:
E log(r_k / r_j) = (1/j + … + 1/(k−1)) / d.
"""

from __future__ import annotations

import numpy as np

from ..arrays import Array, Rows
from ..data.dataset import Dataset
from ..data.leaks import DIGITS
from ..data.rows import same_rows
from ..measure.case import Case

CHANCE = 1e-3
"""Share of rows that may be near another by chance: a tenth of the share from which checks fire."""
NEAREST = 0.1
"""Share of r_k that a near copy is away at most, in any number of dimensions: where there are many, all
neighbours are about equally far, and only copies lie within a tenth of that."""
NEIGHBOURS = 20
"""k. Ten copies of a row still leave neighbours that are none."""
ASKED, AMONG = 500, 5000
"""Rows whose neighbours are looked up at most, and rows among which: 0.1 s for 60 columns. With 500 rows a
share of 1 % is known to within 0.4 %."""
BLOCK = 100
DISTINCT = 0.9
"""Proportion of distinct test rows from which their features are taken to tell rows apart."""
REPEATING = "features of test rows repeat among themselves, so equal features are not one row"


def datasets(case: Case) -> dict[str, Dataset]:
    """The datasets of a case that have rows (sealed ones have none), on the recipe's columns."""
    columns = case.yardstick.recipe.columns
    return {name: data.select(columns) for name, data in case.data.items() if isinstance(data, Dataset)}


def told_apart(case: Case) -> Dataset | None:
    """The distinct test rows, if features tell most rows apart: else equal features are not one row."""
    test = case.test.select(case.yardstick.recipe.columns)
    first = np.unique(same_rows(test, digits=DIGITS)[0], return_index=True)[1]
    return test.take(np.sort(first)) if len(first) >= DISTINCT * len(test) else None


def named(name: str) -> str:
    """A dataset's name in a sentence: those that we gave stand as they are, users' own in quotes."""
    return name if name.startswith("the data") else repr(name)


def some_rows(count: int, most: int, rng: np.random.Generator) -> Rows:
    """At most so many of `count` rows, in order."""
    return np.arange(count) if count <= most else np.sort(rng.permutation(count)[:most])


def neighbours(X: Array, base: Array, k: int) -> tuple[Array, Rows]:
    """Distances to the k nearest rows of `base`, nearest first, and which they are.

    >>> neighbours(np.array([[0.0]]), np.array([[3.0], [1.0], [9.0]]), 2)
    (array([[1., 3.]]), array([[1, 0]]))
    """
    squares = np.einsum("ij,ij->i", base, base)
    distances, places = np.empty((len(X), k)), np.empty((len(X), k), dtype=np.intp)
    for start in range(0, len(X), BLOCK):
        some = X[start : start + BLOCK]
        order = np.argpartition(squares - 2.0 * some @ base.T, k - 1, axis=1)[:, :k]
        # squares cancel where rows nearly agree: what was found is measured again
        found = np.sqrt(((some[:, None, :] - base[order]) ** 2).sum(axis=2))
        rank = np.argsort(found, axis=1, kind="stable")
        distances[start : start + BLOCK] = np.take_along_axis(found, rank, axis=1)
        places[start : start + BLOCK] = np.take_along_axis(order, rank, axis=1)
    return distances, places


def others(X: Array, asked: Rows, k: int) -> tuple[Array, Rows]:
    """`neighbours` of some rows of X among all of them, each without itself."""
    distances, places = neighbours(X[asked], X, k + 1)
    own = places == asked[:, None]
    own[~own.any(axis=1), -1] = True  # among more than k equal rows it may not be listed itself
    return distances[~own].reshape(-1, k), places[~own].reshape(-1, k)


def near_radius(distances: Array, ratio: float) -> Array:
    """How near is near for each row: c·r_k, where `distances` has r_1 … r_k to other rows.

    `ratio`: rows asked, by rows that these distances were measured among.
    """
    k = distances.shape[1]
    j = k // 2
    outer, inner = distances[:, -1], distances[:, j - 1]
    usable = (inner > 0) & (outer > inner)
    spread = float(np.mean(np.log(outer[usable] / inner[usable]))) if usable.any() else 0.0
    # d = Σ 1/i ÷ spread, and c = (CHANCE / (k·ratio))^(1/d)
    power = spread / float(np.sum(1.0 / np.arange(j, k)))
    return min(NEAREST, (CHANCE / (k * ratio)) ** power if power > 0 else NEAREST) * outer
