"""What a fit would say of a row had it not seen it, from the fit alone: removing one site of a Gaussian.

With the site (τ, ν) of a row whose predictor is N(m, v), the *cavity* is

    v_ = v / (1 − τv),   m_ = (m − vν) / (1 − τv),

the posterior of all other rows at this one, up to what EP's other sites would do about it (of second order;
exact for Gaussian likelihoods). The row's own share of the evidence is one integral against the cavity,
ℓ(w) − ℓ(0), with ℓ(w) = log ∫ cavity · (rows of equal features) · p(y | f)^w df.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..arrays import Array, Rows
from .geometry import GRAM_LIMIT, SLAB, Factor, Primal, largest_square
from .logistic import Counts
from .newton import Mode, find_mode
from .sites import MANY, Moments, Sites, condition, expand, find_moments
from .tilted import tilted_moments

MOVED = 0.5
"""A row that moves its own predictor by more than this is removed by fitting again: other sites follow it."""
REFITTED = 64
"""Such rows at most, the farthest first: what they leave is within a tenth of a standard error of values."""
NOTHING = 1e-12
"""What rounding leaves of a count, as a part of it."""


class Seen(NamedTuple):
    """A Gaussian posterior at all rows of a pool, whether the fit has seen them or not."""

    X: Array
    prior_variance: float
    sites: Sites
    mean: Array
    variance: Array
    factor: Factor
    log_z: float

    def cavity(self, place: Rows) -> tuple[Array, Array]:
        """Mean and variance of predictors without the sites at their places."""
        tau, nu, mean, variance = (a[place] for a in (*self.sites, self.mean, self.variance))
        kept = np.maximum(1.0 - tau * variance, np.finfo(float).tiny)
        return (mean - variance * nu) / kept, variance / kept

    def half(self, rows: Rows | slice) -> Array:
        """H with cov(f_i, f_j) = H_i · H_j, one column a row."""
        return np.asarray(np.sqrt(self.prior_variance) * self.factor.half_solve(self.X[rows].T))


class Toggled(NamedTuple):
    """Each row's predictor as the fit has it, and with the row out.

    log_share: the row's own share of the log evidence, ℓ(w) − ℓ(0). loo_log_likelihood: log p(label | all
    others). slope, bend: first and second derivative of log_share in the mean without the row.
    """

    mean: Array
    variance: Array
    other_mean: Array
    other_variance: Array
    log_share: Array
    loo_log_likelihood: Array
    slope: Array
    bend: Array


class Labelled(NamedTuple):
    """Rows at places of a pool: what each adds to the counts there, the label that it says it has."""

    place: Rows
    own: Counts
    label: Array

    def counted(self, size: int) -> Counts:
        """How often each place is seen with either label."""
        ones, zeros = (np.bincount(self.place, weights=part, minlength=size) for part in self.own)
        return Counts(ones.astype(float, copy=False), zeros.astype(float, copy=False))


def see(X: Array, prior_variance: float, counts: Counts, start: Sites | None = None) -> Seen:
    """Fit the rows that are counted, by EP or, where they are many, Laplace's method, and look at all."""
    ids = np.flatnonzero(counts.ones + counts.zeros)
    heaviest = max(1.0, float((counts.ones + counts.zeros).max(initial=0.0)))
    geometry = _geometry(X, prior_variance, ids, heaviest)
    sites = Sites(np.zeros(len(X)), np.zeros(len(X)))
    found: Mode | Moments
    if len(ids) >= MANY * X.shape[1]:
        found = find_mode(geometry, counts.at(ids))
        sites.tau[ids], sites.nu[ids] = expand(found.f, 0.0, counts.at(ids))
    else:
        begin = None if start is None else Sites(start.tau[ids], start.nu[ids])
        found = find_moments(geometry, counts.at(ids), begin)
        sites.tau[ids], sites.nu[ids] = found.sites
    return _look(X, prior_variance, sites, found.coef, found.factor, found.log_z)


def see_gaussian(X: Array, prior_variance: float, sites: Sites) -> Seen:
    """The same where sites are known: rows with Gaussian noise. `log_z` is the normaliser of the sites."""
    heaviest = max(1.0, float(sites.tau.max(initial=0.0)))
    given = condition(_geometry(X, prior_variance, np.arange(len(X)), heaviest), sites)
    return _look(X, prior_variance, sites, given.coef, given.factor, given.log_norm(sites))


