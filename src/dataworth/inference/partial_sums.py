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
from operator import add
from typing import NamedTuple

import numpy as np

from ..arrays import Array
from .geometry import GRAM_LIMIT, SLAB, cholesky_factor
from .logistic import Counts, terms
from .newton import MAX_ITERATIONS, Mode

TOLERANCE, SMALL = 1e-5, 1e-3
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


def partial_sums(theta: Array, X: Array, counts: Counts) -> Sums:
    """The sums of one chunk of rows X; `counts` are the weights of each with label 1 and with label 0."""
    d = len(theta)
    found = [Sums(0.0, np.zeros(d), np.zeros((d, d)), 0.0, 0.0)]
    for i in range(0, len(X), SLAB):  # what is worked on stays in the cache
        rows, own = X[i : i + SLAB], Counts(counts.ones[i : i + SLAB], counts.zeros[i : i + SLAB])
        at = terms(rows @ theta, own)
        scaled = rows * np.sqrt(at.curvature)[:, None]
        square = np.maximum(own.ones + own.zeros, 1.0) * np.einsum("ij,ij->i", rows, rows)
        mass = float(at.curvature.sum())
        found.append(Sums(at.value, rows.T @ at.gradient, scaled.T @ scaled, mass, float(square.max())))
    return combined(found)


def combined(parts: Iterable[Sums]) -> Sums:
    """All chunks together, added in the order in which they come."""
    return reduce(lambda a, b: Sums(*map(add, a[:4], b[:4]), max(a[4], b[4])), parts)  # type: ignore[call-arg]


def find_mode(
    sums_at: Callable[[Array], Sums], prior_variance: float, start: Array, tempering: float = 1.0
) -> tuple[Mode, Array]:
    """The mode under N(0, C·I) with every row counted `tempering` times, and XᵀWX of rows that count once.

    sums_at: one pass over all rows, each counted once: their sums at θ.

    Ends where neither the mode nor the curvature could change what is expected of other rows. Along Δθ rows
    move by ε = √(ΔθᵀXᵀWXΔθ / ΣW) on average, and W by less than a factor e^ε: of d coefficients the curvature
    of a point so far away changes log p of these rows by ½ d ε, and a step made with it by √d ε √decrement.
    """
    variance, d = tempering * prior_variance, len(start)
    theta, best, way, halvings = start, -np.inf, np.zeros(d), 0
    converged, passes = False, 0
    while not converged and passes < MAX_ITERATIONS:
        passes += 1
        sums = sums_at(theta)
        if variance * sums.square > GRAM_LIMIT:
            raise np.linalg.LinAlgError("C‖x‖² is too large for sums: its digits would be lost")
        penalty = float(theta @ theta) / prior_variance
        objective = tempering * sums.value - 0.5 * penalty
        # a sum of many rows is not known to more digits than these
        if objective < best - TOLERANCE - 1e-12 * abs(best) and halvings < HALVINGS:
            halvings, way = halvings + 1, 0.5 * way
            theta = theta - way
            continue
        normal = variance * sums.curvature
        normal.flat[:: d + 1] += 1.0
        factor = cholesky_factor(normal)
        ascent = variance * sums.gradient - theta
        way = factor.solve(ascent)
        decrement = max(float(ascent @ way) / prior_variance, 0.0)
        theta, best, halvings = theta + way, objective, 0
        far = np.sqrt(max(float(way @ sums.curvature @ way), 0.0) / max(sums.mass, 1e-300))
        converged = decrement < SMALL and (0.5 * d + np.sqrt(d * decrement)) * far < TOLERANCE
    if not converged:
        warnings.warn(f"Newton's method did not converge in {passes} passes", RuntimeWarning, stacklevel=2)
    # to second order at the last point, where the decrement is below the tolerance
    mode = (theta, np.zeros(0), best + 0.5 * decrement, float(theta @ theta) / prior_variance, factor)
    return Mode(*mode, passes, converged), sums.curvature
