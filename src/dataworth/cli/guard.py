"""Every way a command can end, as an exit code and at most one sentence on stderr."""

from __future__ import annotations

import os
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NoReturn

import typer

from dataworth.errors import DataworthError, Problems

VERDICT_FAILS, BAD_INPUT, CHECK_FAILS = 1, 2, 3
INTERNAL, INTERRUPTED, BROKEN_PIPE, TERMINATED = 70, 130, 141, 143
EXIT_CODES = {
    0: "done",
    VERDICT_FAILS: "the verdict is in --fail-on, or an audit of a suite failed",
    BAD_INPUT: "bad input, bad usage, or a file that cannot be written",
    CHECK_FAILS: "a check fires under --strict",
    INTERNAL: "a bug",
    INTERRUPTED: "interrupted (Ctrl-C)",
    BROKEN_PIPE: "nobody read the output",
    TERMINATED: "terminated (SIGTERM)",
}


LONGEST = 1000
"""Characters of a sentence that are shown."""


class Terminated(KeyboardInterrupt):
    """SIGTERM, by which schedulers end a program: it stops as with Ctrl-C."""


class Interrupted(KeyboardInterrupt):
    """An end in the middle of a measurement, which its run directory can continue, if it has one."""

    def __init__(self, continued: str | None) -> None:
        super().__init__()
        self.continued = continued


def say(sentence: str) -> None:
    """One line on stderr; what a file made part of it neither fills the screen nor commands the terminal."""
    print(f"dataworth: {tame(sentence)}", file=sys.stderr, flush=True)


def tame(sentence: str) -> str:
    """The sentence in one line, printable, its middle left out if it is very long."""
    line = "".join(letter if letter.isprintable() else "\ufffd" for letter in " ".join(sentence.split()))
    return line if len(line) <= LONGEST else f"{line[: LONGEST // 2]} … {line[-LONGEST // 2 :]}"


def report_interrupt(interrupt: KeyboardInterrupt) -> int:
    """Say how to go on; return the exit code."""
    how = ""
    if isinstance(interrupt, Interrupted):
        how = "; nothing was kept (--run-dir keeps finished work)"
        if interrupt.continued is not None:
            how = f"; continue with: {interrupt.continued}"
    terminated = isinstance(interrupt.__cause__ or interrupt, Terminated)
    print(f"{'terminated' if terminated else 'interrupted'}{how}", file=sys.stderr, flush=True)
    return TERMINATED if terminated else INTERRUPTED


def end_with_code(body: Callable[[], int | None], verbose: bool) -> NoReturn:
    """Run the body of a command and leave with its exit code, whatever happens in it."""
    with _stopped_by_sigterm():
        code = _code_of(body, verbose) or 0
    raise typer.Exit(code)


@contextmanager
def _stopped_by_sigterm() -> Iterator[None]:
    def stop(signum: int, frame: object) -> NoReturn:
        raise Terminated

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


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
