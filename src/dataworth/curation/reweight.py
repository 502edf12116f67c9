"""Weight the rows so that they look like the test set: strategic removal without removing."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ..arrays import Array
from ..data.dataset import Dataset, label_keys
from ..errors import DataworthError
from .base import Method, limit
from .match_groups import cells, refuse_absent

BY = ("attributes", "classes")


@dataclass(frozen=True)
class Reweight(Method):
    """Importance weights w · q(c) / p(c) for a row of cell c: p is its proportion in the data, q in the test.

    Cells are attribute × label groups, or classes where one of the two has no attributes (`by` chooses).
    Their total is as before; a cell that the test set does not have gets the weight 0.

    >>> data = Dataset(np.zeros((4, 1)), [0, 0, 0, 1])
    >>> Reweight()(data, Dataset(np.zeros((2, 1)), [0, 1])).weights.round(3).tolist()
    [0.667, 0.667, 0.667, 2.0]
    """

    by: str | None = field(default=None, metadata=limit(BY.__contains__, f"be one of {', '.join(BY)}"))

    name = "reweight"
    what = "weight rows so that attribute × label groups, or classes, have the test set's ratios"
    strategic = True
    why = (
        "weights follow from attribute and label alone; as long as the attribute says nothing of the label "
        "given the features, the test set's ratios say nothing of θ"
    )

    def __call__(self, data: Dataset, test: Dataset) -> Dataset:
        """The same rows, weighted."""
        by = self.by or ("classes" if data.attributes is None or test.attributes is None else "attributes")
        own, wanted = (
            cells(d, what) if by == "attributes" else label_keys(d.y)
            for d, what in ((data, "the data"), (test, "the test set"))
        )
        names = np.unique(wanted)
        refuse_absent(names, own)
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
