"""What has a name, as lists: the checks of every result, the terms of the glossary, and the curations."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Sequence
from dataclasses import MISSING
from importlib.resources import files
from typing import Any

from dataworth.checks import CHECKS, check_codes
from dataworth.curation.names import NAMES, options_of, written
from dataworth.errors import DataworthError
from dataworth.report import terminal

WORDS = {True: "yes", False: "no", None: "depends"}


class Told:
    """What a command says that measures nothing: plain data, one line, and in full, longer if `verbose`."""

    def __init__(self, data: dict[str, Any], line: str, full: Callable[[bool], Any]) -> None:
        self.to_dict, self.line, self.full = lambda: data, lambda: line, full


def list_checks(codes: Sequence[str] | None) -> Told:
    """Checks: what each means if it fires; also what to do, if `verbose` or asked for by code."""
    wanted = check_codes(codes)
    listed = [check for check in CHECKS if check.code in wanted or not wanted]

    def table(verbose: bool) -> Any:
        rows = []
        for check in listed:
            slow = " (slow: with --slow-checks)" if check.slow else ""
            todo = f". What to do: {check.advice}." if verbose or wanted else ""
            rows.append((check.code, check.name, f"{check.meaning}{slow}{todo}"))
        return terminal.listing(
            ("code", "name", "what it means if it fires"),
            rows,
            "--ignore CODES leaves some out; --strict exits with 3 if one fires; "
            "docs/checks.md explains each.",
        )

    told = ("code", "name", "meaning", "advice", "slow")
    checks = [{name: getattr(check, name) for name in told} for check in listed]
    names = ", ".join(f"{check.code} {check.name}" for check in listed)
    return Told({"schema": "dataworth/checks/1", "checks": checks}, names, table)


def glossary() -> dict[str, str]:
    """The terms of `glossary.md`, of which `docs/` has a copy, and what each means."""
    text = files(__package__).joinpath("glossary.md").read_text(encoding="utf-8")
    entries = (entry.partition("\n") for entry in text.split("\n### ")[1:])
    return {term: " ".join(meaning.split()) for term, _, meaning in entries}


def explain_term(term: str) -> Told:
    """One term of the glossary, or all of them if none is named."""
    entries = glossary()
    lower = {name.lower(): name for name in entries}
    if term and term.lower() not in lower:
        close = difflib.get_close_matches(term.lower(), lower, n=3)
        near = f"close to it: {', '.join(close)}" if close else "'dataworth explain' lists all"
        raise DataworthError(f"{term!r} is no term of the glossary; {near}.")
    listed = {name: entries[name] for name in ([lower[term.lower()]] if term else entries)}
    line = "; ".join(f"{name}: {meaning}" for name, meaning in listed.items()) if term else ", ".join(listed)
    data = {"schema": "dataworth/explain/1", "terms": listed}
    return Told(data, line, lambda verbose: terminal.listing(("term", "what it means"), [*listed.items()]))


def list_curations() -> Told:
    """Curations: each with its options and their defaults; if `verbose` why it is strategic or not."""

    def table(verbose: bool) -> Any:
        rows = []
        for name, method in NAMES.items():
            options = ", ".join(written(key, option) for key, option in options_of(name).items())
            what = f"{method.what}; options: {options}" if options else method.what
            why = f". Why: {method.why}." if verbose else ""
            rows.append((name, what + why, WORDS[method.strategic]))
        return terminal.listing(
            ("--curate", "what it does", "strategic"),
            rows,
            "Options stand with their defaults; SIZE and ROWS: as many rows as the data have.",
            "strategic in the paper's sense: θ → D → f(D), so that it cannot add information.",
        )

    def told(name: str) -> dict[str, Any]:
        method, options = NAMES[name], options_of(name).items()
        defaults = {key: None if one.default is MISSING else one.default for key, one in options}
        about = {"name": name, "what": method.what, "options": defaults}
        return {**about, "strategic": method.strategic, "why": method.why}

    data = {"schema": "dataworth/curations/1", "curations": list(map(told, NAMES))}
    return Told(data, ", ".join(NAMES), table)
