"""A result on stdout, for people or for programs, and in the files that were asked for."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from dataworth.atomic import atomic_write, write_csv
from dataworth.report import views

from .guard import say
from .options import Showing
from .progress import listen

EXPLAINING, REPORTING = "explaining…", "measuring again for the report…"


def result(result: Any, options: Showing, reading: Sequence[Mapping[str, Any]] = ()) -> None:
    """Print, then write files: a disk that is full costs no verdict. The report measures more, and is last.

    `reading`: what was decided while files were read, for JSON.
    """
    bits = {"bits": options.bits} if views.in_bits(result) else {}
    if options.json:
        told = result.to_dict(**bits) | ({"reading": list(reading)} if reading else {})
        print(json.dumps(views.finite(told), indent=2, allow_nan=False))
    elif options.quiet:
        print(quiet_line(result, **bits))
    else:
        print_rich(views.full(result, verbose=options.verbose, **bits))
        if options.verbose and getattr(result, "case", None) is not None:
            sys.stdout.flush()  # the result need not wait for its reasons
            with listen(options.quiet, preparing=EXPLAINING):
                why = views.why(result, **bits)
            print_rich(why)
    sys.stdout.flush()
    if options.csv is not None:
        write_csv(options.csv, result.rows())
        announce("table", options.csv, options.quiet)
    if options.plot is not None:
        with atomic_write(options.plot) as place:
            suffix = options.plot.suffix.lower()[1:]
            views.plot(result, None, options.bits).savefig(place, format=suffix, dpi=150)
        announce("picture", options.plot, options.quiet)
    if options.report and options.no_rows:
        result = result.without_rows()
    for path in options.report or ():
        with listen(options.quiet, preparing=REPORTING):
            views.write(result, path, options.bits)
        announce("report", path, options.quiet)


def quiet_line(result: Any, **bits: bool) -> str:
    """A result in one line, with the checks that failed."""
    codes = ", ".join(one.code for one in getattr(result, "checks", ()) if one.failed)
    return views.line(result, **bits) + (f" (failed: {codes})" if codes else "")


def announce(what: str, path: Path, quiet: bool) -> None:
    """Say that a file was written."""
    if not quiet:
        say(f"{what} written to {path}")


def print_rich(renderable: Any) -> None:
    """Print for a terminal of any width, or without colours for a pipe."""
    from rich.console import Console

    console = Console(highlight=False)
    with console.capture() as captured:  # not straight: rich ends the program when a pipe closes
        console.print(renderable)
    lines = captured.get().split("\n")
    sys.stdout.write("\n".join(line.rstrip(" ") for line in lines))
