"""Remove rows known to be bad: the signal that knows is new information, so this is not strategic."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..data import Dataset
from ..errors import DataworthError
from .base import Method


@dataclass(frozen=True)
class RemoveRows(Method):
    """Drop the rows that `bad` marks (a boolean per row), or all of one `group`.

    A group belongs to its row, so that it can be removed from any part of the data; `bad` is for one dataset.

    >>> RemoveRows([True, False])(Dataset([[0.0], [1.0]], [0, 1])).y.tolist()
    [1]
    >>> RemoveRows(group="shaky")(Dataset([[0.0], [1.0]], [0, 1], groups=["good", "shaky"])).y.tolist()
    [0]
    """

    bad: Any = None
    group: str | None = None

    name: ClassVar[str] = "remove-rows"
    what: ClassVar[str] = "remove rows known to be bad: those of a group"
    strategic: ClassVar[bool | None] = False
    why: ClassVar[str] = "who knows which rows are bad knows more than the data say"

    def __post_init__(self) -> None:
        if (self.bad is None) == (self.group is None):
            raise DataworthError("give either bad (a boolean per row) or group (the group to remove).")

    def __call__(self, data: Dataset) -> Dataset:
        """The good rows."""
        if self.group is not None:
            if data.groups is None:
                raise DataworthError(
                    "the data have no groups; removing one needs a group column: groups= or --group."
                )
            return data.take(data.groups != self.group)
        bad = np.asarray(self.bad, dtype=bool)
        if bad.shape != (len(data),):
            raise DataworthError(
                f"bad has shape {bad.shape}; it must have one entry for each of {len(data)} rows."
            )
        return data.take(~bad)
