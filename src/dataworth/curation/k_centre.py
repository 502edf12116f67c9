"""Keep the rows that cover the others best: a core-set; θ → D → f(D), for it looks at the data alone."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..arrays import Array, Rows
from .base import CoreSet


@dataclass(frozen=True)
class KCentre(CoreSet):
    """Greedy k-centre: of each class, `fraction` of its rows, each the farthest from those chosen before it.

    The largest distance of a row from the nearest chosen one is at most twice what any choice of so many
    rows could reach (Gonzalez 1985). It starts at the row nearest to the class's mean; distances are between
    standardised rows. Class by class, so that the ratio of classes stays; numeric labels are taken together.

    >>> from dataworth import Dataset
    >>> data = Dataset([[0.0], [0.1], [0.2], [9.0]], [0, 0, 0, 0])
    >>> KCentre(0.5)(data).X.ravel().tolist()
    [0.2, 9.0]
    """

    name = "k-centre"
    what = "keep, of each class, the rows that cover it best (greedy k-centre core-set)"

    @staticmethod
    def choose(X: Array, weights: Array, count: int) -> Rows:
        """Places of the rows, one after the other."""
        chosen = [int(((X - X.mean(axis=0)) ** 2).sum(axis=1).argmin())]
        nearest = np.full(len(X), np.inf)
        while len(chosen) < count:
            nearest = np.minimum(nearest, ((X - X[chosen[-1]]) ** 2).sum(axis=1))
            # below any distance: copies of a chosen row come before the row itself
            nearest[chosen[-1]] = -1.0
            chosen.append(int(nearest.argmax()))
        return np.array(chosen)
