"""The integrals of EP, compiled by numba: the same nodes as in `tilted.py`, row by row.

Optional, as `kernel.py` is. Numpy spends its time on passes over small arrays, on pieces without length and
on Newton steps of rows that have arrived; here each row does only what it needs. As in numpy, what is divided
by zero is no exception.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ..arrays import Array
from .tilted import ARRIVED, BULK, FALL, FALL_STEPS, FALLEN, FALLS, MODE_STEPS, REACH, SQRT_2_PI, STEP

Row = tuple[float, float, float, float]


@njit(cache=True, error_model="numpy")
def one_label_moments(
    mean: Array,
    spread: Array,
    count: Array,
    narrow: NDArray[np.bool_],
    hermite: Array,
    hermite_weights: Array,
    legendre: Array,
    legendre_weights: Array,
) -> tuple[Array, Array, Array]:
    """`_on_cavity` of the narrow rows and `_on_steps` of the others: log Ẑ, mean and variance of each."""
    n, pieces, order = len(mean), 6, len(legendre)
    log_z, first, second = np.empty(n), np.empty(n), np.empty(n)
    size = max(len(hermite), pieces * order)
    f, u, value, ends = np.empty(size), np.empty(size), np.empty(size), np.empty(pieces + 1)
    for i in range(n):
        m, s, w = mean[i], spread[i], count[i]
        if narrow[i]:
            used, log_scale = len(hermite), 0.0
            for k in range(used):
                u[k] = s * hermite[k]
                f[k] = m + u[k]
                value[k] = hermite_weights[k]
        else:
            used, mode = 0, _mode(m, s * s, w, 0.0)
            top = ((mode - m) / s) ** 2
            log_scale = -0.5 * top - math.log(SQRT_2_PI * s)
            _step_ends(mode, s, w, ends)
            for j in range(pieces):
                length = ends[j + 1] - ends[j]
                if length == 0.0:
                    continue
                for k in range(order):
                    f[used] = ends[j] + length * legendre[k]
                    u[used] = f[used] - m
                    scaled = u[used] / s
                    value[used] = math.exp(0.5 * (top - scaled * scaled)) * (length * legendre_weights[k])
                    used += 1
        if w == 1.0:  # in loops of their own, or the compiler takes the power in either case, and it is slow
            for k in range(used):
                value[k] /= 1.0 + math.exp(-f[k])
        else:
            for k in range(used):
                value[k] *= (1.0 + math.exp(-f[k])) ** -w
        total, centre, square = 0.0, 0.0, 0.0
        for k in range(used):
            total += value[k]
            centre += value[k] * u[k]
        centre /= total
        for k in range(used):  # a second moment about the mean does not cancel
            square += value[k] * (u[k] - centre) ** 2
        log_z[i], first[i], second[i] = log_scale + math.log(total), m + centre, square / total
    return log_z, first, second


@njit(cache=True, error_model="numpy")
def _mode(mean: float, variance: float, ones: float, zeros: float) -> float:
    """`tilted.tilted_mode` of a row."""
    low, high, count = mean - variance * zeros, mean + variance * ones, ones + zeros
    f = min(max(0.0, low), high)
    for _ in range(MODE_STEPS):
        up = 0.5 * (1.0 + math.tanh(0.5 * f))
        slope = ones - count * up - (f - mean) / variance
        if slope > 0:
            low = f
        else:
            high = f
        bend = count * up * (1.0 - up) + 1.0 / variance
        move = slope / bend
        f += move
        if f < low or f > high:
            f = 0.5 * (low + high)
        elif move * move * bend < ARRIVED:
            break
    return f


@njit(cache=True, error_model="numpy")
def two_label_moments(
    mean: Array, spread: Array, ones: Array, zeros: Array, legendre: Array, legendre_weights: Array
) -> tuple[Array, Array, Array]:
    """`tilted._on_falls`: log Ẑ, mean and variance of each row."""
    n, order, sides = len(mean), len(legendre), 2 * len(FALLS)
    log_z, first, second = np.empty(n), np.empty(n), np.empty(n)
    ends = np.empty(sides + 4)
    u, value = np.empty(order * (sides + 3)), np.empty(order * (sides + 3))
    for i in range(n):
        m, s, a, b = mean[i], spread[i], ones[i], zeros[i]
        mode = _mode(m, s * s, a, b)
        top = _log_tilted(mode, m, s, a, b)
        ends[0] = 0.0
        for j in range(sides):
            ends[j + 1] = _fall_end(mode, top, FALLS[j // 2], -1.0 if j % 2 == 0 else 1.0, (m, s, a, b))
        low, high = ends[sides - 1], ends[sides]
        step = math.log(max(a, 1.0)) - math.log(max(b, 1.0)) - mode
        for j in range(3):
            ends[sides + 1 + j] = min(max(step + (j - 1) * STEP, low), high)
        ends.sort()
        used, total, centre, square = 0, 0.0, 0.0, 0.0
        for j in range(sides + 3):
            length = ends[j + 1] - ends[j]
            if length == 0.0:
                continue
            for k in range(order):
                at = ends[j] + length * legendre[k]
                u[used] = at + (mode - m)
                log_value = _log_factor(mode + at, a, b) - 0.5 * (u[used] / s) ** 2
                value[used] = math.exp(log_value - top) * (length * legendre_weights[k])
                total += value[used]
                centre += value[used] * u[used]
                used += 1
        centre /= total
        for k in range(used):
            square += value[k] * (u[k] - centre) ** 2
        log_z[i] = top - math.log(SQRT_2_PI * s) + math.log(total)
        first[i], second[i] = m + centre, square / total
    return log_z, first, second


@njit(cache=True, error_model="numpy")
def _log_factor(f: float, ones: float, zeros: float) -> float:
    size = abs(f)
    return 0.5 * (ones - zeros) * f - (ones + zeros) * (0.5 * size + math.log(1.0 + math.exp(-size)))


@njit(cache=True, error_model="numpy")
def _log_tilted(f: float, mean: float, spread: float, ones: float, zeros: float) -> float:
    return _log_factor(f, ones, zeros) - 0.5 * ((f - mean) / spread) ** 2


@njit(cache=True, error_model="numpy")
def _fall_end(mode: float, top: float, fall: float, sign: float, row: Row) -> float:
    """How far from its mode the integrand of a row (mean, spread, ones, zeros) has fallen so much."""
    mean, spread, ones, zeros = row
    u = math.sqrt(2.0 * fall) * spread
    for _ in range(FALL_STEPS):
        f = mode + sign * u
        beyond = _log_tilted(f, mean, spread, ones, zeros) - top + fall
        if beyond >= (1.0 - FALLEN) * fall:
            break
        up = 0.5 * (1.0 + math.tanh(0.5 * f))
        slope = sign * (ones - (ones + zeros) * up - (f - mean) / (spread * spread))
        if slope >= 0.0:
            break
        u -= beyond / slope
    return sign * u


@njit(cache=True, error_model="numpy")
def _step_ends(mode: float, spread: float, count: float, ends: Array) -> None:
    low, high = mode - REACH * spread, mode + REACH * spread
    if mode > 0:
        low = max(low, -FALL / count)
    ends[0], ends[6] = low, high
    ends[1], ends[2] = mode - BULK * spread, mode + BULK * spread
    ends[3], ends[4], ends[5] = -STEP, 0.0, STEP
    for j in range(1, 6):  # insertion: each goes down past those that are larger
        end, k = min(max(ends[j], low), high), j
        while ends[k - 1] > end:
            ends[k] = ends[k - 1]
            k -= 1
        ends[k] = end
