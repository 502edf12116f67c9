"""Make the data look like the test set: the paper's strategic removal.

Rows are removed until the attribute × label groups stand in the test set's ratios. If the attribute says
nothing of the label given the features, θ → D → f(D): the benchmark may rise, the information cannot.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..data import Dataset, label_keys
from ..errors import DataworthError


@dataclass(frozen=True)
class MatchGroups:
    """The largest subset of the data whose attribute × label groups have the test set's ratios.

    >>> data = Dataset(np.zeros((4, 1)), [0, 0, 1, 1], groups=["a", "b", "a", "b"])
    >>> test = Dataset(np.zeros((2, 1)), [0, 1], groups=["a", "b"])
    >>> MatchGroups()(data, test, rng=np.random.default_rng(0)).groups.tolist()
    ['a', 'b']
    """

    def __call__(self, data: Dataset, test: Dataset, *, rng: np.random.Generator) -> Dataset:
        """A random choice within each group, in the old order of rows."""
        own, wanted = cells(data, "the data"), cells(test, "the test set")
        names, counts = np.unique(wanted, return_counts=True)
        have = np.array([(own == name).sum() for name in names])
        if not have.all():
            missing = names[have == 0][0].replace("\x1f", " × ")
            raise DataworthError(
                f"the data have no rows of group {missing}, which the test set has: add some."
            )
        keep = np.floor((have / counts).min() * counts + 1e-9).astype(int)
        chosen = [rng.permutation(np.flatnonzero(own == n))[:k] for n, k in zip(names, keep, strict=True)]
        return data.take(np.sort(np.concatenate(chosen)))


def cells(data: Dataset, what: str) -> NDArray[np.str_]:
    """Attribute and label of each row as one text."""
    if data.groups is None:
        raise DataworthError(
            f"{what} have no groups; matching them needs a group column: groups= or --group."
        )
    return np.char.add(np.char.add(data.groups, "\x1f"), label_keys(data.y))
