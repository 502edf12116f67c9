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


Plan = Sequence[tuple[float, float]]
"""Stages of counted work: where each begins and ends, as proportions of the time after the first estimate."""
ALONE: Plan = ((0.0, 1.0),)
PLANS: dict[str, Plan] = {
    "score": ((0.02, 0.06),),
    "rank": ((0.02, 0.06),),
    "audit": ((0.02, 0.15), (0.25, 0.55), (0.57, 0.7)),
    "curate": ((0.0, 0.4), (0.42, 0.6), (0.65, 0.8), (0.82, 0.9)),
    "values": ((0.02, 0.05),),
    "sensitivity": ((0.0, 0.3), (0.3, 1.0)),
}
"""By what is measured: the test rows; of a rise folds and blind baselines, without which an audit takes less
than was said; then checks, which are not counted. Drawn pairs are nearly all of a measurement."""
DRAWN: Plan = ((0.02, 0.9), (0.91, 0.94), (0.95, 0.98))


class Lines:
    """Progress of one command in a pipe or log: a proportion that never falls, and how long the rest takes.

    plan: how its stages share the time. instead: what to do where work takes `long`, in seconds.
    """

    def __init__(
        self,
        write: Callable[[str], None] = say,
        instead: str = "",
        long: float = LINE_EVERY,
        plan: Plan = ALONE,
    ) -> None:
        self._write, self._instead, self._long, self._plan = write, instead, long, plan
        self._timer: threading.Timer | None = None
        self._begun = time.monotonic()
        self._stage, self._counted = 0, (0, 0)
        self._before, self.position = 0.0, 0.0  # what came before all stages; how far all is
        self._last: float | None = None
        self._wait = PATIENCE

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
        """Another stage begins, which takes so long; by the first one all is estimated, which is printed."""
        self._known()
        if self._counted != (0, 0):
            self._next()
        elif self._stage == 0:
            start, end = self._plan[0]
            rest, passed = seconds / (end - start), time.monotonic() - self._begun
            self._before = passed / (passed + rest) if passed + rest > 0 else 0.0
            if rest > LONG:
                self._write(f"about {duration(rest)}")

    def _next(self) -> None:
        self._stage, self._counted = self._stage + 1, (0, 0)

    def _moved(self, done: int, total: int) -> None:
        """How far all is: stages beyond the plan do not move it."""
        self._known()
        if (total != self._counted[1] and self._counted[1]) or done < self._counted[0]:
            self._next()  # another stage, of which nobody told
        self._counted = done, total
        start, end = self._plan[self._stage] if self._stage < len(self._plan) else (1.0, 1.0)
        within = start + (end - start) * done / max(1, total)
        self.position = max(self.position, min(1.0, self._before + (1 - self._before) * within))

    def left(self) -> float | None:
        """Seconds that the rest takes, as the time so far tells."""
        if not 0 < self.position < 1:
            return None
        return (time.monotonic() - self._begun) / self.position * (1 - self.position)

    def update(self, done: int, total: int) -> None:
        """Print a line, if the last one is long ago."""
        self._moved(done, total)
        now = time.monotonic()
        self._last = now if self._last is None else self._last
        left = self.left()
        if now - self._last >= self._wait and left is not None:
            self._write(f"{self.position:.0%} done, about {duration(left)} left")
            self._last, self._wait = now, LINE_EVERY

    def close(self) -> None:
        """Nothing is left of it."""
        self._known()


class Bar(Lines):
    """Progress on a terminal: a status line, then one bar, which are gone when the work is done."""

    def __init__(self, plan: Plan = ALONE) -> None:
        super().__init__(plan=plan)
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn

        told = (
            TextColumn("{task.description}"),
            BarColumn(),
            TaskProgressColumn(),
            TextColumn("{task.fields[left]}"),
        )
        self._bar = Progress(*told, console=Console(stderr=True), transient=True)
        self._task = self._bar.add_task(MEASURING, total=None, left="")

    def preparing(self, what: str) -> None:
        """Show what is done; a bar that moved stays where it is."""
        self._bar.update(self._task, description=what)
        self._bar.start()

    def expect(self, seconds: float) -> None:
        """Show the bar."""
        super().expect(seconds)
        self.preparing(MEASURING)

    def update(self, done: int, total: int) -> None:
        """Move the bar."""
        self._moved(done, total)
        left = self.left()
        told = "" if left is None else f"about {duration(left)} left"
        self._bar.update(self._task, completed=self.position, total=1.0, left=told)

    def close(self) -> None:
        """Take the bar off the terminal."""
        self._bar.stop()


def reading(quiet: bool, paths: Sequence[Path], what: str = "") -> AbstractContextManager[Lines | None]:
    """Whoever is to hear that files are read, which can take long."""
    names = f"reading {', '.join(map(str, paths[:3]))}{and_more(len(paths) - 3)}…"
    return listen(quiet, names, fewer(what, paths), READING)


@contextmanager
def listen(
    quiet: bool,
    preparing: str | None = None,
    instead: str = "",
    long: float = LINE_EVERY,
    plan: Plan = ALONE,
) -> Iterator[Lines | None]:
    """Whoever is to hear of the progress, if anybody is; `instead`: what to do where it takes `long`."""
    if quiet:
        yield None
        return
    listener = Bar(plan) if sys.stderr.isatty() else Lines(instead=instead, long=long, plan=plan)
    try:
        if preparing is not None:
            listener.preparing(preparing)
        yield listener
    finally:
        listener.close()
