"""What is tried by `fuzz.py`, and how it ends."""

from __future__ import annotations

import io
import os
import signal
import time
import warnings
from collections.abc import Callable
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from functools import cache
from pathlib import Path
from typing import NamedTuple

from typer.main import get_command

from dataworth.cli.app import app
from dataworth.errors import DataworthError

SECONDS = 10
"""CPU time, and a sixth of the time by the clock, that a command may take."""
LONGEST = 2000
"""Characters of a line on stderr."""


class Case(NamedTuple):
    """What is tried: a reader's name, words of a command, or a call."""

    reader: str
    words: list[str]
    call: Callable[[], object] | None = None


class Hang(BaseException):
    """It takes too long."""


@contextmanager
def limited(seconds: float):
    """Raise `Hang` after so much CPU time, or six times as much by the clock."""

    def stop(signum, frame):
        raise Hang

    before = [signal.signal(one, stop) for one in (signal.SIGPROF, signal.SIGALRM)]
    signal.setitimer(signal.ITIMER_PROF, seconds)
    signal.setitimer(signal.ITIMER_REAL, 6 * seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.setitimer(signal.ITIMER_REAL, 0)
        for one, handler in zip((signal.SIGPROF, signal.SIGALRM), before, strict=True):
            signal.signal(one, handler)


@contextmanager
def quiet():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


@cache
def made():
    """The commands, made once: `CliRunner` makes them for every call, which takes longer than the call."""
    return get_command(app)


def command(words: list[str], folder: Path) -> tuple[int, str, str]:
    """Exit code, stdout and stderr of a command, in this process; an exception that escapes is raised."""
    before, code = Path.cwd(), 0
    out, err = io.StringIO(), io.StringIO()
    os.chdir(folder)
    try:
        with redirect_stdout(out), redirect_stderr(err):
            made().main(args=words, prog_name="dataworth")
    except SystemExit as end:
        code = int(end.code or 0)
    finally:
        os.chdir(before)
    return code, out.getvalue(), err.getvalue()


def outcome(one: Case, folder: Path, seconds: float = SECONDS) -> tuple[str, str, float]:
    """How a case ends, what was said, and the CPU time it took."""
    before = {path for path in folder.rglob("*") if not path.is_symlink()}
    start, code, told, out = time.process_time(), 0, "", ""
    try:
        with quiet(), limited(seconds):
            if one.call is None:
                code, out, told = command(one.words, folder)
            else:
                one.call()
        ended = {0: "done", 1: "done", 3: "done", 2: "refused"}.get(code, "bug")
    except DataworthError as error:
        ended, told = "refused", f"dataworth: {error}"
    except Hang:
        ended = "hang"
    except MemoryError:
        ended = "memory"
    except BaseException as error:
        ended, told = "traceback", f"{type(error).__name__}: {error}"
    used = time.process_time() - start
    if ended in ("done", "refused"):
        left = {path for path in folder.rglob("*") if not path.is_symlink()} - before
        lines = told.splitlines()
        if "not enough memory" in told:
            ended = "memory"
        elif any(path.name.endswith(".tmp") for path in left):
            ended = "half-written"
        elif "Traceback" in told or "\x1b" in told + out or any(len(line) > LONGEST for line in lines):
            ended = "garbage"
        elif ended == "refused" and not lines:
            ended = "silence"
    return ended, told[-600:], used
