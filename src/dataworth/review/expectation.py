"""How many labels are still wrong, by what the reviewers found so far, and when to stop.

p_i is the probability that label i is wrong (`RowValues.p_mislabeled`). What reviewers say recalibrates it:

    logit q_i = c + a + b · (logit p_i − c),     a ~ N(0, 1),  b ~ N(1, ½²),  log(W / Σ p) ~ N(0, ½²),

by the mode of (a, b) given the labels that were found right and wrong. c is the logit of the mean of p; W is
how many are wrong in all, those that were found and Σ q of the others: the first rows of a list say little of
its end. Then Σ q_i over labels that nobody looked at is the expected number of errors left.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit, log_expit, logit

from dataworth.arrays import Array, Flags

SPREAD = np.array([1.0, 0.5])
MIDDLE = np.array([0.0, 1.0])
IN_ALL = 0.5
LOWEST, HIGHEST = -12.0, 4.0
"""Logits beyond which nothing is more certain: a label of p = 1 − 10⁻⁹ that is right after all tells of
itself, not of all others."""
NEXT = 50
"""Rows that are looked ahead."""
ENOUGH = 0.05
"""Proportion of wrong labels among the next ones below which to stop is proposed."""


def recalibrated(p: Array, seen: Flags, wrong: Flags) -> Array:
    """q of every row, by what was found of the rows that were seen.

    >>> p = np.full(300, 0.3)
    >>> first = np.arange(300) < 100
    >>> found = recalibrated(p, first, first & (np.arange(300) % 10 == 0))
    >>> bool(0.1 < found[0] < 0.15)
    True
    """
    x, known = np.clip(logit(p), LOWEST, HIGHEST), np.isfinite(p)
    middle = float(logit(expit(x[known]).mean())) if known.any() else 0.0
    x = x - middle
    rest, asked = x[known & ~seen], x[known & seen]
    sign = np.where(wrong[known & seen], 1.0, -1.0)
    found, before = float(wrong[known & seen].sum()), float(expit(middle + x[known]).sum())

    def loss(theta: Array) -> float:
        in_all = found + float(expit(middle + theta[0] + theta[1] * rest).sum())
        told = -float(log_expit(sign * (middle + theta[0] + theta[1] * asked)).sum())
        prior = (((theta - MIDDLE) / SPREAD) ** 2).sum() + (np.log(in_all / before) / IN_ALL) ** 2
        return told + 0.5 * float(prior)

    theta = MIDDLE if not len(asked) else minimize(loss, MIDDLE, method="BFGS").x
    return np.asarray(expit(middle + theta[0] + max(theta[1], 0.0) * x))
