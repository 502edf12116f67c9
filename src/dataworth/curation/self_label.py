"""Add rows labelled by a model trained on the data itself: θ → D → θ̂ → labels, so nothing new."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..data import Dataset
from ..errors import DataworthError


@dataclass(frozen=True)
class SelfLabel:
    """Add the features of `rows`, labelled by a scikit-learn classifier fitted on the data.

    >>> data = Dataset([[-1.0], [-2.0], [1.0], [2.0]], [0, 0, 1, 1])
    >>> SelfLabel(Dataset([[3.0]], [0]))(data).y.tolist()
    [0, 0, 1, 1, 1]
    """

    rows: Dataset
    learner: Any = None

    def __call__(self, data: Dataset) -> Dataset:
        """The data, then the rows with the learner's labels."""
        from sklearn.base import clone
        from sklearn.linear_model import LogisticRegression
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import StandardScaler

        if len(set(data.y.tolist())) < 2:
            raise DataworthError("the data have one class only; a model that labels rows needs two.")
        learner = self.learner or make_pipeline(StandardScaler(), LogisticRegression(max_iter=5000))
        fitted = clone(learner).fit(data.X, data.y, **_weights(learner, data))
        return Dataset.concat([data, self.rows.with_labels(fitted.predict(self.rows.select(data.columns).X))])


def _weights(learner: Any, data: Dataset) -> dict[str, Any]:
    """Sample weights as the learner's last step takes them, if the rows have any."""
    if data.weights is None:
        return {}
    steps = getattr(learner, "steps", None)
    return {f"{steps[-1][0]}__sample_weight" if steps else "sample_weight": data.weights}
