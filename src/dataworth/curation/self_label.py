"""Add rows labelled by a model trained on the data itself: θ → D → θ̂ → labels, so nothing new."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..data.dataset import Dataset
from .base import Method
from .features import class_codes, fitted, numbers


@dataclass(frozen=True)
class SelfLabel(Method):
    """Add the features of `rows`, labelled by a scikit-learn classifier fitted on the data.

    >>> data = Dataset([[-1.0], [-2.0], [1.0], [2.0]], [0, 0, 1, 1])
    >>> SelfLabel(Dataset([[3.0]], [0]))(data).y.tolist()
    [0, 0, 1, 1, 1]
    """

    rows: Dataset
    learner: Any = None

    name = "self-label"
    what = "add the rows of a file, labelled by a model fitted on the data"
    strategic = True
    why = "the labels come from a model that saw nothing but the data: θ → D → θ̂ → labels"
    design = "whole"

    def __call__(self, data: Dataset) -> Dataset:
        """The data, then the rows with the learner's labels."""
        class_codes(data, "a model that labels rows", least=2)
        learner = fitted(self.learner, numbers(data), data.y, data.weights)
        return Dataset.concat([data, self.rows.with_labels(learner.predict(numbers(self.rows, like=data)))])
