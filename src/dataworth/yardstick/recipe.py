"""The feature recipe of a yardstick: learned from the test set's features, then frozen."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np

from ..arrays import Array, Rows
from ..data.convert import Column
from ..data.dataset import Dataset
from ..data.vectors import binary_size
from ..errors import DataworthError
from ..limits import refuse_too_large
from ..models.gaussian import distinct_rows
from ..wording import option
from .file import as_data, items, number, numbers, record
from .maps import SCALES, Kernel, Scale, common_stretch

SLAB, CELLS = 8192, 1 << 25
"""Rows, and numbers, measured at a time, so that no second copy of a large dataset is made."""
COPIES = 4
"""Of rows with their categories as columns, while they are worked on."""
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
        # equal rows once, so that they stay equal: a product's last bits depend on the place of a row
        rows, place = distinct_rows(data.select(self.columns).X)
        features = np.empty((len(rows), self.width))
        together = max(1, min(SLAB, CELLS // max(1, len(self.center))))
        for i in range(0, len(rows), together):
            features[i : i + together] = self.map(self.scaled(rows[i : i + together]))
        return features if len(rows) == len(data) else features[place]

    def standard(self, X: Array) -> Array:
        """Rows in the recipe's columns to standard units, each at most `reach` from 0."""
        with np.errstate(over="ignore"):  # what is infinitely far is as far as counts
            units = expand(self.columns, X, self.fill)  # in place: rows may be very long
            units -= self.center
            units *= self.inverse_scale
        return np.clip(units, -self.reach, self.reach, out=units)

    def scaled(self, X: Array) -> Array:
        """Rows in the recipe's columns on the recipe's scale."""
        return self.scale(self.standard(X))

    def map(self, scaled: Array) -> Array:
        """Features of rows on the recipe's scale."""
        linear = scaled @ self.projection
        return linear if self.kernel is None else np.hstack([linear, self.kernel(scaled)])

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
        return as_data(self) | {"columns": [[c.name, c.kind, list(c.categories)] for c in self.columns]}

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
    filled = np.where(np.isnan(X), fill, X)
    if all(column.kind != "categorical" for column in columns):
        return filled
    width = sum(len(column.categories) if column.kind == "categorical" else 1 for column in columns)
    widest = max(columns, key=lambda column: len(column.categories))
    what = f"a column for each of {len(widest.categories):,} categories of {widest.name!r}"
    refuse_too_large(8.0 * COPIES * len(X) * width, what, f"leave it out with {option('exclude')}")
    parts = (
        X[:, [j]] == np.arange(len(column.categories)) if column.kind == "categorical" else filled[:, [j]]
        for j, column in enumerate(columns)
    )
    return np.hstack([part.astype(float) for part in parts])


def expanded_names(columns: tuple[Column, ...]) -> list[str]:
    """A name for every column that `expand` makes."""
    parts = ([c.name] if c.kind != "categorical" else [f"{c.name}=" for _ in c.categories] for c in columns)
    return [name for part in parts for name in part]


def repeated(standard: Array) -> Rows:
    """Columns, in standard units, that equal an earlier one or its negative."""
    weight = np.random.default_rng(len(standard)).standard_normal(len(standard))
    mark = weight / np.abs(weight).sum() @ standard  # differs by no more than the columns do anywhere
    found, first = [], -1
    for j in np.argsort(np.abs(mark), kind="stable").tolist():
        if first >= 0 and mark[j] != 0.0 and abs(abs(mark[j]) - abs(mark[first])) < SAME:
            sign = np.sign(mark[j] * mark[first])
            if np.abs(standard[:, j] - sign * standard[:, first]).max() < SAME:
                found.append(max(j, first))
                first = min(j, first)
                continue
        first = j
    return np.array(sorted(found), dtype=np.intp)


def odd(columns: tuple[Column, ...]) -> bool:
    """Whether all columns are differences of two things that are compared.

    Features and predictor then change their sign where the two change places: no centre, no intercept, no map
    but axes.
    """
    return all(column.kind == "difference" for column in columns)


def resolution(X: Array) -> Array:
    """How finely each column's values are told apart, relative to their size.

    Whole numbers are exact, whatever they were written as; others that float32 holds were rounded to it.
    """
    with np.errstate(over="ignore"):
        single = (X.astype(np.float32) == X).all(axis=0) & (np.round(X) != X).any(axis=0)
    return np.where(single, SINGLE, DOUBLE)


