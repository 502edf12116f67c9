"""Which other priors the test set would have allowed.

The yardstick's search compares candidates by held-out log-likelihood, and so does this: Σ log p(row | T_a)
over the rows of T_b, for halves T_a and T_b of the test set. Twice a difference of log-likelihoods is χ² with
one degree of freedom if one number is varied, so

    {C : held-out(C) ≥ held-out(chosen) − 1.92 nats}

is what a likelihood-ratio test at 5 % does not exclude.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..arrays import Array, Rows
from ..data.dataset import Dataset
from ..measure.case import Case
from ..models import OneVsRest, Softmax
from ..yardstick.kinds import YardstickModel
from ..yardstick.predictive import half_given_half
from ..yardstick.search import ROWS, searched, splits_of
from .base import quietly

PLAUSIBLE = 1.92
"""Held-out nats: half the 95 % quantile of χ² with one degree of freedom."""
HALF_DECADE = float(np.sqrt(10.0))
"""The step of the yardstick's own grid of priors."""


@dataclass(frozen=True)
class Halves:
    """Rows of the test set and their splits: the yardstick's own, if it was fitted to this test set."""

    sample: Dataset
    targets: Array
    splits: list[tuple[Rows, Rows]]
    tempering: float

    @classmethod
    def of(cls, case: Case) -> Halves:
        """As in `Yardstick.fit`."""
        sample, splits = searched(case.test, case.yardstick.seed, case.yardstick.kind)
        return cls(sample, case.yardstick.targets(sample), splits, case.yardstick.tempering)

    def held_out(self, model: YardstickModel, features: Array) -> float:
        """Mean over halves, both ways round, nats a half."""
        with quietly():
            return half_given_half(
                model, self.tempering, features, self.targets, self.splits, self.sample.weights
            )


def fits_of(case: Case) -> int:
    """Fits for one held-out likelihood."""
    return 2 * splits_of(case.yardstick.kind, min(len(case.test), ROWS))


def fit_work(case: Case, rows: int, features: int) -> float:
    """Rough number of multiplications of one fit: several classes have several coefficients a feature."""
    model, names = case.yardstick.model, getattr(case.yardstick.labels, "names", ())
    power = 2 if isinstance(model, Softmax) else 1 if isinstance(model, OneVsRest) else 0
    return float(rows) * (features + 1) ** 2 * len(names) ** power
