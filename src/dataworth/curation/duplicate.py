"""Repeat every row: θ → D → f(D); it says nothing new, only louder."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ..data.dataset import Dataset
from .base import Method, at_least


@dataclass(frozen=True)
class Duplicate(Method):
    """Every row `times` times.

    >>> len(Duplicate(3)(Dataset([[0.0], [1.0]], [0, 1])))
    6
    """

    times: int = field(default=2, metadata=at_least(1))

    name = "duplicate"
    what = "repeat every row"
    strategic = True
    why = "it says nothing new, only louder"

    def __call__(self, data: Dataset) -> Dataset:
        """The rows, then the rows again."""
        return data.take(np.tile(np.arange(len(data)), self.times))
