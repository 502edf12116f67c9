"""How well one half of a test set predicts the other, with a given model and tempering."""

from __future__ import annotations

import numpy as np

from ..arrays import Array, Rows
from ..models import Linear
from ..models.gaussian import with_intercept
from .halves import both_ways
from .kinds import KINDS, YardstickModel
from .predictive import PREDICT, Known


def half_given_half(
    model: YardstickModel,
    tempering: float,
    X: Array,
    y: Array,
    splits: list[tuple[Rows, Rows]],
    weights: Array | None = None,
) -> float:
    """Mean of Σ log p(row | other half) over rows of a half, both ways round; rows count `tempering` times.

    >>> from dataworth.models import Logistic
    >>> X, y = np.array([[-1.0], [-1.0], [1.0], [1.0]]), np.array([0.0, 0.0, 1.0, 1.0])
    >>> splits = [(np.array([0, 2]), np.array([1, 3]))]
    >>> half_given_half(Logistic(1.0), 1.0, X, y, splits) < half_given_half(Logistic(9.0), 1.0, X, y, splits)
    True
    """
    kind = next(name for name, made in KINDS.items() if isinstance(model, made))
    level, ratio = (tempering, tempering)
    if isinstance(model, Linear):
        level = float(model.noise_variance)  # type: ignore[arg-type]  # a yardstick's noise is a number
        ratio = tempering / level
    rows, classes = with_intercept(X, model.intercept), int(y.max()) + 1
    weights = np.ones(len(y)) if weights is None else weights
    found = []
    for own, others in both_ways(splits):
        asked = Known(rows[own], y[own], weights[own], rows[others], y[others], classes)
        told = PREDICT[kind](asked, model.prior_variance * ratio, (level,)).log_p[0]
        found.append(float(weights[others] @ told))
    return float(np.mean(found))
