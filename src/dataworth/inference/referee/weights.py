"""Importance weights: the evidence and the error that they say, and whether to believe them."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.special import logsumexp

from ...arrays import Array
from .problem import Meter

FEWEST = 400.0
"""Smallest effective sample size that is believed: below it, the spread of the weights is itself unknown."""
LARGEST_SHARE = 0.2
"""Of the sum of squared weights, from one draw: above it, the error rests on that draw."""
DISAGREEMENT = 4.0
"""Standard errors between two independent halves; by chance alone, once in 16,000 answers."""


class Refereed(NamedTuple):
    """A log evidence, its standard error, effective sample size and draws, and how it was found.

    `method` is "importance" (draws are draws) or "annealed" (draws are chains); "exact" needs none, and its
    effective sample size is infinite.
    """

    log_z: float
    error: float
    ess: float
    draws: int
    method: str


class Weights(NamedTuple):
    """Independent importance weights of one fixed proposal, and what they are worth."""

    log_w: Array

    @property
    def draws(self) -> int:
        """How many."""
        return len(self.log_w)

    @property
    def log_z(self) -> float:
        """Log of the mean weight."""
        return float(logsumexp(self.log_w)) - float(np.log(self.draws))

    @property
    def ess(self) -> float:
        """(Σw)² / Σw²."""
        return float(np.exp(2.0 * logsumexp(self.log_w) - logsumexp(2.0 * self.log_w)))

    @property
    def unevenness(self) -> float:
        """log(draws / ess): the variance of log w if that were normal; small weights do not matter here."""
        return float(np.log(self.draws / self.ess))

    @property
    def error(self) -> float:
        """Standard error of log Z: that of the mean weight over the mean weight."""
        return float(np.sqrt(max(1.0 / self.ess - 1.0 / self.draws, 0.0) * self.draws / (self.draws - 1)))

    @property
    def largest_share(self) -> float:
        """What the largest weight contributes to Σw², which the error is made of."""
        return float(np.exp(2.0 * self.log_w.max() - logsumexp(2.0 * self.log_w)))

    def doubts(self, target: float) -> str:
        """Why not to believe this, or nothing."""
        half = self.draws // 2
        a, b = Weights(self.log_w[:half]), Weights(self.log_w[half:])
        if self.ess < FEWEST:
            return "too few effective draws"
        if self.error > target:
            return "the standard error is too large"
        if self.largest_share > LARGEST_SHARE:
            return f"one draw carries {self.largest_share:.0%} of the variance"
        if abs(a.log_z - b.log_z) > DISAGREEMENT * np.hypot(a.error, b.error):
            return f"two halves of the draws disagree ({a.log_z:.3f} and {b.log_z:.3f})"
        return ""

    def answer(self, method: str) -> Refereed:
        """As a result."""
        return Refereed(self.log_z, self.error, self.ess, self.draws, method)


def until_believed(
    draw: Callable[[int], Array], draws: int, price: int, target: float, meter: Meter, doublings: int = 10
) -> Weights:
    """Draws, then as many again while in doubt and within the budget; one costs `price` likelihoods."""
    weights = Weights(draw(max(2, min(draws, meter.left // price))))
    for _ in range(doublings):
        if not weights.doubts(target) or weights.draws * price > meter.left:
            break
        weights = Weights(np.concatenate([weights.log_w, draw(weights.draws)]))
    return weights
