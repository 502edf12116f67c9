"""The constant dataset x* of the paper's appendix: θ → D → f(D), for f(D) does not depend on D at all.

x* = argmax KL(p(θ|x′) ‖ p(θ)) maximises how much a dataset moves beliefs, whatever the truth. A score that
asks the dataset alone for its information gain pays it best; PMI, which asks the test set, does not.

For logistic regression with the prior N(0, C·I) and n rows no longer than r, up to terms that do not grow
with r, the gain is ½ log det(I + C·Σ σ′(xᵢ·θ̂) xᵢxᵢᵀ) at the posterior's mode θ̂. (The rest is at most
|θ̂|²/2C ≤ n·log 2, since the mode is at least as likely as θ = 0.) Now σ′ ≤ ¼, with equality where x·θ̂ = 0;
and by Hadamard and the inequality of the means the determinant is largest for rows of full length spread
evenly over orthogonal axes:

    gain ≤ d/2 · log(1 + C·n·r²/4d) + O(1)

Both bounds are reached by rows ±r·eⱼ that each stand there with *both* labels: they say, as loudly as rows
can, that θ = 0. (Far-out rows that agree, one label each, only tell the sign of each θⱼ: log 2 a feature,
however large r.)
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ..data.dataset import Dataset, label_keys
from .base import Method, at_least, limit
from .features import class_codes, with_columns_of

POSITIVE = limit(lambda radius: 0 < radius < float("inf"), "be a positive number")


@dataclass(frozen=True)
class Fake(Method):
    """Rows ±radius·eⱼ, j = 1 … d in turn, each with every label; as many as the data have, or `rows`.

    Of the data it uses the columns, the set of labels and the number of rows only. Booleans are 1 and
    categories the next one in turn where numbers are ±radius. No weights, groups or ids.

    >>> Fake(radius=10.0)(Dataset([[1.0], [2.0], [3.0], [4.0]], ["a", "b", "b", "b"])).X.ravel().tolist()
    [10.0, 10.0, -10.0, -10.0]
    """

    rows: int | None = field(default=None, metadata=at_least(1))
    radius: float = field(default=1000.0, metadata=POSITIVE)

    name = "fake"
    what = "the constant dataset x* of the paper's appendix, whatever the data"
    strategic = True
    why = "it is the same for all data, so it says nothing of θ"

    def __call__(self, data: Dataset) -> Dataset:
        """The same rows for all data with these columns, labels and size."""
        class_codes(data, "the fake dataset")
        _, first = np.unique(label_keys(data.y), return_index=True)
        labels = data.y[first]
        count = len(data) if self.rows is None else self.rows
        place, label = np.divmod(np.arange(count), len(labels))
        lap, sign = np.divmod(place, 2)
        lap, axis = np.divmod(lap, max(data.n_features, 1))
        X = np.zeros((count, data.n_features))
        for j, column in enumerate(data.columns):
            here = axis == j
            if column.kind == "numeric":
                X[here, j] = np.where(sign[here] == 0, self.radius, -self.radius)
            elif column.kind == "boolean":
                X[here, j] = 1 - sign[here]
            elif column.categories:
                X[here, j] = (1 + 2 * lap[here] + sign[here]) % len(column.categories)
        return with_columns_of(data, X, labels[label])
