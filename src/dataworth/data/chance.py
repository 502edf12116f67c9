"""Whether rows with equal features are the same row, or agree by chance.

Equal features mean the same row only where rows do not agree by chance. Three binary columns have eight
different rows, and every honest test row has its equals in the data. How often rows agree by chance is told
by the sets themselves. If D and T come from one source, a test row has an equal among the rows of D about as
often as a row of D has one among the others of D, and about as often (more, if D is larger) as a row of T has
one among the others of T:

    chance = min(repeating rows of T / |T| · max(1, |D|/|T|),  (repeating rows of D + 6) / |D|)

of the test rows. Equal features are taken for copies where they are more than that by three standard
deviations, or where rows of T hardly repeat at all. A small T may do so by luck: where its columns have few
values, rows are expected to agree as often as columns that know nothing of each other would make them.

The smaller of the two counts, so that neither a test set that holds some rows twice, nor data that somebody
doubled, excuses copies; three pairs of rows in a small D may be luck.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..arrays import Rows
from .dataset import Dataset

RULES = ("features", "both", "ids")
"""By what rows are the same: features, features and id, or id."""
IDENTIFYING = 0.99
"""Rows identify themselves by their features if at least this proportion of the test rows is distinct, and no
more than the rest is expected to have an equal in the data."""
LUCK = 6
"""Rows in three pairs: an upper 95 % bound on how many pairs are expected where none was seen."""
NEVER = 1e-12
"""Two rows that agree with this probability do not do so by chance."""
BEYOND = 3.0
"""Standard deviations above what chance explains from which equal rows are taken for copies."""


def agreement(test: Dataset) -> float:
    """How often two rows agree if columns know nothing of each other: Π P(xⱼ = x′ⱼ), from T alone.

    >>> round(agreement(Dataset([[0, 1.5], [0, 1.5], [1, 1.5]], [0, 1, 1])), 3)
    0.333
    """
    product = 1.0
    for column in test.X.T:
        counts = np.unique(column, return_counts=True)[1].astype(float)
        product *= float(counts @ (counts - 1.0)) / max(len(test) * (len(test) - 1.0), 1.0)
        if product < NEVER:
            return 0.0
    return product


class Tally(NamedTuple):
    """What tells whether equal features mean the same row: of the test set its rows, the different ones and
    those that repeat; of the data their rows and those that repeat; and how many test rows stand in both."""

    test_rows: int
    distinct: int
    test_repeating: int
    rows: int
    repeating: float
    shared: int

    @classmethod
    def of(cls, test: Rows, data: Rows) -> Tally:
        """By the codes of the rows (`same_rows`) of both sets."""
        shared = int(np.isin(test, data).sum())
        return cls(len(test), len(np.unique(test)), repeating(test), len(data), repeating(data), shared)

    def identify(self, alike: float) -> bool:
        """Whether equal features mean the same row (`identify_rows`)."""
        expected = 1.0 - (1.0 - alike) ** self.rows
        distinct = self.distinct >= IDENTIFYING * self.test_rows
        return (distinct and expected <= 1.0 - IDENTIFYING) or self.beyond_chance(alike)

    def rule(self, alike: float, with_ids: bool) -> str | None:
        """By which of `RULES` rows are copies; None if neither features nor ids tell.

        Where features tell rows apart, the same row has the same id as well; elsewhere ids alone tell.
        """
        told = self.identify(alike)
        if with_ids and not self.beyond_chance(alike, LUCK):
            return "both" if told else "ids"
        return "features" if told else None

    def beyond_chance(self, alike: float, luck: int = 0) -> bool:
        """Whether more test rows have an equal in the data than chance explains (see the top of this file).

        `luck`: rows of a small T that may repeat without having been seen to.

        >>> cells = np.arange(1000) % 8
        >>> Tally.of(cells, cells[:500]).beyond_chance(0.0)
        False
        >>> Tally.of(np.arange(1000), np.arange(500)).beyond_chance(0.0)
        True
        """
        m, n = self.test_rows, self.rows
        if n == 0:
            return False
        expected = 1.0 - (1.0 - alike) ** n
        own = max((self.test_repeating + luck) / m * max(1.0, n / m), expected)
        chance = min(own, (self.repeating + LUCK) / n, 1.0) * m
        # rows repeat in pairs, and those of the smaller set stand for more
        spread = np.sqrt(chance * (1.0 + 2.0 * max(n / m, m / n)))
        return bool(self.shared > chance + BEYOND * spread)


def identify_rows(test: Rows, data: Rows, alike: float = 0.0) -> bool:
    """Whether equal features mean the same row, by the codes of the rows (`same_rows`) of both sets.

    `alike` is the probability that two honest rows agree (`agreement`).

    >>> cells = np.arange(1000) % 8
    >>> identify_rows(cells, cells[:500]), identify_rows(np.arange(1000), np.arange(500))
    (False, True)
    >>> identify_rows(np.r_[np.arange(1000), :11], np.arange(500))
    True
    """
    return Tally.of(test, data).identify(alike)


def repeating(codes: Rows) -> int:
    """Rows that have an equal among the others.

    >>> repeating(np.array([5, 7, 5, 5]))
    3
    """
    counts = np.unique(codes, return_counts=True)[1]
    return int(counts[counts > 1].sum())
