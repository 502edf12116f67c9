"""Small words for sentences."""

from __future__ import annotations

import math
import shlex
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar

_COMMAND_LINE = ContextVar("command line", default=False)


@contextmanager
def on_the_command_line() -> Iterator[None]:
    """Sentences name options as flags, not as keywords, as long as a command runs."""
    before = _COMMAND_LINE.set(True)
    try:
        yield
    finally:
        _COMMAND_LINE.reset(before)


def option(name: str, value: object = None) -> str:
    """An option as whoever asked would give it: a keyword in Python, a flag on the command line.

    >>> option("decimal", ","), option("no_label_normalization", True), option("sep")
    ("decimal=','", 'no_label_normalization=True', 'sep=')
    >>> with on_the_command_line():
    ...     option("decimal", ","), option("no_label_normalization", True), option("id", "Kunden Nr")
    ('--decimal ,', '--no-label-normalization', "--id 'Kunden Nr'")
    """
    if not _COMMAND_LINE.get():
        return f"{name}=" if value is None else f"{name}={value!r}"
    flag = f"--{'no-' if value is False else ''}{name.replace('_', '-')}"
    return flag if value is None or isinstance(value, bool) else f"{flag} {shlex.quote(str(value))}"


def needs_extra(what: str, extra: str) -> str:
    """That something is installed only with an extra, and how: also where dataworth is on no index."""
    how = f"install dataworth with it, in a clone by pip install '.[{extra}]'"
    return f"{what} needs the extra {extra}: {how}"


def counted(n: int, noun: str) -> str:
    """A number and its noun, as in "1 row", "2 rows"."""
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"


def in_nats(value: float, interval: Sequence[float] | None, sign: str = "") -> str:
    """A value and its interval, short."""
    ends = ", no interval" if interval is None else f" [{interval[0]:.3g}, {interval[1]:.3g}]"
    return f"{value:{sign}.3g} nats{ends}"


def in_words(per_row: float, density: bool = False, unit: str = "nats", factor: float = 1.0) -> str:
    """What nats a test row mean: by the geometric mean over rows, e to that power is the factor by which the
    probability of the right answer changed (of numeric labels, its density).
    """
    where = "probability density at" if density else "probability on"
    change = math.expm1(min(per_row, 700.0))
    percent = f"{abs(change):.0%}" if abs(change) >= 0.01 else f"{100 * abs(change):.1g}%"
    told = f"{percent[:-1]} % {'more' if change > 0 else 'less'} {where}"
    if change >= 1:
        told = f"{1 + change:.1f} times the {where}"
    elif abs(change) < 5e-5:
        told = f"no other {where}"
    if abs(per_row) < 5e-7:
        return f"0 {unit} a test row: {told} the right answer"
    shown = f"{per_row * factor:+.2g}".replace("-", "−")
    return f"{shown} {unit} a test row: {told} the right answer"


def listed(names: Sequence[str], limit: int = 5) -> str:
    """At most five names, as in "columns 'a', 'b' and 3 more"; one that would be left out alone is told."""
    noun = "column " if len(names) == 1 else "columns "
    limit = limit + 1 if len(names) == limit + 1 else limit
    return noun + ", ".join(repr(name) for name in names[:limit]) + and_more(len(names) - limit)


def and_more(n: int) -> str:
    """What ends a list that is cut short."""
    return f" and {n} more" if n > 0 else ""
