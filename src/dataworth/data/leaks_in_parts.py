"""Rows of the test set in data that are read a part at a time: counted part by part, decided at the end.

Whether equal features mean the same row depends on all rows (`leaks`): how many there are, how many repeat,
how many test rows have an equal. So each part says which of its rows would be copies under each rule, and
what it adds to these numbers; once all are known, one of the rules holds.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..arrays import Flags, Rows
from ..wording import counted
from .convert import CODED
from .dataset import Dataset
from .leaks import DIGITS, LUCK, REPEATING, Tally, agreement, also_in, refuse_many, shared_groups
from .leaks import repeating as count_repeating
from .rows import floors, same_rows
from .sketch import Sketch

Packed = NDArray[np.uint8]
"""Flags, eight a byte."""
RULES = ("features", "both", "ids")
COLUMNS = 8
"""Columns by which rows are told apart that are no test row, before all are compared."""


class Equals(NamedTuple):
    """Test rows that have an equal in some data, and rows of the data that have one: flags, later packed."""

    test: Flags
    data: Any


class Met(NamedTuple):
    """What a part of the data has in common with the test set.

    By features, by features and id, and by id. groups: rows of the test set whose group stands in the part,
    if no row is taken out, and by each rule.
    """

    features: Equals
    both: Equals
    ids: Equals
    groups: dict[str | None, Flags]

    @classmethod
    def joined(cls, met: Sequence[Met]) -> Met:
        """Of a part that was compared piece by piece; its flags of data are packed, eight rows a byte."""
        rules = [[getattr(one, rule) for one in met] for rule in RULES]
        features, both, ids = (
            Equals(_any([e.test for e in own]), np.packbits(np.concatenate([e.data for e in own])))
            for own in rules
        )
        groups = {rule: _any([one.groups[rule] for one in met]) for rule in (None, *RULES)}
        return cls(features, both, ids, groups)


class Finder:
    """Compares parts of data with a test set; both on the yardstick, as numbers and categories."""

    def __init__(self, test: Dataset, sample: Dataset) -> None:
        self.test = test
        numeric = [j for j, column in enumerate(test.columns) if column.kind not in CODED]
        values = {j: np.unique(test.X[:, j]) for j in numeric}
        best = sorted(numeric, key=lambda j: -len(values[j]))[:COLUMNS]
        # missing is sorted last, and equals missing
        self.values = {j: values[j][~np.isnan(values[j])] for j in best}
        self.missing = {j: bool(np.isnan(test.X[:, j]).any()) for j in best}
        # twice what rows may differ by (`rows`): what is left is compared cell by cell
        self.floor, self.width = floors([test, sample.select(test.columns)]), 2.0 * 10.0 ** (1 - DIGITS)

    def possible(self, data: Dataset) -> Rows:
        """Rows whose numbers lie near some test row's, in each of a few columns."""
        rows = np.arange(len(data))
        for j, known in self.values.items():
            own = data.X[rows, j]
            reach = self.width * np.maximum(np.abs(own), self.floor[j])
            near = np.searchsorted(known, own + reach, "right") > np.searchsorted(known, own - reach)
            rows = rows[np.where(np.isnan(own), self.missing[j], near)]
            if not len(rows):
                break
        return rows

    def __call__(self, data: Dataset) -> Met:
        """What a part has in common with the test set."""
        test, some = self.test, self.possible(data)
        part = data.take(some).select(test.columns)
        own, other = same_rows(test, part, digits=DIGITS) if len(part) else (self.codes, self.codes[:0])
        features, both = _equals(own, other, some, len(data)), self._nothing(data)
        ids = both
        if test.ids is not None and data.ids is not None:
            ids = _equals(test.ids, data.ids, np.arange(len(data)), len(data))
            assert part.ids is not None
            names = np.unique(np.concatenate([test.ids, part.ids]), return_inverse=True)[1]
            codes = np.concatenate([own, other]) * len(names) + names
            both = _equals(codes[: len(test)], codes[len(test) :], some, len(data))
        found = {"features": features, "both": both, "ids": ids}
        groups: dict[str | None, Flags] = {None: self._groups(data, np.zeros(len(data), dtype=bool))}
        groups |= {rule: self._groups(data, one.data) for rule, one in found.items()}
        return Met(features, both, ids, groups)

    def _groups(self, data: Dataset, gone: Flags) -> Flags:
        """Test rows whose group has rows in the data that are not taken out."""
        if self.test.groups is None or data.groups is None:
            return np.zeros(len(self.test), dtype=bool)
        return np.isin(self.test.groups, data.groups[~gone])

    @cached_property
    def codes(self) -> Rows:
        """Which different row each test row is."""
        return same_rows(self.test, digits=DIGITS)[0]

    def _nothing(self, data: Dataset) -> Equals:
        return Equals(np.zeros(len(self.test), dtype=bool), np.zeros(len(data), dtype=bool))

    def decide(self, met: Sequence[Met], sketch: Sketch, with_ids: bool, name: str) -> Verdict:
        """Which rows of the parts (`Met.joined`) are copies, once all are known."""
        alike, m = agreement(self.test), len(self.test)
        found = {rule: _any([getattr(one, rule).test for one in met]) for rule in RULES}
        tally = Tally(
            m,
            len(np.unique(self.codes)),
            count_repeating(self.codes),
            sketch.rows,
            sketch.repeating,
            int(found["features"].sum()),
        )
        told, rule = tally.identify(alike), "features"
        if with_ids and not tally.beyond_chance(alike, LUCK):
            rule, told = ("both" if told else "ids"), True
        if not told:
            return Verdict(0, [None] * len(met), _noted(REPEATING, self.test, met, None), None)
        count = int(found[rule].sum())
        refuse_many(count, m, name)
        gone = [getattr(one, rule).data if getattr(one, rule).data.any() else None for one in met]
        rows = sum(0 if one is None else int(np.unpackbits(one).sum()) for one in gone)
        note = also_in(count, [f"{counted(rows, 'row')} taken out of {name}"]) if count else None
        return Verdict(count, gone, _noted(note, self.test, met, rule), rule)


class Verdict(NamedTuple):
    """How many test rows stand in the data; packed flags of rows to take out of each part; a note.

    rule: by which of `RULES` rows are copies; None if that cannot be told.
    """

    found: int
    gone: list[Packed | None]
    note: str | None
    rule: str | None


def _equals(test: Any, data: Any, rows: Rows, count: int) -> Equals:
    """Flags of equal codes; `data` are those of some rows of so many."""
    flags = np.zeros(count, dtype=bool)
    flags[rows[np.isin(data, test)]] = True
    return Equals(np.isin(test, data), flags)


def _noted(note: str | None, test: Dataset, met: Sequence[Met], rule: str | None) -> str | None:
    """The note, with that of groups that stand in both."""
    shared = _any([one.groups[rule] for one in met])
    groups = shared_groups(test, {"": test.take(shared)}) if shared.any() else None
    return "; ".join(filter(None, (note, groups))) or None


def _any(flags: Sequence[Flags]) -> Flags:
    return np.asarray(np.logical_or.reduce(flags))
