"""Add rows from outside: new information about θ, if their labels were made by the world."""

from __future__ import annotations

from dataclasses import dataclass

from ..data import Dataset


@dataclass(frozen=True)
class AddRows:
    """The data, then `rows`.

    >>> data = Dataset([[0.0]], [0])
    >>> len(AddRows(Dataset([[1.0], [2.0]], [1, 1]))(data))
    3
    """

    rows: Dataset

    def __call__(self, data: Dataset) -> Dataset:
        """Both, one below the other."""
        return Dataset.concat([data, self.rows])
