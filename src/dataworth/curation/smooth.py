"""Flatten the density of the rows: as many from each of k clusters; θ → D → f(D), by the features alone."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ..arrays import Array, Rows
from ..data.dataset import Dataset
from .base import FRACTION, Method, at_least, chance
from .features import points


@dataclass(frozen=True)
class Smooth(Method):
    """Keep `fraction` of the rows, as many from each of `clusters` clusters of k-means.

    Rows are standardised before they are compared. A cluster with fewer rows than its part gives all, and the
    others more.

    >>> crowd = Dataset([[0.0]] * 8 + [[9.0]] * 2, [0, 1] * 5)
    >>> sorted(Smooth(0.4, clusters=2)(crowd).X.ravel().tolist())
    [0.0, 0.0, 9.0, 9.0]
    """

    fraction: float = field(default=0.5, metadata=FRACTION)
    clusters: int = field(default=20, metadata=at_least(1))

    name = "smooth"
    what = "keep rows spread evenly over clusters (k-means, equal draws)"
    strategic = True
    why = "it looks at the data alone and only removes rows"

    def __call__(self, data: Dataset, *, rng: np.random.Generator | None = None) -> Dataset:
        """The rows kept, in their old order; at least one."""
        keep = max(1, round(self.fraction * len(data)))
        return data.take(smooth_rows(points(data), keep, self.clusters, chance(rng)))


def smooth_rows(X: Array, count: int, clusters: int, rng: np.random.Generator) -> Rows:
    """Places of `count` rows, drawn in turns from the clusters of k-means, each in random order."""
    from sklearn.cluster import KMeans

    seed = int(rng.integers(2**31))
    few = min(clusters, len(np.unique(X, axis=0)))
    member = KMeans(few, n_init=1, random_state=seed).fit(X).labels_
    order = rng.permutation(len(X))
    turn = np.empty(len(X), dtype=np.intp)
    for cluster in range(few):
        own = order[member[order] == cluster]
        turn[own] = np.arange(len(own))
    # rows of one turn are from different clusters; the last turn is cut at random
    ranked = order[np.argsort(turn[order], kind="stable")]
    return np.sort(ranked[:count])
