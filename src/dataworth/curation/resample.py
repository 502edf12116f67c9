"""Draw rows with replacement: θ → D → f(D), a subset and repeats of it."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ..data.dataset import Dataset
from .base import Method, at_least, chance


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
        size = len(data) if self.size is None else self.size
        return data.take(np.sort(chance(rng).integers(len(data), size=size)))
