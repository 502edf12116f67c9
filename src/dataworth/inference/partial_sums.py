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
from .newton import Mode
from .settings import MAX_ITERATIONS, RELATIVE_TOLERANCE, TOLERANCE

HALVINGS = 30
"""Times that a step which leads down is halved."""


class Sums(NamedTuple):
    """Of some rows at one θ: log-likelihood, its gradient, XᵀWX, and the largest w‖x‖²."""

    value: float
    gradient: Array
    curvature: Array
    square: float


def partial_sums(theta: Array, X: Array, counts: Counts) -> Sums:
    """The sums of one chunk: rows X (with a last column of ones, if the model has an intercept).

    `counts` are the weights of each row with label 1 and with label 0.

    >>> counts = Counts(np.array([1.0, 0.0]), np.array([0.0, 1.0]))
    >>> sums = partial_sums(np.zeros(1), np.array([[1.0], [2.0]]), counts)
    >>> round(sums.value, 4), sums.gradient.tolist(), sums.curvature.tolist(), sums.square
    (-1.3863, [-0.5], [[1.25]], 4.0)
    """
    d = len(theta)
    value, gradient, curvature, square = 0.0, np.zeros(d), np.zeros((d, d)), 0.0
    for i in range(0, len(X), SLAB):  # what is worked on stays in the cache
        rows, own = X[i : i + SLAB], Counts(counts.ones[i : i + SLAB], counts.zeros[i : i + SLAB])
        at = terms(rows @ theta, own)
        scaled = rows * np.sqrt(at.curvature)[:, None]
        value += at.value
        gradient += rows.T @ at.gradient
        curvature += scaled.T @ scaled
        heaviest = np.maximum(own.ones + own.zeros, 1.0)
        square = max(square, float((heaviest * np.einsum("ij,ij->i", rows, rows)).max()))
    return Sums(value, gradient, curvature, square)


def combined(parts: Iterable[Sums]) -> Sums:
    """All chunks together, added in the order in which they come.

    >>> one = Sums(-1.0, np.ones(1), np.eye(1), 2.0)
    >>> combined([one, one]).value
    -2.0
    """
    return reduce(_add, parts)


def _add(a: Sums, b: Sums) -> Sums:
    return Sums(
        a.value + b.value, a.gradient + b.gradient, a.curvature + b.curvature, max(a.square, b.square)
    )


class At(NamedTuple):
    """A point and the sums there."""

    theta: Array
    sums: Sums


def find_mode(
    sums_at: Callable[[Array], Sums], prior_variance: float, start: At, tempering: float = 1.0
) -> tuple[Mode, At]:
    """The mode under N(0, C·I) with every row counted `tempering` times, and the last sums.

    `sums_at` is one pass over all rows at weight 1; the sums of a tempering are those times r, so that fits
    at other temperings begin with the sums of the last. Ends as `newton.find_mode` does; its bound on the
    move of ½ log det needs each row's Δf, for which ‖x‖·‖Δθ‖ stands here.
    """
    point, halvings = start, 0
    step = _step(point, prior_variance, tempering)
    passes = 0
    while not step.converged and passes < MAX_ITERATIONS:
        passes += 1
        theta = point.theta + 0.5**halvings * step.move
        reached = At(theta, sums_at(theta))
        ahead = _step(reached, prior_variance, tempering)
        if ahead.objective < step.objective - step.slack and halvings < HALVINGS:
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
    slack: float
    converged: bool


def _step(at: At, prior_variance: float, tempering: float) -> _Step:
    """Δθ = (I + C XᵀWX)⁻¹ (C Xᵀ∇ − θ), and whether it is the last."""
    theta, sums = at
    if tempering * prior_variance * sums.square > GRAM_LIMIT:
        raise np.linalg.LinAlgError("C‖x‖² is too large for sums: its digits would be lost")
    normal = tempering * prior_variance * sums.curvature
    normal.flat[:: len(normal) + 1] += 1.0
    factor = cholesky_factor(normal)
    ascent = tempering * prior_variance * sums.gradient - theta
    move = factor.solve(ascent)
    decrement = max(float(ascent @ move) / prior_variance, 0.0)
    objective = tempering * sums.value - 0.5 * float(theta @ theta) / prior_variance
    tolerance = TOLERANCE + RELATIVE_TOLERANCE * abs(tempering * sums.value)
    bound = 0.5 * len(theta) * np.sqrt(sums.square) * float(np.linalg.norm(move))
    converged = decrement < tolerance and bound < tolerance
    return _Step(move, decrement, objective, factor, tolerance, converged)
