"""How many labels are still wrong, by what the reviewers found so far, and when to stop.

p_i is the probability that label i is wrong (`RowValues.p_wrong`). What reviewers say recalibrates it:

    logit q_i = a + b · logit p_i,      a ~ N(0, 1),  b ~ N(1, ½²),

by the mode of (a, b) given the labels that were found right and wrong. Then Σ q_i over labels that nobody
looked at is the expected number of errors left, and over the next ones in the list what is to be gained.
"""

from __future__ import annotations

import numpy as np
from scipy.special import expit, logit

from dataworth.arrays import Array, Flags

SPREAD = np.array([1.0, 0.5])
MIDDLE = np.array([0.0, 1.0])
LOWEST, HIGHEST = -12.0, 4.0
"""Logits beyond which nothing is more certain: a label of p = 1 − 10⁻⁹ that is right after all tells of
itself, not of all others."""
STEPS = 30
NEXT = 50
"""Rows that are looked ahead."""
ENOUGH = 0.05
"""Proportion of wrong labels among the next ones below which to stop is proposed."""


def recalibrated(p: Array, seen: Flags, wrong: Flags) -> Array:
    """q of every row, by what was found of the rows that were seen.

    >>> p = np.full(300, 0.3)
    >>> first = np.arange(300) < 100
    >>> float(round(recalibrated(p, first, first & (np.arange(300) % 10 == 0))[0], 2))
    0.11
    """
    x = np.clip(logit(p), LOWEST, HIGHEST)
    design, y = np.column_stack([np.ones(int(seen.sum())), x[seen]]), wrong[seen].astype(float)
    known = np.isfinite(design[:, 1])
    design, y = design[known], y[known]
    theta = MIDDLE.copy()
    for _ in range(STEPS):  # Newton's method; the prior keeps it away from the edge
        q = expit(design @ theta)
        slope = design.T @ (y - q) - (theta - MIDDLE) / SPREAD**2
        bend = (design.T * (q * (1.0 - q))) @ design + np.diag(1.0 / SPREAD**2)
        step = np.linalg.solve(bend, slope)
        theta = theta + step / max(1.0, float(np.abs(step).max()))
        if np.abs(step).max() < 1e-9:
            break
    return np.asarray(expit(theta[0] + max(theta[1], 0.0) * x))
