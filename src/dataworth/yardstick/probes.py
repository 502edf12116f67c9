"""Halves of the test set: how well one predicts the other, and whether doubling one looks informative."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ..arrays import Array, Rows
from ..errors import DataworthError
from ..models import Fit, Fitter

SPLITS = 6
"""How often the test set is halved."""


def halves(
    n: int, rng: np.random.Generator, splits: int = SPLITS, groups: NDArray[np.str_] | None = None
) -> list[tuple[Rows, Rows]]:
    """Random halves of n rows; rows of one group stay together, and the halves are as even as that allows.

    >>> (a, b), *_ = halves(5, np.random.default_rng(0), groups=np.array(["p", "q", "p", "q", "q"]))
    >>> a.tolist(), b.tolist()
    ([0, 2], [1, 3, 4])
    """
    if groups is None:
        return [(p[: n // 2], p[n // 2 :]) for p in (rng.permutation(n) for _ in range(splits))]
    _, member, sizes = np.unique(groups, return_inverse=True, return_counts=True)
    if len(sizes) < 2:
        raise DataworthError(
            "all rows of the test set belong to one group, and halves keep groups whole: give two groups or "
            "more, or none."
        )
    made = []
    for order in (rng.permutation(len(sizes)) for _ in range(splits)):
        cut = 1 + np.argmin(np.abs(2 * np.cumsum(sizes[order])[:-1] - n))
        first = np.isin(member, order[:cut])
        made.append((np.flatnonzero(first), np.flatnonzero(~first)))
    return made


def weighted(fitter: Fitter, weights: Array | None) -> Callable[..., Fit]:
    """Fits of rows, from where others ended; each row has its weight."""
    return lambda rows, *start: fitter(rows, start, weights=None if weights is None else weights[rows])


def half_given_half(fitter: Fitter, splits: list[tuple[Rows, Rows]], weights: Array | None = None) -> float:
    """Mean of log p(T_b | T_a) = log Z(T) − log Z(T_a) over halves of a test set, both ways round."""
    fit = weighted(fitter, weights)
    whole = fit(np.arange(len(fitter.y)))
    return float(whole.log_z - np.mean([fit(rows, whole).log_z for split in splits for rows in split]))


def doubling_probe(
    fitter: Fitter, splits: list[tuple[Rows, Rows]], weights: Array | None = None
) -> tuple[float, float]:
    """Mean and standard error of U(2×T_a, T_b) − U(T_a, T_b) over halves of a test set, both ways round."""
    fit = weighted(fitter, weights)
    whole = fit(np.concatenate(splits[0]))
    gains = []
    for a, b in (pair for split in splits for pair in (split, split[::-1])):
        single = fit(a, whole)
        double = fit(np.concatenate([a, a]), single)
        joint = fit(np.concatenate([a, a, b]), double, whole)
        gains.append((joint.log_z - double.log_z) - (whole.log_z - single.log_z))
    return float(np.mean(gains)), float(np.std(gains, ddof=1) / np.sqrt(len(gains)))
