"""The checks that are made of every result, as a list."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dataworth.checks import CHECKS, check_codes
from dataworth.checks.base import Check

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
    from rich import box
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, header_style="dim")
    for header in ("code", "name", "what it means if it fires"):
        table.add_column(header, no_wrap=header in ("code", "name"))
    for check in checks.listed:
        meaning = Text(check.meaning + (" (slow: with --thorough)" if check.slow else ""))
        if verbose or checks.alone:
            meaning.append(f". What to do: {check.advice}.")
        table.add_row(Text(check.code), Text(check.name), meaning)
    how = (
        "--ignore CODES leaves some out; --strict exits with 3 if one fires; each has a page in docs/checks."
    )
    return Group(table, Text(""), Text(how, style="dim"))


LISTING = View(full, line, in_bits=False)
