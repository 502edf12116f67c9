"""The maximiser of a concave function along a step, by a safeguarded Newton iteration.

The function is concave, so the bracket [low, high] only shrinks. Steps beyond 1 are allowed: on separable
classes the mode runs away, and full steps alone need twice as many.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .settings import LONGEST_STEP

FLAT = 0.02
"""Share of the slope at 0 at which to stop: the next step finds the rest."""
TRIALS = 40


def best_step(slope_and_bend: Callable[[float], tuple[float, float]], slope_at_zero: float) -> float:
    """Where the slope of a concave function is next to nothing, from its first and second derivative at s.

    >>> round(best_step(lambda s: (3.0 - s, -1.0), 3.0), 6)  # of 3s − s²/2
    3.0
    """
    low, high, s = 0.0, np.inf, 1.0
    for _ in range(TRIALS):
        slope, bend = slope_and_bend(s)
        if abs(slope) <= FLAT * slope_at_zero:
            break
        low, high = (s, high) if slope > 0 else (low, s)
        s = s - slope / bend if bend < 0 else 2.0 * s
        if not low < s < high:
            s = 0.5 * (low + high) if np.isfinite(high) else 2.0 * low
        s = min(s, 8.0 * max(low, 1.0))
        if s > LONGEST_STEP:
            return LONGEST_STEP
    return s
