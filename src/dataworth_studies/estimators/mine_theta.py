"""MINE on trained parameters: I(θ̂_D; θ̂_T), θ̂ the mode of logistic regression under N(0, C·I).

θ̂ is a function of the dataset, so that this is at most I(D; T).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dataworth import Logistic
from dataworth.arrays import Array

from ..known_mi import KnownPairs
from .base import Guess
from .mine import mine
from .networks import DEFAULT, Budget


@dataclass(frozen=True)
class MineTheta:
    """MINE on the coefficients of D's and of T's logistic regression, without intercept as in the paper."""

    prior_variance: float = 1.0
    budget: Budget = DEFAULT
    name: str = "MINE on θ"

    def __call__(self, pairs: KnownPairs, seed: int) -> Guess:
        """The bound on held-out pairs, in nats."""
        return mine(*coefficients(pairs, self.prior_variance), seed, self.budget)


def coefficients(pairs: KnownPairs, prior_variance: float) -> tuple[Array, Array]:
    """θ̂ of each D and of each T.

    >>> X, y = np.array([[1.0], [-1.0]]), np.array([1.0, 0.0])
    >>> rows = np.array([[0, 1]])
    >>> pairs = KnownPairs(X, y, rows, rows, np.full(1, 0.5), np.full(1, 0.5))
    >>> theta, _ = coefficients(pairs, 1.0)  # solves θ = 2σ(−θ)
    >>> bool(np.allclose(theta, 2 / (1 + np.exp(theta))))
    True
    """
    fitter = Logistic(prior_variance, intercept=False).bind(pairs.X, pairs.y)

    def modes(sets: np.ndarray) -> Array:
        return np.array([fitter(rows).state.coordinates(fitter) for rows in sets])

    return modes(pairs.data), modes(pairs.test)
