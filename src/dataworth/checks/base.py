"""What a check is, and what it finds.

A check looks at a `Case` (what was measured, and the means to measure it again) and says whether something
that the score's guarantee rests on does not hold.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, NamedTuple

from ..measure import Case
from .words import WORDS

quietly = partial(warnings.catch_warnings, action="ignore", category=RuntimeWarning)
"""Without a solver's warning that it did not converge: DW007 is about that, and here the numbers count."""
CHEAP = 3e9
"""Multiplications up to which measuring everything again is no matter (a second or two)."""


class CheckOutcome(NamedTuple):
    """Whether a check failed (None: it was not run), the number it rests on, and what exactly was seen.

    subject: the column that it is about, where it is about one.
    """

    failed: bool | None
    value: float | None = None
    detail: str = ""
    stderr: float | None = None
    subject: str | None = None


def not_run(why: str) -> CheckOutcome:
    """For checks that do not apply here."""
    return CheckOutcome(None, None, why)


def too_costly(what: str) -> CheckOutcome:
    """For checks that would take too long."""
    return not_run(f"{what}: --slow-checks (slow_checks=True) does")


@dataclass(frozen=True)
class Finding:
    """A check's code and name, whether it failed, the number it rests on, what that means and what to do.

    `valid`: whether the conclusion stands even where it failed, with what it means in mind.
    """

    code: str
    name: str
    failed: bool | None
    value: float | None
    stderr: float | None
    meaning: str
    advice: str
    detail: str = ""
    valid: bool = True
    subject: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return dict(vars(self))


def _word(place: int) -> Any:
    """One of the words of a check as its attribute."""
    return property(lambda check: WORDS[check.code][place])


@dataclass(frozen=True)
class Check:
    """One check, whose words are in `words`.

    A `slow` one is left out unless the user asks for all of them. `needs` says what it looks at: the test
    rows and what came out ("test"), the rows of one dataset after the other ("rows"), or all, measured again
    ("again"). Of sealed data there is only the first, and the second of those that are open. `stands`:
    whether a conclusion stands where it fires. `prior`: it asks the yardstick's own model, not the user's.
    """

    code: str
    run: Callable[[Case], CheckOutcome]
    slow: bool = False
    needs: Literal["test", "rows", "again"] = "again"
    sealed: str = "sealed data have no rows to measure again"
    valid: bool = True
    prior: bool = False

    name, meaning, advice = map(_word, range(3))

    def __call__(self, case: Case) -> Finding:
        """Look at a case."""
        why = self.why_not(case)
        seen = self.run(case) if why is None else not_run(why)
        if why is None and self.needs == "rows" and (case.sealed or case.passes):
            some = "open data only" if case.sealed else "a sample of the rows"
            seen = seen._replace(detail=f"{seen.detail} ({some})")
        name, meaning, advice = WORDS[self.code]
        told = {"name": name, "meaning": meaning, "advice": advice, **seen._asdict()}
        return Finding(code=self.code, valid=self.valid, **told)

    def why_not(self, case: Case) -> str | None:
        """Why the check is not run; None if it is."""
        if case.sealed and self.needs == "again":
            return self.sealed
        if case.sealed and self.needs == "rows" and not case.data:
            return "sealed data have no rows to look at"
        if case.passes and self.needs == "again":
            return "data that are read in passes are not measured again"
        if self.prior and case.options.own_model is not None:
            return "the model is your own: dw.check_model looks at it"
        if self.slow and not case.options.slow_checks:
            return "slow: run it by --slow-checks (slow_checks=True)"
        return None
