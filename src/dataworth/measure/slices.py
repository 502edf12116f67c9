"""Who gains and who loses: the change of information in parts of the test set, nats a test row.

Test rows are predicted one by one, so a slice's change is the mean over its rows,

    Δ_s = mean_{i ∈ s} log p(y_i | x_i, after) − log p(y_i | x_i, before),

and slices of one column add up to the change of the whole. Rows that belong together count as one draw. All
rows choose the tempering of an arm; no row outside a slice could move its change but for that, and the error
allows for it (`evidence.tempering.pulls`).

Where a column a and the label y go together in T, rows *with* the association (cells that hold more rows
than p(a) p(y)) hide what happens to rows *against* it. The *balanced* change is the mean over a test set in
which the two are independent, every cell counted as p(a) p(y): what is known of rows of which the column
does not tell the label.

Slices that are looked for (`auto`: every column, groups, clusters of the features) are shown where their
change differs from zero with false discoveries below 5 % (Benjamini and Hochberg 1995); with R of m shown,
their intervals are at 1 − 0.05 R/m: on average 5 % of those shown miss (Benjamini and Yekutieli 2005).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..arrays import Array, Rows
from ..data.dataset import Dataset
from ..data.labels import Classes
from ..errors import DataworthError
from ..wording import listed
from ..yardstick.yardstick import Yardstick
from .designs import AFTER, BEFORE, Arm
from .intervals import LEVEL, Estimate, degrees_of, discoveries, make_estimate, two_sided
from .prepare import Measurement

VALUES = 8
"""Values of a column, the most common first, that are slices of their own; all others are one."""
FIFTHS = 5
"""Numeric labels are cut into fifths where labels have to be held fixed."""
MOST = 20
"""Slices that `auto` shows."""
AUTO, CLUSTERS = "auto", 5
"""What asks for slices to be looked for; clusters of the test set's features among them."""
LEAST = 8
"""Rows that a slice must have, and rows against the association without which nothing is balanced."""


class Column(NamedTuple):
    """A column of the test set as slices: its name, those of its values, the value of each row, its label's
    code, which rows belong together, and weights.
    """

    name: str
    values: tuple[str, ...]
    codes: Rows
    labels: Rows
    groups: Rows
    weights: Array

    @property
    def cells(self) -> Rows:
        """Value × label of every row."""
        return np.asarray(self.codes * (int(self.labels.max()) + 1) + self.labels)

    @property
    def expected(self) -> Array:
        """p(a) p(y) of every row's cell, over the cell's rows, by weights; adds up to 1 over all rows."""
        share = np.bincount(self.codes, self.weights) / self.weights.sum()
        of_label = np.bincount(self.labels, self.weights) / self.weights.sum()
        in_cell = np.bincount(self.cells, self.weights)[self.cells]
        each = share[self.codes] * of_label[self.labels] * self.weights / np.where(in_cell > 0, in_cell, 1.0)
        return np.asarray(each / each.sum())  # cells of no rows cannot be known

    @property
    def agrees(self) -> NDArray[np.bool_]:
        """Rows in cells that hold more than p(a) p(y) of the test set."""
        return np.asarray(self.expected < self.weights / self.weights.sum())


@dataclass(frozen=True)
class Slice:
    """A part of the test set: its rows, and what changed there, in nats a row and in accuracy.

    The intervals of all slices that are shown together hold at once, at 95 %.
    """

    column: str
    value: str
    rows: int
    change: Estimate
    accuracy: float


@dataclass(frozen=True)
class Balanced:
    """Of a column: the change of rows with and against its association with the label, and that of a test set
    in which the two are independent (nats a row); beyond_random: the latter less that of random removals."""

    column: str
    agree: Slice
    against: Slice
    change: Estimate
    accuracy: float
    beyond_random: Estimate


