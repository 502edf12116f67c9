"""Confidence is not information: a score that does not care how sure the data are of what they say.

An under-confident model rewards whatever sharpens it, such as doubled rows. So data are scored at whatever
tempering r suits the test set, by a mixture in which each block is predicted with weights that the *other*
blocks give:

    S[r, j]  = log p_r(T_j | D), D's rows counted r times
    score_j  = log Σ_r exp Σ_i S[r, i]  −  log Σ_r exp Σ_{i≠j} S[r, i]

which is log p(T_j | D, the other blocks) under equal prior weights of all r in a window. Temperings are
powers of two; the window is the best of them with its neighbours. Data and their double then have the same
window and the same score.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from itertools import product

import numpy as np
from scipy.special import logsumexp

from ..arrays import Array, Rows

UP, DOWN = 10, 3
"""Steps that a walk may go up from where it starts, and down from where each row counts once."""
WORTH = 0.01
"""Nats, over all blocks, that a step must gain: where a model can be as sure as it likes, the walk ends."""

Place = tuple[int, ...]
"""A point of a grid of temperings: how many steps from the start, in each of its directions."""


def mixture(scores: Array) -> Array:
    """One score a block, from scores at every tempering of a window (temperings × blocks).

    >>> mixture(np.array([[-1.0, -9.0], [-9.0, -1.0]])).round(2).tolist()  # each block is told by the other
    [-8.31, -8.31]
    """
    totals = scores.sum(axis=1, keepdims=True)
    return np.asarray(logsumexp(totals, axis=0) - logsumexp(totals - scores, axis=0), dtype=float)


def repeats(rows: Rows, weights: Array) -> int:
    """Whole doublings by which (numbers of) rows count more than once: r may be so much lower."""
    often = float(weights.sum()) / max(len(np.unique(rows)), 1)
    return math.floor(math.log2(max(often, 1.0)) + 1e-9)


def climb(at: Callable[[Place], Array], directions: int = 1, repeated: int = 0) -> tuple[Place, Array]:
    """The best tempering, and the mixture's scores over it and its neighbours.

    `at` gives the scores of all blocks at one place. The walk starts at the origin and goes uphill in their
    sum while that is worth it, at most `UP` steps in each of the `directions`; down along the first, which
    is r, to where each distinct row counts 2^−`DOWN` times: at the start it counts 2^`repeated` times.
    Without `directions` there is no walk.
    """
    if not directions:
        return (0,), at((0,))
    seen = cache(at)
    here: Place = (0,) * directions
    lowest = (-DOWN - repeated, *(-UP,) * (directions - 1))
    while True:
        beside = [
            (*here[:i], here[i] + step, *here[i + 1 :])
            for i in range(directions)
            for step in (-1, 1)
            if lowest[i] <= here[i] + step <= UP
        ]
        up = max(beside, key=lambda place: seen(place).sum())
        if seen(up).sum() <= seen(here).sum() + WORTH:
            break
        here = up
    window = product(*(range(k - 1, k + 2) for k in here))
    return here, mixture(np.array([seen(place) for place in window]))
