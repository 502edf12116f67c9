"""Make the data look like the test set: the paper's strategic removal, and the same by weights.

Rows are removed until the attribute × label groups stand in the test set's ratios. If the attribute says
nothing of the label given the features, θ → D → f(D): the benchmark may rise, the information cannot.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..arrays import Array
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
        own, wanted = _cells(data, "the data"), _cells(test, "the test set")
        names, counts = np.unique(wanted, return_counts=True)
        _refuse_absent(names, own)
        have = np.array([(own == name).sum() for name in names])
        keep = np.floor((have / counts).min() * counts + 1e-9).astype(int)
        chosen = [rng.permutation(np.flatnonzero(own == n))[:k] for n, k in zip(names, keep, strict=True)]
        return data.take(np.sort(np.concatenate(chosen)))


def _cells(data: Dataset, what: str) -> NDArray[np.str_]:
    """Attribute and label of each row as one text."""
    if data.attributes is None:
        groups = "" if data.groups is None else " (groups are rows that belong together, not attributes)"
        needs = f"matching them needs a column of them: name it with {option('attribute')}"
        raise DataworthError(f"{what} have no attributes; {needs}{groups}.")
    return np.char.add(np.char.add(data.attributes, "\x1f"), label_keys(data.y))


def _refuse_absent(names: NDArray[np.str_], own: NDArray[np.str_]) -> None:
    absent = names[~np.isin(names, own)]
    if len(absent):
        missing = absent[0].replace("\x1f", " × ")
        raise DataworthError(f"the data have no rows of group {missing}, which the test set has: add some.")


@dataclass(frozen=True)
class Reweight(Method):
    """Importance weights w · q(c) / p(c) for a row of cell c: p is its proportion in the data, q in the test.

    Cells are attribute × label groups, or classes where one of the two has no attributes.
    Their total is as before; a cell that the test set does not have gets the weight 0.

    >>> data = Dataset(np.zeros((4, 1)), [0, 0, 0, 1])
    >>> Reweight()(data, Dataset(np.zeros((2, 1)), [0, 1])).weights.round(3).tolist()
    [0.667, 0.667, 0.667, 2.0]
    """

    name = "reweight"
    what = "weight rows so that attribute × label groups, or classes, have the test set's ratios"
    strategic = True
    why = (
        "weights follow from attribute and label alone; as long as the attribute says nothing of the label "
        "given the features, the test set's ratios say nothing of θ"
    )

    def __call__(self, data: Dataset, test: Dataset) -> Dataset:
        """The same rows, weighted."""
        if data.attributes is None or test.attributes is None:
            own, wanted = label_keys(data.y), label_keys(test.y)
        else:
            own, wanted = _cells(data, "the data"), _cells(test, "the test set")
        names = np.unique(wanted)
        _refuse_absent(names, own)
        weights = np.ones(len(data)) if data.weights is None else data.weights
        have, target = _shares(own, weights, names), _shares(wanted, test.weights, names)
        if (have == 0).any():
            raise DataworthError("a group of the data has the weight 0 only: give its rows some weight.")
        ratio = np.zeros(len(data))
        known = np.isin(own, names)
        ratio[known] = (target / have)[np.searchsorted(names, own[known])]
        return data.with_weights(weights * ratio)


def _shares(own: NDArray[np.str_], weights: Array | None, names: NDArray[np.str_]) -> Array:
    """The share of each name, by weight."""
    weights = np.ones(len(own)) if weights is None else weights
    return np.array([weights[own == name].sum() for name in names]) / weights.sum()