def mean_change(
    change: Array, share: Array, column: Column, level: float = LEVEL, moved: Array | float = 0.0
) -> Estimate:
    """Σ share · change, with its error: rows are drawn within cells (value × label), groups as a whole.

    moved: by how much each row, in the slice or not, moved the sum through the temperings that rows choose.

    Degrees of freedom by Welch and Satterthwaite, and by the kurtosis of what is drawn: a few rows that count
    or vary much have few; its skewness moves both ends, for what a few rows lose is often not in a slice.

    >>> one = Column("a", ("x",), np.zeros(4, int), np.zeros(4, int), np.arange(4), np.ones(4))
    >>> found = mean_change(np.array([1.0, 2.0, 3.0, 4.0]), np.full(4, 0.25), one)
    >>> round(found.value, 3), round(found.stderr, 3), found.degrees  # as of any mean
    (2.5, 0.645, 3.0)
    """
    cells = column.cells
    drawn = np.bincount(cells, share > 0)
    share = np.where(drawn[cells] > 1, share, 0.0)  # nobody knows how a single row varies
    if not share.any():
        return Estimate(float(change.mean()), None, None)
    share = share / share.sum()
    total = np.bincount(cells, share)
    mean = np.bincount(cells, share * change) / np.where(total > 0, total, 1.0)
    rest = share * (change - mean[cells]) * np.sqrt(drawn / np.maximum(drawn - 1, 1))[cells]
    own = np.bincount(cells, rest**2)
    rest = rest + moved
    units = np.unique(column.groups[(share > 0) | (rest != 0.0)])
    drawn_units = np.asarray(np.bincount(column.groups, rest)[units], dtype=float)
    variance = float((drawn_units**2).sum())
    degrees = own.sum() ** 2 / max(float((own**2 / np.maximum(drawn - 1, 1)).sum()), 1e-300)
    most = degrees_of(drawn_units)
    degrees = float(min(degrees, most)) if own.any() else float(most)
    if degrees < 1.0:
        return Estimate(float(share @ change), None, None)
    skew = float((drawn_units**3).sum()) / variance**1.5 if variance else 0.0
    return make_estimate(float(share @ change), float(np.sqrt(variance)), degrees, level, skew=skew)


def slices_of(column: Column, by_row: Mapping[Arm, Array], level: float = LEVEL) -> tuple[Slice, ...]:
    """Values of a column, and rows with and against its association with the label."""
    agrees = column.agrees
    parts = [(value, column.codes == code) for code, value in enumerate(column.values)]
    if min(agrees.sum(), (~agrees).sum()) >= LEAST:
        parts += [("with its association", agrees), ("against it", ~agrees)]
    return tuple(_slice(column, value, rows, by_row, level) for value, rows in parts if rows.sum() >= LEAST)


def _slice(
    column: Column, value: str, rows: NDArray[np.bool_], by_row: Mapping[Arm, Array], level: float
) -> Slice:
    weights = np.where(rows, column.weights, 0.0)
    weights = weights / weights.sum() if weights.any() else rows / rows.sum()
    right = _rows(column, by_row)[1]
    found = weighted_change(column, by_row, weights, level)
    return Slice(column.name, value, int(rows.sum()), found, float(weights @ right))


def weighted_change(column: Column, by_row: Mapping[Arm, Array], share: Array, level: float) -> Estimate:
    """Σ share · Δ, of rows that are drawn from the test set whatever their values and labels."""
    one = column._replace(codes=np.zeros_like(column.codes), labels=np.zeros_like(column.labels))
    return mean_change(_rows(column, by_row)[0], share, one, level, _moved(column, by_row, share))


def _rows(column: Column, by_row: Mapping[Arm, Array], arm: Arm = AFTER) -> tuple[Array, Array]:
    """The change of every row's log p (which was weighted) and of its being right."""
    change = by_row[arm] - by_row[BEFORE]
    return change[:, 0] / np.where(column.weights > 0, column.weights, 1.0), change[:, 1]


def _moved(column: Column, by_row: Mapping[Arm, Array], share: Array, arm: Arm = AFTER) -> Array:
    """By how much each row moved Σ share · change through the temperings of an arm and of `before`."""
    each = share / np.where(column.weights > 0, column.weights, 1.0)
    after, before = (float(each @ by_row[one][:, 2]) * by_row[one][:, 3] for one in (arm, BEFORE))
    return np.asarray(after - before)


