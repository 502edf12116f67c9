"""Add rows from outside: new information about θ, if their labels were made by the world."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..data.dataset import Dataset
from ..wording import counted
from .base import Method
from .deduplicate import codes_with_labels


@dataclass(frozen=True)
class AddRows(Method):
    """The data, then `rows`.

    >>> data = Dataset([[0.0]], [0])
    >>> len(AddRows(Dataset([[1.0], [2.0]], [1, 1]))(data))
    3
    """

    rows: Dataset

    name = "add-rows"
    what = "add the rows of a file"
    strategic = False
    why = "rows that the world labelled are new observations of θ"
    design = "whole"

    def __call__(self, data: Dataset) -> Dataset:
        """Both, one below the other."""
        return Dataset.concat([data, self.rows])

    def said(self, data: Dataset) -> tuple[bool | None, str]:
        """Rows that stand in the data already, features and label, are no new observations."""
        codes = codes_with_labels(self(data))
        there, added = int(np.isin(codes[len(data) :], codes[: len(data)]).sum()), len(self.rows)
        if not there:
            return self.strategic, self.why
        verb, pronoun = ("stands", "it is a repeat") if there == 1 else ("stand", "they are repeats")
        repeats = f"{there} of {counted(added, 'added row')} already {verb} in the data: {pronoun}, not new"
        return (True, repeats) if there == added else (self.strategic, f"{self.why}; but {repeats}")
