"""Halves of the test set, in random order; groups stay whole."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..arrays import Rows
from ..errors import DataworthError


def halves(
    n: int, rng: np.random.Generator, splits: int, groups: NDArray[np.str_] | None = None
) -> list[tuple[Rows, Rows]]:
    """Random halves of n rows; rows of one group stay together, and the halves are as even as that allows.

    Rows of a half stand in random order, group after group, so that its first rows are a smaller sample.

    >>> (a, b), = halves(5, np.random.default_rng(0), 1, groups=np.array(["p", "q", "p", "q", "q"]))
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
        place = np.argsort(order)[member]  # of each row's group
        rows = np.argsort(place, kind="stable")
        made.append((rows[place[rows] < cut], rows[place[rows] >= cut]))
    return made


def both_ways(splits: list[tuple[Rows, Rows]]) -> list[tuple[Rows, Rows]]:
    """Each half predicts the other."""
    return [pair for a, b in splits for pair in ((a, b), (b, a))]
