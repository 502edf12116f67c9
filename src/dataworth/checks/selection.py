"""DW015: did the curation make the data look like the test set, in a column that nobody declared?

Let e(a, y) = p_T(a, y) − p_T(a) p_T(y) be how a column a goes with the label in the test set, and

    A(D) = Σ e(a, y) [p_D(a, y) − p_D(a) p_D(y)]

how much it does so in data D. A curation that was chosen by resemblance moves A(before), which lies below
A(T), towards it, and gains on test rows with the association what it loses on those against it
(`measure.slices`). Repairs of labels move every column that matters towards the test set, but gain where the
column does not tell the label, too. Whether the column should matter, only a person can know.

What no single column shows (the background of a picture) may still be seen: the test set then differs from
the data before, features and label together. Test rows weighted by

    w(x, y) = p(x, y | before) / p(x, y | T),

a logistic regression on label × the first axes of the features, cross-fitted over the test set, stand for a
test set like the data before, with T's proportions of labels. Rows were chosen for this test set alone if
that one loses, and this one gains, or holds where as many rows removed at random lose less on that one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.special import ndtri

from ..arrays import Array, Rows
from ..data.dataset import Dataset
from ..measure import BEFORE, Case, negligible
from ..measure.slices import VALUES, Balanced, Column, balanced, beyond_removals, label_codes, weighted_change
from ..models import Logistic
from .base import CheckOutcome, not_run, quietly
from .rows import datasets

SURE = 0.99
"""Confidence, over all columns, that the association differs before and moves; and that rows against lose."""
COLUMNS = 200
"""Columns that are looked at; of more, the first axes of the yardstick's features stand for all."""
AXES = 20
FOLDS = 5
HEAVIEST = 10.0
"""Multiple of the median weight above which a test row like the data before counts no more."""


class Moved(NamedTuple):
    """A column whose association with the label the curation moved towards the test set's."""

    column: Column
    before: float
    after: float
    test: float
    sigmas: float


class Coded(NamedTuple):
    """A column of before, after and the test set, by the same few values."""

    name: str
    values: tuple[str, ...]
    parts: tuple[Rows, Rows, Rows]


def selection(case: Case) -> CheckOutcome:
    """DW015: of the columns that moved, the one whose rows against the association lose."""
    if case.what != "audit":
        return not_run("it is about curation: audits only")
    if BEFORE not in case.table.by_row or len(case.data) != 2:
        return not_run("it looks at test rows one by one, in the design whole")
    if case.plan.attribute is not None and case.conclude(case.plan, case.table) == "strategic":
        return not_run("the verdict says it of the attribute that is declared")
    if min(len(part) for part in datasets(case).values()) < 2:
        return not_run("there are too few rows")
    estimate = case.found
    if estimate.negative:
        return CheckOutcome(False, 0.0, "the change does not raise what is known of the test set")
    columns, labels = coded(case), labels_of(case)
    all_moved = (moved(case, column, labels, len(columns)) for column in columns)
    found = [one for one in all_moved if one is not None]
    best: tuple[Moved, Balanced] | None = None
    for one in found:
        change = balanced(one.column, case.table.by_row)
        if change is None or change.change.value >= 0 or not change.against.change.at(SURE).negative:
            continue
        if best is None or one.sigmas > best[0].sigmas:
            best = one, change
    if best is None:
        return unlike(case, len(columns))
    one, change = best
    told = (
        f"{one.column.name!r} went with the label as in the test set by {one.before / one.test:.0%} before, "
        f"{one.after / one.test:.0%} after; test rows against that ({change.against.rows}) change by "
        f"{change.against.change.value:+.3f} nats a row, the others by {change.agree.change.value:+.3f}"
    )
    lost = change.against.change
    return CheckOutcome(True, lost.value, told, lost.stderr, one.column.name)


