"""Expectation propagation of many small sets of rows at once, each under the same prior by itself.

The blocks of a test set have a few dozen rows each: calling numpy takes longer than a round of EP. Here a
round is one batch of Cholesky factors and one call for the moments of all rows. The fixed point is that of
`sites.find_moments`; a block that does not converge quickly is left to it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ..arrays import Array, Flags
from . import sites
from .geometry import Dual
from .logistic import Counts
from .sites import Marginals, Sites

ROUNDS = 40
"""Rounds after which a block is left to `find_moments`; nearly all need fewer than ten."""


class Block(NamedTuple):
    """Rows of one set: their prior covariance K = X Xᵀ, their labels, and the prior's mean at each."""

    gram: Array
    counts: Counts
    offset: Array


def block_evidences(blocks: Sequence[Block]) -> list[float]:
    """Log Z of every block by EP.

    >>> one = Block(np.array([[4.0]]), Counts(np.array([1.0]), np.array([0.0])), np.zeros(1))
    >>> [round(float(np.exp(log_z)), 8) for log_z in block_evidences([one, one])]  # ½ by symmetry
    [0.5, 0.5]
    """
    batch = _Batch.of(blocks)
    seen = np.any(batch.rows, axis=1)
    found = np.where(seen, np.nan, 0.0)
    alive, batch = np.flatnonzero(seen), batch.take(seen)
    tau, nu = np.zeros(batch.rows.shape), np.zeros(batch.rows.shape)
    step, last = np.full(len(alive), sites.FIRST_STEP), np.zeros((len(alive), 2 * batch.rows.shape[1]))
    for iteration in range(ROUNDS if len(alive) else 0):
        new_tau, new_nu, way, log_z = _round(batch, tau, nu)
        left = np.einsum("ij,ij->i", way, way)
        if iteration:
            step = _next_steps(step, last, way)
        done = left < sites.AIM
        found[alive[done]] = log_z[done]
        if done.all():
            break
        if done.any():
            alive, batch = alive[~done], batch.take(~done)
            parts = (tau, nu, new_tau, new_nu, way, step)
            tau, nu, new_tau, new_nu, way, step = (part[~done] for part in parts)
        last = way
        tau, nu = tau + step[:, None] * (new_tau - tau), nu + step[:, None] * (new_nu - nu)
    for j in np.flatnonzero(~np.isfinite(found)).tolist():
        gram, counts, offset = blocks[j]
        found[j] = sites.find_moments(Dual(gram), counts, None, offset).log_z
    return [float(log_z) for log_z in found]


class _Batch(NamedTuple):
    """Blocks of one size: those with fewer rows are filled up with rows that nobody saw, of variance 0."""

    gram: Array
    ones: Array
    zeros: Array
    offset: Array
    rows: Flags

    @classmethod
    def of(cls, blocks: Sequence[Block]) -> _Batch:
        """Stack blocks."""
        m = max((len(block.offset) for block in blocks), default=0)
        shape = (len(blocks), m)
        gram, rows = np.zeros((*shape, m)), np.zeros(shape, dtype=bool)
        ones, zeros, offset = parts = [np.zeros(shape) for _ in range(3)]
        for j, block in enumerate(blocks):
            n = len(block.offset)
            gram[j, :n, :n], rows[j, :n] = block.gram, True
            for part, own in zip(parts, (*block.counts, block.offset), strict=True):
                part[j, :n] = own
        return cls(gram, ones, zeros, offset, rows)

    def take(self, some: Any) -> _Batch:
        """Some of the blocks."""
        return _Batch(*(part[some] for part in self))


def _round(batch: _Batch, tau: Array, nu: Array) -> tuple[Array, Array, Array, Array]:
    """The sites that match moments, how far that would move each row's marginal, and log Z at the old ones.

    The formulas are those of `sites.condition` and `sites.marginals`, a block a matrix.
    """
    root = np.sqrt(tau)
    inner = root[:, :, None] * batch.gram * root[:, None, :]
    inner += np.eye(tau.shape[1])
    lower = np.linalg.cholesky(inner)
    half = np.linalg.inv(lower)
    pulled = np.einsum("ijk,ik->ij", batch.gram, nu)
    solved = np.einsum("ikj,ik->ij", half, np.einsum("ijk,ik->ij", half, root * pulled))
    coef = nu - root * solved
    mean = np.einsum("ijk,ik->ij", batch.gram, coef)
    kept = np.einsum("ikj,ikj->ij", half, half)
    leverage = 1.0 - kept
    variance = leverage / np.where(tau > 0, tau, 1.0)
    faint = leverage < sites.LEAST_LEVERAGE
    if faint.any():  # too few digits would be left of 1 − (1 − τv)
        spread = half @ (root[:, :, None] * batch.gram)
        direct = np.einsum("ijj->ij", batch.gram) - np.einsum("ikj,ikj->ij", spread, spread)
        variance = np.where(faint, direct, variance)
    old, marginal, counts = Sites(tau, nu), Marginals(variance, kept), Counts(batch.ones, batch.zeros)
    flat: Any = [type(part)(*(one.ravel() for one in part)) for part in (old, marginal, counts)]
    matched, own = sites.match_moments(flat[0], mean.ravel(), flat[1], flat[2], batch.offset.ravel())
    new = Sites(*(np.where(batch.rows, part.reshape(tau.shape), 0.0) for part in matched))
    log_det = 2.0 * np.log(np.einsum("ijj->ij", lower)).sum(axis=1)
    log_z = np.where(batch.rows, own.reshape(tau.shape), 0.0).sum(axis=1)
    log_z += 0.5 * (np.einsum("ij,ij->i", nu, mean) - log_det)
    return *new, sites.way_between(old, new, variance, mean), log_z


def _next_steps(step: Array, last: Array, way: Array) -> Array:
    """`sites._next_step` of every block."""
    fall = np.einsum("ij,ij->i", last, last - way)
    square = np.einsum("ij,ij->i", last, last)
    best = np.where(fall > 0, step * square / np.where(fall > 0, fall, 1.0), 1.0)
    return np.clip(best, sites.LEAST_STEP, 1.0)
