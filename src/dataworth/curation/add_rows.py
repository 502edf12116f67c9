"""Add rows from outside: new information about θ, if their labels were made by the world."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ..data import Dataset
from .base import Method


@dataclass(frozen=True)
class AddRows(Method):
    """The data, then `rows`.

    >>> data = Dataset([[0.0]], [0])
    >>> len(AddRows(Dataset([[1.0], [2.0]], [1, 1]))(data))
    3
    """

    rows: Dataset

    name: ClassVar[str] = "add-rows"
    what: ClassVar[str] = "add the rows of a file"
    strategic: ClassVar[bool | None] = False
    why: ClassVar[str] = "rows that the world labelled are new observations of θ"

    def __call__(self, data: Dataset) -> Dataset:
        """Both, one below the other."""
        return Dataset.concat([data, self.rows])
