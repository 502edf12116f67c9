"""The command line: `dataworth audit`, `score`, `rank` and the rest."""

from __future__ import annotations

import gc
import sys


def main() -> None:
    """Entry point of the `dataworth` script."""
    # a command ends soon, and makes many objects that live as long: seldom looked at, they cost a tenth less
    gc.set_threshold(50_000, 20, 20)
    from .guard import report_interrupt

    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")  # a terminal without Δ shows ?, and no traceback
    try:
        from .app import app

        app(prog_name="dataworth")
    except KeyboardInterrupt as interrupt:  # before or after a command: the guard sees the others
        sys.exit(report_interrupt(interrupt))
