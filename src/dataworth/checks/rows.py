"""DW002 and DW003: are rows repeated inside the data, and do test rows stand in the data, nearly?

A row's distance to its nearest neighbour is told in parts of that to its k-th, ρ = r₁/r_k, which depends on
how densely rows lie there and not on how many there are. What independent rows show is seen in the rows
themselves: if data and test rows are of one source, a test row has a near neighbour in the data as often as a
row of the data, or a test row, has one among its own. For each radius c, the rows with ρ < c among those
looked at (a of n) are compared with as many under chance (b of m): given a + b, a is binomial with n/(n + m).

DW002 fires if rows of the data are near another more often than both test rows are to rows of the data and to
one another. Labels are not compared. In an audit only the data before curation are looked at.

DW003: exact copies of test rows were taken out before anything was measured. It fires if more test rows have
a row of the data close by than chance brings, or if labels agree with those of the nearest row of the data
beyond those of the next ones, more than within either set: a copy brings the very label. Distances do not
see a shaken copy in columns of few values, where all rows are near others: there a row with values that the
test set lacks is a copy of a test row that has the nearest ones in every column (`snapped`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from scipy.special import betainc

from ..arrays import Array, Flags, Rows
from ..data.dataset import Dataset
from ..data.labels import Classes
from ..measure import Case
from ..wording import counted
from .base import CheckOutcome, not_run

RADII = (1e-6, 1e-4, 1e-3, 0.01, 0.03, 0.1, 0.2, 0.3, 0.4)
"""Parts of r_k within which a row is looked for: copies of the coordinates that count, rounded, shaken."""
NEIGHBOURS = 20
"""k. Ten copies of a row still leave neighbours that are none."""
LEAST_NEIGHBOURS = 6
"""Below that many there is no telling what is near."""
LEVEL = 1e-3
"""A radius shows too many near rows if chance brings as many one time in a thousand: of 1,200 pairs of
independent sets none failed, of 84 splits of real tables none."""
MOST_NEAR = 0.01
"""Proportion of rows near another, beyond chance, from which checks fire. A leaked row can be worth log 2
nats and more where a fair one is worth a tenth of that: one in a hundred moves a score by a tenth."""
ASKED, AMONG = 1000, 5000
"""Rows whose neighbours are looked up at most, and rows among which: 0.2 s for 60 columns. With 1,000 rows a
proportion of 1 % is known to within 0.3 %."""
NEXT = 5
"""Neighbours after the nearest whose labels say what a label there is like."""
GRID_COLUMNS = 60
"""Columns that are looked at for values between those of the test set; the first ones."""
SURE = 3.5
"""Standard errors by which labels of nearest rows must agree more than chance makes them."""
BLOCK, TOGETHER = 100, 16
"""Rows whose neighbours are looked for together, and rows that are looked at by their nearest first."""


class Excess(NamedTuple):
    """Proportion of rows near another, what chance brings, and the probability that chance brings as many."""

    share: float
    chance: float
    p: float

    @property
    def failed(self) -> bool:
        """Whether that is too many, and too many to matter."""
        return self.p < LEVEL and self.share - self.chance > MOST_NEAR

    @property
    def allowed(self) -> str:
        """Chance and limit in words."""
        told = f"chance brings {self.chance:.1%}"
        if not self.failed and self.share - self.chance > MOST_NEAR:
            return f"{told}, and {self.share:.1%} one time in {1 / self.p:.0f}, which is allowed"
        return f"{told}, allowed up to {self.chance + MOST_NEAR:.1%}"


def datasets(case: Case) -> dict[str, Dataset]:
    """The datasets of a case that have rows (sealed ones have none), on the recipe's columns."""
    columns = case.yardstick.recipe.columns
    return {name: data.select(columns) for name, data in case.data.items() if isinstance(data, Dataset)}


