"""Keep rows whose mean is that of all: a core-set; θ → D → f(D), for it looks at the data alone."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..arrays import Array, Rows
from .base import CoreSet


@dataclass(frozen=True)
class Herding(CoreSet):
    """Herding: of each class, `fraction` of its rows, chosen so that their mean stays near the class's mean.

    The next row is the one that makes |Σ w·(x − μ)| over the rows chosen smallest (Welling 2009, without
    replacement, as in iCaRL), on standardised rows; w are row weights, if there are any. Class by class, so
    that the ratio of classes stays; numeric labels are taken together.

    >>> from dataworth import Dataset
    >>> data = Dataset([[-3.0], [-1.0], [0.0], [1.0], [3.0]], [0, 0, 0, 0, 0])
    >>> Herding(0.6)(data).X.ravel().tolist()
    [-1.0, 0.0, 1.0]
    """

    name = "herding"
    what = "keep, of each class, rows whose mean is the class's mean (herding core-set)"

    @staticmethod
    def choose(X: Array, weights: Array, count: int) -> Rows:
        """Places of the rows, one after the other."""
        total = weights.sum()
        share = weights / total if total > 0 else np.full(len(X), 1 / len(X))
        moves = (X - share @ X) * (share * len(X))[:, None]
        lengths = (moves**2).sum(axis=1)
        free = np.ones(len(X), dtype=bool)
        off = np.zeros(X.shape[1])
        chosen: list[int] = []
        while len(chosen) < count:
            # |off + move|² without what is the same for all rows
            after = np.where(free, lengths + 2 * moves @ off, np.inf)
            chosen.append(int(after.argmin()))
            free[chosen[-1]] = False
            off = off + moves[chosen[-1]]
        return np.array(chosen)