def unlike(case: Case, columns: int) -> CheckOutcome:
    """Whether rows were left out, and test rows like the data before lose: more than by random removals, if
    no rise is shown. Labels that are mended lower the worth of the data for labels as wrong as before, too.
    """
    whole, rows, by_row = all_rows(case), float(case.table.test_rows.mean()), case.table.by_row
    if not any(arm.role == "control" for arm in by_row):
        return CheckOutcome(False, 0.0, f"none of {columns} columns shows it; rows were not left out")
    share = whole.weights * likeness(case, whole)
    share = share / share.sum()
    found, beyond = weighted_change(whole, by_row, share, SURE), beyond_removals(whole, by_row, share)
    chosen = case.found.positive or (beyond is not None and beyond.at(SURE).negative)
    if not (chosen and found.negative) or -found.value < negligible(rows) / rows:
        return CheckOutcome(False, 0.0, f"none of {columns} columns shows it, nor rows like the data before")
    told = (
        f"no column alone shows it; the change is {case.found.value / rows:+.3f} nats a row of the test set, "
        f"and {found.value:+.3f} where its rows are weighted to look like the data before"
    )
    return CheckOutcome(True, found.value, told, found.stderr)


def likeness(case: Case, whole: Column) -> Array:
    """w(x, y) of every test row, up to a factor; groups stand in one fold."""
    before, test = next(iter(datasets(case).values())), case.test
    features = [case.yardstick.features(part) for part in (before, test)]
    labels = [label_codes(case.yardstick, test, case.yardstick.targets(part)) for part in (before, test)]
    middle = features[1].mean(axis=0)
    turned = np.linalg.svd(features[1] - middle, full_matrices=False)[2][:AXES].T
    axes = [(part - middle) @ turned for part in features]
    spread = axes[1].std(axis=0)
    classes = np.arange(max(int(one.max(initial=0)) for one in labels) + 1)
    parts = []
    for part, codes in zip(axes, labels, strict=True):
        seen = np.column_stack([np.ones(len(part)), part[:, spread > 0] / spread[spread > 0]])
        of_label = (codes[:, None] == classes)[:, :, None] * seen[:, None, :]
        parts.append(of_label.reshape(len(part), -1))
    start, fold = len(before), whole.groups % FOLDS
    X, own = np.vstack(parts), np.repeat([1.0, 0.0], [start, len(test)])
    counted = np.r_[np.ones(start) if before.weights is None else before.weights, whole.weights]
    odds, codes = np.ones(len(test)), labels[1]
    for held in (fold == k for k in np.unique(fold)):
        learnt = np.r_[np.ones(start, dtype=bool), ~held]
        with quietly():  # rough odds will do
            fit = Logistic(1.0, intercept=False).fit(X[learnt], own[learnt], counted[learnt])
        other, like = fit.predict_proba(parts[1][held]).T
        odds[held] = like / np.maximum(other, 1e-12)
    odds = np.minimum(odds / np.median(odds), HEAVIEST)
    return np.asarray(
        odds * (np.bincount(codes, whole.weights) / np.bincount(codes, whole.weights * odds))[codes]
    )


def all_rows(case: Case) -> Column:
    """The test set as one slice: its groups and weights."""
    groups, weights, none = case.test.groups, case.test.weights, np.zeros(len(case.test), dtype=np.intp)
    rows = np.arange(len(none)) if groups is None else np.unique(groups, return_inverse=True)[1].ravel()
    return Column("", ("",), none, none, rows, np.ones(len(none)) if weights is None else weights)


def labels_of(case: Case) -> list[Rows]:
    """Labels before, after and of the test set."""
    parts = [*datasets(case).values(), case.test]
    return [label_codes(case.yardstick, case.test, case.yardstick.targets(part)) for part in parts]


