"""The curations that have names, as a list."""

from __future__ import annotations

from dataclasses import MISSING
from typing import Any

from dataworth.curation.names import NAMES, options_of, written
from dataworth.report.text import layout

from .show import View

SCHEMA = "dataworth/curations/1"
WORDS = {True: "yes", False: "no", None: "depends"}


class Curations:
    """All of them, in the order of the registry."""

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        listed = [
            {
                "name": name,
                "what": method.what,
                "options": {
                    key: None if option.default is MISSING else option.default
                    for key, option in options_of(name).items()
                },
                "strategic": method.strategic,
                "why": method.why,
            }
            for name, method in NAMES.items()
        ]
        return {"schema": SCHEMA, "curations": listed}


def line(curations: Curations) -> str:
    """The names in one line."""
    return ", ".join(NAMES)


def full(curations: Curations, verbose: bool = False) -> Any:
    """One line each, with its options and their defaults; with `verbose` why it is strategic or not."""
    rows = []
    for name, method in NAMES.items():
        options = ", ".join(written(key, option) for key, option in options_of(name).items())
        what = f"{method.what}; options: {options}" if options else method.what
        why = f". Why: {method.why}." if verbose else ""
        rows.append((name, what + why, WORDS[method.strategic]))
    return layout.listing(
        ("--curate", "what it does", "strategic"),
        rows,
        "Options stand with their defaults; SIZE, ROWS and FRACTION: as many rows as the data have.",
        "strategic in the paper's sense: θ → D → f(D), so that it cannot add information.",
    )


LISTING = View(full, line, in_bits=False)