def named(name: str) -> str:
    """A dataset's name in a sentence: those that we gave stand as they are, users' own in quotes."""
    return name if name.startswith("the data") else repr(name)


def some_rows(count: int, most: int, rng: np.random.Generator) -> Rows:
    """At most so many of `count` rows, in order."""
    return np.arange(count) if count <= most else np.sort(rng.permutation(count)[:most])


def nearness(distances: Array) -> Array:
    """ρ = r₁/r_k of each row; 0 where the k nearest are all equal to it."""
    outer = distances[:, -1]
    return np.divide(distances[:, 0], outer, out=np.zeros(len(outer)), where=outer > 0)


def excess(found: Array, nulls: Sequence[tuple[Array, float]]) -> Excess:
    """Rows near another, against what chance brings, at the narrowest radius where they stand out.

    found: ρ of the rows looked at. nulls: ρ of rows that show what chance brings, and how much more often a
    row looked at has a near one by chance than these; there must be more than all of them show.
    """
    best = Excess(0.0, 0.0, 1.0)
    for radius in RADII:
        a = int((found < radius).sum())
        if not a:
            continue
        near = [(int((null < radius).sum()), len(null) / factor) for null, factor in nulls]
        tails = [
            (float(betainc(a, b + 1, len(found) / (len(found) + exposure))), min(1.0, b / exposure))
            for b, exposure in near
        ]
        p, chance = max(tails)
        one = Excess(a / len(found), chance, p)
        if one.failed:
            return one  # the narrowest at which they stand out: those are the copies
        best = min(best, one, key=lambda seen: seen.p)
    return best


def neighbours(X: Array, base: Array, k: int) -> tuple[Array, Rows]:
    """Distances to the k nearest rows of `base`, nearest first, and which they are."""
    squares, doubled = np.einsum("ij,ij->i", base, base), -2.0 * base.T
    distances, places = np.empty((len(X), k)), np.empty((len(X), k), dtype=np.intp)
    room = np.empty((min(BLOCK, len(X)), len(base)))  # filled again and again: fresh memory costs as much
    for start in range(0, len(X), BLOCK):
        some = X[start : start + BLOCK]
        around = np.matmul(some, doubled, out=room[: len(some)])
        around += squares
        order = least(around, k)
        # squares cancel where rows nearly agree: what was found is measured again, one neighbour at a time
        found, apart = np.empty((len(some), k)), np.empty_like(some)
        for j, nearest in enumerate(order.T):  # in one place: rows may be very long
            np.subtract(some, np.take(base, nearest, axis=0, out=apart, mode="clip"), out=apart)
            found[:, j] = np.einsum("ij,ij->i", apart, apart)
        found = np.sqrt(found)
        rank = np.argsort(found, axis=1, kind="stable")
        distances[start : start + BLOCK] = np.take_along_axis(found, rank, axis=1)
        places[start : start + BLOCK] = np.take_along_axis(order, rank, axis=1)
    return distances, places


def least(values: Array, k: int) -> Rows:
    """Places of the k least numbers of each row, in any order.

    They stand in the k groups of places whose least numbers are least: a fifth of the cost of looking at all.
    """
    groups = values.shape[1] // TOGETHER
    if groups <= 2 * k:
        return np.argpartition(values, k - 1, axis=1)[:, :k]
    even, places = groups * TOGETHER, groups * np.arange(TOGETHER)
    first = values[:, :even].reshape(len(values), TOGETHER, groups).min(axis=1)
    near = np.argpartition(first, k - 1, axis=1)[:, :k]
    some = (near[:, :, None] + places).reshape(len(values), -1)
    rest = np.broadcast_to(np.arange(even, values.shape[1]), (len(values), values.shape[1] - even))
    some = np.hstack([some, rest])
    order = np.argpartition(np.take_along_axis(values, some, axis=1), k - 1, axis=1)[:, :k]
    return np.take_along_axis(some, order, axis=1)


