"""A logistic fit of rows that never stand in memory together: sums over chunks, added up in their order.

Newton's method needs three sums of the rows, and nothing else of them:

    ℓ(θ) = Σ log p(y|f),   g(θ) = Xᵀ∇ℓ,   XᵀWX,   f = Xθ

Each is a sum over chunks, which a loop over a file or tasks on many machines can give. Chunks are added in
the order of their rows, so that the result is the same whoever worked them out.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from functools import reduce
from typing import NamedTuple

import numpy as np

from ..arrays import Array
from .geometry import GRAM_LIMIT, SLAB, Factor, cholesky_factor
from .logistic import Counts, terms
from .newton import MAX_ITERATIONS, Mode

TOLERANCE, SMALL = 5e-6, 1e-3
"""Nats by which what is told of other rows may be wrong, by a bound that is seldom reached; and the decrement
of a last step, at most."""
HALVINGS = 30
"""Times that a step which leads down is halved."""


class Sums(NamedTuple):
    """Of some rows at one θ: log-likelihood, its gradient, XᵀWX, ΣW, and the largest w‖x‖²."""

    value: float
    gradient: Array
    curvature: Array
    mass: float
    square: float


SumsAt = Callable[[Array], Sums]
"""One pass over all rows, each counted once: their sums at θ."""


def partial_sums(theta: Array, X: Array, counts: Counts, *, ones: bool = False) -> Sums:
    """The sums of one chunk of rows X; `ones` adds a last column of ones, for an intercept.

    `counts` are the weights of each row with label 1 and with label 0.
    """
    d = len(theta)
    value, gradient, curvature, mass, square = 0.0, np.zeros(d), np.zeros((d, d)), 0.0, 0.0
    for i in range(0, len(X), SLAB):  # what is worked on stays in the cache
        rows, own = X[i : i + SLAB], Counts(counts.ones[i : i + SLAB], counts.zeros[i : i + SLAB])
        at = terms(rows @ theta[:-1] + theta[-1] if ones else rows @ theta, own)
        value += at.value
        mass += float(at.curvature.sum())
        gradient += _against(rows, at.gradient, ones)
        scaled = rows * np.sqrt(at.curvature)[:, None]
        if ones:
            curvature[:-1, :-1] += scaled.T @ scaled
            curvature[-1] += _against(rows, at.curvature, ones)
        else:
            curvature += scaled.T @ scaled
        heaviest = np.maximum(own.ones + own.zeros, 1.0)
        square = max(square, float((heaviest * (np.einsum("ij,ij->i", rows, rows) + ones)).max()))
    if ones:
        curvature[:, -1] = curvature[-1]
    return Sums(value, gradient, curvature, mass, square)


def _against(rows: Array, weights: Array, ones: bool) -> Array:
    """Xᵀw."""
    found = rows.T @ weights
    return np.append(found, weights.sum()) if ones else found


def combined(parts: Iterable[Sums]) -> Sums:
    """All chunks together, added in the order in which they come."""

    def add(a: Sums, b: Sums) -> Sums:
        both, square = a.curvature + b.curvature, max(a.square, b.square)
        return Sums(a.value + b.value, a.gradient + b.gradient, both, a.mass + b.mass, square)

    return reduce(add, parts)


class At(NamedTuple):
    """A point and the sums there."""

    theta: Array
    sums: Sums


def find_mode(
    sums_at: SumsAt, prior_variance: float, start: At, tempering: float = 1.0, asked: Array | None = None
) -> tuple[Mode, At]:
    """The mode under N(0, C·I) with every row counted `tempering` times, and the last sums.

    The sums of a tempering are those of rows that count once, times r, so that fits at other temperings begin
    with the sums of the last.

    Ends where neither the mode nor the curvature could change what is expected of other rows, with the Gram
    matrix `asked` (without one: of the rows themselves). Along Δθ rows move by ε = √(ΔθᵀXᵀWXΔθ / ΣW) on
    average, and W by less than a factor e^ε. With D = ¼ tr(Σ·asked), d at most, the curvature of a point so
    far away changes log p of these rows by ½ D ε, and a step made with it by √D ε √decrement.
    """
    point, step = start, _step(start, prior_variance, tempering, asked)
    passes, halvings = 0, 0
    while not step.converged and passes < MAX_ITERATIONS:
        passes += 1
        theta = point.theta + 0.5**halvings * step.move
        reached = At(theta, sums_at(theta))
        ahead = _step(reached, prior_variance, tempering, asked)
        # a sum of many rows is not known to more digits than these
        slack = TOLERANCE + 1e-12 * abs(tempering * point.sums.value)
        if ahead.objective < step.objective - slack and halvings < HALVINGS:
            halvings += 1
            continue
        point, step, halvings = reached, ahead, 0
    if not step.converged:
        message = f"Newton's method did not converge in {passes} passes"
        warnings.warn(message, RuntimeWarning, stacklevel=2)
    theta = point.theta + step.move
    penalty = float(theta @ theta) / prior_variance
    # to second order at the last point, where the decrement is below the tolerance
    objective = step.objective + 0.5 * step.decrement
    mode = Mode(theta, np.zeros(0), objective, penalty, step.factor, passes, step.converged)
    return mode, point


class _Step(NamedTuple):
    move: Array
    decrement: float
    objective: float
    factor: Factor
    converged: bool


def _step(at: At, prior_variance: float, tempering: float, asked: Array | None) -> _Step:
    """Δθ = (I + C XᵀWX)⁻¹ (C Xᵀ∇ − θ), and whether it is the last."""
    theta, sums = at
    variance = tempering * prior_variance
    if variance * sums.square > GRAM_LIMIT:
        raise np.linalg.LinAlgError("C‖x‖² is too large for sums: its digits would be lost")
    normal = variance * sums.curvature
    normal.flat[:: len(normal) + 1] += 1.0
    factor = cholesky_factor(normal)
    ascent = variance * sums.gradient - theta
    move = factor.solve(ascent)
    decrement = max(float(ascent @ move) / prior_variance, 0.0)
    objective = tempering * sums.value - 0.5 * float(theta @ theta) / prior_variance
    degrees = float(len(theta))
    if asked is not None:
        degrees = min(degrees, 0.25 * prior_variance * float(np.trace(factor.solve(asked))))
    converged = False
    if sums.mass > 0 and decrement <= SMALL:
        far = np.sqrt(max(float(move @ sums.curvature @ move), 0.0) / sums.mass)
        converged = bool((0.5 * degrees + np.sqrt(degrees * decrement)) * far < TOLERANCE)
    return _Step(move, decrement, objective, factor, converged)
