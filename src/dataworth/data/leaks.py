"""Rows of the data that also stand in the test set: they would be scored on what they taught.

They are taken out of the data, never out of the test set: a seller could otherwise choose the test, by
sending copies of the rows that he does badly on.

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

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..arrays import Flags, Rows
from ..errors import DataworthError
from ..wording import counted
from .dataset import Dataset
from .rows import same_rows

MOST_LEAKED = 0.05
DIGITS = 5
"""Digits to which features are compared: copies come rounded, or in single precision."""
IDENTIFYING = 0.99
"""Rows identify themselves by their features if at least this proportion of the test rows is distinct, and no
more than the rest is expected to have an equal in the data."""
LUCK = 6
"""Rows in three pairs: an upper 95 % bound on how many pairs are expected where none was seen."""
NEVER = 1e-12
"""Two rows that agree with this probability do not do so by chance."""
BEYOND = 3.0
"""Standard deviations above what chance explains from which equal rows are taken for copies."""
REPEATING = (
    "test rows repeat, or agree with others by chance, so features cannot show leaked rows: give ids"
    " (id=, --id)"
)


@dataclass(frozen=True)
class Leaks:
    """The datasets without rows of the test set, how many test rows those were, and a note for the user."""

    data: dict[str, Dataset]
    found: int
    note: str | None


def drop_leaks(test: Dataset, data: Mapping[str, Dataset], *, states: bool = False) -> Leaks:
    """Drop rows of the datasets that occur in the test set; refuse if they hold more than 5 % of it.

    Rows are compared by features: ids are often mere row numbers, which every file starts anew. Where both
    sets have ids, equal features under different ids are two rows, unless there are more of them than chance
    explains; where rows agree by chance (a few categories, say), ids alone tell. A row of weight 0 is a row.
    Groups that stand in both are counted in the note: a patient who taught is no stranger, though the row is
    another.

    Args:
        test: the test set, which keeps all its rows.
        data: the datasets by name.
        states: the datasets are two states of one, before and after curation. A row that is dropped from one
            is dropped from the other, even if curation edited it (`compare` says which rows those are).

    >>> test = Dataset(np.arange(40.0).reshape(20, 2), [0, 1] * 10)
    >>> data = Dataset([[-1.0, 3.0], [4.0, 5.0]], [0, 1])
    >>> leaks = drop_leaks(test, {"the data": data})
    >>> leaks.note, len(leaks.data["the data"])
    ('1 test row also in the data: 1 row taken out of the data', 1)
    """
    looks = {name: look_for_leaks(test, part) for name, part in data.items()}
    found = np.zeros(len(test), dtype=bool)
    for look in looks.values():
        found |= look.test
    count = int(found.sum())
    refuse_many(count, len(test), max(looks, key=lambda name: int(looks[name].test.sum()), default=""))
    gone = {name: look.data for name, look in looks.items()}
    if count and states:
        before, after = data
        gone[before], gone[after] = gone_alike(data[before], data[after], gone[before], gone[after])
    kept = {name: part.take(~gone[name]) if gone[name].any() else part for name, part in data.items()}
    for name, part in kept.items():
        refuse_all_gone(len(part), len(data[name]), name)
    blind = any(not look.told for look in looks.values())
    note = taken_out(count, data, gone) if count else REPEATING if blind else None
    return Leaks(kept, count, "; ".join(filter(None, (note, shared_groups(test, kept)))) or None)


def refuse_many(count: int, test_rows: int, name: str) -> None:
    """A sentence where more test rows stand in a dataset than leave something to test."""
    if count > MOST_LEAKED * test_rows:
        raise DataworthError(
            f"{count} of {test_rows} test rows ({count / test_rows:.0%}) also stand in {name}; "
            "what was learned from cannot test: remove those rows from the data or from the test set."
        )


def refuse_all_gone(left: int, rows: int, name: str) -> None:
    """A sentence where nothing is left of a dataset."""
    if left == 0 < rows:
        raise DataworthError(f"all rows of {name} also stand in the test set: there is nothing to learn.")


def gone_alike(before: Dataset, after: Dataset, gone: Flags, also: Flags) -> tuple[Flags, Flags]:
    """Rows dropped from before and after: each with what it was, or became, in the other."""
    from .changes import compare

    origin = compare(before, after).origin
    also = also | ((origin >= 0) & gone[origin])
    gone = gone.copy()
    gone[origin[also & (origin >= 0)]] = True
    return gone, also | ((origin >= 0) & gone[origin])


def taken_out(count: int, data: Mapping[str, Dataset], gone: Mapping[str, Flags]) -> str:
    """How many rows were dropped from each dataset, and of how many groups."""
    told = []
    for name, part in data.items():
        if rows := int(gone[name].sum()):
            groups = 0 if part.groups is None else len(np.unique(part.groups[gone[name]]))
            of = f" (of {counted(groups, 'group')})" if groups else ""
            told.append(f"{counted(rows, 'row')}{of} taken out of {name}")
    return also_in(count, told)


def also_in(count: int, told: Sequence[str]) -> str:
    """How many test rows were found, and what was done."""
    return f"{counted(count, 'test row')} also in the data: {', '.join(told)}"


class Look(NamedTuple):
    """Which test rows stand in the data, which rows of the data those are, and whether it could be told."""

    test: Flags
    data: Flags
    told: bool


def look_for_leaks(test: Dataset, data: Dataset) -> Look:
    """Which rows stand both in the test set and in the data.

    >>> test = Dataset([[1.0], [2.0], [3.0]], [0, 1, 1])
    >>> look = look_for_leaks(test, Dataset([[2.0000001], [7.0]], [1, 0]))
    >>> look.test.tolist(), look.data.tolist()
    ([False, True, False], [True, False])
    """
    own, other = same_rows(test, data.select(test.columns), digits=DIGITS)
    alike = agreement(test)
    tally = Tally.of(own, other)
    told = tally.identify(alike)
    ids = [] if test.ids is None or data.ids is None else [test.ids, data.ids]
    if ids and not tally.beyond_chance(alike, LUCK):
        names = np.unique(np.concatenate(ids), return_inverse=True)[1]
        # where features tell rows apart, the same row has the same id as well; elsewhere ids alone tell
        both = np.concatenate([own, other]) * len(names) * told + names
        own, other = both[: len(own)], both[len(own) :]
    elif not told:
        return Look(np.zeros(len(test), dtype=bool), np.zeros(len(data), dtype=bool), False)
    return Look(np.isin(own, other), np.isin(other, own), True)


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


def shared_groups(test: Dataset, data: Mapping[str, Dataset]) -> str | None:
    """A note on groups (patients, documents) that stand both in the data and in the test set.

    >>> test = Dataset([[1.0], [2.0], [3.0]], [0, 1, 1], groups=["a", "a", "b"])
    >>> shared_groups(test, {"the data": Dataset([[5.0]], [0], groups=["a"])})
    '1 group of the test set (2 rows) also stands in the data: its rows are not independent of what taught'
    """
    known = [part.groups for part in data.values() if part.groups is not None]
    if test.groups is None or not known:
        return None
    shared = np.isin(test.groups, np.concatenate(known))
    count, rows = len(np.unique(test.groups[shared])), counted(int(shared.sum()), "row")
    if not count:
        return None
    verb, their = ("stands", "its") if count == 1 else ("stand", "their")
    return (
        f"{counted(count, 'group')} of the test set ({rows}) also {verb} in the data: {their} rows are not"
        " independent of what taught"
    )
