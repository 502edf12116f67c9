"""What core-sets share: of each class a fraction of its rows, chosen from the rows themselves."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from ..arrays import Rows
from ..data.dataset import Dataset
from .base import FRACTION, Method
from .features import points, strata


@dataclass(frozen=True)
class CoreSet(Method):
    """`fraction` of the rows of each class, so that the ratio of classes stays; at least one of each.

    Rows are standardised (`points`); numeric labels are taken together. `choose` says which rows stay.
    """

    choose: ClassVar[Callable[..., Rows]]
    """Places of so many of the rows of one class, by features and weights."""
    fraction: float = field(default=0.5, metadata=FRACTION)

    strategic = True
    why = "it looks at the data alone and only removes rows"

    def __call__(self, data: Dataset) -> Dataset:
        """The rows chosen, in their old order."""
        X = points(data)
        weights = np.ones(len(data)) if data.weights is None else data.weights
        chosen = [
            rows[self.choose(X[rows], weights[rows], max(1, round(self.fraction * len(rows))))]
            for rows in strata(data)
        ]
        return data.take(np.sort(np.concatenate(chosen)))
