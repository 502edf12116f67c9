"""Moments of a logistic factor against a Gaussian, the one integral that EP is made of.

For each row, with the cavity N(m, s²) of its linear predictor f and its counts of labels (w₁, w₀),

    Ẑ = ∫ N(f; m, s²) σ(f)^w₁ σ(−f)^w₀ df,   and mean and variance of the integrand.

Gauss–Hermite nodes of the cavity are right while s is small beside the logistic function's own width, and
wrong beyond it at any order: the integrand then has a step that the nodes straddle. There Gauss–Legendre
nodes on pieces that end at the step take over. Log-concavity says where the mass is.
"""

from __future__ import annotations

import math
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..arrays import Array
from .logistic import Counts

NARROW = 1.5
"""Cavity s.d. up to which Gauss–Hermite nodes of the cavity are used. At worst variances are then off by 4e-8
at a count of 1, 6e-7 at 2 and 6e-6 at 3 (log Ẑ by a tenth of that). At a count of 4: 1e-5 near the step, 6e-5
where m > −10, but 4e-3 (log Ẑ: 1e-4) far on the wrong side, m < −20, where the mass leaves the nodes."""
HEAVY = 4.0
"""Counts above which a factor is much sharper than the logistic function."""
FAR = 10.0
"""Cavity s.d. on the wrong side of the step beyond which the integrand is much sharper than the cavity."""
UNDERFLOW = 500.0
"""Nats: factors smaller than exp(−UNDERFLOW) are computed by their logarithms."""
LEAST_VARIANCE = 1e-100
"""A row of zeros has no variance: this much stands for none."""
REACH, BULK = 8.0, 2.5
"""Cavity s.d. from the mode at which the integrand, which falls at least as fast, is below 1e-14 of it, and
where its bulk ends."""
STEP, FALL = 12.0, 100.0
"""Where the logistic step ends; where nothing is left of it, if the mode is on the other side."""
ARRIVED, MODE_STEPS = 0.01, 25
"""Square of the last Newton step to a mode, in s.d. of the integrand; how many steps there are at most."""
FALLS = (0.5, 4.0, 36.0)
"""Nats below the mode at which the pieces of a general factor end."""
FALL_STEPS, FALLEN = 30, 1.1
"""Newton steps to such an end at most (each halves a way that is too long), and by how many times too much
the integrand may have fallen there: it only makes a piece a little longer than it need be."""
SQRT_2_PI = math.sqrt(2.0 * math.pi)


class Tilted(NamedTuple):
    """Log integral, mean and variance of cavity times factor."""

    log_z: Array
    mean: Array
    variance: Array


@cache
def _hermite() -> tuple[Array, Array]:
    nodes, weights = np.polynomial.hermite_e.hermegauss(32)
    keep = weights > 1e-18 * weights.max()
    return nodes[keep], weights[keep] / weights.sum()


@cache
def _legendre() -> tuple[Array, Array]:
    nodes, weights = np.polynomial.legendre.leggauss(12)
    return 0.5 * (nodes + 1.0), 0.5 * weights  # on [0, 1]


def tilted_moments(mean: Array, variance: Array, counts: Counts) -> Tilted:
    """Ẑ, mean and variance for every row."""
    spread = np.sqrt(np.maximum(variance, LEAST_VARIANCE))
    ones, zeros = counts
    count = ones + zeros
    # a row of one label is turned so that the label is 1: σ(f)^w alone, without logarithms
    sign = np.where(zeros > 0, -1.0, 1.0)
    turned = sign * mean
    far = (turned + count * variance < -UNDERFLOW) | (turned < -FAR * np.maximum(spread, 3.0))
    narrow = spread <= NARROW
    # a light label falls slowly, far beyond the step
    single = (ones * zeros == 0.0) & (count <= HEAVY) & ((count >= 1.0) | narrow) & ~far
    if single.all():
        return _one_label(turned, spread, count, narrow, sign)
    result = Tilted(*np.empty((3, len(mean))))
    _put(result, single, _one_label(*(x[single] for x in (turned, spread, count, narrow, sign))))
    general = ~single
    part = _on_falls(mean[general], spread[general], Counts(ones[general], zeros[general]))
    _put(result, general, part)
    return result


