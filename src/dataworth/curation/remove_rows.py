"""Remove rows known to be bad: the signal that knows is new information, so this is not strategic."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..data import Dataset
from ..errors import DataworthError


@dataclass(frozen=True)
class RemoveRows:
    """Drop the rows that `bad` marks (a boolean per row).

    >>> RemoveRows([True, False])(Dataset([[0.0], [1.0]], [0, 1])).y.tolist()
    [1]
    """

    bad: Any

    def __call__(self, data: Dataset) -> Dataset:
        """The good rows."""
        bad = np.asarray(self.bad, dtype=bool)
        if bad.shape != (len(data),):
            raise DataworthError(
                f"bad has shape {bad.shape}; it must have one entry for each of {len(data)} rows."
            )
        return data.take(~bad)
