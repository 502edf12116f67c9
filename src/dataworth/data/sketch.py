"""How many different rows a file has, and how many repeat, in memory that does not grow with it.

Of all rows the `SIZE` smallest of their hashes are kept, with how often each was seen. A row that is kept at
the end was kept from the beginning, so that its count is exact. Of up to `SIZE` different rows all are kept;
of more, the largest hash kept tells how many there are, to one part in √SIZE.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..arrays import Rows
from .dataset import Dataset

SIZE = 1 << 16
"""Different rows that are counted one by one; of more, their number is known to 0.4 %."""
MIXED = np.uint64(0x9E3779B97F4A7C15)


class Sketch(NamedTuple):
    """The smallest hashes of rows, ascending, how often each was seen, and how many rows there were.

    >>> sketch = Sketch.of(Dataset([[1.0], [2.0], [1.0]], [0, 1, 1]))
    >>> sketch.rows, sketch.distinct, sketch.repeating
    (3, 2.0, 2.0)
    """

    hashes: NDArray[np.uint64]
    times: Rows
    rows: int

    @classmethod
    def of(cls, data: Dataset) -> Sketch:
        """Of one dataset, by its features."""
        return cls._of(row_hashes(data), np.ones(len(data), dtype=np.intp), len(data))

    @classmethod
    def joined(cls, parts: Iterable[Sketch]) -> Sketch:
        """Of all rows of several."""
        empty = cls(np.zeros(0, dtype=np.uint64), np.zeros(0, dtype=np.intp), 0)
        several = [empty, *parts]
        hashes, times = (np.concatenate([part[k] for part in several]) for k in (0, 1))
        return cls._of(hashes, times, sum(part.rows for part in several))

    @classmethod
    def _of(cls, hashes: NDArray[np.uint64], times: Rows, rows: int) -> Sketch:
        known, place = np.unique(hashes, return_inverse=True)
        seen = np.bincount(place, weights=times, minlength=len(known)).astype(np.intp)
        return cls(known[:SIZE], seen[:SIZE], rows)

    @property
    def full(self) -> bool:
        """Whether there may be more different rows than are kept."""
        return len(self.hashes) == SIZE

    @property
    def distinct(self) -> float:
        """How many different rows there are."""
        if not self.full:
            return float(len(self.hashes))
        return min((SIZE - 1) / (float(self.hashes[-1]) / 2.0**64), float(self.rows))

    @property
    def repeating(self) -> float:
        """Rows that have an equal among the others."""
        often = self.times[self.times > 1].sum()
        return self.rows * float(often) / max(float(self.times.sum()), 1.0)


def row_hashes(data: Dataset) -> NDArray[np.uint64]:
    """A number for each row, the same for the same features, as `Dataset.row_keys` compares them."""
    weights = np.random.default_rng(0x5EED).integers(0, 2**63, data.n_features, dtype=np.uint64) * 2 + 1
    found = [np.zeros(0, dtype=np.uint64)]
    for bits in data._canonical_bits():
        mixed = bits ^ (bits >> np.uint64(32))  # small whole numbers differ in their upper bits only
        mixed *= weights
        total = np.bitwise_xor.reduce(mixed ^ (mixed >> np.uint64(29)), axis=1) * MIXED
        found.append(total ^ (total >> np.uint64(32)))
    return np.concatenate(found)
