"""The curations that have names, as a list."""

from __future__ import annotations

from dataclasses import MISSING
from typing import Any

from dataworth.curation.names import NAMES, options_of, written

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
    from rich import box
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, header_style="dim")
    for header in ("--curate", "what it does", "strategic"):
        table.add_column(header, no_wrap=header != "what it does")
    for name, method in NAMES.items():
        what = Text(method.what)
        options = ", ".join(written(key, option) for key, option in options_of(name).items())
        what.append(f"; options: {options}" if options else "")
        if verbose:
            what.append(f". Why: {method.why}.")
        table.add_row(Text(name), what, Text(WORDS[method.strategic]))
    meaning = "strategic in the paper's sense: θ → D → f(D), so that it cannot add information."
    defaults = "Options stand with their defaults; SIZE, ROWS and FRACTION: as many rows as the data have."
    return Group(table, Text(""), Text(defaults, style="dim"), Text(meaning, style="dim"))


LISTING = View(full, line, in_bits=False)
