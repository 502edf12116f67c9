"""The rows that checks look at: datasets that have any, and how many of their rows lie near another.

How near is near is a question of how densely rows lie there: a row's distance to its nearest neighbour is
told in parts of that to its k-th, ρ = r₁/r_k. If rows are spread evenly over a d-dimensional neighbourhood,
P(ρ < c) ≈ k·cᵈ, however many rows there are. But real tables have rounded columns, categories and siblings,
and nobody knows d. So nothing is assumed: what independent rows show is seen in the rows themselves. If data
and test rows are of one source, a test row has a near neighbour in the data as often as a row of the data has
one among the others, and as a test row among the others.

For each radius c, the rows with ρ < c among those looked at (a of n) are compared with as many under chance
(b of m): given a + b, a is binomial with n/(n + m) where both are alike.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from ..arrays import Array, Rows
from ..data.dataset import Dataset
from ..measure import Case

RADII = (1e-6, 1e-4, 1e-3, 0.01, 0.03, 0.1, 0.2, 0.3, 0.4)
"""Parts of r_k within which a row is looked for: copies of the coordinates that count, rounded, shaken."""
NEIGHBOURS = 20
"""k. Ten copies of a row still leave neighbours that are none."""
LEAST_NEIGHBOURS = 6
"""Below that many there is no telling what is near."""
LEVEL = 1e-3
"""A radius shows too many near rows if chance brings as many one time in a thousand: of 1,200 pairs of
independent sets none fired, of 84 splits of real tables none."""
MOST_NEAR = 0.01
"""Proportion of rows near another, beyond chance, from which checks fire. A leaked row can be worth log 2
nats and more where a fair one is worth a tenth of that: one in a hundred moves a score by a tenth."""
ASKED, AMONG = 1000, 5000
"""Rows whose neighbours are looked up at most, and rows among which: 0.2 s for 60 columns. With 1,000 rows a
proportion of 1 % is known to within 0.3 %."""
BLOCK = 100


class Excess(NamedTuple):
    """Proportion of rows near another, what chance brings, and the probability that chance brings as many."""

    share: float
    chance: float
    p: float

    @property
    def fires(self) -> bool:
        """Whether that is too many, and too many to matter."""
        return self.p < LEVEL and self.share - self.chance > MOST_NEAR

    @property
    def allowed(self) -> str:
        """Chance and limit in words.

        >>> Excess(0.01, 0.005, 0.2).allowed
        'chance brings 0.5%, allowed up to 1.5%'
        >>> Excess(0.09, 0.07, 0.04).allowed
        'chance brings 7.0%, and 9.0% one time in 25, which is allowed'
        """
        told = f"chance brings {self.chance:.1%}"
        if self.fires or self.share - self.chance <= MOST_NEAR:
            return f"{told}, allowed up to {self.chance + MOST_NEAR:.1%}"
        return f"{told}, and {self.share:.1%} one time in {1 / self.p:.0f}, which is allowed"


def datasets(case: Case) -> dict[str, Dataset]:
    """The datasets of a case that have rows (sealed ones have none), on the recipe's columns."""
    columns = case.yardstick.recipe.columns
    return {name: data.select(columns) for name, data in case.data.items() if isinstance(data, Dataset)}


def spaces(case: Case) -> dict[str, Callable[[Dataset], Array]]:
    """Where rows are compared: all columns in standard units, and the features that the score sees.

    A recipe of one axis brings rows together that differ in everything else; a forger copies what the recipe
    keeps, and takes the rest from elsewhere.
    """
    return {
        "in all columns": lambda data: case.yardstick.recipe.standard(data.X),
        "in the yardstick's features": case.yardstick.features,
    }


def named(name: str) -> str:
    """A dataset's name in a sentence: those that we gave stand as they are, users' own in quotes."""
    return name if name.startswith("the data") else repr(name)


def some_rows(count: int, most: int, rng: np.random.Generator) -> Rows:
    """At most so many of `count` rows, in order."""
    return np.arange(count) if count <= most else np.sort(rng.permutation(count)[:most])


def nearness(distances: Array) -> Array:
    """ρ = r₁/r_k of each row; 0 where the k nearest are all equal to it.

    >>> nearness(np.array([[1.0, 2.0, 4.0], [0.0, 0.0, 0.0]]))
    array([0.25, 0.  ])
    """
    outer = distances[:, -1]
    return np.divide(distances[:, 0], outer, out=np.zeros(len(outer)), where=outer > 0)


def excess(found: Array, nulls: Sequence[tuple[Array, float]]) -> Excess:
    """Rows near another, against what chance brings, at the narrowest radius where they stand out.

    Args:
        found: ρ of the rows looked at.
        nulls: ρ of rows that show what chance brings, and how much more often a row looked at has a near one
            by chance than these. There must be more than all of them show.
    """
    from scipy.special import betainc

    best = Excess(0.0, 0.0, 1.0)
    for radius in RADII:
        a = int((found < radius).sum())
        if not a:
            continue
        tails = []
        for null, factor in nulls:
            b, exposure = int((null < radius).sum()), len(null) / factor
            tail = float(betainc(a, b + 1, len(found) / (len(found) + exposure)))
            tails.append((tail, min(1.0, b / exposure)))
        p, chance = max(tails)
        one = Excess(a / len(found), chance, p)
        if one.fires:
            return one  # the narrowest at which they stand out: those are the copies
        best = min(best, one, key=lambda seen: seen.p)
    return best


def like(X: Array, count: int, asked: Rows, k: int, rng: np.random.Generator) -> tuple[Array, Rows]:
    """`others`, as if X had `count` rows, if it has more: distances to neighbours, and which they are.

    Of fewer rows the k-th neighbour lies farther out, perhaps in another cluster, so that ρ would be smaller.
    """
    return others(X, asked, k, some_rows(len(X), count, rng))


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
        # squares cancel where rows nearly agree: what was found is measured again, one neighbour at a time
        apart = (some - base[nearest] for nearest in order.T)
        found = np.sqrt([np.einsum("ij,ij->i", one, one) for one in apart]).T
        rank = np.argsort(found, axis=1, kind="stable")
        distances[start : start + BLOCK] = np.take_along_axis(found, rank, axis=1)
        places[start : start + BLOCK] = np.take_along_axis(order, rank, axis=1)
    return distances, places


def others(X: Array, asked: Rows, k: int, among: Rows | None = None) -> tuple[Array, Rows]:
    """`neighbours` of some rows of X among all of them, or some others, each without itself."""
    among = np.arange(len(X)) if among is None else among
    distances, places = neighbours(X[asked], X[among], k + 1)
    own = among[places] == asked[:, None]
    own[~own.any(axis=1), -1] = True  # not listed: it is not among them, or among more than k equal ones
    return distances[~own].reshape(-1, k), among[places][~own].reshape(-1, k)
