"""The value of every row of the data, from two fits: of D, and of D with the test set T.

    value_i = log p(T | D) − log p(T | D∖i) = ℓ_i(D∪T) − ℓ_i(D),

where ℓ_i(S) = log ∫ p(θ | S∖i) p(y_i | θ)^w dθ is the row's own share of the evidence of S
(`inference.removal`), w how often the row counts: the PMI of the row and the test set, given all other rows.

Its standard error over test rows is the jackknife's. Without test row j the value would be less by

    M_ij = log p(t_j | D, T∖j) − log p(t_j | D∖i, T∖j),

for which removing i moves mean and variance of the predictor of t_j by cov(f_i, f_j) times what it moves its
own: a matrix of products, of which no more than a slab is held.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Protocol

import numpy as np
from scipy.special import stdtr

from ...arrays import Array, Flags, Rows
from ...data.labels import Classes
from ...inference.logistic import Counts
from ...inference.removal import MOVED, Labelled, Seen, Toggled, per, see, see_gaussian, toggle_each
from ...inference.sites import Sites
from ...measure import Sample, group_codes, weights_of
from ...models import Linear
from ...models.gaussian import distinct_rows, with_intercept
from ...yardstick.yardstick import Yardstick
from ..blocks import DATA, Blocks


class Part(NamedTuple):
    """Rows of the data or of the test set: where they stand, targets, how often each counts."""

    place: Rows
    y: Array
    weights: Array

    def labelled(self, y: Array) -> Labelled:
        """The rows with labels 0 and 1, or soft ones between."""
        return Labelled(self.place, Counts(self.weights * y, self.weights * (1.0 - y)), y)


@dataclass(frozen=True)
class Table:
    """Features of distinct rows; the data, their weights times the yardstick's tempering; the test set.

    groups: which test rows belong together.
    """

    X: Array
    prior_variance: float
    tempering: float
    data: Part
    test: Part
    groups: Rows | None

    @classmethod
    def of(cls, blocks: Blocks) -> Table:
        """The rows of a pool."""
        pool, model = blocks.pool, blocks.prepared.yardstick.model
        X, place = distinct_rows(pool.X)

        def part(sample: Sample, times: float) -> Part:
            return Part(place[sample.rows], pool.y[sample.rows], times * weights_of(sample))

        return cls(
            X=with_intercept(X, model.intercept),
            prior_variance=float(model.prior_variance),
            tempering=pool.tempering,
            data=part(blocks.samples[DATA], pool.tempering),
            test=part(blocks.test, 1.0),
            groups=group_codes(blocks.prepared.test.groups),
        )

    def tested_on(self, rows: Flags) -> Table:
        """The same with a part of the test set."""
        groups = None if self.groups is None else np.unique(self.groups[rows], return_inverse=True)[1]
        some: Any = (part[rows] for part in self.test)
        return replace(self, test=Part(*some), groups=groups)


ROUNDS = 6
WRONG, RIGHT = 1.0, 9.0
"""Rows in front of the data from which the rate ε of wrong labels is told: where rows are few, a tenth."""


class Trust(NamedTuple):
    """What all other rows say of each label.

    loo_log_likelihood: log p(label | all others, labels as given). p_mislabeled: probability that the label
    is wrong.
    if_right, if_wrong: likelihood of the label as it stands, by all others as far as they are trusted, up
    to a common factor. other: the most probable of the other labels; of numeric labels, the predicted
    number; of vectors none.
    """

    loo_log_likelihood: Array
    p_mislabeled: Array
    if_right: Array
    if_wrong: Array
    other: Array | None


MOST_TESTED, MOST_CELLS = 2000, 20_000_000
"""Test rows, and cells of the matrix M, from which standard errors are taken: within 2 % of those of all."""
SLAB = 1024


class Fits(NamedTuple):
    """Posteriors of D and of D∪T; each row of D taken from both, and each row of T from the second.

    place: of the rows of D and T in the second.
    """

    alone: Toggled
    joint: Toggled
    test: Toggled
    seen: Seen
    place: tuple[Rows, Rows]

    @property
    def value(self) -> Array:
        """ℓ_i(D∪T) − ℓ_i(D)."""
        return self.joint.log_share - self.alone.log_share

    def pointwise(self, rows: Rows, tested: Rows) -> Array:
        """M_ij of some rows of the data and of the test set."""
        return pointwise(self, rows, tested)


def binary_fits(table: Table, y: Array, y_test: Array) -> Fits:
    """Logistic regression by EP, with labels 0 and 1."""
    own, other = table.data.labelled(y), table.test.labelled(y_test)
    data, test = own.counted(len(table.X)), other.counted(len(table.X))
    both = Counts(data.ones + test.ones, data.zeros + test.zeros)
    alone, joint = (see(table.X, table.prior_variance, counts) for counts in (data, both))
    return Fits(
        toggle_each(alone, data, own, MOVED),
        toggle_each(joint, both, own, MOVED),
        toggle_each(joint, both, other, np.inf),
        joint,
        (table.data.place, table.test.place),
    )


def gaussian_fits(table: Table, noise: float) -> Fits:
    """Linear regression with known noise: exact, each row with a site of its own."""
    data, test = table.data, table.test
    n, y = len(data.y), np.concatenate([data.y, test.y])
    X = table.X[np.concatenate([data.place, test.place])]
    tau = np.concatenate([data.weights, test.weights]) / noise
    own, every = (
        see_gaussian(X, table.prior_variance, Sites(some, some * y))
        for some in (tau * (np.arange(len(y)) < n), tau)
    )
    alone, joint = (_gaussian_toggled(seen, y, tau, noise) for seen in (own, every))
    return Fits(
        Toggled(*(part[:n] for part in alone)),
        Toggled(*(part[:n] for part in joint)),
        Toggled(*(part[n:] for part in joint)),
        every,
        (np.arange(n), np.arange(n, len(y))),
    )


def _gaussian_toggled(seen: Seen, y: Array, tau: Array, noise: float) -> Toggled:
    """Each row's N(y; f, s²)^w against its cavity N(m, v), with τ = w/s²."""
    mean, variance = seen.cavity(np.arange(len(y)))
    spread = variance + noise
    loo_log_likelihood = -0.5 * (np.log(2.0 * np.pi * spread) + (y - mean) ** 2 / spread)
    bend = -tau / (1.0 + tau * variance)
    log_share = 0.5 * (
        bend * (y - mean) ** 2 - np.log1p(tau * variance) - tau * noise * np.log(2.0 * np.pi * noise)
    )
    slope = bend * (mean - y)
    return Toggled(seen.mean, seen.variance, mean, variance, log_share, loo_log_likelihood, slope, bend)


