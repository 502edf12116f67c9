"""Whether rows with equal features are the same row, or agree by chance.

Three binary columns have eight different rows, and every honest test row has its equals in the data. How
often rows agree by chance is told by the sets themselves. If D and T come from one source, a test row has an
equal in D about as often as a row of D has one among the others of D, and about as often (more, if D is
larger) as a row of T has one among the others of T:

    chance = min(repeating rows of T / |T| · max(1, |D|/|T|),  (repeating rows of D + 6) / |D|)

of the test rows: the smaller, so that neither a test set that holds some rows twice, nor data that somebody
doubled, excuses copies. Equal features are taken for copies where they are more than that by three standard
deviations, or where rows of T hardly repeat at all. A small T may do so by luck: where its columns have few
values, rows are expected to agree as often as columns that know nothing of each other would make them.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

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
SIZE = 1 << 16
"""Different rows that are counted one by one; of more, their number is known to 0.4 %."""
MIXED = np.uint64(0x9E3779B97F4A7C15)


def agreement(test: Dataset) -> float:
    """How often two rows agree if columns know nothing of each other: Π P(xⱼ = x′ⱼ), from T alone."""
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
        """Whether equal features mean the same row; alike: how often two honest rows agree (`agreement`)."""
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


def repeating(codes: Rows) -> int:
    """Rows that have an equal among the others."""
    counts = np.unique(codes, return_counts=True)[1]
    return int(counts[counts > 1].sum())


class Sketch(NamedTuple):
    """How many different rows a file has, and how many repeat, in memory that does not grow with it.

    Of all rows the `SIZE` smallest of their hashes are kept, ascending, with how often each was seen. A row
    that is kept at the end was kept from the beginning, so that its count is exact. Of up to `SIZE` different
    rows all are kept; of more, the largest hash kept tells how many there are, to one part in √SIZE.
    """

    hashes: NDArray[np.uint64]
    times: Rows
    rows: int

    @classmethod
    def of(cls, data: Dataset) -> Sketch:
        """Of one dataset, by its features."""
        return cls.joined([cls(row_hashes(data), np.ones(len(data), dtype=np.intp), len(data))])

    @classmethod
    def joined(cls, parts: Iterable[Sketch]) -> Sketch:
        """Of all rows of several."""
        several = [cls(np.zeros(0, dtype=np.uint64), np.zeros(0, dtype=np.intp), 0), *parts]
        hashes, times = (np.concatenate([part[k] for part in several]) for k in (0, 1))
        known, place = np.unique(hashes, return_inverse=True)
        seen = np.bincount(place, weights=times, minlength=len(known)).astype(np.intp)
        return cls(known[:SIZE], seen[:SIZE], sum(part.rows for part in several))

    @property
    def full(self) -> bool:
        """Whether there may be more different rows than are kept."""
        return len(self.hashes) == SIZE

    @property
    def distinct(self) -> float:
        """How many different rows there are."""
        share = float(self.hashes[-1]) / 2.0**64 if self.full else 0.0
        return min((SIZE - 1) / share, float(self.rows)) if self.full else float(len(self.hashes))

    @property
    def repeating(self) -> float:
        """Rows that have an equal among the others."""
        often = self.times[self.times > 1].sum()
        return self.rows * float(often) / max(float(self.times.sum()), 1.0)


def row_hashes(data: Dataset) -> NDArray[np.uint64]:
    """A number for each row, the same for the same features, as `Dataset.row_keys` compares them."""
    weights = np.random.default_rng(0x5EED).integers(0, 2**63, data.n_features, dtype=np.uint64) * 2 + 1
    found = [np.zeros(0, dtype=np.uint64)]
    for bits in data._canonical_bits():
        mixed = bits ^ (bits >> np.uint64(32))  # small whole numbers differ in their upper bits only
        mixed *= weights
        total = np.bitwise_xor.reduce(mixed ^ (mixed >> np.uint64(29)), axis=1) * MIXED
        found.append(total ^ (total >> np.uint64(32)))
    return np.concatenate(found)