def at_once(count: int) -> float:
    """The level of each of so many intervals that are to hold at once (Šidák).

    >>> at_once(1), round(at_once(2), 4)
    (0.95, 0.9747)
    """
    return float(LEVEL ** (1.0 / max(1, count)))


def balanced(column: Column, by_row: Mapping[Arm, Array]) -> Balanced | None:
    """The change with, against and without the column's association; None if too few rows are against it."""
    agrees, share = column.agrees, column.expected
    if min(agrees.sum(), (~agrees).sum()) < LEAST:
        return None
    change, right = _rows(column, by_row)
    found = mean_change(change, share, column, moved=_moved(column, by_row, share))
    beyond = beyond_removals(column, by_row, share) or found
    with_it, against = (_slice(column, "", rows, by_row, at_once(2)) for rows in (agrees, ~agrees))
    return Balanced(column.name, with_it, against, found, float(share @ right), beyond)


def beyond_removals(column: Column, by_row: Mapping[Arm, Array], share: Array) -> Estimate | None:
    """Σ share · Δ less that of random removals, whose spread counts as error; None without them."""
    random = [arm for arm in by_row if arm.role == "control"]
    if not random:
        return None
    others = np.array([_rows(column, by_row, arm)[0] for arm in random])
    moved = _moved(column, by_row, share)
    moved = moved - np.mean([_moved(column, by_row, share, arm) for arm in random], axis=0)
    gap = mean_change(_rows(column, by_row)[0] - others.mean(axis=0), share, column, moved=moved)
    if gap.stderr is None:
        return gap
    between = float((others @ share).var(ddof=1)) * (1.0 + 1.0 / len(random)) if len(random) > 1 else 0.0
    total = gap.stderr**2 + between
    parts = gap.stderr**4 / gap.degrees + between**2 / max(1, len(random) - 1)
    degrees = total**2 / parts if parts else gap.degrees
    skew = gap.skew * (gap.stderr**2 / total) ** 1.5 if total else 0.0
    return make_estimate(gap.value, float(np.sqrt(total)), degrees, skew=skew)


def column_of(
    name: str, values: NDArray[Any], labels: Rows, groups: NDArray[Any] | None, weights: Array | None
) -> Column:
    """Slices by the values of a column: the most common ones, or quarters of many numbers.

    >>> column_of("site", np.array(["b", "a", "a"]), np.array([0, 0, 1]), None, None).values
    ('a', 'b')
    """
    n = len(labels)
    own = np.arange(n) if groups is None else np.unique(groups, return_inverse=True)[1].ravel()
    counted = np.ones(n) if weights is None else weights
    distinct, codes, counts = np.unique(values, return_inverse=True, return_counts=True)
    if distinct.dtype.kind == "f" and len(distinct) > VALUES:
        edges = np.unique(np.nanquantile(values, (0.25, 0.5, 0.75)))
        bounds = [f"{edge:.4g}" for edge in edges]
        names = [
            f"≤ {bounds[0]}",
            *(f"{low} to {high}" for low, high in pairwise(bounds)),
        ]
        names += [f"> {bounds[-1]}", "missing"]
        codes = np.where(np.isnan(values), len(names) - 1, np.searchsorted(edges, values))
        return Column(name, tuple(names), codes, labels, own, counted)
    common = np.argsort(-counts, kind="stable")[:VALUES]
    place = np.full(len(distinct), len(common))
    place[np.sort(common)] = np.arange(len(common))
    names = [str(value) for value in distinct[np.sort(common)]] + ["others"] * (len(distinct) > VALUES)
    return Column(name, tuple(names), place[codes.ravel()], labels, own, counted)


def label_codes(yardstick: Yardstick, test: Dataset, y: Array) -> Rows:
    """Labels as codes; numeric labels by fifths of the test set's, vectors by those of their first axis."""
    if isinstance(yardstick.labels, Classes):
        return y.astype(np.intp)
    first, own = (one if one.ndim == 1 else one[:, 0] for one in (yardstick.targets(test), y))
    edges = np.quantile(first, np.arange(1, FIFTHS) / FIFTHS)
    return np.searchsorted(edges, own)


