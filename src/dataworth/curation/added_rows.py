"""Add rows: of the world, labelled or drawn by a model of the data; or x*, which does not depend on the data.

The appendix's x* = argmax KL(p(θ|x′) ‖ p(θ)) moves beliefs most, whatever the truth. For logistic regression
with the prior N(0, C·I) and n rows no longer than r, up to terms that do not grow with r, the gain is
½ log det(I + C·Σ σ′(xᵢ·θ̂) xᵢxᵢᵀ) at the mode θ̂. As σ′ ≤ ¼, with equality where x·θ̂ = 0, and as the
determinant is largest for rows of full length spread evenly over orthogonal axes (Hadamard),

    gain ≤ d/2 · log(1 + C·n·r²/4d) + O(1),

which rows ±r·eⱼ reach that each stand there with *both* labels.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..arrays import Array
from ..data.dataset import Dataset, label_keys
from ..wording import counted
from .base import Method, at_least, chance, class_codes, fitted, limit, numbers, with_columns_of
from .duplicates import codes_with_labels


@dataclass(frozen=True)
class AddRows(Method):
    """The data, then `rows`.

    >>> data = Dataset([[0.0]], [0])
    >>> len(AddRows(Dataset([[1.0], [2.0]], [1, 1]))(data))
    3
    """

    rows: Dataset

    name = "add-rows"
    what = "add the rows of a file"
    strategic = False
    why = "rows that the world labelled are new observations of θ"
    design = "whole"

    def __call__(self, data: Dataset) -> Dataset:
        """Both, one below the other."""
        return Dataset.concat([data, self.rows])

    def said(self, data: Dataset) -> tuple[bool | None, str]:
        """Rows that stand in the data already, features and label, are no new observations."""
        codes = codes_with_labels(self(data))
        there, added = int(np.isin(codes[len(data) :], codes[: len(data)]).sum()), len(self.rows)
        if not there:
            return self.strategic, self.why
        are = "stands in the data: it is a repeat" if there == 1 else "stand in the data: they are repeats"
        repeats = f"{there} of {counted(added, 'added row')} already {are}, not new"
        return (True, repeats) if there == added else (self.strategic, f"{self.why}; but {repeats}")


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


@dataclass(frozen=True)
class Synthesize(Method):
    """The data, then rows from a Gaussian a class, labelled with the class they are drawn from.

    x | c ~ N(μ_c, Σ_c) with Ledoit and Wolf's Σ_c = (1−s)·S_c + s·(tr S_c/d)·I, each column in units of its
    spread in the class; classes come as often as in the data, by weight. Categories, missing values and
    groups are drawn each by itself. `rows` says how many (default: as many as there are).

    >>> data = Dataset([[0.0], [0.1], [5.0], [5.1]], ["a", "a", "b", "b"])
    >>> more = Synthesize(rows=100)(data)
    >>> len(more), bool((more.X[more.y == "b"] > 4).all())
    (104, True)
    """

    rows: int | None = field(default=None, metadata=at_least(1))

    name = "synthesize"
    what = "add rows drawn from a model of the data (recursive synthetic data)"
    strategic = True
    why = "the new rows come from a model that saw nothing but the data: θ → D → θ̂ → new rows"

    def __call__(self, data: Dataset, *, rng: np.random.Generator | None = None) -> Dataset:
        """The data, then the synthetic rows."""
        rng, codes = chance(rng), class_codes(data, "a model of each class")
        count = self.rows or len(data)
        weights = np.ones(len(data)) if data.weights is None else data.weights
        drawn = np.sort(rng.choice(codes.max() + 1, count, p=np.bincount(codes, weights) / weights.sum()))
        X = np.empty((count, data.n_features))
        parent = np.empty(count, dtype=np.intp)
        numeric = np.flatnonzero([column.kind == "numeric" for column in data.columns])
        for c in np.unique(drawn):
            rows, new = np.flatnonzero(codes == c), np.flatnonzero(drawn == c)
            share = weights[rows] / weights[rows].sum()
            parent[new] = rng.choice(rows, len(new), p=share)
            for j, column in enumerate(data.columns):
                values = data.X[rng.choice(rows, len(new), p=share), j]
                X[new, j] = values if column.kind != "numeric" else np.where(np.isnan(values), np.nan, 0.0)
            if len(numeric):
                # shrinking towards equal variances makes sense in common units only
                scale = np.array([_spread(data.X[rows, j]) for j in numeric])
                standard = gaussian(data.X[np.ix_(rows, numeric)] / scale, share, len(new), rng)
                X[np.ix_(new, numeric)] += standard * scale
        ids = None if data.ids is None else _new_ids(set(data.ids.tolist()), count)
        source = data.take(parent)
        others = {"groups": source.groups, "attributes": source.attributes, "ids": ids}
        return Dataset.concat([data, with_columns_of(data, X, source.y, **others)])


def gaussian(X: Array, share: Array, count: int, rng: np.random.Generator) -> Array:
    """Draws from N(μ, Σ), Σ as Ledoit and Wolf shrink it: rows mixed at random have the covariance S."""
    from sklearn.covariance import ledoit_wolf_shrinkage

    missing = np.isnan(X)
    center = (share @ np.where(missing, 0.0, X)) / np.maximum(share @ ~missing, 1e-300)
    # rows scaled so that the plain covariance of these is the weighted one of those
    spread = np.where(missing, 0.0, X - center) * np.sqrt(share * len(X))[:, None]
    shrink = float(ledoit_wolf_shrinkage(spread, assume_centered=True)) if len(X) > 1 else 0.0
    variance = float((spread**2).sum()) / spread.size
    mixed = rng.standard_normal((count, len(X))) @ spread / np.sqrt(len(X))
    noise = rng.standard_normal((count, X.shape[1]))
    return center + np.sqrt(1 - shrink) * mixed + np.sqrt(shrink * variance) * noise


def _spread(values: Array) -> float:
    """The standard deviation of what is not missing; 1 where there is none."""
    known = values[~np.isnan(values)]
    return float(known.std()) or 1.0 if len(known) else 1.0


def _new_ids(taken: set[str], count: int) -> list[str]:
    """Ids that no row has yet, also where the data hold an earlier generation of synthetic rows."""
    generation = next(g for g in itertools.count(1) if f"synthetic {g}.1" not in taken)
    return [f"synthetic {generation}.{i + 1}" for i in range(count)]


@dataclass(frozen=True)
class Fake(Method):
    """Rows ±radius·eⱼ, j = 1 … d in turn, each with every label; as many as the data have, or `rows`.

    Booleans are 1, and categories the next one in turn, where numbers are ±radius. No weights, groups or ids.

    >>> Fake(radius=10.0)(Dataset([[1.0], [2.0], [3.0], [4.0]], ["a", "b", "b", "b"])).X.ravel().tolist()
    [10.0, 10.0, -10.0, -10.0]
    """

    rows: int | None = field(default=None, metadata=at_least(1))
    radius: float = field(default=1000.0, metadata=limit(lambda r: 0 < r < np.inf, "be a positive number"))

    name = "fake"
    what = "the constant dataset x* of the paper's appendix, whatever the data"
    strategic = True
    why = "it is the same for all data, so it says nothing of θ"

    def __call__(self, data: Dataset) -> Dataset:
        """The same rows for all data with these columns, labels and size."""
        class_codes(data, "the fake dataset")
        _, first = np.unique(label_keys(data.y), return_index=True)
        labels = data.y[first]
        count = self.rows or len(data)
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
