"""The feature recipe of a yardstick: one-hot, standardise, project; learned from one dataset, then frozen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..arrays import Array
from ..data.convert import Column
from ..data.dataset import Dataset

SLAB = 8192
"""Rows measured at a time, so that no second copy of a large dataset is made."""


@dataclass(frozen=True)
class Recipe:
    """x ↦ (expand(x) − center) · inverse_scale @ projection.

    `expand` turns each category into a column of its own; an unknown category is a row of zeros there.
    Missing numbers are filled with `fill`, the medians of the dataset the recipe was learned from.
    """

    columns: tuple[Column, ...]
    fill: Array
    center: Array
    inverse_scale: Array
    projection: Array

    def features(self, data: Dataset) -> Array:
        """Features of a dataset with (at least) the recipe's columns."""
        data = data.select(self.columns)
        features = np.empty((len(data), self.projection.shape[1]))
        for i in range(0, len(data), SLAB):
            rows = expand(data.columns, data.X[i : i + SLAB], self.fill)
            features[i : i + SLAB] = ((rows - self.center) * self.inverse_scale) @ self.projection
        return features

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return {
            "columns": [[c.name, c.kind, list(c.categories)] for c in self.columns],
            "fill": self.fill.tolist(),
            "center": self.center.tolist(),
            "inverse_scale": self.inverse_scale.tolist(),
            "projection": self.projection.tolist(),
        }

    @classmethod
    def from_dict(cls, d: dict[str, Any]) -> Recipe:
        """The recipe that `to_dict` wrote."""
        return cls(
            tuple(Column(name, kind, tuple(categories)) for name, kind, categories in d["columns"]),
            np.array(d["fill"], dtype=float),
            np.array(d["center"], dtype=float),
            np.array(d["inverse_scale"], dtype=float),
            np.array(d["projection"], dtype=float).reshape(len(d["center"]), -1),
        )


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


@dataclass(frozen=True)
class Basis:
    """Principal axes of a standardised dataset, from which recipes of any size and exponent are cut."""

    columns: tuple[Column, ...]
    fill: Array
    center: Array
    inverse_scale: Array
    axes: Array
    variances: Array

    @classmethod
    def learn(cls, data: Dataset) -> Basis:
        """Standardise and find the principal axes; constant columns get no weight."""
        with np.errstate(all="ignore"):
            numeric = [
                c.kind != "categorical" and not np.isnan(x).all()
                for c, x in zip(data.columns, data.X.T, strict=True)
            ]
        fill = np.array([np.nanmedian(x) if ok else 0.0 for ok, x in zip(numeric, data.X.T, strict=True)])
        X = expand(data.columns, data.X, fill)
        center = X.mean(axis=0)
        # two-pass standardisation: features of size 1e8 or 1e-8 lose nothing
        size = np.abs(X).max(axis=0, initial=0.0)
        spread = X.std(axis=0)
        varies = spread > 1e-12 * size
        inverse_scale = np.divide(1.0, spread, out=np.zeros_like(spread), where=varies)
        standard = (X - center) * inverse_scale
        _, singular, axes = np.linalg.svd(standard, full_matrices=False)
        rank = int((singular > 1e-7 * singular.max(initial=0.0)).sum())
        # an axis and its negative are the same axis; fix the sign so that a recipe is unique
        axes = axes[:rank] * np.sign(axes[np.arange(rank), np.abs(axes[:rank]).argmax(axis=1)])[:, None]
        return cls(data.columns, fill, center, inverse_scale, axes, singular[:rank] ** 2 / len(X))

    @property
    def rank(self) -> int:
        """The number of directions in which the dataset varies."""
        return len(self.variances)

    def recipe(self, size: int, exponent: float) -> Recipe:
        """The first `size` axes, their variances raised to `exponent`: 1 as they are, 0 whitened.

        The mean variance of the features is 1 whatever the exponent, so that one grid of priors serves all.
        """
        variances = self.variances[:size]
        powered = variances**exponent
        scale = np.sqrt(powered / variances * (len(powered) / powered.sum())) if size else variances
        projection = self.axes[:size].T * scale
        return Recipe(self.columns, self.fill, self.center, self.inverse_scale, projection)