def columns_of(case: Measurement, names: Sequence[str]) -> list[Column]:
    """Columns of the test set by name, the attribute, `group` and `cluster` (k-means) among them."""
    test = case.test
    labels = label_codes(case.yardstick, test, case.yardstick.targets(test))
    found = []
    for name in names:
        if name in test.names:
            kind, own = test.columns[test.names.index(name)], test.X[:, test.names.index(name)]
            texts = np.array([*kind.categories, "unknown"])
            values = texts[np.nan_to_num(own, nan=-1.0).astype(int)] if kind.categories else own
        elif name == "cluster":
            values = clusters(case.yardstick.features(test))
        else:
            values = np.asarray(test.attributes if name == test.attribute_name else test.groups)
        found.append(column_of(name, values, labels, test.groups, test.weights))
    return found


def clusters(features: Array) -> NDArray[Any]:
    """Test rows that are near each other on the yardstick's features, by number."""
    from sklearn.cluster import KMeans

    count = max(1, min(CLUSTERS, len(features) // (2 * LEAST)))
    return KMeans(count, n_init=4, random_state=0).fit_predict(features).astype(str)


def check_slices(test: Dataset, names: Collection[str]) -> None:
    """Columns that slices are asked of, or a sentence, before anything is measured."""
    known = {*test.names, *((test.attribute_name,) if test.attributes is not None else ())}
    known |= {"group"} if test.groups is not None else set()
    for name in names:
        if name not in known | {AUTO, "cluster"}:
            raise DataworthError(
                f"there is no column {name!r} among the test set's features to slice by; it has "
                f"{listed(sorted(known), 8)}."
            )


def attribute_of(case: Measurement) -> Column | None:
    """The attribute that was declared, of an audit's test set."""
    if case.what != "audit" or case.test.attributes is None:
        return None
    return columns_of(case, [case.test.attribute_name])[0]


def shown_slices(case: Measurement, by_row: Mapping[Arm, Array]) -> tuple[Slice, ...]:
    """Slices by the attribute, by the columns that were asked for, and those found by `auto`."""
    if not by_row:
        return ()
    declared = [case.test.attribute_name] if attribute_of(case) is not None else []
    names = [*dict.fromkeys([*declared, *(case.options.slices or ())])]
    columns = columns_of(case, [name for name in names if name != AUTO])
    many = sum(len(slices_of(column, by_row)) for column in columns)
    shown = tuple(one for column in columns for one in slices_of(column, by_row, at_once(many)))
    return shown + (found_slices(case, by_row, names) if AUTO in names else ())


def as_shown(free: Balanced | None, slices: Sequence[Slice]) -> Balanced | None:
    """Rows with and against the association as slices show them: one interval each."""
    if free is None:
        return None
    shown = {one.change.value: one for one in slices if one.column == free.column}
    agree, against = (shown.get(one.change.value, one) for one in (free.agree, free.against))
    return replace(free, agree=agree, against=against)


def found_slices(case: Measurement, by_row: Mapping[Arm, Array], known: Collection[str]) -> tuple[Slice, ...]:
    """The surest slices of all other columns whose change differs from zero, those that lose first."""
    test = case.test
    names = [*test.names, *(["group"] if test.groups is not None else []), "cluster"]
    columns = columns_of(case, [name for name in names if name not in known])
    tried = [(column, one) for column in columns for one in slices_of(column, by_row)]
    tried = [(column, one) for column, one in tried if one.change.stderr]
    if not tried:
        return ()
    p = np.array([two_sided(one.change) for _, one in tried])
    sure = np.flatnonzero(discoveries(p, 1.0 - LEVEL))
    sure = sure[np.argsort(p[sure], kind="stable")][:MOST]
    level = 1.0 - (1.0 - LEVEL) * len(sure) / len(tried)
    shown = (replace(tried[i][1], change=tried[i][1].change.at(level)) for i in sure)
    return tuple(sorted(shown, key=lambda one: one.change.value))
