"""A logistic fit of rows that never stand in memory together: sums over chunks, added up in their order.

Newton's method needs three sums of the rows, and nothing else of them:

    ℓ(θ) = Σ log p(y|f),   g(θ) = Xᵀ∇ℓ,   XᵀWX,   f = Xθ

Each is a sum over chunks, which a loop over a file or tasks on many machines can give. Chunks are added in
the order of their rows, so that the result is the same whoever worked them out.

The third takes d times as long as the others, and changes little near the mode. So most passes do without it:
steps are made with that of another point (of a sample of the rows, to begin with), mended by what gradients
show of it on the way (BFGS), until nothing is left to go; one pass with all three sums then says whether that
is the mode, and makes the last step.
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

TOLERANCE, SMALL = 1e-5, 1e-3
"""Nats by which what is told of other rows may be wrong, by a bound that is seldom reached; and the decrement
of a last step, at most."""
HALVINGS = 30
"""Times that a step which leads down is halved."""
SLOW = 0.1
"""Of the decrement, that a step with the curvature of another point may leave: beyond it a new one pays."""


class Sums(NamedTuple):
    """Of some rows at one θ: log-likelihood, its gradient, XᵀWX (if asked for), ΣW, and the largest w‖x‖²."""

    value: float
    gradient: Array
    curvature: Array | None
    mass: float
    square: float


SumsAt = Callable[[Array, bool], Sums]
"""One pass over all rows, each counted once: their sums at θ, with or without the curvature."""


def partial_sums(theta: Array, X: Array, counts: Counts, curved: bool = True, *, ones: bool = False) -> Sums:
    """The sums of one chunk of rows X; `ones` adds a last column of ones, for an intercept.

    `counts` are the weights of each row with label 1 and with label 0.
    """
    d = len(theta)
    value, gradient, mass, square = 0.0, np.zeros(d), 0.0, 0.0
    curvature = np.zeros((d, d)) if curved else None
    for i in range(0, len(X), SLAB):  # what is worked on stays in the cache
        rows, own = X[i : i + SLAB], Counts(counts.ones[i : i + SLAB], counts.zeros[i : i + SLAB])
        at = terms(rows @ theta[:-1] + theta[-1] if ones else rows @ theta, own)
        value += at.value
        mass += float(at.curvature.sum())
        gradient += _against(rows, at.gradient, ones)
        if curvature is not None:
            scaled = rows * np.sqrt(at.curvature)[:, None]
            if ones:
                curvature[:-1, :-1] += scaled.T @ scaled
                curvature[-1] += _against(rows, at.curvature, ones)
            else:
                curvature += scaled.T @ scaled
        heaviest = np.maximum(own.ones + own.zeros, 1.0)
        square = max(square, float((heaviest * (np.einsum("ij,ij->i", rows, rows) + ones)).max()))
    if curvature is not None and ones:
        curvature[:, -1] = curvature[-1]
    return Sums(value, gradient, curvature, mass, square)


def _against(rows: Array, weights: Array, ones: bool) -> Array:
    """Xᵀw."""
    found = rows.T @ weights
    return np.append(found, weights.sum()) if ones else found


def combined(parts: Iterable[Sums]) -> Sums:
    """All chunks together, added in the order in which they come."""

    def add(a: Sums, b: Sums) -> Sums:
        both = None if a.curvature is None or b.curvature is None else a.curvature + b.curvature
        square = max(a.square, b.square)
        return Sums(a.value + b.value, a.gradient + b.gradient, both, a.mass + b.mass, square)

    return reduce(add, parts)


class At(NamedTuple):
    """A point and the sums there.

    bent: where the curvature is that of, None if it is that of other rows. mended: the curvature that steps
    are made with, where it is another.
    """

    theta: Array
    sums: Sums
    bent: Array | None
    mended: Array | None = None

    def without_curvature(self, theta: Array, sums: Sums) -> At:
        """Another point that has none of its own: that of this one, mended to fit both gradients."""
        curvature = self.sums.curvature if self.mended is None else self.mended
        assert curvature is not None
        way, change = theta - self.theta, self.sums.gradient - sums.gradient
        turned = curvature @ way
        along, seen = float(way @ turned), float(way @ change)
        if along > 0 and seen > 0:
            curvature = curvature + np.outer(change, change) / seen - np.outer(turned, turned) / along
        return At(theta, sums._replace(curvature=self.sums.curvature), self.bent, curvature)


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
    point, halvings = start, 0
    step = _step(point, prior_variance, tempering, asked)
    passes, slow = 0, False
    while not step.converged and passes < MAX_ITERATIONS:
        passes += 1
        theta = point.theta + 0.5**halvings * step.move
        # where it ends the curvature is to be that of the point; where another's serves badly, too
        sums = sums_at(theta, step.near or slow)
        reached = At(theta, sums, theta)
        if sums.curvature is None:
            reached = point.without_curvature(theta, sums)
        ahead = _step(reached, prior_variance, tempering, asked)
        if ahead.objective < step.objective - step.slack and halvings < HALVINGS:
            halvings, slow = halvings + 1, True
            continue
        slow = sums.curvature is None and ahead.decrement > SLOW * step.decrement
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
    """near: one pass with the curvature at its end would be the last."""

    move: Array
    decrement: float
    objective: float
    factor: Factor
    slack: float
    near: bool
    converged: bool


def _step(at: At, prior_variance: float, tempering: float, asked: Array | None) -> _Step:
    """Δθ = (I + C XᵀWX)⁻¹ (C Xᵀ∇ − θ), and whether it is the last."""
    theta, sums = at.theta, at.sums
    if tempering * prior_variance * sums.square > GRAM_LIMIT:
        raise np.linalg.LinAlgError("C‖x‖² is too large for sums: its digits would be lost")
    curvature = sums.curvature
    assert curvature is not None
    factor = cholesky_factor(_normal(curvature, tempering * prior_variance))
    towards = factor
    if at.mended is not None:
        towards = cholesky_factor(_normal(at.mended, tempering * prior_variance))
    ascent = tempering * prior_variance * sums.gradient - theta
    move = towards.solve(ascent)
    decrement = max(float(ascent @ move) / prior_variance, 0.0)
    objective = tempering * sums.value - 0.5 * float(theta @ theta) / prior_variance
    degrees = float(len(theta))
    if asked is not None:
        degrees = min(degrees, 0.25 * prior_variance * float(np.trace(factor.solve(asked))))

    def wrong(way: Array) -> float:
        """What is wrong by the curvature of a point so far away."""
        if not sums.mass > 0 or decrement > SMALL:
            return np.inf
        far = np.sqrt(max(float(way @ curvature @ way), 0.0) / sums.mass)
        return float((0.5 * degrees + np.sqrt(degrees * decrement)) * far)

    near = wrong(move) < TOLERANCE
    converged = at.bent is not None and wrong(theta + move - at.bent) < TOLERANCE
    # a sum of many rows is not known to more digits than these
    slack = TOLERANCE + 1e-12 * abs(tempering * sums.value)
    return _Step(move, decrement, objective, factor, slack, near, converged)


def _normal(curvature: Array, variance: float) -> Array:
    """I + C XᵀWX."""
    made = variance * curvature
    made.flat[:: len(made) + 1] += 1.0
    return made
