"""Test rows that also stand in the data: they would be scored on what they taught.

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

from collections.abc import Mapping
from dataclasses import dataclass

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
    "test rows repeat, or agree with others by chance, so features cannot show leaked rows: give ids (--id)"
)


@dataclass(frozen=True)
class Leaks:
    """Places of the test rows that are kept, how many were dropped, and a note for the user."""

    kept: Rows
    dropped: int
    note: str | None


def drop_leaks(test: Dataset, data: Mapping[str, Dataset]) -> Leaks:
    """Drop test rows that occur in any of the datasets; refuse if more than 5 % do.

    Rows are compared by features: ids are often mere row numbers, which every file starts anew. Only where
    rows agree by chance (a few categories, say) are ids asked. Groups that stand in both are counted in the
    note: a patient who taught is no stranger, though the row is another.

    >>> test = Dataset(np.arange(40.0).reshape(20, 2), [0, 1] * 10)
    >>> data = Dataset([[-1.0, 3.0], [4.0, 5.0]], [0, 1])
    >>> drop_leaks(test, {"the data": data}).note
    '1 test row also in the data left out'
    """
    gone = np.zeros(len(test), dtype=bool)
    where: dict[str, int] = {}
    blind = False
    for name, part in data.items():
        found, told = look_for_leaks(test, part)
        blind |= not told
        gone |= found
        where[name] = int(found.sum())
    dropped = int(gone.sum())
    if dropped > MOST_LEAKED * len(test):
        worst = max(where, key=lambda n: where[n])
        raise DataworthError(
            f"{dropped} of {len(test)} test rows ({dropped / len(test):.0%}) also stand in {worst}; "
            "what was learned from cannot test: remove those rows from the data or from the test set."
        )
    note = f"{counted(dropped, 'test row')} also in the data left out" if dropped else None
    notes = (note or (REPEATING if blind else None), shared_groups(test.take(~gone), data))
    return Leaks(np.flatnonzero(~gone), dropped, "; ".join(filter(None, notes)) or None)


def leaked(test: Dataset, data: Dataset) -> Flags:
    """Which test rows also stand in the data.

    >>> test = Dataset([[1.0], [2.0], [3.0]], [0, 1, 1])
    >>> leaked(test, Dataset([[2.0000001], [7.0]], [1, 0])).tolist()
    [False, True, False]
    """
    return look_for_leaks(test, data)[0]


def look_for_leaks(test: Dataset, data: Dataset) -> tuple[Flags, bool]:
    """Which test rows also stand in the data, and whether that could be told."""
    own, other = same_rows(test, data.select(test.columns), digits=DIGITS)
    found = np.isin(own, other)
    if identify_rows(own, other, agreement(test)):
        return found, True
    if test.ids is not None and data.ids is not None:
        return np.isin(test.ids, data.ids), True
    return np.zeros(len(test), dtype=bool), False


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


def identify_rows(test: Rows, data: Rows, alike: float = 0.0) -> bool:
    """Whether equal features mean the same row, by the codes of the rows (`same_rows`) of both sets.

    `alike` is the probability that two honest rows agree (`agreement`).

    >>> cells = np.arange(1000) % 8
    >>> identify_rows(cells, cells[:500]), identify_rows(np.arange(1000), np.arange(500))
    (False, True)
    >>> identify_rows(np.r_[np.arange(1000), :11], np.arange(500))
    True
    """
    m, n = len(test), len(data)
    expected = 1.0 - (1.0 - alike) ** n
    if n == 0 or (len(np.unique(test)) >= IDENTIFYING * m and expected <= 1.0 - IDENTIFYING):
        return True
    own = max(repeating(test) / m * max(1.0, n / m), expected)
    chance = min(own, (repeating(data) + LUCK) / n, 1.0) * m
    # rows repeat in pairs, and those of the smaller set stand for more
    spread = np.sqrt(chance * (1.0 + 2.0 * max(n / m, m / n)))
    return bool(int(np.isin(test, data).sum()) > chance + BEYOND * spread)


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
