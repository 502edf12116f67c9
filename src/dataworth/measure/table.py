"""What came out, pair by pair and arm by arm."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ..arrays import Array
from .designs import Arm
from .metrics import METRICS

COLUMNS = ("pmi", "accuracy", "information_gain", "data_rows", *METRICS, "unsettled")
"""What `evaluate.Scores` says of an arm, in this order; of numeric labels and of controls there are no
metrics."""


def _column(name: str) -> Any:
    """A column of scores as an attribute of the table."""
    return property(lambda table: table.values[:, :, COLUMNS.index(name)])


@dataclass(frozen=True, kw_only=True)
class PairTable:
    """One row a pair (or block): what a visitor said of each arm (pairs × arms × numbers).

    `pmi`, `accuracy`, `information_gain`, `data_rows`, `unsettled` (fits whose solver did not converge) and
    those of `metrics` are pairs × arms. `log_z_test` is log p(T_j) before any data; `reference` what labels
    alone tell, the zero of `pmi` (`measure.labels_alone`); `test_rows` count by their weights. `units`: the
    same numbers of what the test set was drawn in, its rows or groups, on the scale of blocks (units × arms ×
    numbers); estimates are over these, whatever the blocks. `tempering` is how many times each arm's rows
    count where it fares best, `plain` its mean log p of a test row if rows count as given. `by_row`: of arms
    whose test rows are predicted one by one, log p of each, whether it is right, what it gains by a step of
    the tempering and how far it moved it (`evidence.tempering.pulls`), in the order of the test set.
    """

    arms: tuple[Arm, ...]
    values: Array
    log_z_test: Array
    test_rows: Array
    reference: Array = field(default_factory=lambda: np.zeros(0))
    tempering: dict[Arm, float] = field(default_factory=dict)
    plain: dict[Arm, float] = field(default_factory=dict)
    units: Array | None = None
    by_row: dict[Arm, Array] = field(default_factory=dict)
    pmi, accuracy, information_gain, data_rows = map(_column, COLUMNS[:4])
    balanced_accuracy, auc, log_loss, unsettled = map(_column, COLUMNS[4:])

    @classmethod
    def of(cls, arms: tuple[Arm, ...], rows: Sequence[dict[str, Any]]) -> PairTable:
        """From what the loop keeps."""
        values, *test = (
            np.array([row[name] for row in rows], dtype=float) for name in ("arms", "log_z_test", "test_rows")
        )
        return cls(arms=arms, values=values, log_z_test=test[0], test_rows=test[1])

    def of_size(self, pairs: int) -> PairTable:
        """The table, if it has so many pairs and every column; a ValueError otherwise."""
        shapes = self.values.shape, self.log_z_test.shape, self.test_rows.shape
        if shapes != ((pairs, len(self.arms), len(COLUMNS)), (pairs,), (pairs,)):
            raise ValueError(f"a table of shapes {shapes}")
        return self

    def __len__(self) -> int:
        return len(self.values)

    @property
    def drawn(self) -> Array:
        """What estimates are over: units of the test set, or pairs (each × arms × numbers)."""
        return self.values if self.units is None else self.units

    def column(self, name: str, arm: Arm | str) -> Array:
        """One column of one arm, which may be given by its name: over units, or pairs."""
        place = [str(one) for one in self.arms].index(str(arm))
        return np.asarray(self.drawn[:, place, COLUMNS.index(name)])

    def change(self, name: str, arm: Arm | str, reference: Arm | str) -> Array:
        """A column of one arm minus that of another, unit by unit or pair by pair."""
        return self.column(name, arm) - self.column(name, reference)

    def of_role(self, name: str, role: str) -> Array:
        """A column of all arms of a role: units or pairs × arms."""
        places = [arm.role == role for arm in self.arms]
        return np.asarray(self.drawn[:, places, COLUMNS.index(name)])

    def with_column(self, name: str, values: Array | list[int] | list[float]) -> PairTable:
        """The same table with other values in a column (pairs × arms, or one an arm), and without units."""
        table = self.values.copy()
        table[:, :, COLUMNS.index(name)] = values
        return replace(self, values=table, units=None)

    def first(self, pairs: int) -> PairTable:
        """The first few pairs, if there are more."""
        names = ("values", "log_z_test", "test_rows", "reference")
        some = {name: getattr(self, name)[:pairs] for name in names}
        return self if pairs >= len(self) else replace(self, **some, units=None)

    def beside(self, other: PairTable) -> PairTable:
        """The same pairs with the arms of another table too."""
        return replace(
            self,
            arms=self.arms + other.arms,
            values=np.concatenate([self.values, other.values], axis=1),
            units=None if self.units is None else np.concatenate([self.units, other.drawn], axis=1),
            tempering=self.tempering | other.tempering,
            plain=self.plain | other.plain,
            by_row=self.by_row | other.by_row,
        )
