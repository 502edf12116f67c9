"""Scales of columns: each by its own spread, all by one common spread, or by rank.

Rows come in standard units, z = (x − centre) / s.d. of each column. `each` leaves them so. `common` gives
columns of large spread their weight back: z · s.d. / root mean square of all s.d. `rank` takes normal scores:
Φ⁻¹ of the proportion of test rows below, between 40 quantiles of the column, so that neither heavy tails nor
outliers count for more than their rank.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import ndtri

from ..arrays import Array
from ..errors import DataworthError
from ..inference.newton import compiled
from .reading import items, numbers, text

SCALES = ("each", "common", "rank")
KNOTS = 40
"""Quantiles a column of the scale `rank`, at (i + ½) / 40."""
MANY = 1 << 20
"""Cells above which compiled code is worth its loading."""
LEVELS = (np.arange(KNOTS) + 0.5) / KNOTS
SCORES: Array = ndtri(LEVELS)


@dataclass(frozen=True, kw_only=True)
class Scale:
    """z ↦ (z − shift) · stretch; with `knots` (columns × 40), (normal score of z − shift) · stretch.

    >>> Scale.learn("common", np.array([[1.0, 1.0], [-1.0, -1.0]]), np.array([3.0, 4.0])).stretch.round(3)
    array([0.849, 1.131])
    """

    name: str
    shift: Array
    stretch: Array
    knots: Array

    @classmethod
    def learn(cls, name: str, standard: Array, spread: Array) -> Scale:
        """From test rows in standard units and the spread of their columns; 0 where one is constant."""
        d = len(spread)
        shift, stretch, knots = np.zeros(d), (spread > 0).astype(float), np.zeros((d, 0))
        if name == "common" and stretch.any():
            largest = spread.max()  # squares of 1e-170 vanish, those of 1e170 overflow
            ratio = spread / largest
            stretch = ratio / np.sqrt((ratio[spread > 0] ** 2).mean())
        if name == "rank":
            knots = np.ascontiguousarray(np.quantile(standard, LEVELS, axis=0).T)
            shift = normal_scores(standard, knots).mean(axis=0)
        return cls(name=name, shift=shift, stretch=stretch, knots=knots)

    def __call__(self, standard: Array) -> Array:
        """Rows in standard units on this scale."""
        if self.name == "each":
            return standard
        scores = normal_scores(standard, self.knots) if self.knots.size else standard
        return np.asarray((scores - self.shift) * self.stretch)

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        arrays = {name: getattr(self, name).tolist() for name in ("shift", "stretch", "knots")}
        return {"name": self.name, **arrays}

    @classmethod
    def from_dict(cls, d: dict[str, Any], width: int) -> Scale:
        """The scale that `to_dict` wrote; a reason if none can have."""
        name = text(d, "name")
        if name not in SCALES:
            raise DataworthError("its scale is one that this version does not know")
        items(d, "knots")
        knots = numbers(d, "knots", (width, KNOTS if name == "rank" else 0))
        if (np.diff(knots, axis=1) < 0).any():
            raise DataworthError("its knots do not ascend")
        shift, stretch = (numbers(d, part, (width,)) for part in ("shift", "stretch"))
        if (stretch < 0).any():
            raise DataworthError("its stretch is below 0")
        return cls(name=name, shift=shift, stretch=stretch, knots=knots)


def normal_scores(X: Array, knots: Array) -> Array:
    """Scores of each column by its knots: linear between them, constant beyond, equal knots in their middle.

    >>> normal_scores(np.array([[-9.0], [0.5], [9.0]]), np.linspace(0.0, 1.0, 40)[None, :]).round(2).ravel()
    array([-2.24,  0.  ,  2.24])
    """
    apart = np.all(np.diff(knots, axis=1) > 0, axis=1)  # all at once: there may be many columns
    fast = compiled("piecewise_kernel", "interpolate") if X.size > MANY and np.any(apart) else None
    scores = np.empty(X.shape) if fast is None else np.asarray(fast(X, knots, SCORES))
    for j in np.flatnonzero(~apart) if fast else range(len(knots)):
        own = knots[j]
        if apart[j]:
            scores[:, j] = np.interp(X[:, j], own, SCORES)
            continue
        first = np.flatnonzero(np.append(True, np.diff(own) > 0))
        last = np.append(first[1:], KNOTS) - 1
        scores[:, j] = np.interp(X[:, j], own[first], 0.5 * (SCORES[first] + SCORES[last]))
    return scores
