"""Which other priors the test set would have allowed.

The yardstick's search compares candidates by held-out log-likelihood, log p(T_b | T_a) over halves of the
test set. Twice a difference of log-likelihoods is χ² with one degree of freedom if one number is varied, so

    {C : held-out(C) ≥ held-out(chosen) − 1.92 nats}

is what a likelihood-ratio test at 5 % does not exclude.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..arrays import Array, Rows
from ..data.dataset import Dataset
from ..measure.case import Case
from ..models import Model, OneVsRest, Softmax
from ..models.base import bind
from ..yardstick.probes import doubling_probe, half_given_half
from ..yardstick.search import searched, splits_of
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

    @classmethod
    def of(cls, case: Case) -> Halves:
        """As in `Yardstick.fit`."""
        sample, splits = searched(case.test, case.yardstick.seed, case.yardstick.kind)
        return cls(sample, case.yardstick.targets(sample), splits)

    def held_out(self, model: Model, features: Array) -> float:
        """Mean of log p(T_b | T_a) = log Z(T) − log Z(T_a) over halves, both ways round."""
        with quietly():
            return half_given_half(bind(model, features, self.targets), self.splits, self.sample.weights)

    def calibrated(self, model: Model, features: Array) -> bool:
        """Whether the doubling probe is not shown positive, as the yardstick asks of its candidates."""
        with quietly():
            fitter = bind(model, features, self.targets)
            probe, stderr = doubling_probe(fitter, self.splits, self.sample.weights)
        return probe <= stderr


def fits_of(case: Case) -> int:
    """Fits for one held-out likelihood."""
    return 2 * splits_of(case.yardstick.kind) + 1


def fit_work(case: Case, rows: int, features: int) -> float:
    """Rough number of multiplications of one fit: several classes have several coefficients a feature."""
    model, names = case.yardstick.model, getattr(case.yardstick.labels, "names", ())
    power = 2 if isinstance(model, Softmax) else 1 if isinstance(model, OneVsRest) else 0
    return float(rows) * (features + 1) ** 2 * len(names) ** power
