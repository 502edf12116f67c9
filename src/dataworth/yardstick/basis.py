"""What is learned from the test set's features: units, scales, principal axes; recipes are cut from it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..arrays import Array
from ..data.dataset import Dataset
from ..data.vectors import binary_size
from ..errors import DataworthError
from .maps import Kernel
from .recipe import LARGEST, SLAB, Recipe, expand, odd, resolution
from .scales import Scale

LANDMARK_SEED = 0x1A4D


@dataclass(frozen=True)
class Axes:
    """Principal axes of rows on one scale (columns × rank), and the variances along them."""

    scale: Scale
    rows: Array
    axes: Array
    variances: Array

    @property
    def rank(self) -> int:
        """The number of directions in which the rows vary."""
        return len(self.variances)

    @classmethod
    def learn(cls, scale: Scale, rows: Array) -> Axes:
        """By singular values; of far more columns than rows by the rows' inner products, which is cheaper."""
        n, d = rows.shape
        if d > 2 * n:
            values, vectors = np.linalg.eigh(rows @ rows.T)
            kept = np.flatnonzero(values > 1e-10 * max(values[-1], 0.0))[::-1]
            singular = np.sqrt(values[kept])
            axes = (vectors[:, kept].T @ rows) / singular[:, None]
        else:
            _, singular, axes = np.linalg.svd(rows, full_matrices=False)
            kept = np.flatnonzero(singular > 1e-7 * singular.max(initial=0.0))
            singular, axes = singular[kept], axes[kept]
        # an axis and its negative are the same axis; fix the sign so that a recipe is unique
        sign = np.sign(axes[np.arange(len(axes)), np.abs(axes).argmax(axis=1)]) if len(axes) else np.ones(0)
        return cls(scale, rows, (axes * sign[:, None]).T, singular**2 / n)

    def projection(self, size: int, exponent: float) -> Array:
        """The first axes, their variances raised to `exponent`, so that E|φ|² = 1."""
        variances = self.variances[:size]
        powered = variances**exponent
        return np.asarray(self.axes[:, :size] * np.sqrt(powered / variances / powered.sum()))


@dataclass(frozen=True)
class Basis:
    """A dataset in standard units, from which recipes of any scale and map are cut.

    Every recipe has E|φ|² = 1 over that dataset, so that a predictor θᵀφ(x) + b has the same prior spread
    whatever the number of features, and the intercept b as much as the rest.
    """

    plain: Recipe
    standard: Array
    spread: Array
    seed: int = 0

    @classmethod
    def learn(cls, data: Dataset, seed: int = 0) -> Basis:
        """Standardise; constant columns get no weight."""
        fill = _medians(data)
        X = expand(data.columns, data.X, fill)
        size = np.abs(X).max(axis=0, initial=0.0)
        if size.max(initial=0.0) > LARGEST:
            raise DataworthError(
                f"the test set holds the number {size.max():g}; features up to {LARGEST:g} can be measured: "
                "give them in other units."
            )
        # in powers of two, exact: then features of size 1e300 or 1e-300 lose nothing, nor do their squares
        unit = binary_size(X)
        tame = X / unit
        # a difference has its middle at 0, whatever the order in which the two were compared
        middle = np.zeros(X.shape[1]) if odd(data.columns) else tame.mean(axis=0)
        center, spread = middle * unit, np.sqrt(((tame - middle) ** 2).mean(axis=0)) * unit
        varies = (spread > resolution(X) * size) & (size > 1.0 / LARGEST)
        inverse_scale = np.divide(1.0, spread, out=np.zeros_like(spread), where=varies)
        plain = Recipe(
            columns=data.columns,
            fill=fill,
            center=center,
            inverse_scale=inverse_scale,
            scale=Scale.learn("each", X[:0], varies.astype(float)),
            projection=np.zeros((len(center), 0)),
        )
        return cls(plain, (X - center) * inverse_scale, np.where(varies, spread, 0.0), seed)

    @property
    def odd(self) -> bool:
        """Whether all columns are differences."""
        return odd(self.plain.columns)

    @cached_property
    def _learned(self) -> dict[str, Axes]:
        return {}

    def on(self, scale: str) -> Axes:
        """Rows and principal axes on a scale, learned when first asked for."""
        if scale not in self._learned:
            made = Scale.learn(scale, self.standard, self.spread)
            self._learned[scale] = Axes.learn(made, made(self.standard))
        return self._learned[scale]

    def recipe(self, size: int, exponent: float, scale: str = "each") -> Recipe:
        """The first principal axes, their variances raised to `exponent`: 1 as they are, 0 whitened."""
        on = self.on(scale)
        return self.plain.mapped(on.scale, on.projection(size, exponent))

    def kernel(self, bandwidth: float, landmarks: int, scale: str) -> Recipe:
        """A kernel's features at so many landmarks; bandwidths are in root median squared distances."""
        on = self.on(scale)
        order = np.random.default_rng([self.seed, LANDMARK_SEED]).permutation(len(on.rows))
        found = Kernel.learn(on.rows, bandwidth, landmarks, order)
        return self.plain.mapped(on.scale, self.plain.projection, found)

    def both(self, size: int, bandwidth: float, landmarks: int, scale: str) -> Recipe:
        """Axes and kernel side by side, each with half of the variance."""
        kernel = self.kernel(bandwidth, landmarks, scale).kernel
        on, half = self.on(scale), float(np.sqrt(0.5))
        return self.plain.mapped(
            on.scale, half * on.projection(size, 1.0), kernel.scaled(half) if kernel else None
        )

    def features(self, recipe: Recipe) -> Array:
        """Those of the dataset itself, which is on every scale already."""
        return recipe.map(self.on(recipe.scale.name).rows)


def _medians(data: Dataset) -> Array:
    """Of each column of numbers, without what is missing; 0 of other columns, and where all is missing."""
    fill = np.zeros(len(data.columns))
    numeric = np.array([column.kind in ("numeric", "boolean") for column in data.columns], dtype=bool)
    for i in range(0, len(fill), SLAB):
        part = data.X[:, i : i + SLAB]
        holes = np.isnan(part).any(axis=0)
        whole = numeric[i : i + SLAB] & ~holes
        if len(part):
            fill[i : i + SLAB][whole] = np.median(part[:, whole], axis=0)
        for j in np.flatnonzero(numeric[i : i + SLAB] & holes):
            present = part[~np.isnan(part[:, j]), j]
            fill[i + j] = np.median(present) if len(present) else 0.0
    return fill
