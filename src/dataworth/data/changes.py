"""What a curation did, row by row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arrays import Flags, Rows
from .dataset import Dataset, label_keys
from .registration import moved_codes
from .rows import FLOOR, equal_and_same, first_of, pair_up, same_rows

MOST_CLASSES = 20
"""Labels beyond which they are numbers, and twins with several labels no news."""
DIGITS = 6
"""Digits to which features are compared: a file may hold the same numbers in single precision."""


@dataclass(frozen=True)
class Change:
    """How `after` came from `before`.

    `origin[i]` is the row of `before` that row i of `after` keeps, or −1; `relabelled[i]` says that it was
    kept with another label, `edited[i]` that it was kept with other features (by its id, or all its columns
    moved: `registration`); `twins` which label stayed where rows with the same features had several.
    """

    origin: Rows
    relabelled: Flags
    edited: Flags
    before_rows: int
    by: str
    twins: dict[str, Any] | None = None

    @property
    def kept(self) -> int:
        """Distinct rows of `before` that are still there, as they were or changed."""
        return int(np.count_nonzero(np.bincount(self.origin[self.origin >= 0])))

    @property
    def unchanged(self) -> int:
        """Those of the kept rows that still have their features and their label."""
        still = (self.origin >= 0) & ~self.relabelled & ~self.edited
        return int(np.count_nonzero(np.bincount(self.origin[still])))

    @property
    def removed(self) -> int:
        """Rows of `before` that are gone."""
        return self.before_rows - self.kept

    @property
    def new(self) -> int:
        """Rows that `before` does not have."""
        return int((self.origin < 0).sum())

    @property
    def own(self) -> Rows:
        """Rows of `after` that differ from what `before` has."""
        return np.flatnonzero((self.origin < 0) | self.relabelled | self.edited)

    @property
    def repeated(self) -> int:
        """Further copies of rows that are kept."""
        return len(self.origin) - self.new - self.kept

    @property
    def counts(self) -> dict[str, int]:
        """Every kind of change with its number of rows: the one list that reports tell from.

        Of `after`, kept + new + repeated are all rows; the relabelled and the edited are among them.
        """
        told = {name: getattr(self, name) for name in ("kept", "removed", "new", "repeated")}
        return told | {name: int(getattr(self, name).sum()) for name in ("relabelled", "edited")}

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        twins = {} if self.twins is None else {"twins": self.twins}
        return {**self.counts, "unchanged": self.unchanged, "matched_by": self.by, **twins}

    def __str__(self) -> str:
        return ", ".join(f"{count} {what}" for what, count in self.counts.items() if count)


def compare(before: Dataset, after: Dataset) -> Change:
    """Match the rows of `after` to those of `before`: by ids that identify them, else by features.

    Rows whose columns were moved are the same rows whatever their ids say, and ids that part them are none.

    The first copy of a repeated row in `after` goes to its first copy in `before`, and so on; copies beyond
    those count as repeats. Where features repeat, a copy with the same label is preferred, and one that is
    equal to the last bit to one that was rounded.

    >>> before = Dataset([[1.0], [2.0], [3.0]], [0, 1, 1])
    >>> print(compare(before, before.take([0, 0, 2])))
    2 kept, 1 removed, 1 repeated
    """
    if sorted(before.names) == sorted(after.names):
        place = {name: j for j, name in enumerate(after.names)}
        alike = after.pick([place[name] for name in before.names])
        exact, near = equal_and_same(before, alike, digits=DIGITS)
        moved = [near[0], moved_codes(before, alike, (near[0], near[1]), DIGITS)]
    else:  # other columns make other rows
        own, other = (same_rows(part, digits=DIGITS)[0] for part in (before, after))
        exact = near = moved = [own, other + len(before)]
    ids = None if before.ids is None or after.ids is None else _split(before.ids, after.ids)
    by, keys = "features", [exact, moved]
    if ids is not None and _ids_identify(ids, moved):
        by, keys = "ids", [ids]
    labels = _split(label_keys(before.y), label_keys(after.y))
    # with its label, else as a relabelled row
    keys = [[k * (1 << 31) + y for k, y in zip(key, labels, strict=True)] for key in keys] + keys
    origin = np.full(len(after), -1, dtype=np.intp)
    for wanted, given in keys:
        free, left = np.setdiff1d(np.arange(len(before)), origin), np.flatnonzero(origin < 0)
        copy = pair_up(wanted[free], given[left])
        origin[left[copy >= 0]] = free[copy[copy >= 0]]
    # copies beyond those that `before` has: repeats of a row with the same key, at best with the same label
    for wanted, given in keys:
        left = np.flatnonzero(origin < 0)
        origin[left] = first_of(wanted, given[left])
    kept = origin >= 0
    relabelled = kept & (labels[0][origin] != labels[1]) if len(before) else kept
    relabelled[relabelled] = ~same_numbers(before.y[origin[relabelled]], after.y[relabelled], before.y)
    edited = kept & (near[0][origin] != near[1]) if len(before) else kept
    twins = which_twins(near[0], label_keys(before.y), np.isin(np.arange(len(before)), origin))
    return Change(origin, relabelled, edited, len(before), by, twins)


def same_numbers(old: NDArray[Any], new: NDArray[Any], among: NDArray[Any]) -> Flags:
    """Whether numeric labels, `among` more values than classes have, are the same to `DIGITS` digits."""
    numeric = all(one.dtype.kind in "fiu" for one in (old, new, among))
    if not numeric or len(np.unique(among)) <= MOST_CLASSES:
        return np.zeros(len(old), dtype=bool)
    size = np.maximum(np.maximum(np.abs(old), np.abs(new)), FLOOR * np.median(np.abs(among)))
    return np.asarray(np.abs(new - old) <= 10.0 ** (1 - DIGITS) * size)


def which_twins(rows: Rows, labels: NDArray[np.str_], kept: Flags) -> dict[str, Any] | None:
    """Which labels stayed, and which went, where rows with the same features and several labels lost some."""
    names, place = np.unique(labels, return_inverse=True)
    pairs = np.unique(np.stack([rows, place]), axis=1)
    codes, times = np.unique(pairs[0], return_counts=True)
    several = codes[times > 1]
    if not len(several) or len(names) > MOST_CLASSES:
        return None
    partly = several[np.isin(several, rows[kept]) & np.isin(several, rows[~kept])]
    touched = np.isin(rows, partly)

    def counts(some: Flags) -> dict[str, int]:
        found, number = np.unique(labels[touched & some], return_counts=True)
        return dict(zip(found.tolist(), number.tolist(), strict=True))

    return {"sets": len(several), "thinned": len(partly), "stayed": counts(kept), "gone": counts(~kept)}


def _ids_identify(ids: list[Rows], near: list[Rows]) -> bool:
    """Whether equal ids mean the same row: not if curation renumbered rows, whose features then differ."""
    place = first_of(*ids)
    same = (place >= 0) & (near[0][place] == near[1]) if len(ids[0]) else place >= 0
    return bool(2 * same.sum() >= np.isin(near[1], near[0]).sum())


def _split(left: np.ndarray, right: np.ndarray) -> list[Rows]:
    """Codes for the values of two arrays."""
    codes = np.unique(np.concatenate([left, right]), return_inverse=True)[1]
    return [codes[: len(left)], codes[len(left) :]]
