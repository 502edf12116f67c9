"""How far the work is: a bar on a terminal, a line now and then in a log, nothing when quiet."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from dataworth.wording import and_more, option

from .guard import say

PATIENCE = 2.0
"""Seconds of work before a log hears how much of it is done."""
LINE_EVERY = 10.0
"""Seconds between two lines in a log, and of work of which no part can be counted before it is told of."""
READING = 5.0
"""Seconds of reading before it is told of: with the start of Python they are less than ten."""
MEASURING = "measuring…"
LONG = 60.0
"""Expected seconds from which an estimate is printed."""


def fewer(what: str = "", paths: Sequence[Path] = ()) -> str:
    """What to do where files take long."""
    if any(path.suffix.lower() == ".xlsx" for path in paths):
        return "save .xlsx as .csv"
    sampled = "" if what in ("audit", "curate", "values") else f" ({option('sample', 100_000)} of the data)"
    return f"fewer rows take less{sampled}"


def duration(seconds: float) -> str:
    """Seconds in words of the right size: 42 s, 3 min, 2.5 h."""
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    return f"{round(seconds / 60)} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


class Lines:
    """Progress in a pipe or log; `instead` says what to do where work takes `long`, in seconds."""

    def __init__(
        self, write: Callable[[str], None] = say, instead: str = "", long: float = LINE_EVERY
    ) -> None:
        self._write, self._instead, self._long = write, instead, long
        self._timer: threading.Timer | None = None
        self._started: tuple[float, int] | None = None
        self._counted = (0, 0)
        self._last, self._wait = 0.0, PATIENCE

    def preparing(self, what: str) -> None:
        """What is done before the work is known: a log hears of it only if it takes long."""
        self._known()
        told = f"{what.rstrip('…')} takes more than {self._long:.0f} s{self._instead and ': '}{self._instead}"
        self._timer = threading.Timer(self._long, self._write, (told,))
        self._timer.daemon = True
        self._timer.start()

    def _known(self) -> None:
        """What was done before has ended."""
        if self._timer is not None:
            self._timer.cancel()

    def note(self, what: str) -> None:
        """Print a line."""
        self._write(what)

    def expect(self, seconds: float) -> None:
        """Print the estimate of long work; what was counted before is another matter."""
        self._known()
        self._started = None
        if seconds > LONG:
            self._write(f"about {duration(seconds)}")

    def update(self, done: int, total: int) -> None:
        """Print a line, if the last one is long ago."""
        self._known()
        now = time.monotonic()
        if total != self._counted[1] or done < self._counted[0]:
            self._started = None  # another work than before
        self._counted = done, total
        if self._started is None:
            self._started, self._last, self._wait = (now, done), now, PATIENCE
        started, before = self._started
        if now - self._last >= self._wait and before < done < total:
            left = (now - started) / (done - before) * (total - done)
            self._write(f"{done / total:.0%} done, about {duration(left)} left")
            self._last, self._wait = now, LINE_EVERY

    def close(self) -> None:
        """Nothing is left of it."""
        self._known()


class Bar(Lines):
    """Progress on a terminal: a status line, then a bar, which are gone when the work is done."""

    def __init__(self) -> None:
        super().__init__()
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

        columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
        self._bar = Progress(*columns, console=Console(stderr=True), transient=True)
        self._task = self._bar.add_task(MEASURING, total=None)

    def preparing(self, what: str) -> None:
        """Show what is done."""
        self._bar.reset(self._task, total=None, description=what)
        self._bar.start()

    def expect(self, seconds: float) -> None:
        """Show the bar."""
        super().expect(seconds)
        self.preparing(MEASURING)

    def update(self, done: int, total: int) -> None:
        """Move the bar."""
        self._bar.update(self._task, completed=done, total=total)

    def close(self) -> None:
        """Take the bar off the terminal."""
        self._bar.stop()


def reading(quiet: bool, paths: Sequence[Path], what: str = "") -> AbstractContextManager[Lines | None]:
    """Whoever is to hear that files are read, which can take long."""
    names = f"reading {', '.join(map(str, paths[:3]))}{and_more(len(paths) - 3)}…"
    return listen(quiet, names, fewer(what, paths), READING)


@contextmanager
def listen(
    quiet: bool, preparing: str | None = None, instead: str = "", long: float = LINE_EVERY
) -> Iterator[Lines | None]:
    """Whoever is to hear of the progress, if anybody is; `instead`: what to do where it takes `long`."""
    if quiet:
        yield None
        return
    listener = Bar() if sys.stderr.isatty() else Lines(instead=instead, long=long)
    try:
        if preparing is not None:
            listener.preparing(preparing)
        yield listener
    finally:
        listener.close()
