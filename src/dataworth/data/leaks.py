"""Rows of the data that also stand in the test set: they would be scored on what they taught.

They are taken out of the data, never out of the test set, which a seller could otherwise choose by sending
copies of the rows that he does badly on. Whether equal features mean the same row is decided in `chance`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..arrays import Flags, Rows
from ..errors import DataworthError
from ..wording import counted, option
from .chance import RULES, Sketch, Tally, agreement, repeating
from .convert import CODED
from .dataset import Dataset
from .rows import floors, same_rows

Packed = NDArray[np.uint8]
"""Flags, eight a byte."""
COLUMNS = 8
"""Columns by which rows are told apart that are no test row, before all are compared."""

MOST_LEAKED = 0.05
DIGITS = 5
"""Digits to which features are compared: copies come rounded, or in single precision."""
REPEATING = (
    "test rows repeat, or agree with others by chance, so features cannot show leaked rows: give ids"
    " (id=, --id)"
)


LIKE_AN_ID = re.compile(
    r"(^|[_\s.-])(id|ids|uuid|patient|subject|participant|person|user|customer|document|doc|prompt|session|"
    r"household|video|film)([_\s.-]?(id|no|nr|number))?$",
    re.IGNORECASE,
)
ROWS_EACH = 2.0
"""Rows per name from which names look like those of clusters: a few repeated ids are copies of a row."""
FEWEST = 10
"""Names from which a column is taken to name things: fewer are categories."""


@dataclass(frozen=True)
class Leaks:
    """The datasets without rows of the test set, how many test rows those were, and a note for the user.

    gone: which rows of each dataset are left out.
    """

    data: dict[str, Dataset]
    found: int
    note: str | None
    gone: dict[str, Flags]


def drop_leaks(test: Dataset, data: Mapping[str, Dataset], *, states: bool = False) -> Leaks:
    """Drop rows of the datasets that occur in the test set; refuse if they hold more than 5 % of it.

    Rows are compared by features: ids are often mere row numbers, which every file starts anew. Where both
    sets have ids, equal features under different ids are two rows, unless there are more of them than chance
    explains; where rows agree by chance (a few categories, say), ids alone tell. A row of weight 0 is a row.
    Groups that stand in both are counted in the note. states: the datasets are one, before and after
    curation, and a row that is dropped from one is dropped from the other, even if curation edited it.
    """
    looks = look_at_states(test, data) if states else {n: look_for_leaks(test, d) for n, d in data.items()}
    count = int(_any([np.zeros(len(test), dtype=bool), *(look.test for look in looks.values())]).sum())
    refuse_many(count, len(test), max(looks, key=lambda name: int(looks[name].data.sum()), default=""))
    gone = {name: look.data for name, look in looks.items()}
    if count and states:
        before, after = data
        gone[before], gone[after] = gone_alike(data[before], data[after], gone[before], gone[after])
    kept = {name: part.take(~gone[name]) if gone[name].any() else part for name, part in data.items()}
    for name, part in kept.items():
        refuse_all_gone(len(part), len(data[name]), name)
    blind = any(not look.told for look in looks.values())
    note = taken_out(count, data, gone) if count else REPEATING if blind else None
    return Leaks(kept, count, "; ".join(filter(None, (note, shared_groups(test, kept)))) or None, gone)


def look_at_states(test: Dataset, data: Mapping[str, Dataset]) -> dict[str, Equals]:
    """Of data before and after curation: rows that stood there before are what they were.

    How often rows are equal by chance is known from the data before: data without repeats do not show it.
    """
    (first, before), (second, after) = data.items()
    if test.ids is not None and before.ids is not None and after.ids is not None:
        return {name: look_for_leaks(test, part) for name, part in data.items()}  # ids tell
    codes, own = same_rows(before, after.select(before.columns), digits=DIGITS)
    new = ~np.isin(own, codes)
    look = look_for_leaks(test, Dataset.concat([before, after.take(new)]) if new.any() else before)
    gone, added = look.data[: len(before)], np.zeros(len(after), dtype=bool)
    added[new] = look.data[len(before) :]
    added |= np.isin(own, codes[gone])
    return {first: look._replace(data=gone), second: look._replace(data=added)}


def refuse_many(count: int, test_rows: int, name: str) -> None:
    """A sentence where more test rows stand in a dataset than leave something to test."""
    if count > MOST_LEAKED * test_rows:
        told = f"{count} of {test_rows} test rows ({count / test_rows:.0%}) also stand in {name}"
        how = "what was learned from cannot test: remove those rows from the data or from the test set"
        raise DataworthError(f"{told}; {how}.")


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
    return f"{counted(count, 'test row')} also in the data: {', '.join(told)}"


class Equals(NamedTuple):
    """Test rows that have an equal in some data, and rows of the data that have one: flags, later packed.

    `told` is False where neither features nor ids tell rows apart.
    """

    test: Flags
    data: Any
    told: bool = True


def look_for_leaks(test: Dataset, data: Dataset) -> Equals:
    """Which rows stand both in the test set and in the data: one batch of a `LeakScanner`."""
    own, other = same_rows(test, data.select(test.columns), digits=DIGITS)
    with_ids = test.ids is not None and data.ids is not None
    rule = Tally.of(own, other).rule(agreement(test), with_ids)
    if rule is None:
        return Equals(np.zeros(len(test), dtype=bool), np.zeros(len(data), dtype=bool), False)
    found: Equals = getattr(overlap_of(test, data, own, other, np.arange(len(data))), rule)
    return found


class Overlap(NamedTuple):
    """What a batch of data has in common with the test set: by features, by features and id, and by id.

    groups: test rows whose group stands in the batch, if no row is taken out (None), and by each rule.
    """

    features: Equals
    both: Equals
    ids: Equals
    groups: dict[str | None, Flags]

    @classmethod
    def joined(cls, overlaps: Sequence[Overlap]) -> Overlap:
        """Of a partition that was compared batch by batch; flags of its rows are packed, eight a byte."""
        found = {}
        for rule in RULES:
            tests, flags, _ = zip(*(getattr(one, rule) for one in overlaps), strict=True)
            found[rule] = Equals(_any(tests), np.packbits(np.concatenate(flags)))
        groups = {rule: _any([one.groups[rule] for one in overlaps]) for rule in (None, *RULES)}
        return cls(**found, groups=groups)


def overlap_of(test: Dataset, data: Dataset, own: Rows, other: Rows, rows: Rows) -> Overlap:
    """The overlap by codes (`same_rows`) of the test rows and of `rows` of the data; others have no equal."""
    nothing = Equals(np.zeros(len(test), dtype=bool), np.zeros(len(data), dtype=bool))
    found = dict.fromkeys(RULES, nothing) | {"features": _equals(own, other, rows, len(data))}
    if test.ids is not None and data.ids is not None:
        found["ids"] = _equals(test.ids, data.ids, np.arange(len(data)), len(data))
        names = np.unique(np.concatenate([test.ids, data.ids[rows]]), return_inverse=True)[1]
        codes = np.concatenate([own, other]) * len(names) + names
        found["both"] = _equals(codes[: len(test)], codes[len(test) :], rows, len(data))
    groups: dict[str | None, Flags] = dict.fromkeys((None, *RULES), nothing.test)
    if test.groups is not None and data.groups is not None:
        groups[None] = np.isin(test.groups, data.groups)
        groups |= {rule: np.isin(test.groups, data.groups[~one.data]) for rule, one in found.items()}
    return Overlap(**found, groups=groups)


def _equals(test: Any, data: Any, rows: Rows, count: int) -> Equals:
    """Flags of equal codes; `data` are those of some rows of so many."""
    flags = np.zeros(count, dtype=bool)
    flags[rows[np.isin(data, test)]] = True
    return Equals(np.isin(test, data), flags)


def _any(flags: Sequence[Flags]) -> Flags:
    return np.asarray(np.logical_or.reduce(flags))


class Verdict(NamedTuple):
    """How many test rows stand in the data, packed flags of rows to take out, a note, and the rule."""

    found: int
    gone: list[Packed | None]
    note: str | None
    rule: str | None


class LeakScanner:
    """Compares batches of data with a test set; both on the yardstick, as numbers and categories.

    Whether equal features mean the same row depends on all rows. So each batch says which of its rows would
    be copies under each rule, and `decide` chooses the rule once all are known.
    """

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

    def __call__(self, data: Dataset) -> Overlap:
        """What a batch has in common with the test set."""
        some = self.possible(data)
        part = data.take(some).select(self.test.columns)
        own, other = same_rows(self.test, part, digits=DIGITS) if len(part) else (self.codes, self.codes[:0])
        return overlap_of(self.test, data, own, other, some)

    @cached_property
    def codes(self) -> Rows:
        """Which different row each test row is."""
        return same_rows(self.test, digits=DIGITS)[0]

    def decide(self, overlaps: Sequence[Overlap], sketch: Sketch, with_ids: bool, name: str) -> Verdict:
        """Which rows of the partitions (`Overlap.joined`) are copies, once all are known."""
        m, codes = len(self.test), self.codes
        found = {rule: _any([getattr(one, rule).test for one in overlaps]) for rule in RULES}
        shared = int(found["features"].sum())
        tally = Tally(m, len(np.unique(codes)), repeating(codes), sketch.rows, sketch.repeating, shared)
        rule = tally.rule(agreement(self.test), with_ids)
        count, note = 0, REPEATING
        gone: list[Packed | None] = [None] * len(overlaps)
        if rule is not None:
            count = int(found[rule].sum())
            refuse_many(count, m, name)
            flags = [getattr(one, rule).data for one in overlaps]
            gone = [one if one.any() else None for one in flags]
            rows = sum(int(np.unpackbits(one).sum()) for one in flags)
            taken = f"{counted(rows, 'row')} taken out of {name}"
            note = f"{counted(count, 'test row')} also in the data: {taken}" if count else ""
        shared_rows = _any([one.groups[rule] for one in overlaps])
        groups = shared_groups(self.test, {"": self.test.take(shared_rows)}) if shared_rows.any() else None
        return Verdict(count, gone, "; ".join(filter(None, (note, groups))) or None, rule)


def shared_groups(test: Dataset, data: Mapping[str, Dataset]) -> str | None:
    """A note on groups (patients, documents) that stand both in the data and in the test set."""
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


def clustered_note(data: Dataset) -> str | None:
    """A note where ids, or a column named like one, have several rows each, and no groups are given.

    Rows of one patient are not independent: without groups they stand in different blocks, and intervals come
    out too narrow.
    """
    if data.groups is not None:
        return None
    named: list[tuple[str, np.ndarray]] = [] if data.ids is None else [("ids", data.ids)]
    columns = [(j, c.name) for j, c in enumerate(data.columns) if LIKE_AN_ID.search(c.name)]
    named += [(f"values of {name!r}", data.X[:, j]) for j, name in columns]
    for what, values in named:
        distinct = len(np.unique(values))
        if distinct >= FEWEST and len(data) >= ROWS_EACH * distinct:
            return (
                f"{distinct} {what} name {counted(len(data), 'row')}: if rows of one belong together, say so"
                f" with {option('group')}"
            )
    return None
