"""Values of rows that do not take the rest for granted: against no other data, or averaged over subsets.

*alone*: the row and the test set, D without any other row. *shapley*: the mean of the row's value over
subsets of all sizes. One fit of a subset S values all rows at once, its members by taking them out and the
others by putting them in; sizes are spread evenly, so that each has the same weight, and a row's mean at a
size takes members and others alike (others alone would see small subsets more often than large ones).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...arrays import Array
from .rows import Fits, pointwise, spread, tested_rows
from .table import Table

SUBSETS = 160
BINS = 16
"""Sizes are told apart so finely; within a bin, members and others are averaged."""
Fitting = Callable[[Table], list[Fits]]


def alone(table: Table) -> Table:
    """The rows with none of them counted."""
    return table.counting(np.zeros(len(table.data.y), dtype=bool))


def shapley(
    table: Table, fit: Fitting, seed: int, told: Callable[[int, int], None] | None = None
) -> tuple[Array, Array]:
    """Value of each row over random subsets, and its standard error over test rows and subsets."""
    n, rng = len(table.data.y), np.random.default_rng([seed, 0x5A9])
    tested = tested_rows(table)
    total, square, times = (np.zeros((BINS, n)) for _ in range(3))
    matrix = np.zeros((n, len(tested)))
    every = np.arange(n)
    for k in range(SUBSETS):
        size = int((n + 1) * (k + rng.random()) / SUBSETS)
        inside = np.zeros(n, dtype=bool)
        inside[rng.permutation(n)[:size]] = True
        some = table.counting(inside)
        fits = fit(some)
        value = np.sum([one.value for one in fits], axis=0)
        place = k * BINS // SUBSETS
        total[place] += value
        square[place] += value**2
        times[place] += 1
        for one in fits:
            matrix += pointwise(one, every, tested, some)
        if told is not None:
            told(k + 1, SUBSETS)
    mean = total / times
    within = np.maximum(square / times - mean**2, 0.0) / np.maximum(times - 1, 1)
    over_test = spread(table, matrix / SUBSETS, tested)
    return mean.mean(axis=0), np.sqrt(over_test**2 + within.sum(axis=0) / BINS**2)
