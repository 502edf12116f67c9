"""Keep one of each set of equal rows.

f looks at the data alone, and a copy says nothing new, so nothing is lost. But a model takes each row for a
new observation: where copies came about by accident it was too sure of itself, and its score may rise.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..arrays import Rows
from ..data.dataset import Dataset, label_keys
from ..data.rows import copy_number, same_rows
from .base import Method

DIGITS = 6
"""Digits to which features are compared: copies may have been stored in single precision."""


@dataclass(frozen=True)
class Deduplicate(Method):
    """The first of each set of rows with the same features (to 6 digits) and the same label.

    Weights are not added up: the copies are taken for one observation, which counts once, as the first does.
    Rows that differ in their label only are no copies, and stay.

    >>> Deduplicate()(Dataset([[1.0], [2.0], [1.0], [1.0]], [0, 1, 0, 1])).y.tolist()
    [0, 1, 1]
    """

    name = "deduplicate"
    what = "keep one of each set of equal rows"
    strategic = None
    why = (
        "it looks at the data alone and a copy holds nothing new; but where copies came about by accident, "
        "a model that takes them for new rows was too sure, and may be worth more without them"
    )

    def __call__(self, data: Dataset) -> Dataset:
        """The first copies, in their old order."""
        return data.take(copy_number(codes_with_labels(data)) == 0)


def codes_with_labels(data: Dataset) -> Rows:
    """A number for each row: equal for rows with the same features and the same label."""
    labels = np.unique(label_keys(data.y), return_inverse=True)[1]
    return same_rows(data, digits=DIGITS)[0] * (1 + len(data)) + labels
