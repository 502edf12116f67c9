"""The checks that are made of every result, as a list."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dataworth.checks import CHECKS, check_codes
from dataworth.checks.base import Check
from dataworth.report.text import layout

from .show import View

SCHEMA = "dataworth/checks/1"


@dataclass(frozen=True)
class Checks:
    """Some of them, in the order of their codes; `alone` if they were asked for by these."""

    listed: tuple[Check, ...] = CHECKS
    alone: bool = False

    @classmethod
    def named(cls, codes: Sequence[str] | None) -> Checks:
        """Those with these codes; all, if there are none."""
        wanted = check_codes(codes)
        return cls(tuple(check for check in CHECKS if check.code in wanted), True) if wanted else cls()

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        names = ("code", "name", "meaning", "advice", "slow")
        return {
            "schema": SCHEMA,
            "checks": [{name: getattr(check, name) for name in names} for check in self.listed],
        }


def line(checks: Checks) -> str:
    """The codes and names in one line."""
    return ", ".join(f"{check.code} {check.name}" for check in checks.listed)


def full(checks: Checks, verbose: bool = False) -> Any:
    """One line each: what it means if it fires; also what to do, if `verbose` or asked for by code."""
    rows = []
    for check in checks.listed:
        slow = " (slow: with --thorough)" if check.slow else ""
        todo = f". What to do: {check.advice}." if verbose or checks.alone else ""
        rows.append((check.code, check.name, f"{check.meaning}{slow}{todo}"))
    return layout.listing(
        ("code", "name", "what it means if it fires"),
        rows,
        "--ignore CODES leaves some out; --strict exits with 3 if one fires; each has a page in docs/checks.",
    )


LISTING = View(full, line, in_bits=False)
