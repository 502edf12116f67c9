"""Keep a random proportion of the rows: θ → D → f(D), strategic in the paper's sense; the plainest loss."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ..data.dataset import Dataset
from .base import FRACTION, Method, chance


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
