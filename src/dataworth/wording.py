"""Small words for sentences."""

from __future__ import annotations

from collections.abc import Sequence


def counted(n: int, noun: str) -> str:
    """A number and its noun, as in "1 row", "2 rows"."""
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"


def in_nats(value: float, interval: Sequence[float] | None, sign: str = "") -> str:
    """A value and its interval, short.

    >>> in_nats(1.23456, (0.5, 2.0)), in_nats(2.0, None, sign="+")
    ('1.23 nats [0.5, 2]', '+2 nats, no interval')
    """
    ends = ", no interval" if interval is None else f" [{interval[0]:.3g}, {interval[1]:.3g}]"
    return f"{value:{sign}.3g} nats{ends}"


def listed(names: Sequence[str], limit: int = 5) -> str:
    """At most five names, as in "columns 'a', 'b' and 3 more"."""
    noun = "column " if len(names) == 1 else "columns "
    return noun + ", ".join(repr(name) for name in names[:limit]) + and_more(len(names) - limit)


def and_more(n: int) -> str:
    """What ends a list that is cut short."""
    return f" and {n} more" if n > 0 else ""