def others(X: Array, asked: Rows, k: int, among: Rows | None = None) -> tuple[Array, Rows]:
    """`neighbours` of some rows of X among all of them, or some others, each without itself.

    Of fewer rows the k-th neighbour lies farther out, perhaps in another cluster, so that ρ would be smaller:
    sets are compared among as many rows.
    """
    among = np.arange(len(X)) if among is None else among
    distances, places = neighbours(X[asked], X[among], k + 1)
    own = among[places] == asked[:, None]
    own[~own.any(axis=1), -1] = True  # not listed: it is not among them, or among more than k equal ones
    return distances[~own].reshape(-1, k), among[places][~own].reshape(-1, k)


def duplicates(case: Case) -> CheckOutcome:
    """DW002: the worst of the datasets that were given; in an audit, the data before curation."""
    found = {}
    for name, data in list(datasets(case).items())[: 1 if case.what == "audit" else None]:
        rng = np.random.default_rng([case.options.seed, 0xD02])
        standard, test = case.yardstick.recipe.standard, case.test.select(data.columns)
        D, T = (standard(part.X[some_rows(len(part), AMONG, rng)]) for part in (data, test))
        k = min(NEIGHBOURS, len(D) - 1, len(T) - 1)
        if k < LEAST_NEIGHBOURS:
            continue
        own, asked = (some_rows(len(X), ASKED, rng) for X in (D, T))
        among = nearness(others(D, own, k)[0])
        within = nearness(others(T, asked, k, some_rows(len(T), len(D), rng))[0])
        across = nearness(neighbours(T[asked], D, k)[0])
        found[name] = excess(among, [(across, 1.0), (within, 1.0)])
    if not found:
        return not_run("too few rows to tell what is near")
    worst = max(found, key=lambda name: (found[name].failed, -found[name].p))
    one = found[worst]
    told = f"{one.share:.1%} of the rows looked at are near another; {one.allowed}"
    return CheckOutcome(one.failed, one.share, f"{named(worst)}: {told}")


class Around(NamedTuple):
    """Of each row asked: how near its nearest neighbour is, and how much better that one knows its label."""

    near: Array
    known: Array

    @classmethod
    def of(cls, found: tuple[Array, Rows], y: Array, labels: Array, classes: bool) -> Around:
        """From distances and places of neighbours, with own labels and those of the neighbours' set.

        Labels are as like as 1 for one class and 0 for two; standardised numbers as −(y − y′)²/2.
        """
        distances, places = found
        own, other = y[:, None], labels[places[:, : NEXT + 1]]
        alike = (own == other).astype(float) if classes else -((own - other) ** 2) / 2
        return cls(nearness(distances), alike[:, 0] - alike[:, 1:].mean(axis=1))


