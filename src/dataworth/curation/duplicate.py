"""Repeat every row: θ → D → f(D); it says nothing new, only louder."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..data.dataset import Dataset
from ..errors import DataworthError
from .base import Method


@dataclass(frozen=True)
class Duplicate(Method):
    """Every row `times` times.

    >>> len(Duplicate(3)(Dataset([[0.0], [1.0]], [0, 1])))
    6
    """

    times: int = 2

    name: ClassVar[str] = "duplicate"
    what: ClassVar[str] = "repeat every row"
    strategic: ClassVar[bool | None] = True
    why: ClassVar[str] = "it says nothing new, only louder"

    def __post_init__(self) -> None:
        if self.times < 1:
            raise DataworthError(f"times is {self.times!r}; it must be 1 or more.")

    def __call__(self, data: Dataset) -> Dataset:
        """The rows, then the rows again."""
        return data.take(np.tile(np.arange(len(data)), self.times))
