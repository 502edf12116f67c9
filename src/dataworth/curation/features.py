"""Rows as points, for curations that measure distances or fit a classifier; and their labels as classes."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..arrays import Array, Rows
from ..data.dataset import Dataset, label_keys, summarise_labels
from ..errors import DataworthError


def numbers(data: Dataset, like: Dataset | None = None) -> Array:
    """Numbers with missing ones filled in by the medians of `like`, and a 0/1 column for each category.

    >>> import pyarrow as pa
    >>> numbers(Dataset(pa.table({"size": [1.5, 2.5], "colour": ["red", "blue"]}), [0, 1])).tolist()
    [[1.5, 0.0, 1.0], [2.5, 1.0, 0.0]]
    """
    like = data if like is None else like
    data, parts = data.select(like.columns), [np.zeros((len(data), 0))]
    for j, column in enumerate(like.columns):
        values = data.X[:, j]
        if column.kind in ("text", "pair"):
            raise DataworthError(
                f"column {column.name!r} holds texts, which have no distances: make vectors of them, with"
                " dataworth.embed.encode."
            )
        if column.kind == "categorical":
            parts.append((values[:, None] == np.arange(len(column.categories))).astype(float))
        else:
            known = like.X[~np.isnan(like.X[:, j]), j]
            parts.append(np.where(np.isnan(values), np.median(known) if len(known) else 0.0, values)[:, None])
    return np.hstack(parts)


def points(data: Dataset) -> Array:
    """Rows on a common scale: each number in standard deviations; two categories are one unit apart.

    >>> points(Dataset([[10.0], [30.0]], [0, 1])).ravel().tolist()
    [-1.0, 1.0]
    """
    X = numbers(data)
    spread = X.std(axis=0)
    varies = spread > 1e-12 * np.abs(X).max(axis=0, initial=0.0)  # rounding alone is no spread
    scale = np.divide(1.0, spread, out=np.zeros_like(spread), where=varies)
    widths = [len(c.categories) if c.kind == "categorical" else 1 for c in data.columns]
    one_hot = np.repeat([c.kind == "categorical" for c in data.columns], widths).astype(bool)
    scale[one_hot] = np.sqrt(0.5)
    return (X - X.mean(axis=0)) * scale if len(X) else X


def strata(data: Dataset) -> list[Rows]:
    """The rows of each class, in order; numeric labels are one stratum.

    >>> [rows.tolist() for rows in strata(Dataset([[0.0], [1.0], [2.0]], ["b", "a", "b"]))]
    [[1], [0, 2]]
    """
    if summarise_labels(data.y).classes is None:
        return [np.arange(len(data))]
    keys = label_keys(data.y)
    return [np.flatnonzero(keys == name) for name in np.unique(keys)]


def class_codes(data: Dataset, purpose: str, least: int = 1) -> Rows:
    """The class of each row as 0, 1, …; numeric labels, and fewer than `least` classes, are refused."""
    if summarise_labels(data.y).classes is None:
        raise DataworthError(f"the labels are numeric; {purpose} needs classes.")
    names, codes = np.unique(label_keys(data.y), return_inverse=True)
    if len(names) < least:
        raise DataworthError(f"the data have one class only; {purpose} needs two.")
    return codes


def fitted(learner: Any, X: Array, y: Any, weights: Array | None) -> Any:
    """A fresh copy of the learner, fitted; without one, logistic regression on standardised features.

    Sample weights, if there are any, are given as the learner's last step takes them.
    """
    from sklearn.base import clone
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    learner = clone(learner or make_pipeline(StandardScaler(), LogisticRegression(max_iter=5000)))
    steps = getattr(learner, "steps", None)
    name = f"{steps[-1][0]}__sample_weight" if steps else "sample_weight"
    learner.fit(X, y, **({} if weights is None else {name: weights}))
    return learner


def with_columns_of(data: Dataset, X: Array, y: Any, **others: Any) -> Dataset:
    """New rows under the data's columns: categories are the codes that the data's columns have."""
    # codes and booleans have no way through the constructor, which takes them for numbers
    return Dataset(X, y, names=data.names, allow_missing=True, **others)._with(columns=data.columns)