def _geometry(X: Array, prior_variance: float, ids: Rows, heaviest: float) -> Primal:
    root = prior_variance * heaviest * largest_square(X) > GRAM_LIMIT
    return Primal(X[ids], prior_variance, root=True) if root else Primal(X, prior_variance, ids)


def _look(X: Array, prior_variance: float, sites: Sites, coef: Array, factor: Factor, log_z: float) -> Seen:
    seen = Seen(X, prior_variance, sites, X @ coef, np.empty(len(X)), factor, log_z)
    for i in range(0, len(X), SLAB):
        half = seen.half(slice(i, i + SLAB))
        seen.variance[i : i + SLAB] = np.einsum("ij,ij->j", half, half)
    return seen


def toggle_each(seen: Seen, counts: Counts, rows: Labelled, moved: float = MOVED) -> Toggled:
    """Each row alone; those that move their own predictor by more than `moved` are refitted."""
    found = _against(seen, counts, rows, *seen.cavity(rows.place))
    distance = np.abs(found.other_mean - found.mean)
    far = np.argsort(-distance, kind="stable")[:REFITTED]
    for k in far[distance[far] > moved]:
        one = np.array([k])
        row = Labelled(rows.place[one], rows.own.at(one), rows.label[one])
        for whole, part in zip(found, _fitted_without(seen, counts, row), strict=True):
            whole[k] = part[0]
    return found


def _others(counts: Counts, rows: Labelled) -> Counts:
    """What is counted at each row's place beside the row."""
    every = counts.at(rows.place)
    least = NOTHING * (every.ones + every.zeros)
    ones, zeros = (a - b for a, b in zip(every, rows.own, strict=True))
    return Counts(np.where(ones > least, ones, 0.0), np.where(zeros > least, zeros, 0.0))


def _against(seen: Seen, counts: Counts, rows: Labelled, mean: Array, variance: Array) -> Toggled:
    """The integrals of rows against cavities of this mean and variance."""
    others = _others(counts, rows)
    base, left_mean, left_variance = np.zeros(len(mean)), mean.copy(), variance.copy()
    shared = np.flatnonzero(others.ones + others.zeros)
    if len(shared):
        equal = tilted_moments(mean[shared], variance[shared], others.at(shared))
        base[shared], left_mean[shared], left_variance[shared] = equal
    once = Counts(others.ones + rows.label, others.zeros + 1.0 - rows.label)
    loo_log_likelihood = tilted_moments(mean, variance, once).log_z - base
    added = Counts(others.ones + rows.own.ones, others.zeros + rows.own.zeros)
    whole = tilted_moments(mean, variance, added)
    return Toggled(
        mean=seen.mean[rows.place],
        variance=seen.variance[rows.place],
        other_mean=left_mean,
        other_variance=left_variance,
        log_share=whole.log_z - base,
        loo_log_likelihood=np.minimum(loo_log_likelihood, 0.0),
        slope=per(whole.mean - left_mean, left_variance),
        bend=per(whole.variance - left_variance, left_variance**2),
    )


def per(change: Array, variance: Array) -> Array:
    """change / variance; nothing where there is no variance, for what is known already nothing can move.

    >>> per(np.array([1.0, 0.0]), np.array([2.0, 0.0])).tolist()
    [0.5, 0.0]
    """
    return np.divide(change, variance, out=np.zeros_like(change), where=variance > 0)


def _fitted_without(seen: Seen, counts: Counts, row: Labelled) -> Toggled:
    """One row, with all other sites where they are without it."""
    place, others = row.place[0], _others(counts, row)
    ones, zeros = counts.ones.copy(), counts.zeros.copy()
    part = (others.ones[0] + others.zeros[0]) / (ones[place] + zeros[place])
    ones[place], zeros[place] = others.ones[0], others.zeros[0]
    tau, nu = seen.sites.tau.copy(), seen.sites.nu.copy()
    tau[place] *= part
    nu[place] *= part
    left = see(seen.X, seen.prior_variance, Counts(ones, zeros), Sites(tau, nu))
    found = _against(seen, counts, row, *left.cavity(row.place))
    return found._replace(log_share=np.array([seen.log_z - left.log_z]))
