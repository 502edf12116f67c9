"""What is predicted where labels are vectors: normal scores along the first axes of the test set's vectors.

    z = (y − centre) @ axes,    target_k = Φ⁻¹ of the proportion of test rows below z_k, between 40 quantiles

Axes that were fitted to the test set's own rows show more of these than of any others: row i leans on axis k
by its own share. Without row i the axis would have shown

    z_k (1 − κ / λ_k),    λ_k = Σ_i z_ik²,  κ = the mean square length of a row,

of it (for texts κ is 1 less the square of their mean, for each has length 1). Rows of the test set are
measured so (`own`), else every dataset would look as if it were less spread out than the test set, and
whatever makes a posterior less sure, such as dropping half of the rows, would look informative.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from ..arrays import Array
from ..data.dataset import Dataset
from ..data.labels import Vectors
from ..errors import DataworthError
from .file import as_data, items, numbers
from .maps import KNOTS, LEVELS, normal_scores

AXES, ROWS_AN_AXIS = 20, 10
"""Axes of the targets at most, and test rows for each at least."""
OWN = 0.1
"""What a row shows of an axis without itself from which the axis is kept: below, each text has its own."""
LEAST = 1e-9
"""Variance along an axis, by the largest, below which it is rounding."""


@dataclass(frozen=True, kw_only=True)
class Outputs(Vectors):
    """y ↦ targets. axes: numbers a row × targets. leaning: 1 − κ/λ of each. knots: targets × 40."""

    centre: Array
    axes: Array
    leaning: Array
    knots: Array

    @classmethod
    def learn(cls, outputs: Array, of_texts: bool) -> Outputs:
        """From the vectors of a test set; of_texts: whether their axes were fitted to its texts.

        >>> rng = np.random.default_rng(0)
        >>> made = Outputs.learn(rng.normal(size=(60, 3)), of_texts=False)
        >>> made.size, made.leaning.tolist()
        (3, [1.0, 1.0, 1.0])
        """
        n = len(outputs)
        centre = outputs.mean(axis=0)
        rows = outputs - centre
        values, vectors = np.linalg.eigh(rows.T @ rows)
        order = np.argsort(-values)[: max(1, min(AXES, n // ROWS_AN_AXIS))]
        order = order[values[order] > LEAST * values.max()]
        if not len(order):
            raise DataworthError("all responses of the test set are the same; there is nothing to predict.")
        axes, values = vectors[:, order], values[order]
        axes = axes * np.sign(axes[np.abs(axes).argmax(axis=0), np.arange(len(order))])
        leaning = np.ones(len(order))
        if of_texts:
            leaning = np.maximum(0.0, 1.0 - (1.0 - float(centre @ centre)) / values)
            axes, leaning = axes[:, leaning > OWN], leaning[leaning > OWN]
            if not len(leaning):
                raise DataworthError(
                    "the test set's responses have nothing in common to be predicted: give more of them."
                )
        found = cls(centre=centre, axes=axes, leaning=leaning, knots=np.zeros((len(leaning), KNOTS)))
        own = (found.own(outputs) - centre) @ axes
        knots = np.ascontiguousarray(np.quantile(own, LEVELS, axis=0).T)
        return cls(centre=centre, axes=axes, leaning=leaning, knots=knots)

    @property
    def size(self) -> int:
        """How many targets a row has."""
        return len(self.leaning)

    def own(self, outputs: Array) -> Array:
        """Vectors of the test set's own rows as if the axes had been fitted without each."""
        along = (outputs - self.centre) @ self.axes
        return np.asarray(outputs - (along * (1.0 - self.leaning)) @ self.axes.T, dtype=float)

    def of(self, data: Dataset, what: str = "the data") -> Array:
        """The targets of a dataset, rows × axes."""
        given = super().of(data, what)
        if given.shape[1] != len(self.centre):
            raise DataworthError(
                f"{what}: labels are vectors of {given.shape[1]} numbers, but the test set's of "
                f"{len(self.centre)}: give the same outputs in both."
            )
        return normal_scores((given - self.centre) @ self.axes, self.knots)

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return dict(as_data(self).items())

    @classmethod
    def from_dict(cls, d: dict[str, Any]) -> Outputs:
        """What `to_dict` wrote; a reason if it cannot have."""
        width, size = len(items(d, "centre")), len(items(d, "leaning"))
        knots = numbers(d, "knots", (size, KNOTS))
        leaning = numbers(d, "leaning", (size,))
        if not size or (np.diff(knots, axis=1) < 0).any() or not ((leaning > 0) & (leaning <= 1)).all():
            raise DataworthError("its outputs have knots that do not ascend, or rows that lean on nothing")
        return cls(
            centre=numbers(d, "centre", (width,)),
            axes=numbers(d, "axes", (width, size)),
            leaning=leaning,
            knots=knots,
        )


NAMES = {one.name for one in fields(Outputs)}
"""The entries of outputs in a file."""