def moved(case: Case, coded: Coded, labels: Sequence[Rows], columns: int) -> Moved | None:
    """The column, if its association is shown to differ before, and to move towards the test set's."""
    shape = len(coded.values), max(int(one.max(initial=0)) for one in labels) + 1
    p = proportions(coded.parts[2], labels[2], shape)
    e = p - np.outer(p.sum(axis=1), p.sum(axis=0))
    (before, own), (after, new), (test, held) = (
        association(codes, y, e) for codes, y in zip(coded.parts, labels, strict=True)
    )
    if test <= 0:
        return None
    spread = [float(part.var() / len(part)) for part in (own, new, held)]
    sigmas = (after - before) / np.sqrt(max(spread[0] + spread[1], 1e-300))
    apart = (test - before) / np.sqrt(max(spread[0] + spread[2], 1e-300))
    if min(sigmas, apart) < threshold(columns):
        return None
    column = all_rows(case)._replace(
        name=coded.name, values=coded.values, codes=coded.parts[2], labels=labels[2]
    )
    return Moved(column, before, after, test, float(sigmas))


def threshold(columns: int) -> float:
    """Standard errors that show a difference at 99 % over so many columns, by Bonferroni."""
    return float(ndtri(1.0 - (1.0 - SURE) / (2.0 * columns)))


def proportions(codes: Rows, labels: Rows, shape: tuple[int, int]) -> Array:
    """p(a, y)."""
    counts = np.bincount(codes * shape[1] + labels, minlength=shape[0] * shape[1])
    return np.asarray(counts.reshape(shape) / max(1, len(codes)))


def association(codes: Rows, labels: Rows, e: Array) -> tuple[float, Array]:
    """A(D), and what each row moves it by (its influence).

    >>> e = np.array([[0.25, -0.25], [-0.25, 0.25]])
    >>> agree, mixed = np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1])
    >>> association(agree, agree, e)[0], association(agree, mixed, e)[0]
    (0.25, 0.0)
    """
    p = proportions(codes, labels, e.shape)
    a, y = p.sum(axis=1), p.sum(axis=0)
    influence = e - (e @ y)[:, None] - (a @ e)[None, :]
    return float((e * (p - np.outer(a, y))).sum()), influence[codes, labels]


def coded(case: Case) -> list[Coded]:
    """Columns of few values by these, numbers by halves of the test set's; axes where columns are many."""
    before, after = datasets(case).values()
    test = case.test.select(case.yardstick.recipe.columns)
    if test.n_features > COLUMNS:
        features = [case.yardstick.features(part)[:, :AXES] for part in (before, after, test)]
        names = [f"axis {k + 1} of the features" for k in range(features[0].shape[1])]
        found = [halves(name, *(part[:, k] for part in features)) for k, name in enumerate(names)]
        return [one for one in found if one is not None]
    return [
        one for one in (of_column(j, before, after, test) for j in range(test.n_features)) if one is not None
    ]


def of_column(j: int, before: Dataset, after: Dataset, test: Dataset) -> Coded | None:
    """One column by its values; None if it has one value alone."""
    column, parts = test.columns[j], [np.nan_to_num(one.X[:, j], nan=-1.0) for one in (before, after, test)]
    distinct, counts = np.unique(parts[2], return_counts=True)
    if len(distinct) > VALUES and not column.categories:
        return halves(column.name, *(one.X[:, j] for one in (before, after, test)))
    if len(distinct) < 2:
        return None
    common = np.sort(distinct[np.argsort(-counts, kind="stable")[:VALUES]])
    names = [column.categories[int(v)] if column.categories and v >= 0 else f"{v:g}" for v in common]
    codes = [np.where(np.isin(one, common), np.searchsorted(common, one), len(common)) for one in parts]
    return Coded(column.name, (*names, "others"), (codes[0], codes[1], codes[2]))


def halves(name: str, before: Array, after: Array, test: Array) -> Coded | None:
    """Numbers above and up to the test set's median; missing ones by themselves."""
    median = float(np.nanmedian(test)) if np.isfinite(test).any() else 0.0
    codes = [np.where(np.isnan(one), 2, one > median).astype(np.intp) for one in (before, after, test)]
    if len(np.unique(codes[2])) < 2:
        return None
    return Coded(name, (f"≤ {median:.4g}", f"> {median:.4g}", "missing"), (codes[0], codes[1], codes[2]))
