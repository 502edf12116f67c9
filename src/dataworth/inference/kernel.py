"""What numba compiles: the n×n Newton loop, the integrals of EP's rows, and piecewise linear functions.

Optional (the extra `fast`): `newton.py`, `tilted.py` and `numpy.interp` do the same without it. The Newton
loop pays below some 300 rows, where numpy spends more time on calls than on numbers; in the integrals each
row does only what it needs. Compiled once, and kept on disk.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from ..arrays import Array
from .newton import LEFT, LONGEST_STEP, MAX_ITERATIONS, NEAR, RELATIVE_TOLERANCE, REPEATS, SLOW, TOLERANCE

Two = tuple[Array, Array]
Three = tuple[Array, Array, Array]


@njit(cache=True)
def _terms(f: Array, counts: Two, at: Three) -> None:
    """`logistic.terms` without the value: gradient, curvature and tanh(f/2) of each row, in place."""
    (ones, zeros), (gradient, curvature, tanh) = counts, at
    for i in range(len(f)):
        e = math.exp(-abs(f[i]))
        major = 1.0 / (1.0 + e)
        minor = e * major
        up, down = (major, minor) if f[i] >= 0 else (minor, major)
        gradient[i] = ones[i] * down - zeros[i] * up
        curvature[i] = (ones[i] + zeros[i]) * (major * minor)
        tanh[i] = math.copysign((1.0 - e) * major, f[i])


@njit(cache=True)
def _value(f: Array, ones: Array, zeros: Array) -> float:
    total = 0.0
    for i in range(len(f)):
        norm = math.log1p(math.exp(-abs(f[i])))
        total += ones[i] * (min(f[i], 0.0) - norm) + zeros[i] * (-max(f[i], 0.0) - norm)
    return total


@njit(cache=True)
def _factor(gram: Array, root: Array) -> Array:
    """Cholesky factor of I + √W K √W, lower, in LAPACK's order."""
    n = len(root)
    b = np.zeros((n, n)).T  # LAPACK's order, and its triangle only: half the work and no copy
    for j in range(n):
        for i in range(j, n):
            b[i, j] = root[j] * gram[j, i] * root[i]
        b[j, j] += 1.0
    return np.linalg.cholesky(b)  # type: ignore[return-value]


@njit(cache=True, fastmath={"reassoc", "contract"})
def _solve(factor: Array, target: Array) -> None:
    """(L Lᵀ)⁻¹ b in place, by four columns of L at a time: half the time of one by one, which memory sets."""
    n = len(target)
    columns = factor.T
    whole = n - n % 4
    for j in range(0, whole, 4):
        a, b, c, d = columns[j], columns[j + 1], columns[j + 2], columns[j + 3]
        s = target[j] / a[j]
        t = (target[j + 1] - s * a[j + 1]) / b[j + 1]
        u = (target[j + 2] - s * a[j + 2] - t * b[j + 2]) / c[j + 2]
        v = (target[j + 3] - s * a[j + 3] - t * b[j + 3] - u * c[j + 3]) / d[j + 3]
        target[j], target[j + 1], target[j + 2], target[j + 3] = s, t, u, v
        for i in range(j + 4, n):
            target[i] -= s * a[i] + t * b[i] + u * c[i] + v * d[i]
    for j in range(whole, n):
        target[j] /= columns[j, j]
        for i in range(j + 1, n):
            target[i] -= target[j] * columns[j, i]
    for j in range(n - 1, whole - 1, -1):
        for i in range(j + 1, n):
            target[j] -= columns[j, i] * target[i]
        target[j] /= columns[j, j]
    for j in range(whole - 4, -1, -4):
        a, b, c, d = columns[j], columns[j + 1], columns[j + 2], columns[j + 3]
        s, t, u, v = 0.0, 0.0, 0.0, 0.0
        for i in range(j + 4, n):
            s += a[i] * target[i]
            t += b[i] * target[i]
            u += c[i] * target[i]
            v += d[i] * target[i]
        v = (target[j + 3] - v) / d[j + 3]
        u = (target[j + 2] - u - c[j + 3] * v) / c[j + 2]
        t = (target[j + 1] - t - b[j + 2] * u - b[j + 3] * v) / b[j + 1]
        s = (target[j] - s - a[j + 1] * t - a[j + 2] * u - a[j + 3] * v) / a[j]
        target[j], target[j + 1], target[j + 2], target[j + 3] = s, t, u, v


@njit(cache=True)
def _step(
    gram: Array, coef: Array, gradient: Array, factor: Array, root: Array
) -> tuple[Array, Array, float]:
    """`Dual.step` with a given factor."""
    residual = coef - gradient
    t = root * np.dot(gram, residual)
    _solve(factor, t)
    step = root * t - residual
    step_f = np.dot(gram, step)
    return step, step_f, -np.dot(residual, step_f)


