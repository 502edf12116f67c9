"""What a fit would say of a row had it not seen it, from the fit alone: removing one site of EP's Gaussian.

With the site (τ, ν) of a row whose predictor is N(m, v), the *cavity* is

    v_ = v / (1 − τv),   m_ = (m − vν) / (1 − τv),

the posterior of all other rows at this one, up to what the other sites would do about it (of second order).
The row's own share of the evidence is one integral against the cavity: ℓ(w) − ℓ(0), with
ℓ(w) = log ∫ cavity · (rows of equal features) · p(y | f)^w df.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg import solve_triangular

from ..arrays import Array, Flags, Rows
from .ep import find_moments
from .geometry import GRAM_LIMIT, SLAB, Factor, Primal, largest_square
from .logistic import Counts
from .sites import Sites
from .tilted import tilted_moments

MOVED = 0.5
"""A row that moves its own predictor by more than this is removed by fitting again: other sites follow it."""


class Seen(NamedTuple):
    """EP's Gaussian at all rows of a pool, whether the fit has seen them or not."""

    X: Array
    prior_variance: float
    counts: Counts
    sites: Sites
    mean: Array
    variance: Array
    factor: Factor
    log_z: float

    @property
    def cavity(self) -> tuple[Array, Array]:
        """Mean and variance of each predictor without its own site."""
        kept = np.maximum(1.0 - self.sites.tau * self.variance, np.finfo(float).tiny)
        return (self.mean - self.variance * self.sites.nu) / kept, self.variance / kept

    def half(self, rows: Rows | slice) -> Array:
        """H with cov(f_i, f_j) = H_i · H_j, one column a row."""
        trans = "N" if self.factor.lower else "T"
        solved = solve_triangular(
            self.factor.matrix, self.X[rows].T, lower=self.factor.lower, trans=trans, check_finite=False
        )
        return np.asarray(np.sqrt(self.prior_variance) * solved)


class Removed(NamedTuple):
    """Each row's predictor with the row and without it, and what the fit says of the row without it.

    log_share: the row's own share of the log evidence, ℓ(w) − ℓ(0). log_label: log p(label | all others).
    """

    mean: Array
    variance: Array
    left_mean: Array
    left_variance: Array
    log_share: Array
    log_label: Array


class Labelled(NamedTuple):
    """Rows at places of a pool: what each adds to the counts there, and which label it says it has."""

    place: Rows
    own: Counts
    label: Array

    def some(self, rows: Rows | Flags) -> Labelled:
        """Some of the rows."""
        return Labelled(self.place[rows], Counts(self.own.ones[rows], self.own.zeros[rows]), self.label[rows])


def see(X: Array, prior_variance: float, counts: Counts, start: Sites | None = None) -> Seen:
    """Fit the rows that are counted, by EP, and look at all.

    >>> X = np.array([[1.0], [-1.0]])
    >>> seen = see(X, 1.0, Counts(np.array([1.0, 0.0]), np.array([0.0, 0.0])))
    >>> bool(np.isclose(seen.mean[0], -seen.mean[1])), round(float(np.exp(seen.log_z)), 6)
    (True, 0.5)
    """
    ids = np.flatnonzero(counts.ones + counts.zeros)
    rows = X if len(ids) == len(X) else X[ids]
    most = max(1.0, float((counts.ones + counts.zeros).max(initial=0.0)))
    geometry = Primal(rows, prior_variance, root=prior_variance * most * largest_square(rows) > GRAM_LIMIT)
    begin = None if start is None else Sites(start.tau[ids], start.nu[ids])
    found = find_moments(geometry, counts.at(ids), begin)
    tau, nu, variance = np.zeros(len(X)), np.zeros(len(X)), np.empty(len(X))
    tau[ids], nu[ids] = found.sites
    seen = Seen(
        X, prior_variance, counts, Sites(tau, nu), X @ found.coef, variance, found.factor, found.log_z
    )
    for i in range(0, len(X), SLAB):
        half = seen.half(slice(i, i + SLAB))
        variance[i : i + SLAB] = np.einsum("ij,ij->j", half, half)
    return seen


def remove_each(seen: Seen, rows: Labelled, *, moved: float = MOVED) -> Removed:
    """Remove each row alone; those that move their own predictor by more than `moved` by fitting again."""
    mean, variance = (part[rows.place] for part in seen.cavity)
    found = _without(seen, rows, mean, variance)
    far = np.flatnonzero(np.abs(found.left_mean - found.mean) > moved)
    if not len(far):
        return found
    again = [_refitted(seen, rows.some(far[k : k + 1])) for k in range(len(far))]
    for whole, *parts in zip(found, *again, strict=True):
        whole[far] = np.concatenate(parts)
    return found


def _without(seen: Seen, rows: Labelled, mean: Array, variance: Array) -> Removed:
    """The integrals of rows against their cavities."""
    every = seen.counts.at(rows.place)
    others = Counts(*(np.maximum(a - b, 0.0) for a, b in zip(every, rows.own, strict=True)))
    scale = 1e-12 * (every.ones + every.zeros)
    others = Counts(*(np.where(part <= scale, 0.0, part) for part in others))
    base, left_mean, left_variance = np.zeros(len(mean)), mean.copy(), variance.copy()
    shared = np.flatnonzero(others.ones + others.zeros)
    if len(shared):
        equal = tilted_moments(mean[shared], variance[shared], others.at(shared))
        base[shared], left_mean[shared], left_variance[shared] = equal
    once = Counts(others.ones + rows.label, others.zeros + 1.0 - rows.label)
    log_label = tilted_moments(mean, variance, once).log_z - base
    added = Counts(others.ones + rows.own.ones, others.zeros + rows.own.zeros)
    log_share = tilted_moments(mean, variance, added).log_z - base
    here = seen.mean[rows.place], seen.variance[rows.place]
    return Removed(*here, left_mean, left_variance, log_share, np.minimum(log_label, 0.0))


def _refitted(seen: Seen, row: Labelled) -> Removed:
    """One row, with all other sites where they are without it."""
    place = int(row.place[0])
    ones, zeros = seen.counts.ones.copy(), seen.counts.zeros.copy()
    before = ones[place] + zeros[place]
    ones[place] = max(ones[place] - row.own.ones[0], 0.0)
    zeros[place] = max(zeros[place] - row.own.zeros[0], 0.0)
    if ones[place] + zeros[place] <= 1e-12 * before:
        ones[place] = zeros[place] = 0.0
    share = (ones[place] + zeros[place]) / before if before else 0.0
    tau, nu = seen.sites.tau.copy(), seen.sites.nu.copy()
    tau[place], nu[place] = share * tau[place], share * nu[place]
    left = see(seen.X, seen.prior_variance, Counts(ones, zeros), Sites(tau, nu))
    mean, variance = (part[row.place] for part in left.cavity)
    found = _without(seen, row, mean, variance)
    return found._replace(left_mean=left.mean[row.place], left_variance=left.variance[row.place])
