"""Draw rows with replacement: θ → D → f(D), a subset and repeats of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..data.dataset import Dataset
from ..errors import DataworthError
from .base import Method


@dataclass(frozen=True)
class Resample(Method):
    """The bootstrap: `size` rows drawn with replacement (default: as many as there are).

    Rows bring their weights along; the weights do not decide how often they are drawn.

    >>> data = Dataset(np.arange(5.0)[:, None], [0, 1, 0, 1, 0])
    >>> len(Resample()(data, rng=np.random.default_rng(0)))
    5
    """

    size: int | None = None

    name: ClassVar[str] = "resample"
    what: ClassVar[str] = "draw rows with replacement (the bootstrap)"
    strategic: ClassVar[bool | None] = True
    why: ClassVar[str] = "chance alone decides which rows go and which are repeated"

    def __post_init__(self) -> None:
        if self.size is not None and self.size < 1:
            raise DataworthError(f"size is {self.size!r}; it must be 1 or more.")

    def __call__(self, data: Dataset, *, rng: np.random.Generator) -> Dataset:
        """The rows drawn, in their old order."""
        size = len(data) if self.size is None else self.size
        return data.take(np.sort(rng.integers(len(data), size=size)))