@njit(cache=True)
def _line_search(
    f: Array, step_f: Array, ones: Array, zeros: Array, gradient: Array, decrement: float, square: float
) -> float:
    """`newton.line_search`."""
    low, high, s = 0.0, np.inf, 1.0
    for _ in range(40):
        slope, bend = decrement - s * square, -square
        for i in range(len(f)):
            t = math.tanh(0.5 * (f[i] + s * step_f[i]))
            half = 0.5 * (ones[i] + zeros[i])
            slope += (0.5 * (ones[i] - zeros[i]) - half * t - gradient[i]) * step_f[i]
            bend -= 0.5 * half * (1.0 - t * t) * step_f[i] * step_f[i]
        if abs(slope) <= 0.02 * decrement:
            break
        if slope > 0:
            low = s
        else:
            high = s
        s = s - slope / bend if bend < 0 else 2.0 * s
        if not low < s < high:
            s = 0.5 * (low + high) if high < np.inf else 2.0 * low
        s = min(s, 8.0 * max(low, 1.0))
        if s > LONGEST_STEP:
            return LONGEST_STEP
    return s


@njit(cache=True)
def _log_det_move(step_f: Array, tanh: Array, curvature: Array) -> float:
    total, most = 0.0, 0.0
    for i in range(len(tanh)):
        if curvature[i] > 0:
            move = abs(step_f[i] * tanh[i])
            total += move
            most = max(most, move)
    return 0.5 * min(total, len(tanh) * most)


@njit(cache=True)
def _refine(
    gram: Array, counts: Two, point: Two, origin: Array, step_f: Array, made: Two, tolerance: float, at: Three
) -> None:
    """`newton._refine`, in place: `point` is (coef, f), `made` the factor and the root of a step."""
    (coef, f), (factor, root), (gradient, curvature, tanh) = point, made, at
    last = _log_det_move(step_f, tanh, curvature)
    for _ in range(REPEATS):
        if np.abs(f - origin).max() > NEAR:
            break
        again, again_f, decrement = _step(gram, coef, gradient, factor, root)
        if not decrement > 0:
            break
        size = decrement / (np.dot(again, again_f) + np.dot(curvature, again_f * again_f))
        coef += size * again
        f += size * again_f
        _terms(f, counts, at)
        move = _log_det_move(again_f, tanh, curvature)
        if move > SLOW * last or move * move < LEFT * tolerance * last:
            break
        last = move


@njit(cache=True)
def dual_mode(
    gram: Array, ones: Array, zeros: Array, coef: Array, offset: Array, guess: Array, guessed: bool
) -> tuple[Array, Array, float, float, Array, int, bool]:
    """`find_mode` for `Dual`: coefficients, f, Ψ, penalty, factor, iterations, converged."""
    n = len(ones)
    gradient, curvature, tanh = np.empty(n), np.empty(n), np.empty(n)
    counts, at = (ones, zeros), (gradient, curvature, tanh)
    coef = coef.copy()
    f = np.dot(gram, coef) + offset
    iterations = 0
    if guessed:
        iterations = 1
        _terms(guess, counts, at)
        root = np.sqrt(curvature)
        factor = _factor(gram, root)
        pull = gradient + curvature * (guess - offset)
        first, first_f, _ = _step(gram, np.zeros(n), pull, factor, root)
        reached = _value(first_f + offset, ones, zeros) - 0.5 * np.dot(first, first_f)
        if reached > _value(f, ones, zeros) - 0.5 * np.dot(coef, f - offset):
            coef, f = first, first_f + offset
            tolerance = TOLERANCE + RELATIVE_TOLERANCE * abs(_value(guess, ones, zeros))
            _terms(f, counts, at)
            _refine(gram, counts, (coef, f), guess, first_f, (factor, root), tolerance, at)
    while True:
        iterations += 1
        _terms(f, counts, at)
        root = np.sqrt(curvature)
        factor = _factor(gram, root)
        step, step_f, decrement = _step(gram, coef, gradient, factor, root)
        decrement = max(decrement, 0.0)
        tolerance = TOLERANCE + RELATIVE_TOLERANCE * abs(_value(f, ones, zeros))
        converged = decrement < tolerance and _log_det_move(step_f, tanh, curvature) < tolerance
        size = 1.0
        if decrement > 0 and not converged and np.abs(step_f).max() > NEAR:
            square = max(np.dot(step, step_f), 0.0)
            size = _line_search(f, step_f, ones, zeros, gradient, decrement, square)
        origin = f.copy()
        coef += size * step
        f += size * step_f
        if converged or iterations == MAX_ITERATIONS:
            break
        _terms(f, counts, at)
        _refine(gram, counts, (coef, f), origin, step_f, (factor, root), tolerance, at)
    penalty = np.dot(coef, f - offset)
    return coef, f, _value(f, ones, zeros) - 0.5 * penalty, penalty, factor, iterations, converged


@njit(cache=True, error_model="numpy")  # equal knots are for others
def interpolate(X: Array, knots: Array, values: Array) -> Array:
    """For each column of X: np.interp by its row of ascending `knots`, and the `values` that all share.

    Knots below are counted, not searched for: no step depends on the one before.
    """
    n, d = X.shape
    size = knots.shape[1]
    rise, found = np.empty((d, size - 1)), np.empty((n, d))
    for j in range(d):
        for k in range(size - 1):
            rise[j, k] = (values[k + 1] - values[k]) / (knots[j, k + 1] - knots[j, k])
    for i in range(n):
        for j in range(d):
            x = min(max(X[i, j], knots[j, 0]), knots[j, size - 1])
            below = 0
            for k in range(1, size - 1):
                below += knots[j, k] <= x
            found[i, j] = rise[j, below] * (x - knots[j, below]) + values[below]
    return found
