"""Halves of the test set: how well one predicts the other, and whether doubling one looks informative."""

from __future__ import annotations

import numpy as np

from ..arrays import Array, Rows
from ..models import Fit, Fitter

SPLITS = 6
"""How often the test set is halved."""


def halves(n: int, rng: np.random.Generator, splits: int = SPLITS) -> list[tuple[Rows, Rows]]:
    """Random halves of n rows."""
    return [(p[: n // 2], p[n // 2 :]) for p in (rng.permutation(n) for _ in range(splits))]


def half_given_half(fitter: Fitter, splits: list[tuple[Rows, Rows]], weights: Array | None = None) -> float:
    """Mean of log p(T_b | T_a) = log Z(T) − log Z(T_a) over halves of a test set, both ways round."""
    whole = fitter(np.arange(len(fitter.y)), weights=weights)
    parts = [
        fitter(rows, (whole,), weights=None if weights is None else weights[rows]).log_z
        for split in splits
        for rows in split
    ]
    return float(whole.log_z - np.mean(parts))


def doubling_probe(
    fitter: Fitter, splits: list[tuple[Rows, Rows]], weights: Array | None = None
) -> tuple[float, float]:
    """Mean and standard error of U(2×T_a, T_b) − U(T_a, T_b) over halves of a test set, both ways round."""

    def fit(rows: Rows, *start: Fit) -> Fit:
        return fitter(rows, start, weights=None if weights is None else weights[rows])

    whole = fit(np.concatenate(splits[0]))
    gains = []
    for a, b in (pair for split in splits for pair in (split, split[::-1])):
        single = fit(a, whole)
        double = fit(np.concatenate([a, a]), single)
        joint = fit(np.concatenate([a, a, b]), double, whole)
        gains.append((joint.log_z - double.log_z) - (whole.log_z - single.log_z))
    return float(np.mean(gains)), float(np.std(gains, ddof=1) / np.sqrt(len(gains)))
