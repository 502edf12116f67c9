"""What a check is, and what it finds.

A check looks at a `Case` (what was measured, and the means to measure it again) and says whether something
that the score's guarantee rests on does not hold.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal, NamedTuple

from ..measure.case import Case

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
