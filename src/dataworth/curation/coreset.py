"""What core-sets share: of each class a fraction of its rows, chosen from the rows themselves."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..arrays import Array, Rows
from ..data.dataset import Dataset
from .base import Method, check_fraction
from .features import points, strata


@dataclass(frozen=True)
class CoreSet(Method):
    """`fraction` of the rows of each class, so that the ratio of classes stays; at least one of each.

    Rows are standardised (`points`); numeric labels are taken together. `choose` says which rows stay.
    """

    fraction: float = 0.5

    strategic = True
    why = "it looks at the data alone and only removes rows"

    def __post_init__(self) -> None:
        check_fraction(self.fraction)

    def __call__(self, data: Dataset) -> Dataset:
        """The rows chosen, in their old order."""
        X = points(data)
        weights = np.ones(len(data)) if data.weights is None else data.weights
        chosen = [
            rows[self.choose(X[rows], weights[rows], max(1, round(self.fraction * len(rows))))]
            for rows in strata(data)
        ]
        return data.take(np.sort(np.concatenate(chosen)))

    @staticmethod
    def choose(X: Array, weights: Array, count: int) -> Rows:
        """Places of `count` of the rows of one class."""
        raise NotImplementedError
