"""What a check is, and what it finds.

A check looks at a `Case` (what was measured, and the means to measure it again) and says whether something
that the score's guarantee rests on does not hold.

When does it matter that another way of computing gives another number?

Approximations always differ a little. It matters when the other way's number lies outside the 95 % interval
that the result states, which is to hold the truth:

    shift = mean of (other − own) over the first few pairs or blocks;    material if |shift| > half its width.

The pairs are the same on both sides, so their own spread cancels. A change shown to be above or below zero is
farther from zero than half its interval's width: what would turn its sign over is always material.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal, NamedTuple

import numpy as np

from ..measure import Case, PairTable, Visitor
from ..models import Model

quietly = partial(warnings.catch_warnings, action="ignore", category=RuntimeWarning)
"""Without a solver's warning that it did not converge: DW007 is about that, and here the numbers count."""
CHEAP = 3e9
"""Multiplications up to which measuring everything again is no matter (a second or two)."""


class Seen(NamedTuple):
    """Whether a check fires (None: it was not run), the number it rests on, and what exactly was seen."""

    fires: bool | None
    value: float | None = None
    detail: str = ""
    stderr: float | None = None


def not_run(why: str) -> Seen:
    """For checks that do not apply here, or would take too long."""
    return Seen(None, None, why)


@dataclass(frozen=True)
class Finding:
    """A check's code and name, whether it fires, the number it rests on, what that means and what to do.

    `stands`: whether the conclusion stands even where it fires, with what it means in mind.
    """

    code: str
    name: str
    fires: bool | None
    value: float | None
    stderr: float | None
    meaning: str
    advice: str
    detail: str = ""
    stands: bool = True

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return dict(vars(self))


def fired(findings: Sequence[Finding]) -> str:
    """Which checks fired, in a few words."""
    if not findings:
        return "unchecked"
    return f"fired: {', '.join(one.code for one in findings if one.fires) or 'no check'}"


@dataclass(frozen=True)
class Check:
    """One check. `meaning` says what it means that it fires, `advice` what to do then.

    A `slow` one is left out unless the user asks for all of them. `needs` says what it looks at: the test
    rows and what came out ("test"), the rows of one dataset after the other ("rows"), or all, measured again
    ("again"). Of sealed data there is only the first, and the second of those that are open. `stands`:
    whether a conclusion stands where it fires. `prior`: it asks the yardstick's own model, not the user's.
    """

    code: str
    name: str
    meaning: str
    advice: str
    look: Callable[[Case], Seen]
    slow: bool = False
    needs: Literal["test", "rows", "again"] = "again"
    sealed: str = "sealed data have no rows to measure again"
    stands: bool = True
    prior: bool = False

    def __call__(self, case: Case) -> Finding:
        """Look at a case."""
        if case.sealed and self.needs == "rows" and case.data:
            found = self.finding(self.look(case))
            return replace(found, detail=f"{found.detail} (open data only)")
        if case.sealed and self.needs != "test":
            nothing = "sealed data have no rows to look at"
            return self.finding(not_run(nothing if self.needs == "rows" else self.sealed))
        if case.passes and self.needs == "again" and self.code not in case.seen:
            return self.finding(not_run("data that are read in passes are not measured again"))
        if self.prior and case.options.own_model is not None:
            return self.finding(not_run("the model is your own: dw.check_model looks at it"))
        if self.slow and not case.options.thorough:
            return self.finding(not_run("slow: run it by --thorough (thorough=True)"))
        found = self.finding(case.seen[self.code] if self.code in case.seen else self.look(case))
        if case.passes and self.needs == "rows":
            return replace(found, detail=f"{found.detail} (a sample of the rows)")
        return found

    def finding(self, seen: Seen) -> Finding:
        """What was seen, with what it means."""
        told = (self.meaning, self.advice, seen.detail, self.stands)
        return Finding(self.code, self.name, seen.fires, seen.value, seen.stderr, *told)


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
