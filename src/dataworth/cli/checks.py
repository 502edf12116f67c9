"""The checks that are made of every result, as a list."""

from __future__ import annotations

from typing import Any

from dataworth.checks import CHECKS

from .show import View

SCHEMA = "dataworth/checks/1"


class Checks:
    """All of them, in the order of their codes."""

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        names = ("code", "name", "meaning", "advice", "slow")
        return {
            "schema": SCHEMA,
            "checks": [{name: getattr(check, name) for name in names} for check in CHECKS],
        }


def line(checks: Checks) -> str:
    """The codes and names in one line."""
    return ", ".join(f"{check.code} {check.name}" for check in CHECKS)


def full(checks: Checks, verbose: bool = False) -> Any:
    """One line each: what it means if it fires; with `verbose` also what to do then."""
    from rich import box
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, header_style="dim")
    for header in ("code", "name", "what it means if it fires"):
        table.add_column(header, no_wrap=header in ("code", "name"))
    for check in CHECKS:
        meaning = Text(check.meaning + (" (slow: with --thorough)" if check.slow else ""))
        if verbose:
            meaning.append(f". What to do: {check.advice}.")
        table.add_row(Text(check.code), Text(check.name), meaning)
    how = (
        "--ignore CODES leaves some out; --strict exits with 3 if one fires; each has a page in docs/checks."
    )
    return Group(table, Text(""), Text(how, style="dim"))


LISTING = View(full, line, in_bits=False)
