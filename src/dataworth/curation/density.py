"""Flatten the density of the rows, or keep a peak of it; θ → D → f(D), by the features alone."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from ..arrays import Array, Rows
from ..data.dataset import Dataset
from ..data.rows import copy_number
from .base import FRACTION, Method, at_least, chance, limit, points
from .diversity import unit_rows


@dataclass(frozen=True)
class Smooth(Method):
    """Keep `fraction` of the rows, as many from each of `clusters` clusters of k-means.

    Rows are standardised. A cluster with fewer rows than its part gives all, and the others more.

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
        return data.take(smooth_rows(points(data), _count(self, data), self.clusters, chance(rng)))


def smooth_rows(X: Array, count: int, clusters: int, rng: np.random.Generator) -> Rows:
    """Places of `count` rows, drawn in turns from the clusters of k-means, each in random order."""
    from sklearn.cluster import KMeans

    seed = int(rng.integers(2**31))
    few = min(clusters, len(np.unique(X, axis=0)))
    member = KMeans(few, n_init=1, random_state=seed).fit(X).labels_
    order = rng.permutation(len(X))
    # rows of one turn are from different clusters; the last turn is cut at random
    ranked = order[np.argsort(copy_number(member[order]), kind="stable")]
    return np.sort(ranked[:count])


THRESHOLD = 0.8
"""The paper's τ."""


@dataclass(frozen=True)
class Peak(Method):
    """Keep `fraction` of the rows: a random one, then always the one most similar to any kept before.

    Similarity is the cosine of standardised rows, and above `threshold` as long as the rows allow; where they
    cannot fill the set so, the threshold is lowered to what fills it, and the curation says which that was.

    >>> around = Dataset([[1.0, 0.0], [1.0, 0.1], [0.0, 1.0], [0.1, 1.0]], [0, 1, 0, 1])
    >>> len(Peak(0.5)(around)), str(Peak(0.75).bound(around))
    (2, 'peak:fraction=0.75,threshold=-0.994')
    """

    fraction: float = field(default=0.5, metadata=FRACTION)
    threshold: float = field(default=THRESHOLD, metadata=limit(lambda v: -1 <= v < 1, "lie between -1 and 1"))

    name = "peak"
    what = "keep rows that are like one another (greedy, by cosine)"
    strategic = True
    why = "it looks at the data alone and only removes rows"

    def __call__(self, data: Dataset, *, rng: np.random.Generator | None = None) -> Dataset:
        """The rows kept, in their old order; at least one."""
        return data.take(peak_rows(points(data), _count(self, data), self.threshold, chance(rng))[0])

    def bound(self, data: Dataset) -> Peak:
        """With the threshold that fills the set on these data."""
        _, reached = peak_rows(points(data), _count(self, data), self.threshold, chance(None))
        return replace(self, threshold=reached)


def _count(f: Smooth | Peak, data: Dataset) -> int:
    return max(1, round(f.fraction * len(data)))


def peak_rows(X: Array, count: int, threshold: float, rng: np.random.Generator) -> tuple[Rows, float]:
    """Places of `count` rows, and the threshold that filled the set: the one given, or the lowest cosine."""
    unit = unit_rows(X)
    chosen = [int(rng.integers(len(X)))]
    nearest = np.full(len(X), -np.inf)
    reached = threshold
    for _ in range(min(count, len(X)) - 1):
        nearest = np.maximum(nearest, unit @ unit[chosen[-1]])
        nearest[chosen] = -np.inf
        chosen.append(int(nearest.argmax()))
        reached = min(reached, float(nearest[chosen[-1]]))
    reached = threshold if reached >= threshold else np.floor(1000 * reached) / 1000
    return np.sort(chosen), float(max(reached, -1.0))
