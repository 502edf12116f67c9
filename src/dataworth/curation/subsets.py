"""Keep some of the rows: at random, as a core-set, or drawn with replacement; θ → D → f(D)."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ..arrays import Array, Rows
from ..data.dataset import Dataset
from .base import FRACTION, CoreSet, Method, at_least, chance


@dataclass(frozen=True)
class RandomSubset(Method):
    """Keep `fraction` of the rows, chosen at random.

    >>> data = Dataset(np.arange(4.0)[:, None], [0, 1, 0, 1])
    >>> len(RandomSubset(0.5)(data))
    2
    """

    fraction: float = field(default=0.5, metadata=FRACTION)

    name = "random-subset"
    what = "keep a random proportion of the rows"
    strategic = True
    why = "chance alone decides which rows go"

    def __call__(self, data: Dataset, *, rng: np.random.Generator | None = None) -> Dataset:
        """The rows kept, in their old order; at least one."""
        keep = max(1, round(self.fraction * len(data)))
        return data.take(np.sort(chance(rng).permutation(len(data))[:keep]))


@dataclass(frozen=True)
class KCentre(CoreSet):
    """Greedy k-centre: of each class, `fraction` of its rows, each the farthest from those chosen before it.

    The largest distance of a row from the nearest chosen one is at most twice what any choice of so many
    rows could reach (Gonzalez 1985). It starts at the row nearest to the class's mean.

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


@dataclass(frozen=True)
class Herding(CoreSet):
    """Herding: of each class, `fraction` of its rows, chosen so that their mean stays near the class's mean.

    The next row is the one that makes |Σ w·(x − μ)| over the rows chosen smallest (Welling 2009, without
    replacement, as in iCaRL); w are row weights, if there are any.

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


@dataclass(frozen=True)
class Resample(Method):
    """The bootstrap: `size` rows drawn with replacement (default: as many as there are).

    Rows bring their weights along; the weights do not decide how often they are drawn.

    >>> data = Dataset(np.arange(5.0)[:, None], [0, 1, 0, 1, 0])
    >>> len(Resample()(data))
    5
    """

    size: int | None = field(default=None, metadata=at_least(1))

    name = "resample"
    what = "draw rows with replacement (the bootstrap)"
    strategic = True
    why = "chance alone decides which rows go and which are repeated"

    def __call__(self, data: Dataset, *, rng: np.random.Generator | None = None) -> Dataset:
        """The rows drawn, in their old order."""
        return data.take(np.sort(chance(rng).integers(len(data), size=self.size or len(data))))
