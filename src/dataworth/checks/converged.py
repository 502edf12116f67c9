"""DW007: did every solver converge?

Newton's method and EP say whether they met their tolerance. A fit that did not has a log Z of unknown error.
"""

from __future__ import annotations

from ..measure import Case
from .base import Check, Seen


def look(case: Case) -> Seen:
    """Fits that did not, counted when they were made; the test set's fit counts once an arm."""
    table = case.table
    unsettled = int(table.unsettled.sum())
    joint = case.options.form == "evidence" and not case.design.arms_fixed
    fits = table.unsettled.size * (3 if joint else 2)
    if not unsettled:
        return Seen(False, 0.0, f"all of {fits} fits converged")
    arms = ", ".join(str(arm) for arm, n in zip(table.arms, table.unsettled.sum(axis=0), strict=True) if n)
    return Seen(True, float(unsettled), f"{unsettled} of {fits} fits did not converge (arms: {arms})")


CHECK = Check(
    "DW007",
    "converged",
    "a solver stopped before it converged: those numbers have errors that no interval covers",
    "use the other inference= (--inference), a narrower prior, or features without enormous values",
    look,
    sealed="a sealed file does not say how its posterior was found",
    stands=False,
)