def _one_label(mean: Array, spread: Array, count: Array, narrow: NDArray[np.bool_], sign: Array) -> Tilted:
    """σ(f)^w against N(m, s²), turned back by the sign."""
    if narrow.all():
        result = _on_cavity(mean, spread, count)
    else:
        result = Tilted(*np.empty((3, len(mean))))
        for rows, integrate in ((narrow, _on_cavity), (~narrow, _on_steps)):
            if rows.any():
                _put(result, rows, integrate(mean[rows], spread[rows], count[rows]))
    return result._replace(mean=sign * result.mean)


def _put(result: Tilted, rows: NDArray[np.bool_], part: Tilted) -> None:
    for whole, piece in zip(result, part, strict=True):
        whole[rows] = piece


def _on_cavity(mean: Array, spread: Array, count: Array) -> Tilted:
    """Gauss–Hermite: the Gaussian is in the weights."""
    nodes, weights = _hermite()
    u = nodes * spread[:, None]
    value = _sigmoid_power(mean[:, None] + u, count)
    value *= weights
    return _moments(mean, u, value, np.zeros(len(mean)))


def _on_steps(mean: Array, spread: Array, count: Array) -> Tilted:
    """Six pieces: the bulk and the tails about the mode, cut where the logistic step begins and ends."""
    mode = tilted_mode(mean, spread, Counts(count, np.zeros(len(mean))))
    low = mode - REACH * spread
    low = np.where(mode > 0, np.maximum(low, -FALL / count), low)
    high = mode + REACH * spread
    ends = np.empty((len(mean), 7))
    ends[:, 0], ends[:, 6] = low, high
    ends[:, 1], ends[:, 2] = mode - BULK * spread, mode + BULK * spread
    ends[:, 3:6] = (-STEP, 0.0, STEP)
    np.clip(ends, low[:, None], high[:, None], out=ends)
    ends.sort(axis=1)
    f, weights = _pieces(ends)
    u = f - mean[:, None]
    scaled = u / spread[:, None]
    # the cavity's density relative to that at the mode: where the mode is, neither factor is tiny
    top = ((mode - mean) / spread) ** 2
    value = np.exp(0.5 * (top[:, None] - scaled * scaled))
    value *= _sigmoid_power(f, count)
    value *= weights
    return _moments(mean, u, value, -0.5 * top - np.log(SQRT_2_PI * spread))


def _sigmoid_power(f: Array, count: Array) -> Array:
    """σ(f)^w."""
    with np.errstate(over="ignore"):  # 1/(1 + ∞) is the 0 that it should be
        value = np.exp(-f)
    value += 1.0
    if (count == 1.0).all():
        return np.reciprocal(value, out=value)
    return np.asarray(value ** -count[:, None])


def _on_falls(mean: Array, spread: Array, counts: Counts) -> Tilted:
    """Pieces that end where the integrand has fallen by given nats, on either side of its mode."""
    mode = tilted_mode(mean, spread, counts)
    top = _log_tilted(mode[:, None], mean, spread, counts)[:, 0]
    signs, falls = np.tile((-1.0, 1.0), len(FALLS)), np.repeat(FALLS, 2)
    # From outside: it falls at least as fast as the cavity, and it is log-concave, so that a tangent that is
    # followed from beyond an end never leads across it.
    u = np.sqrt(2.0 * falls) * spread[:, None]
    for _ in range(FALL_STEPS):
        f = mode[:, None] + signs * u
        beyond = _log_tilted(f, mean, spread, counts) - top[:, None] + falls
        far = beyond < (1.0 - FALLEN) * falls
        if not far.any():
            break
        up = 0.5 * (1.0 + np.tanh(0.5 * f))
        slope = counts.ones[:, None] - (counts.ones + counts.zeros)[:, None] * up
        slope = signs * (slope - (f - mean[:, None]) / (spread**2)[:, None])
        far &= slope < 0.0
        u -= np.where(far, beyond / np.where(far, slope, 1.0), 0.0)
    # from the mode: where f is huge, its own digits do not reach its spread
    ends = [np.zeros(len(mean)), *(signs * u).T]
    # where one label alone is heavy, its step stands at ± log of its count
    step = np.log(np.maximum(counts.ones, 1.0)) - np.log(np.maximum(counts.zeros, 1.0))
    step -= mode
    first, last = ends[-2], ends[-1]
    ends += [np.clip(step, first, last), np.clip(step - STEP, first, last), np.clip(step + STEP, first, last)]
    u, weights = _pieces(np.sort(np.column_stack(ends), axis=1))
    f = mode[:, None] + u
    u += (mode - mean)[:, None]
    log_value = _log_factor(f, counts) - 0.5 * (u / spread[:, None]) ** 2
    value = np.exp(log_value - top[:, None])
    value *= weights
    return _moments(mean, u, value, top - np.log(SQRT_2_PI * spread))


