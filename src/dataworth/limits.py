"""What a reader may take: one list of limits, and sentences where a file asks for more.

A file of kilobytes can ask for gigabytes, in any format. How much it asks for is known, or bounded, before it
is decoded (`data.io.sizes`), and measured by its own size and by the memory that is free.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from dataworth.errors import DataworthError


@dataclass(frozen=True)
class Limits:
    """The limits of every reader; the same for all formats."""

    unpacked: int = 100_000_000
    """Bytes that any file may unpack to."""
    times: int = 200
    """How many times its own size a larger file may unpack to; tables take 3 to 50."""
    columns: int = 1 << 17
    """Columns of a table: each takes 6 kB and a fifth of a millisecond, whatever it holds."""
    name: int = 100_000
    """Bytes of a label, group, id or attribute: an array of texts has room for the longest in every row."""
    parsed: int = 1 << 30
    """Bytes that JSON may take once it is parsed, twenty times its own where it is all brackets."""
    free: float = 0.8
    """The proportion of the free memory that one thing may take."""


LIMITS = Limits()


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
    if needed > LIMITS.free * free_memory():
        size = f"{needed / 1e9:,.0f} GB" if needed >= 1e10 else f"{needed / 1e9:.1f} GB"
        raise TooLarge(f"{what} takes about {size} of memory, which is more than there is: {instead}")


def most_unpacked(size: int) -> int:
    """Bytes that a file of so many may unpack to."""
    return max(LIMITS.unpacked, LIMITS.times * size)


def refuse_unpacked(size: int, unpacked: int, instead: str) -> None:
    """A sentence, if a file of so many bytes unpacks to more than it may."""
    if unpacked > (most := most_unpacked(size)):
        raise DataworthError(f"it has {size:,} bytes and unpacks to over {most:,}: {instead}")


def refuse_columns(columns: int) -> None:
    """A sentence, if a table has more columns than can be read."""
    if columns > LIMITS.columns:
        how = "put numbers into one column of lists, or leave some out"
        raise DataworthError(f"it has more than {LIMITS.columns:,} columns: {how}")