def leaks(case: Case) -> CheckOutcome:
    """DW003: the dataset and the space with most near copies of test rows.

    Rows are compared in all columns and in the features that the score sees: a recipe of one axis brings rows
    together that differ in everything else; a forger copies what the recipe keeps, and takes the rest from
    elsewhere.
    """
    exact = f"{counted(case.leaked, 'test row')} in the data taken out of them"
    rng, yard = np.random.default_rng([case.options.seed, 0xD03]), case.yardstick
    spaces: dict[str, Callable[[Dataset], Array]] = {
        "in all columns": lambda data: yard.recipe.standard(data.X),
        "in the yardstick's features": yard.features,
    }
    test = case.test.select(yard.recipe.columns)
    test = test.take(some_rows(len(test), AMONG, rng))
    asked = some_rows(len(test), ASKED, rng)
    classes = isinstance(yard.labels, Classes)
    found = {}
    for name, data in datasets(case).items():
        data = data.take(some_rows(len(data), AMONG, rng))
        own = some_rows(len(data), ASKED, rng)
        k = min(NEIGHBOURS, len(data) - 1, len(test) - 1)
        if k < LEAST_NEIGHBOURS:
            continue
        y, labels = yard.targets(test), yard.targets(data)
        for space, features in spaces.items():
            T, D = features(test), features(data)
            few = some_rows(len(T), len(data), rng)
            within = Around.of(others(T, asked, k, few), y[asked], y, classes)
            among = Around.of(others(D, own, k), labels[own], labels, classes)
            across = Around.of(neighbours(T[asked], D, k), y[asked], labels, classes)
            larger = max(1.0, len(data) / len(test))
            null = (np.concatenate([among.near, within.near]), 1.0)
            if excess(among.near, [(within.near, larger)]).failed:
                null = (within.near, larger)  # rows that are repeated in the data excuse no copies
            near = excess(across.near, [null])
            surplus = min(stands_out(across.known, among.known), stands_out(across.known, within.known))
            found[name, space] = (near.failed or surplus > SURE, near, surplus)
        near = shaken(np.nan_to_num(data.X, nan=-np.pi), np.nan_to_num(test.X, nan=-np.pi), asked, rng)
        found[name, "between the test set's values"] = (near.failed, near, 0.0)
    if not found:
        return not_run(f"too few rows to tell what is near; {exact}")
    worst = max(found, key=lambda one: (found[one][0], found[one][1].failed, -found[one][1].p))
    (fires, near, surplus), (name, space) = found[worst], worst
    told = f"{near.share:.1%} of {len(asked)} test rows looked at have a near copy in {named(name)} {space}"
    told += f"; {near.allowed}"
    if surplus > SURE:
        told += f"; labels of nearest rows agree more than chance makes them ({surplus:.1f} standard errors, "
        told += f"allowed up to {SURE})"
    return CheckOutcome(fires, near.share, f"{told}; {exact}")


def snapped(X: Array, base: Array) -> Flags:
    """Which rows of `base` are what is left of a row of X whose cells go to the nearest values in `base`.

    Of columns in which most cells of X are values of `base`. Rows that have these values already do not
    count: they may be equal by chance.

    >>> base = np.array([[0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    >>> snapped(np.array([[0.02, 0.97], [1.0, 0.0], [0.0, 0.0]]), base).tolist()
    [True, False, False]
    """
    moved, own, other = np.zeros(len(X), dtype=bool), [np.zeros(len(X), int)], [np.zeros(len(base), int)]
    for column, known in zip(X.T, base.T, strict=True):
        values, codes = np.unique(known, return_inverse=True)
        nearest = np.searchsorted((values[1:] + values[:-1]) / 2.0, column)
        off = ~np.isclose(column, values[nearest], rtol=1e-6)
        if off.mean() < 0.5:
            moved, own, other = moved | off, [*own, nearest], [*other, codes]
    both = np.vstack([np.column_stack(other), np.column_stack(own)[moved]])
    rows = np.unique(both, axis=0, return_inverse=True)[1].ravel()
    return np.isin(rows[: len(base)], rows[len(base) :])


def shaken(D: Array, T: Array, asked: Rows, rng: np.random.Generator) -> Excess:
    """Test rows of which the data have copies with other values, against rows of either among their own."""
    D, T = D[:, :GRID_COLUMNS], T[:, :GRID_COLUMNS]
    nulls: list[tuple[Array, float]] = []
    for X in (D, T):
        half = rng.permutation(len(X))
        hits = snapped(X[half[::2]], X[half[1::2]])
        # as many rows as the data have would have met more
        nulls.append((np.where(hits, 0.0, 1.0), max(1.0, 2.0 * len(D) / len(X))))
    return excess(np.where(snapped(D, T)[asked], 0.0, 1.0), nulls)


def stands_out(known: Array, null: Array) -> float:
    """By how many standard errors nearest rows know more here than under chance."""
    error = np.sqrt(known.var() / len(known) + null.var() / len(null))
    return float((known.mean() - null.mean()) / error) if error > 0 else 0.0
