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

from typing import NamedTuple

import numpy as np

from ...arrays import Array, Flags, Rows
from ...inference.logistic import Counts
from ...inference.removal import MOVED, Seen, Toggled, per, see, see_gaussian, toggle_each
from ...inference.sites import Sites
from .table import Table

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


def binary_fits(table: Table, y: Array, y_test: Array, moved: float = MOVED) -> Fits:
    """Logistic regression by EP, with labels 0 and 1."""
    own, other = table.data.labelled(y), table.test.labelled(y_test)
    data, test = own.counted(len(table.X)), other.counted(len(table.X))
    both = Counts(data.ones + test.ones, data.zeros + test.zeros)
    alone, joint = (see(table.X, table.prior_variance, counts) for counts in (data, both))
    return Fits(
        toggle_each(alone, data, own, moved),
        toggle_each(joint, both, own, moved),
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
    joint = np.concatenate([data.inside, test.inside])
    seen, toggled = [], []
    for some in (joint & (np.arange(len(y)) < n), joint):
        seen.append(see_gaussian(X, table.prior_variance, Sites(tau * some, tau * some * y)))
        toggled.append(_gaussian_toggled(seen[-1], y, tau, noise, some))
    return Fits(
        Toggled(*(part[:n] for part in toggled[0])),
        Toggled(*(part[:n] for part in toggled[1])),
        Toggled(*(part[n:] for part in toggled[1])),
        seen[1],
        (np.arange(n), np.arange(n, len(y))),
    )


def _gaussian_toggled(seen: Seen, y: Array, tau: Array, noise: float, inside: Flags) -> Toggled:
    """Each row's N(y; f, s²)^w against its cavity N(m, v), with τ = w/s²."""
    mean, variance = seen.cavity(np.arange(len(y)))
    spread = variance + noise
    log_label = -0.5 * (np.log(2.0 * np.pi * spread) + (y - mean) ** 2 / spread)
    bend = -tau / (1.0 + tau * variance)
    log_share = 0.5 * (
        bend * (y - mean) ** 2 - np.log1p(tau * variance) - tau * noise * np.log(2.0 * np.pi * noise)
    )
    with_variance = variance / (1.0 + tau * variance)
    with_mean = (mean + tau * variance * y) / (1.0 + tau * variance)
    return Toggled(
        seen.mean,
        seen.variance,
        np.where(inside, mean, with_mean),
        np.where(inside, variance, with_variance),
        log_share,
        log_label,
        bend * (mean - y),
        bend,
    )


def tested_rows(table: Table) -> Rows:
    """Test rows that standard errors are taken from: all, or some of many; all where they have groups."""
    n = len(table.test.y)
    most = min(MOST_TESTED, MOST_CELLS // max(len(table.data.y), 1))
    if n <= most or table.groups is not None:
        return np.arange(n)
    return np.sort(np.random.default_rng(n).permutation(n)[: max(most, 2)])


def standard_errors(table: Table, fits: list[Fits]) -> Array:
    """Of each row's value, over test rows; of several fits (a regression a class) the matrices are added."""
    tested = tested_rows(table)
    found = np.empty(len(table.data.y))
    for i in range(0, len(found), SLAB):
        rows = np.arange(i, min(i + SLAB, len(found)))
        matrix = np.sum([pointwise(one, rows, tested, table) for one in fits], axis=0)
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


def pointwise(fits: Fits, rows: Rows, tested: Rows, table: Table) -> Array:
    """M_ij of some rows of the data and of the test set."""
    own = Toggled(*(part[rows] for part in fits.joint))
    test = Toggled(*(part[tested] for part in fits.test))
    # what a toggle of i does to any f: cov(f_i, f) · moved in the mean, cov² · widened in the variance
    moved = per(own.other_mean - own.mean, own.variance)
    widened = per(own.other_variance - own.variance, own.variance**2)
    sign = np.where(table.data.inside[rows], -1.0, 1.0)
    covariance = fits.seen.half(fits.place[0][rows]).T @ fits.seen.half(fits.place[1][tested])
    covariance *= per(test.other_variance, test.variance)  # without test row j
    first = covariance * moved[:, None]
    covariance *= covariance
    covariance *= widened[:, None]
    # ∂/∂v of a Gaussian integral is half its ∂²/∂m²
    change = first * test.slope + 0.5 * first * first * test.bend
    change += covariance * (0.5 * (test.slope**2 + test.bend))
    return np.asarray(sign[:, None] * change)
