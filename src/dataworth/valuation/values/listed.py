"""Which rows stand out: the list of Benjamini and Hochberg."""

from __future__ import annotations

import numpy as np

from ...arrays import Array, Flags


def p_below_zero(value: Array, stderr: Array, degrees: float) -> Array:
    """One-sided p-values of "the value is not below zero", by Student's t; 1 where there is no error.

    >>> p_below_zero(np.array([-2.0, -2.0, 1.0]), np.array([1.0, 0.0, 1.0]), np.inf).round(3).tolist()
    [0.023, 1.0, 0.841]
    """
    from scipy.special import ndtr, stdtr

    known = stderr > 0
    t = np.where(known, value, 0.0) / np.where(known, stderr, 1.0)
    return np.where(known, ndtr(t) if np.isinf(degrees) else stdtr(degrees, t), 1.0)


def listed_at(p_values: Array, fdr: float) -> Flags:
    """Rows on the list whose expected proportion of false ones is at most `fdr` (Benjamini & Hochberg 1995).

    >>> listed_at(np.array([0.01, 0.9, 0.04, 0.03]), 0.1).tolist()
    [True, False, True, True]
    """
    order = np.argsort(p_values, kind="stable")
    below = np.flatnonzero(p_values[order] <= fdr * np.arange(1, len(order) + 1) / len(order))
    flags = np.zeros(len(order), dtype=bool)
    flags[order[: below[-1] + 1 if len(below) else 0]] = True
    return flags
