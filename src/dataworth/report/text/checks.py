"""Trust checks as text: how many passed, each that fired, and all of them for -v."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from dataworth.checks import CHECKS

if TYPE_CHECKING:
    from dataworth.checks import Finding


def check_facts(checks: Sequence[Finding]) -> list[tuple[str, str]]:
    """How many checks passed, and each that did not."""
    if not checks:
        return [("Checks", "none: all were ignored")]
    told = [("Checks", check_counts(checks, ignored=len(CHECKS) - len(checks)))]
    for finding in (one for one in checks if one.fires):
        seen = f" ({finding.detail})" if finding.detail else ""
        told.append((finding.code, f"{finding.name}: {finding.meaning}{seen}; {finding.advice}"))
    return told


def check_counts(checks: Sequence[Finding], ignored: int = 0) -> str:
    """How many passed, fired, were ignored, and were not run."""
    passed, fired, left = (sum(one.fires is kind for one in checks) for kind in (False, True, None))
    also = f", {left} not run (-v says why)" if left else ""
    without = f", {ignored} ignored" if ignored else ""
    return f"{passed} passed, {fired or 'none'} fired{without}{also}"


def check_details(checks: Sequence[Finding]) -> list[tuple[str, str]]:
    """Every check with what it saw, for -v."""
    words = {True: "fires", False: "passed", None: "not run"}
    told = []
    for finding in checks:
        detail = f"; {finding.detail}" if finding.detail else ""  # numbers stand there, with their units
        told.append((finding.code, f"{finding.name}: {words[finding.fires]}{detail}"))
    return told
