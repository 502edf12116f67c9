"""The feature recipe of a yardstick: how columns become features; learned from one dataset, then frozen."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from ..arrays import Array
from ..data.convert import Column
from ..data.dataset import Dataset
from ..errors import DataworthError
from .maps import Kernel
from .reading import items, number, numbers, record
from .scales import Scale

SLAB = 8192
"""Rows measured at a time, so that no second copy of a large dataset is made."""
REACH = 1e5
"""Standard deviations of T beyond which a value counts as so far: a column that is all but constant in T says
nothing of how far others may be, and a feature of 1e31 leaves no digit for the rest. From 1e3 to 1e6 scores
of such data agree to 1e-3 nats."""
DOUBLE, SINGLE = 1e-12, 4 * float(np.finfo(np.float32).eps)
"""Spread over size up to which a column is constant: rounding to float64, and to float32."""
LARGEST = 1e302
"""Columns of the test set of smaller values than one over this are constant, those of larger are refused."""


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """x ↦ φ(x): one-hot, standard units, a scale of columns, then principal axes, a kernel, or both.

        standard(x) = clip((expand(x) − center) · inverse_scale, ±reach)
        φ(x) = [scale(standard(x)) @ projection, kernel(scale(standard(x)))]

    `expand` turns each category into a column of its own; an unknown category is a row of zeros there.
    Missing numbers are filled with `fill`, the medians of the dataset the recipe was learned from.

    >>> columns = Dataset([[0.0, 1.0]], [0]).columns
    >>> Recipe.plain(columns).features(Dataset([[3.0, 4.0]], [1])).tolist()
    [[3.0, 4.0]]
    """

    columns: tuple[Column, ...]
    fill: Array
    center: Array
    inverse_scale: Array
    scale: Scale
    projection: Array
    kernel: Kernel | None = None
    reach: float = REACH

    @property
    def width(self) -> int:
        """The number of features."""
        return self.projection.shape[1] + (0 if self.kernel is None else len(self.kernel.shift))

    @property
    def directions(self) -> Array:
        """What of rows on the recipe's scale the features depend on: axes, and a kernel's landmarks."""
        if self.kernel is None:
            return self.projection
        return np.hstack([self.projection, self.kernel.landmarks.T])

    def features(self, data: Dataset) -> Array:
        """Features of a dataset with (at least) the recipe's columns, a slab of rows at a time."""
        data = data.select(self.columns)
        features = np.empty((len(data), self.width))
        for i in range(0, len(data), SLAB):
            features[i : i + SLAB] = self.map(self.scaled(data.X[i : i + SLAB]))
        return features

    def standard(self, X: Array) -> Array:
        """Rows in the recipe's columns to standard units, each at most `reach` from 0."""
        with np.errstate(over="ignore"):  # what is infinitely far is as far as counts
            units = (expand(self.columns, X, self.fill) - self.center) * self.inverse_scale
        return np.clip(units, -self.reach, self.reach, out=units)

    def scaled(self, X: Array) -> Array:
        """Rows in the recipe's columns on the recipe's scale."""
        return self.scale(self.standard(X))

    def map(self, scaled: Array) -> Array:
        """Features of rows on the recipe's scale."""
        linear = scaled @ self.projection
        return linear if self.kernel is None else np.hstack([linear, self.kernel(scaled)])

    def mapped(self, scale: Scale, projection: Array, kernel: Kernel | None = None) -> Recipe:
        """The same standard units, on another scale and with another map."""
        return replace(self, scale=scale, projection=projection, kernel=kernel)

    @classmethod
    def plain(cls, columns: tuple[Column, ...]) -> Recipe:
        """Numeric columns as they are."""
        d = len(columns)
        return cls(
            columns=columns,
            fill=np.zeros(d),
            center=np.zeros(d),
            inverse_scale=np.ones(d),
            scale=Scale.learn("each", np.zeros((0, d)), np.ones(d)),
            projection=np.eye(d),
            reach=float(np.finfo(float).max),
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        arrays = {name: value.tolist() for name, value in vars(self).items() if isinstance(value, np.ndarray)}
        columns = [[c.name, c.kind, list(c.categories)] for c in self.columns]
        kernel = None if self.kernel is None else self.kernel.to_dict()
        return {
            "columns": columns,
            **arrays,
            "scale": self.scale.to_dict(),
            "kernel": kernel,
            "reach": self.reach,
        }

    @classmethod
    def from_dict(cls, d: dict[str, Any]) -> Recipe:
        """The recipe that `to_dict` wrote; a sentence if no recipe can have written it."""
        columns = tuple(map(_column, items(d, "columns")))
        if len({column.name for column in columns}) < len(columns):
            raise DataworthError("its columns have one name twice")
        width = sum(len(c.categories) if c.kind == "categorical" else 1 for c in columns)
        projection = items(d, "projection")
        size = len(projection[0]) if projection and isinstance(projection[0], list) else 0
        kernel = None
        if d["kernel"] is not None:
            kernel = Kernel.from_dict(record(d, "kernel", {f.name for f in fields(Kernel)}), width)
        return cls(
            columns=columns,
            fill=numbers(d, "fill", (len(columns),)),
            center=numbers(d, "center", (width,)),
            inverse_scale=numbers(d, "inverse_scale", (width,)),
            scale=Scale.from_dict(record(d, "scale", {f.name for f in fields(Scale)}), width),
            projection=numbers(d, "projection", (width, size)),
            kernel=kernel,
            reach=number(d, "reach"),
        )


def _column(entry: Any) -> Column:
    match entry:
        case [str(name), "numeric" | "boolean" | "categorical" | "difference" as kind, list(categories)]:
            names = {c for c in categories if isinstance(c, str)}
            if len(names) == len(categories) and (kind == "categorical" or not names):
                return Column(name, kind, tuple(categories))
    raise DataworthError("a column is no list of a name, a kind and its categories")


def expand(columns: tuple[Column, ...], X: Array, fill: Array) -> Array:
    """Numbers with missing ones filled; each category a 0/1 column."""
    if all(column.kind != "categorical" for column in columns):
        return np.where(np.isnan(X), fill, X)
    parts = []
    for j, column in enumerate(columns):
        values = X[:, j]
        if column.kind == "categorical":
            parts.append((values[:, None] == np.arange(len(column.categories))).astype(float))
        else:
            parts.append(np.where(np.isnan(values), fill[j], values)[:, None])
    return np.hstack(parts)


def odd(columns: tuple[Column, ...]) -> bool:
    """Whether all columns are differences of two things that are compared.

    Features and predictor then change their sign where the two change places: no centre, no intercept, no map
    but axes.
    """
    return all(column.kind == "difference" for column in columns)


def resolution(X: Array) -> Array:
    """How finely each column's values are told apart, relative to their size.

    Whole numbers are exact, whatever they were written as; others that float32 holds were rounded to it.

    >>> resolution(np.array([[0.1, np.float32(0.1), 3.0]])) == [DOUBLE, SINGLE, DOUBLE]
    array([ True,  True,  True])
    """
    with np.errstate(over="ignore"):
        single = (X.astype(np.float32) == X).all(axis=0) & (np.round(X) != X).any(axis=0)
    return np.where(single, SINGLE, DOUBLE)