def _pieces(ends: Array) -> tuple[Array, Array]:
    """Gauss–Legendre nodes and weights on each piece between neighbouring ends."""
    nodes, weights = _legendre()
    lengths = np.diff(ends, axis=1)[:, :, None]
    shape = (len(ends), -1)
    return (ends[:, :-1, None] + lengths * nodes).reshape(shape), (lengths * weights).reshape(shape)


def _moments(mean: Array, u: Array, value: Array, log_scale: Array) -> Tilted:
    """Log integral, mean and variance from weighted values at the nodes mean + u."""
    total = value.sum(axis=1)
    first = np.einsum("ij,ij->i", value, u) / total
    u = u - first[:, None]  # a second moment about the mean does not cancel
    value *= u
    second = np.einsum("ij,ij->i", value, u) / total
    return Tilted(log_scale + np.log(total), mean + first, second)


def _log_factor(f: Array, counts: Counts) -> Array:
    """w₁ log σ(f) + w₀ log σ(−f)."""
    size = np.abs(f)
    value = np.log(1.0 + np.exp(-size))  # its absolute error is what matters here, and log1p is slow
    value *= -(counts.ones + counts.zeros)[:, None]
    # −w₁ max(−f, 0) − w₀ max(f, 0) = ½ (w₁ − w₀) f − ½ (w₁ + w₀) |f|
    f = f * (0.5 * (counts.ones - counts.zeros))[:, None]
    f -= size * (0.5 * (counts.ones + counts.zeros))[:, None]
    value += f
    return value


def _log_tilted(f: Array, mean: Array, spread: Array, counts: Counts) -> Array:
    return _log_factor(f, counts) - 0.5 * ((f - mean[:, None]) / spread[:, None]) ** 2


def tilted_mode(mean: Array, spread: Array, counts: Counts) -> Array:
    """Where cavity times factor is largest, to a small part of its own width: Newton inside a bracket.

    The slope w₁σ(−f) − w₀σ(f) − (f − m)/s² falls from at least 0 at the left end to at most 0 at the right.
    Each row stops by itself: what is found for it does not depend on the others.
    """
    variance = spread**2
    low, high = mean - variance * counts.zeros, mean + variance * counts.ones
    f = np.clip(0.0, low, high)  # the step, if the bracket holds it: beyond, the slope is nearly straight
    moving = np.ones(len(mean), dtype=bool)
    for _ in range(MODE_STEPS):
        up = 0.5 * (1.0 + np.tanh(0.5 * f))
        slope = counts.ones - (counts.ones + counts.zeros) * up - (f - mean) / variance
        low, high = np.where(slope > 0, f, low), np.where(slope > 0, high, f)
        bend = (counts.ones + counts.zeros) * up * (1.0 - up) + 1.0 / variance
        move = slope / bend
        moved = f + move
        outside = (moved < low) | (moved > high)
        f = np.where(moving, np.where(outside, 0.5 * (low + high), moved), f)
        moving &= outside | (move * move * bend >= ARRIVED)
        if not moving.any():
            break
    return f
