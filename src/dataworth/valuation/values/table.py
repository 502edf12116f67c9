"""Data and test rows on one yardstick, as the fits of values see them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from ...arrays import Array, Flags, Rows
from ...inference.logistic import Counts
from ...inference.removal import Labelled
from ...measure.designs import Sample, group_codes
from ...measure.prepare import Measurement, Pool
from ...models.gaussian import distinct_rows, with_intercept


class Part(NamedTuple):
    """Rows of the data or of the test set: where they stand, targets, how often each counts, if it does."""

    place: Rows
    y: Array
    weights: Array
    inside: Flags

    def labelled(self, y: Array) -> Labelled:
        """The rows with labels 0 and 1, or soft ones between."""
        return Labelled(self.place, Counts(self.weights * y, self.weights * (1.0 - y)), y, self.inside)

    def some(self, rows: Flags) -> Part:
        """Some of the rows."""
        return Part(self.place[rows], self.y[rows], self.weights[rows], self.inside[rows])


@dataclass(frozen=True)
class Table:
    """Features of distinct rows; the data, their weights times the yardstick's tempering; the test set.

    groups: which test rows belong together.
    """

    X: Array
    prior_variance: float
    tempering: float
    data: Part
    test: Part
    groups: Rows | None

    @classmethod
    def of(cls, prepared: Measurement, pool: Pool, data: str, test: str) -> Table:
        """The rows of a pool."""
        X, place = distinct_rows(pool.X)

        def part(sample: Sample, times: float) -> Part:
            rows = sample.rows
            weights = np.ones(len(rows)) if sample.weights is None else sample.weights
            return Part(place[rows], pool.y[rows], times * weights, np.ones(len(rows), dtype=bool))

        model = prepared.yardstick.model
        return cls(
            X=with_intercept(X, model.intercept),
            prior_variance=float(model.prior_variance),
            tempering=pool.tempering,
            data=part(pool.samples[data], pool.tempering),
            test=part(pool.samples[test], 1.0),
            groups=group_codes(prepared.test.groups),
        )

    def tested_on(self, rows: Flags) -> Table:
        """The same with a part of the test set."""
        groups = None if self.groups is None else np.unique(self.groups[rows], return_inverse=True)[1]
        return replace(self, test=self.test.some(rows), groups=groups)

    def counting(self, rows: Flags) -> Table:
        """The same with some rows of the data counted, and the others not; all are still looked at."""
        return replace(self, data=self.data._replace(inside=rows))
