"""How much memory is free, and a sentence where what is asked for clearly does not fit."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from ..errors import DataworthError

MOST = 0.8
"""The proportion of the free memory that one thing may take."""


class TooLarge(DataworthError):
    """What is asked for does not fit in memory."""


def free_memory() -> float:
    """Bytes that can be had without swapping, by the system and by the limit of a container; ∞ if unknown."""
    found = [float("inf")]
    with suppress(OSError, ValueError, IndexError):
        lines = Path("/proc/meminfo").read_text().splitlines()
        found += [1024.0 * int(line.split()[1]) for line in lines if line.startswith("MemAvailable:")]
    with suppress(OSError, ValueError):  # "max" is no number
        limit, used = (Path(f"/sys/fs/cgroup/memory.{name}").read_text() for name in ("max", "current"))
        found.append(float(limit) - float(used))
    return min(found)


def refuse_too_large(needed: float, what: str, instead: str) -> None:
    """A sentence before what needs so many bytes is begun, if they are more than can be had."""
    if needed > MOST * free_memory():
        size = f"{needed / 1e9:,.0f} GB" if needed >= 1e10 else f"{needed / 1e9:.1f} GB"
        raise TooLarge(f"{what} takes about {size} of memory, which is more than there is: {instead}")
