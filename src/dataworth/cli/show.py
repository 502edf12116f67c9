"""A result on stdout, for people or for programs, and in the files that were asked for."""

from __future__ import annotations

import csv
import json
import math
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from dataworth.report import plot, plot_values
from dataworth.report.text import (
    audit,
    demo,
    description,
    outlook,
    parts,
    ranking,
    score,
    sensitivity,
    split,
    values,
    yardstick,
)

from .files import replacing
from .guard import say
from .options import Showing
from .progress import listen

EXPLAINING = "explaining…"


class View(NamedTuple):
    """How one kind of result is shown: in full, in a line, as a figure; whether it counts nats."""

    full: Callable[..., Any]
    line: Callable[..., str]
    figure: Callable[..., Any] | None = None
    in_bits: bool = True


VIEWS = {
    "Score": View(score.full, score.line, plot.score_figure),
    "Audit": View(audit.full, audit.line, plot.audit_figure),
    "Ranking": View(ranking.full, ranking.line, plot.ranking_figure),
    "Demo": View(demo.full, demo.line, plot.demo_figure),
    "Sensitivity": View(sensitivity.full, sensitivity.line, plot.sensitivity_figure),
    "Values": View(values.full, values.line, plot_values.values_figure),
    "Split": View(split.full, split.line, plot_values.split_figure),
    "Outlook": View(outlook.full, outlook.line, plot_values.outlook_figure),
    "Description": View(description.full, description.line, in_bits=False),
    "Yardstick": View(yardstick.full, yardstick.line, in_bits=False),
}


def result(result: Any, options: Showing, about: Mapping[str, Any] = MappingProxyType({})) -> None:
    """Print, then write files: a disk that is full costs no verdict. `about`: what JSON tells beside it.

    What is not listed above knows how it is shown.
    """
    kind = type(result)
    view = VIEWS[kind.__name__] if kind.__name__ in VIEWS else View(kind.full, kind.line, in_bits=False)
    bits = {"bits": options.bits} if view.in_bits else {}
    explain = options.explain and hasattr(type(result), "parts")
    if options.json:
        with listen(options.quiet or not explain, preparing=EXPLAINING):
            told = result.to_dict(**bits, parts=True) if explain else result.to_dict(**bits)
        told |= {"run": about} if about else {}
        print(json.dumps(finite(told), indent=2, allow_nan=False))
    elif options.quiet:
        print(view.line(result, **bits) + alarm(result))
    else:
        print_rich(view.full(result, verbose=options.verbose, **bits))
        if explain or (options.verbose and getattr(result, "case", None) is not None):
            sys.stdout.flush()  # the result need not wait for its reasons
            with listen(options.quiet, preparing=EXPLAINING):
                why = parts.full(result, **bits)
            print_rich(why)
    sys.stdout.flush()
    if options.csv is not None:
        write_table(getattr(result, "table", result).rows(), options.csv)
        announce("table", options.csv, options.quiet)
    if options.plot is not None and view.figure is not None:
        write_figure(view.figure(result, **bits), options.plot)
        announce("picture", options.plot, options.quiet)


def alarm(result: Any) -> str:
    """Which checks fired, for the line that is all a user sees."""
    codes = [one.code for one in getattr(result, "checks", ()) if one.fires]
    return f" (fired: {', '.join(codes)})" if codes else ""


def announce(what: str, path: Path, quiet: bool) -> None:
    """Say that a file was written."""
    if not quiet:
        say(f"{what} written to {path}")


def finite(value: Any) -> Any:
    """The same data with null for what JSON has no number for."""
    if isinstance(value, dict):
        return {key: finite(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def print_rich(renderable: Any) -> None:
    """Print for a terminal of any width, or without colours for a pipe."""
    from rich.console import Console

    console = Console(highlight=False)
    with console.capture() as captured:  # not straight: rich ends the program when a pipe closes
        console.print(renderable)
    lines = captured.get().split("\n")
    sys.stdout.write("\n".join(line.rstrip(" ") for line in lines))


def write_table(rows: list[dict[str, Any]], path: Path) -> None:
    """CSV with a header."""
    with replacing(path) as place, place.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def write_figure(figure: Any, path: Path) -> None:
    """The format follows from the suffix."""
    with replacing(path) as place:
        figure.savefig(place, format=path.suffix.lower()[1:], dpi=150)
