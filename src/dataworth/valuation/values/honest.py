"""An audit of rows that values chose: by values on one half of the test set, on the other half."""

from __future__ import annotations

import numpy as np

from ...data.dataset import Dataset
from ...measure.designs import blocks_of_groups, group_codes
from .guard import COLUMNS, first_rows, removed_rows
from .values import values

BY = "p_wrong"
"""What rows are chosen by where no file of values says it."""


def honest_halves(
    before: Dataset, after: Dataset, test: Dataset, column: str | None, seed: int
) -> tuple[Dataset, Dataset]:
    """As many rows removed as in `after`, by values on one half of the test set; and the other half."""
    rng = np.random.default_rng([seed, 0xF01D])
    groups = group_codes(test.groups)
    deal = rng.permutation(len(test)) % 2 if groups is None else blocks_of_groups(groups, 2, rng)
    column = column or BY
    found = values(before, test.take(deal == 0), seed=seed).rows
    gone = first_rows(getattr(found, column), COLUMNS[column], len(removed_rows(before, after)))
    return before.take(np.setdiff1d(np.arange(len(before)), gone)), test.take(deal == 1)
