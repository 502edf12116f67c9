"""What a curation did, row by row, and the control that does the same blindly."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..arrays import Rows
from .dataset import Dataset, label_keys

DIGITS = 6
"""Digits to which features are compared: a file may hold the same numbers in single precision."""


@dataclass(frozen=True)
class Change:
    """How `after` came from `before`.

    `origin[i]` is the row of `before` that row i of `after` keeps, or −1 if it is new; `relabelled[i]` says
    that it was kept with another label, `edited[i]` that it was kept (by its id) with other features.
    """

    origin: Rows
    relabelled: NDArray[np.bool_]
    edited: NDArray[np.bool_]
    before_rows: int
    by: str

    @property
    def kept(self) -> int:
        """Distinct rows of `before` that are still there."""
        return len(np.unique(self.origin[self.origin >= 0]))

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

    def to_dict(self) -> dict[str, int | str]:
        """Plain data for JSON."""
        return {
            "kept": self.kept,
            "removed": self.removed,
            "new": self.new,
            "repeated": self.repeated,
            "relabelled": int(self.relabelled.sum()),
            "edited": int(self.edited.sum()),
            "matched_by": self.by,
        }

    def __str__(self) -> str:
        parts = [
            f"{self.kept} kept",
            f"{self.removed} removed",
            f"{self.new} new",
            f"{self.repeated} repeated",
        ]
        parts += [f"{int(self.relabelled.sum())} relabelled", f"{int(self.edited.sum())} edited"]
        return ", ".join(p for p in parts if not p.startswith("0 "))


def compare(before: Dataset, after: Dataset) -> Change:
    """Match the rows of `after` to those of `before`: by ids that identify them, else by features.

    The first copy of a repeated row in `after` goes to its first copy in `before`, and so on; copies beyond
    those count as repeats. Where features repeat, a copy with the same label is preferred.

    >>> before = Dataset([[1.0], [2.0], [3.0]], [0, 1, 1])
    >>> print(compare(before, before.take([0, 0, 2])))
    2 kept, 1 removed, 1 repeated
    """
    features_before, features_after = (d.row_keys(digits=DIGITS).astype(np.str_) for d in (before, after))
    by, keys_before, keys_after = "features", features_before, features_after
    if before.ids is not None and after.ids is not None and _ids_identify(before, after):
        by, keys_before, keys_after = "ids", before.ids, after.ids
    labels_before, labels_after = label_keys(before.y), label_keys(after.y)
    origin = _match(_join(keys_before, labels_before), _join(keys_after, labels_after))
    # what did not match with its label may be a relabelled row: match it by key alone, to rows still free
    free = np.setdiff1d(np.arange(len(before)), origin)
    left = np.flatnonzero(origin < 0)
    by_key = _match(keys_before[free], keys_after[left])
    found = by_key >= 0
    origin[left[found]] = free[by_key[found]]
    relabelled = np.zeros(len(after), dtype=bool)
    relabelled[left[found]] = True
    # copies beyond those that `before` has: repeats of a row with the same key, at best with the same label
    for wanted, given in (
        (_join(keys_before, labels_before), _join(keys_after, labels_after)),
        (keys_before, keys_after),
    ):
        left = np.flatnonzero(origin < 0)
        row = _first(wanted, given[left])
        left, row = left[row >= 0], row[row >= 0]
        origin[left] = row
        relabelled[left] = labels_before[row] != labels_after[left]
    edited = (origin >= 0) & (features_before[origin] != features_after)
    return Change(origin, relabelled, edited, len(before), by)


def _ids_identify(before: Dataset, after: Dataset) -> bool:
    """Whether equal ids mean the same row: not if curation renumbered rows, whose features then differ."""
    assert before.ids is not None
    assert after.ids is not None
    features_before, features_after = before.row_keys(digits=DIGITS), after.row_keys(digits=DIGITS)
    place = _first(before.ids, after.ids)
    same = (place >= 0) & (features_before[place] == features_after)
    return bool(2 * same.sum() >= np.isin(features_after, features_before).sum())


def _join(keys: NDArray[np.str_], labels: NDArray[np.str_]) -> NDArray[np.str_]:
    return np.char.add(np.char.add(keys, "\x1f"), labels)


def _first(wanted: NDArray[np.str_], given: NDArray[np.str_]) -> Rows:
    """For each of `given` the first place in `wanted` that equals it; −1 without one."""
    unique, first = np.unique(wanted, return_index=True)
    place = np.minimum(np.searchsorted(unique, given), max(len(unique) - 1, 0))
    if len(unique) == 0:
        return np.full(len(given), -1, dtype=np.intp)
    return np.where(unique[place] == given, first[place], -1)


def _match(wanted: NDArray[np.str_], given: NDArray[np.str_]) -> Rows:
    """For each of `given` the place of its own copy in `wanted`, the k-th to the k-th; −1 without one."""
    _, codes = np.unique(np.concatenate([wanted, given]), return_inverse=True)
    left, right = codes[: len(wanted)], codes[len(wanted) :]
    # number the copies of each key, then match (key, copy)
    stride = max(len(wanted), len(given)) + 1
    left_keys, right_keys = left * stride + _copy_number(left), right * stride + _copy_number(right)
    order = np.argsort(left_keys, kind="stable")
    place = np.searchsorted(left_keys[order], right_keys)
    result = np.full(len(given), -1, dtype=np.intp)
    inside = place < len(wanted)
    hit = np.zeros(len(given), dtype=bool)
    hit[inside] = left_keys[order][place[inside]] == right_keys[inside]
    result[hit] = order[place[hit]]
    return result


def _copy_number(codes: Rows) -> Rows:
    """How many equal codes stand before each: [5, 7, 5] → [0, 0, 1]."""
    order = np.argsort(codes, kind="stable")
    ordered = codes[order]
    starts = (
        np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]]) if len(codes) else np.zeros(0, dtype=int)
    )
    lengths = np.diff(np.r_[starts, len(codes)])
    numbers = np.empty(len(codes), dtype=np.intp)
    numbers[order] = np.arange(len(codes)) - np.repeat(starts, lengths)
    return numbers
