"""Test rows that also stand in the data: they would be scored on what they taught."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ..arrays import Rows
from ..errors import DataworthError
from ..wording import counted
from .dataset import Dataset

MOST_LEAKED = 0.05
DIGITS = 5
"""Digits to which features are compared: copies come rounded, or in single precision."""
IDENTIFYING = 0.99
"""Rows identify themselves by their features if at least this share of the test rows is distinct."""


@dataclass(frozen=True)
class Leaks:
    """Places of the test rows that are kept, how many were dropped, and a note for the user."""

    kept: Rows
    dropped: int
    note: str | None


def drop_leaks(test: Dataset, data: Mapping[str, Dataset]) -> Leaks:
    """Drop test rows that occur in any of the datasets; refuse if more than 5 % do.

    Rows are compared by features: ids are often mere row numbers, which every file starts anew. Only where
    features of test rows repeat among themselves (a few categories, say), so that equal features do not mean
    the same row, ids are asked.
    """
    leaked = np.zeros(len(test), dtype=bool)
    keys = test.row_keys(digits=DIGITS)
    identifying = len(np.unique(keys)) >= IDENTIFYING * len(keys)
    where: dict[str, int] = {}
    for name, part in data.items():
        found = np.zeros(len(test), dtype=bool)
        if identifying:
            found |= np.isin(keys, part.select(test.columns).row_keys(digits=DIGITS))
        elif test.ids is not None and part.ids is not None:
            found |= np.isin(test.ids, part.ids)
        leaked |= found
        where[name] = int(found.sum())
    dropped = int(leaked.sum())
    if dropped > MOST_LEAKED * len(test):
        worst = max(where, key=lambda n: where[n])
        raise DataworthError(
            f"{dropped} of {len(test)} test rows ({dropped / len(test):.0%}) also stand in {worst}; "
            "what was learned from cannot test: remove those rows from the data or from the test set."
        )
    note = None
    if dropped:
        note = f"{counted(dropped, 'test row')} also in the data left out"
    elif not identifying and not all(p.ids is not None for p in (test, *data.values())):
        note = "test rows repeat among themselves, so features cannot show leaked rows: give ids (--id)"
    return Leaks(np.flatnonzero(~leaked), dropped, note)
