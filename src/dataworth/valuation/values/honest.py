"""An audit of rows that values chose: by values on one half of the test set, on the other half."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ...data.dataset import Dataset
from ...errors import DataworthError
from ...measure.designs import blocks_of_groups, group_codes
from ...measure.options import Options
from ...wording import counted
from .guard import COLUMNS, Stored, chosen_by, first_rows, load_values, refuse_chosen, removed_rows
from .values import Values, values

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


def guarded(
    before: Dataset, after: Dataset, test: Dataset, options: Options
) -> tuple[Dataset, Dataset, tuple[str, ...]]:
    """`after` and the test set to audit on, with notes; a sentence if values chose rows by this test set."""
    stored = stored_in(options.values)
    if not options.honest:
        refuse_chosen(stored, before, after, test)
        return after, test, ()
    gone = len(removed_rows(before, after))
    if not gone:
        raise DataworthError("honest chooses rows to leave out, as many as `after` lacks, but it lacks none.")
    column = next((name for one in stored if (name := chosen_by(one, before, after)) is not None), None)
    after, half = honest_halves(before, after, test, column, options.seed)
    how = f"{counted(gone, 'row')} left out by {column or BY} on {len(test) - len(half)} test rows"
    return after, half, (f"{how}, not those of the file: audited on the other {len(half)}",)


def stored_in(given: Values | str | Path | Sequence[Stored] | None) -> list[Stored]:
    """Files of values, or values at hand, in one form; a sentence for what is no such file."""
    if given is None:
        return []
    if isinstance(given, Values):
        return [Stored.of(given)]
    if isinstance(given, str | Path):
        found = load_values(Path(given))
        if found is None:
            raise DataworthError(f"{given} is no file of values: give one of 'dataworth values -o FILE'.")
        return [found]
    return list(given)