LANDMARK_SEED = 0x1A4D
SAME = 1e-6
"""Difference of two columns in standard units up to which one repeats the other."""
NEGLIGIBLE = 1e-10
"""Variance along an axis, by the largest, that is rounding."""


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
        """From the inner products of columns, or of rows if they are fewer.

        Not by singular values: LAPACK's divide and conquer fails on some tables of dependent columns.
        """
        n, d = rows.shape
        values, vectors = np.linalg.eigh(rows @ rows.T if d > n else rows.T @ rows)
        kept = np.flatnonzero(values > NEGLIGIBLE * values.max(initial=0.0))[::-1]
        values, axes = values[kept], vectors[:, kept].T
        if d > n:
            axes = (axes @ rows) / np.sqrt(values)[:, None]
        # an axis and its negative are the same axis; fix the sign so that a recipe is unique
        sign = np.sign(axes[np.arange(len(axes)), np.abs(axes).argmax(axis=1)]) if len(axes) else np.ones(0)
        axes = (axes * sign[:, None]).T
        # of the projections themselves: eigenvalues lose the digits of small ones
        return cls(scale, rows, axes, ((rows @ axes) ** 2).sum(axis=0) / n)

    def projection(self, size: int, exponent: float) -> Array:
        """The first axes, their variances raised to `exponent`, so that E|φ|² = 1."""
        variances = self.variances[:size]
        powered = variances**exponent
        return np.ascontiguousarray(self.axes[:, :size] * np.sqrt(powered / variances / powered.sum()))


@dataclass(frozen=True)
class Basis:
    """A dataset in standard units, from which recipes of any scale and map are cut.

    Every recipe has E|φ|² = 1 over that dataset, so that a predictor θᵀφ(x) + b has the same prior spread
    whatever the number of features, and the intercept b as much as the rest.
    """

    plain: Recipe
    standard: Array
    common: Array
    odd: bool
    seed: int = 0
    learned: dict[str, Axes] = field(default_factory=dict)

    @classmethod
    def learn(cls, data: Dataset, seed: int = 0) -> Basis:
        """Standardise; constant columns get no weight, nor do columns that repeat another."""
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
        again = repeated((X - center) * inverse_scale)
        varies[again], inverse_scale[again] = False, 0.0
        plain = Recipe(
            columns=data.columns,
            fill=fill,
            center=center,
            inverse_scale=inverse_scale,
            scale=Scale.learn("each", X[:0], varies.astype(float)),
            projection=np.zeros((len(center), 0)),
        )
        stretch = common_stretch(expanded_names(data.columns), np.where(varies, spread, 0.0))
        return cls(plain, (X - center) * inverse_scale, stretch, odd(data.columns), seed)

    @property
    def scales(self) -> tuple[str, ...]:
        """Those that can be had: ranks lose signs, and without columns of one kind none is common."""
        alike = bool(np.isin(self.common, (0.0, 1.0)).all())
        return tuple(s for s in SCALES if not (s == "common" and alike) and not (s == "rank" and self.odd))

    def on(self, scale: str) -> Axes:
        """Rows and principal axes on a scale, learned when first asked for."""
        if scale not in self.learned:
            made = Scale.learn(scale, self.standard, self.common)
            self.learned[scale] = Axes.learn(made, made(self.standard))
        return self.learned[scale]

    def recipe(self, size: int, exponent: float, scale: str = "each") -> Recipe:
        """The first principal axes, their variances raised to `exponent`: 1 as they are, 0 whitened."""
        on = self.on(scale)
        return replace(self.plain, scale=on.scale, projection=on.projection(size, exponent))

    def kernel(self, bandwidth: float, landmarks: int, scale: str) -> Recipe:
        """A kernel's features at so many landmarks; bandwidths are in root median squared distances."""
        on = self.on(scale)
        order = np.random.default_rng([self.seed, LANDMARK_SEED]).permutation(len(on.rows))
        return replace(self.plain, scale=on.scale, kernel=Kernel.learn(on.rows, bandwidth, landmarks, order))

    def both(self, size: int, bandwidth: float, landmarks: int, scale: str) -> Recipe:
        """Axes and kernel side by side, each with half of the variance."""
        made, half = self.kernel(bandwidth, landmarks, scale), float(np.sqrt(0.5))
        assert made.kernel is not None
        projection = half * self.on(scale).projection(size, 1.0)
        return replace(made, projection=projection, kernel=made.kernel.scaled(half))

    def features(self, recipe: Recipe) -> Array:
        """Those of the dataset itself, which is on every scale already."""
        return recipe.map(self.on(recipe.scale.name).rows)


def _medians(data: Dataset) -> Array:
    """Of each column of numbers, without what is missing; 0 of others, and where all is missing."""
    fill = np.zeros(len(data.columns))
    counted = np.array([column.kind in ("numeric", "boolean") for column in data.columns], dtype=bool)
    gaps = np.isnan(data.X).any(axis=0)
    if len(data):  # those without gaps at once: there may be very many
        fill[counted & ~gaps] = np.median(data.X[:, counted & ~gaps], axis=0)
    for j in np.flatnonzero(counted & gaps):
        present = data.X[~np.isnan(data.X[:, j]), j]
        fill[j] = np.median(present) if len(present) else 0.0
    return fill
