"""Add rows drawn from a model of the data: θ → D → θ̂ → new rows, the paper's recursive synthetic data."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ..arrays import Array
from ..data.dataset import Dataset
from ..errors import DataworthError
from .base import Method, at_least, chance, limit
from .features import class_codes, with_columns_of


@dataclass(frozen=True)
class Synthesize(Method):
    """The data, then rows from a Gaussian a class, labelled with the class they are drawn from.

    x | c ~ N(μ_c, Σ_c) with Ledoit and Wolf's Σ_c = (1−s)·S_c + s·(tr S_c/d)·I, each column in units of its
    spread in the class; classes come as often as in the data. Row weights count in all of these. Categories,
    booleans, missing values, groups and attributes are drawn as often as they occur in the class, each by
    itself. `rows` says how many, or `fraction` of the data's rows (default: 1, as many again).

    >>> data = Dataset([[0.0], [0.1], [5.0], [5.1]], ["a", "a", "b", "b"])
    >>> more = Synthesize(rows=100)(data)
    >>> len(more), bool((more.X[more.y == "b"] > 4).all())
    (104, True)
    """

    rows: int | None = field(default=None, metadata=at_least(1))
    fraction: float | None = field(default=None, metadata=limit(lambda value: value > 0, "lie above 0"))

    name = "synthesize"
    what = "add rows drawn from a model of the data (recursive synthetic data)"
    strategic = True
    why = "the new rows come from a model that saw nothing but the data: θ → D → θ̂ → new rows"

    def __post_init__(self) -> None:
        if self.rows is not None and self.fraction is not None:
            raise DataworthError("rows and fraction both say how many rows to add: give one of them.")
        super().__post_init__()

    def __call__(self, data: Dataset, *, rng: np.random.Generator | None = None) -> Dataset:
        """The data, then the synthetic rows."""
        rng, codes = chance(rng), class_codes(data, "a model of each class")
        fraction = 1.0 if self.fraction is None else self.fraction
        count = max(1, round(fraction * len(data))) if self.rows is None else self.rows
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
    """Draws from N(μ, Σ), Σ as Ledoit and Wolf shrink it.

    As (1−s)·S is the covariance of the rows themselves, mixed with random signs and sizes, no d × d matrix
    is ever formed or factored.
    """
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
    generation = 1
    while f"synthetic {generation}.1" in taken:
        generation += 1
    return [f"synthetic {generation}.{i + 1}" for i in range(count)]
