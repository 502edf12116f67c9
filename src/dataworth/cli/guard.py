"""Every way a command can end, as an exit code and at most one sentence on stderr."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

import typer

from dataworth.errors import DataworthError, Problems

VERDICT_FAILS, BAD_INPUT, CHECK_FAILS, INTERNAL, INTERRUPTED, BROKEN_PIPE = 1, 2, 3, 70, 130, 141


class Interrupted(KeyboardInterrupt):
    """Ctrl-C in the middle of a measurement, which its run directory can continue, if it has one."""

    def __init__(self, directory: Path | None) -> None:
        super().__init__()
        self.directory = directory


def say(sentence: str) -> None:
    """One line on stderr."""
    print(f"dataworth: {' '.join(sentence.split())}", file=sys.stderr, flush=True)


def report_interrupt(interrupt: KeyboardInterrupt) -> int:
    """Say how to go on; return the exit code."""
    how = ""
    if isinstance(interrupt, Interrupted):
        how = "; nothing was kept (--run-dir keeps finished work)"
        if interrupt.directory is not None:
            how = f"; continue with: dataworth resume {interrupt.directory}"
    print(f"interrupted{how}", file=sys.stderr, flush=True)
    return INTERRUPTED


def end_with_code(body: Callable[[], int | None], verbose: bool) -> NoReturn:
    """Run the body of a command and leave with its exit code, whatever happens in it."""
    raise typer.Exit(_code_of(body, verbose) or 0)


def _code_of(body: Callable[[], int | None], verbose: bool) -> int | None:
    try:
        code = body()
        sys.stdout.flush()  # here, so that a reader who left is noticed here
        return code
    except KeyboardInterrupt as interrupt:
        return report_interrupt(interrupt)
    except Problems as error:
        for sentence in error.sentences:
            say(sentence)
    except DataworthError as error:
        say(str(error))
    except BrokenPipeError:
        # whoever read our output left, as `head` does; Python would complain again when it flushes at exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return BROKEN_PIPE
    except OSError as error:
        say(f"{error.filename}: {error.strerror}" if error.filename else str(error))
    except MemoryError:
        say("there is not enough memory for this: use fewer rows, features or jobs.")
    except typer.Exit:
        raise
    except Exception as error:
        if verbose:
            traceback.print_exc()
        how = "" if verbose else " (-v shows where)"
        say(f"this is a bug, please report it{how}: {type(error).__name__}: {error}")
        return INTERNAL
    return BAD_INPUT
