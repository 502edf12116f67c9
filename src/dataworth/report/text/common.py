"""What reports of scores, audits and rankings share: the facts below the table, and the details for -v."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich.text import Text

from dataworth.checks import CHECKS, Finding
from dataworth.valuation.audit.audit import Audit
from dataworth.valuation.rank import Ranking
from dataworth.valuation.score import Score

from ..numbers import number
from ..quantities import benchmark, counted_pmi, unit_of
from . import layout, yardstick

WORDS = {"Score": "score", "Audit": "verdict", "Ranking": "ranking"}


def of_given(rows: int, given: int) -> str:
    """Why a file has more rows than were measured, where it has.

    >>> of_given(795, 805), of_given(5, 5)
    (' of 805 given (10 also stand in the test set)', '')
    """
    return "" if rows == given else f" of {given} given ({given - rows} also stand in the test set)"


def facts(result: Score | Audit | Ranking) -> list[tuple[str, str]]:
    """Yardstick, notes, how many checks passed, and each that did not."""
    told = [("Yardstick", yardstick.line(result.yardstick)), *(("Note", note) for note in result.notes)]
    if not result.checks:
        return [*told, ("Checks", "none: all were ignored")]
    counts = check_counts(result.checks, ignored=len(CHECKS) - len(result.checks))
    told.append(("Checks", counts + standing(result.checks, WORDS[type(result).__name__])))
    for finding in (one for one in result.checks if one.fires):
        seen = f" ({finding.detail})" if finding.detail else ""
        told.append((finding.code, f"{finding.name}: {finding.meaning}{seen}; {finding.advice}"))
    return told


def check_counts(checks: Sequence[Finding], ignored: int = 0) -> str:
    """How many passed, fired, were ignored, and were not run."""
    passed, fired, left = (sum(one.fires is kind for one in checks) for kind in (False, True, None))
    also = f", {left} not run (-v says why)" if left else ""
    without = f", {ignored} ignored" if ignored else ""
    return f"{passed} passed, {fired or 'none'} fired{without}{also}"


def standing(checks: Sequence[Finding], what: str = "result") -> str:
    """What becomes of a result where checks fired: whether it stands."""
    fired = [one for one in checks if one.fires]
    fatal = ", ".join(one.code for one in fired if not one.stands)
    if fatal:
        return f"; the {what} does not stand before {fatal} is dealt with"
    return f"; the {what} stands, for what it says" if fired else ""


def details(result: Score | Audit | Ranking, bits: bool) -> list[layout.Rendered]:
    """Each arm, the yardstick, and every check with what it saw, for -v."""
    unit, factor = unit_of(bits)
    name, points, _ = benchmark(result.yardstick)

    def mean(column: str, arm: Any, scale: float, digits: int) -> str:
        return number(float(result.table.column(column, arm).mean()) * scale, digits)

    arms = [
        (
            str(arm),
            mean("data_rows", arm, 1, 0),
            number(float(pmi.mean()), 3),
            number(float(pmi.std(ddof=1)) if len(pmi) > 1 else float("nan"), 3),
            mean("accuracy", arm, points, 2),
            mean("information_gain", arm, factor, 2),
        )
        for arm, pmi in zip(result.table.arms, (counted_pmi(result) * factor).T, strict=True)
    ]
    headers = ("arm", "rows", f"PMI, {unit}", f"s.d., {unit}", name, f"information gain, {unit}")
    words = {True: "fires", False: "passed", None: "not run"}
    seen = [  # numbers stand in the details, with their units
        (one.code, f"{one.name}: {words[one.fires]}" + (f"; {one.detail}" if one.detail else ""))
        for one in result.checks
    ]
    return [
        Text(""),
        layout.table(headers, arms),
        Text("yardstick", style="dim"),
        layout.grid(yardstick.facts(result.yardstick)),
        Text("checks", style="dim"),
        layout.grid(seen),
    ]
