"""Make the data look like the test set: the paper's strategic removal.

Rows are removed until the attribute × label groups stand in the test set's ratios. If the attribute says
nothing of the label given the features, θ → D → f(D): the benchmark may rise, the information cannot.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..data.dataset import Dataset, label_keys
from ..errors import DataworthError
from ..wording import option
from .base import Method, chance


@dataclass(frozen=True)
class MatchGroups(Method):
    """The largest subset of the data whose attribute × label groups have the test set's ratios.

    Rows of a group that the test set does not have are removed; a group that only the test set has cannot be
    matched, and is refused.

    >>> data = Dataset(np.zeros((4, 1)), [0, 0, 1, 1], attributes=["a", "b", "a", "b"])
    >>> test = Dataset(np.zeros((2, 1)), [0, 1], attributes=["a", "b"])
    >>> MatchGroups()(data, test).attributes.tolist()
    ['a', 'b']
    """

    name = "match-groups"
    what = "remove rows until attribute × label groups have the test set's ratios"
    strategic = True
    why = (
        "rows go by attribute and label alone; as long as the attribute says nothing of the label given the "
        "features, the test set's ratios say nothing of θ"
    )

    def __call__(self, data: Dataset, test: Dataset, *, rng: np.random.Generator | None = None) -> Dataset:
        """A random choice within each group, in the old order of rows."""
        rng = chance(rng)
        own, wanted = cells(data, "the data"), cells(test, "the test set")
        names, counts = np.unique(wanted, return_counts=True)
        refuse_absent(names, own)
        have = np.array([(own == name).sum() for name in names])
        keep = np.floor((have / counts).min() * counts + 1e-9).astype(int)
        chosen = [rng.permutation(np.flatnonzero(own == n))[:k] for n, k in zip(names, keep, strict=True)]
        return data.take(np.sort(np.concatenate(chosen)))


def cells(data: Dataset, what: str) -> NDArray[np.str_]:
    """Attribute and label of each row as one text."""
    if data.attributes is None:
        groups = "" if data.groups is None else " (groups are rows that belong together, not attributes)"
        needs = f"matching them needs a column of them: name it with {option('attribute')}"
        raise DataworthError(f"{what} have no attributes; {needs}{groups}.")
    return np.char.add(np.char.add(data.attributes, "\x1f"), label_keys(data.y))


def refuse_absent(names: NDArray[np.str_], own: NDArray[np.str_]) -> None:
    """Refuse cells of the test set that the data do not have."""
    absent = names[~np.isin(names, own)]
    if len(absent):
        missing = absent[0].replace("\x1f", " × ")
        raise DataworthError(f"the data have no rows of group {missing}, which the test set has: add some.")
