"""When does it matter that another way of computing gives another number?

Approximations always differ a little. It matters when the other way's number lies outside the 95 % interval
that the result states, which is to hold the truth:

    shift = mean of (other − own) over the first few pairs or blocks;    material if |shift| > half its width.

The pairs are the same on both sides, so their own spread cancels. A change shown to be above or below zero is
farther from zero than half its interval's width: what would turn its sign over is always material.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..measure.case import Case
from ..measure.evaluate import Visitor
from ..measure.table import PairTable
from ..models import Model
from .base import Seen, not_run, quietly

PAIRS = 4
"""Pairs or blocks that are computed twice."""
UNSTATED = 1.0
"""Nats that matter where the result has no interval: odds of e to 1."""
SURE = 2.0
"""Standard errors that the error of a sampled number may explain."""
LEFT_BY_SOLVERS = 1e-3
"""Nats that never matter, however narrow the interval."""
AFFORDABLE = 1e8
"""Rows · (features² + ROUND) that may be fitted again by EP without being asked: about half a second."""
ROUND = 1000
"""What EP's sites cost a row, in multiplications: 64 nodes, with their exponentials."""


class Shift(NamedTuple):
    """What the result and the other way give over the same pairs, and from where on that matters (nats)."""

    own: float
    other: float
    limit: float
    pairs: int

    @property
    def value(self) -> float:
        """Other − own."""
        return self.other - self.own

    @property
    def material(self) -> bool:
        """Whether it matters."""
        return abs(self.value) > self.limit

    def seen(self, own: str, other: str, stderr: float | None = None, whose: str = "") -> Seen:
        """What a check says of it; `own` and `other` name the two ways, `whose` what has that error."""
        if not np.isfinite(self.value):
            return not_run(f"{other} gives no number here")
        told = f"{own} {self.own:+.2f}, {other} {self.other:+.2f} nats over {self.pairs} pairs or blocks"
        told = f"{told}: {abs(self.value):.2g} apart, allowed up to {self.limit:.2g}"
        if stderr is None:
            return Seen(self.material, self.value, told)
        sure = abs(self.value) - SURE * stderr > self.limit
        return Seen(sure, self.value, f"{told} ({whose} standard error: {stderr:.2g})", stderr)


def limit_of(case: Case) -> float:
    """Half the width of the result's own interval."""
    interval = case.found.interval
    half = UNSTATED if interval is None else (interval[1] - interval[0]) / 2
    return max(half, LEFT_BY_SOLVERS)


def shift_of(case: Case, other: PairTable) -> Shift:
    """How far another table of the first few pairs is from the result's own."""
    return shift_to(case, float(case.quantity(other).mean()), len(other))


def shift_to(case: Case, other: float, pairs: int) -> Shift:
    """How far another mean over the first few pairs is from the result's own."""
    return Shift(mean_of(case, pairs), other, limit_of(case), pairs)


def mean_of(case: Case, pairs: int) -> float:
    """The result's own number over the first few pairs."""
    return float(case.quantity(case.table)[:pairs].mean())


def again_by(
    case: Case, model: Model | None = None, form: str | None = None, visit: Visitor | None = None
) -> PairTable | None:
    """The first few pairs once more by another model, form or visitor, as many as are affordable, or None.

    A solver that does not converge warns; the numbers count all the same, and DW007 is about that.
    """
    pairs = PAIRS
    if not case.options.thorough:
        features = min(case.pool.X.shape[1] + 1, int(case.table.data_rows.max()))
        places = [case.table.arms.index(arm) for arm in case.arms]
        rows = float((case.table.data_rows[:, places] + case.table.test_rows[:, None]).sum(axis=1).max())
        pairs = min(PAIRS, int(AFFORDABLE / max(rows * (features**2 + ROUND), 1.0)))
    if pairs < 1:
        return None
    with quietly():
        return case.again(model=model, form=form, pairs=pairs, arms=case.arms, visit=visit)
