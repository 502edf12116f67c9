"""Keep a random share of the rows: θ → D → f(D), strategic in the paper's sense, and the plainest loss."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..data import Dataset
from ..errors import DataworthError


@dataclass(frozen=True)
class RandomSubset:
    """Keep `fraction` of the rows, chosen at random.

    >>> data = Dataset(np.arange(4.0)[:, None], [0, 1, 0, 1])
    >>> len(RandomSubset(0.5)(data, rng=np.random.default_rng(0)))
    2
    """

    fraction: float = 0.5

    def __post_init__(self) -> None:
        if not 0 < self.fraction <= 1:
            raise DataworthError(f"fraction is {self.fraction!r}; it must lie above 0 and at most at 1.")

    def __call__(self, data: Dataset, *, rng: np.random.Generator) -> Dataset:
        """The rows kept, in their old order; at least one."""
        keep = max(1, round(self.fraction * len(data)))
        return data.take(np.sort(rng.permutation(len(data))[:keep]))