def tested_rows(table: Table) -> Rows:
    """Test rows that standard errors are taken from: all, or some of many; all where they have groups."""
    n = len(table.test.y)
    most = min(MOST_TESTED, MOST_CELLS // max(len(table.data.y), 1))
    if n <= most or table.groups is not None:
        return np.arange(n)
    return np.sort(np.random.default_rng(n).permutation(n)[: max(most, 2)])


class RowFits(Protocol):
    """What the rows of a table say, each given all others."""

    @property
    def value(self) -> Array:
        """Of every row of the data."""
        ...

    def pointwise(self, rows: Rows, tested: Rows) -> Array:
        """M_ij of some rows of the data and of the test set."""
        ...


def standard_errors(table: Table, fits: Sequence[RowFits]) -> Array:
    """Of each row's value, over test rows; of several fits (a regression a class) the matrices are added."""
    tested = tested_rows(table)
    found = np.empty(len(table.data.y))
    for i in range(0, len(found), SLAB):
        rows = np.arange(i, min(i + SLAB, len(found)))
        matrix = np.sum([one.pointwise(rows, tested) for one in fits], axis=0)
        found[rows] = spread(table, matrix, tested)
    return found


def spread(table: Table, matrix: Array, tested: Rows) -> Array:
    """√(n · variance over j) of a row's M_ij; test rows that belong together are added first."""
    n = len(table.test.y)
    if table.groups is not None:
        groups = table.groups[tested]
        order = np.argsort(groups, kind="stable")
        starts = np.flatnonzero(np.diff(groups[order], prepend=-1))
        matrix = np.add.reduceat(matrix[:, order], starts, axis=1)
    return np.asarray(np.sqrt(matrix.var(axis=1, ddof=1) * matrix.shape[1] * n / len(tested)))


def pointwise(fits: Fits, rows: Rows, tested: Rows) -> Array:
    """M_ij of some rows of the data and of the test set."""
    own = Toggled(*(part[rows] for part in fits.joint))
    test = Toggled(*(part[tested] for part in fits.test))
    # what a toggle of i does to any f: cov(f_i, f) · moved in the mean, cov² · widened in the variance
    moved = per(own.other_mean - own.mean, own.variance)
    widened = per(own.other_variance - own.variance, own.variance**2)
    covariance = fits.seen.half(fits.place[0][rows]).T @ fits.seen.half(fits.place[1][tested])
    covariance *= per(test.other_variance, test.variance)  # without test row j
    first = covariance * moved[:, None]
    covariance *= covariance
    covariance *= widened[:, None]
    # ∂/∂v of a Gaussian integral is half its ∂²/∂m²
    change = first * test.slope + 0.5 * first * first * test.bend
    change += covariance * (0.5 * (test.slope**2 + test.bend))
    return np.asarray(-change)


def p_below_zero(value: Array, stderr: Array, degrees: float) -> Array:
    """One-sided p-values of "the value is not below zero", by Student's t; 1 where there is no error."""
    known = stderr > 0
    t = np.where(known, value, 0.0) / np.where(known, stderr, 1.0)
    return np.where(known, stdtr(degrees, t), 1.0)


def fits_of(yardstick: Yardstick, table: Table) -> list[Fits]:
    """A table fitted exactly, by one logistic regression, or by one a class."""
    model, classes = yardstick.model, class_count(yardstick)
    if isinstance(model, Linear):
        return [gaussian_fits(table, float(model.noise_variance))]  # type: ignore[arg-type]
    y, tested = table.data.y, table.test.y
    chosen = [1] if classes == 2 else range(classes)
    return [binary_fits(table, (y == c).astype(float), (tested == c).astype(float)) for c in chosen]


def class_count(yardstick: Yardstick) -> int:
    """How many classes a yardstick has; none of numeric labels."""
    return len(yardstick.labels.names) if isinstance(yardstick.labels, Classes) else 0
