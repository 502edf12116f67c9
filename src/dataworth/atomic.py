"""Files read and written whole or not at all, the checksum of files for others; where caches are."""

from __future__ import annotations

import csv
import errno
import hashlib
import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from dataworth.errors import DataworthError
from dataworth.limits import LIMITS

BLANK = "sha256:" + 64 * "0"
"""What stands for a checksum until it is known; `with_checksum` puts it there."""
CHECKSUM = re.compile("sha256:[0-9a-f]{64}")


def read_whole(path: Path, most: int = LIMITS.parsed // 8) -> bytes:
    """The content of a plain file of no more than `most` bytes; anything else is an OSError.

    Devices and pipes may have no end, or make one wait without end.
    """
    if not path.exists():
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(path))
    if not path.is_file():
        raise OSError(errno.EINVAL, "not a plain file", str(path))
    if path.stat().st_size > most:
        raise OSError(errno.EFBIG, f"larger than {most} bytes", str(path))
    return path.read_bytes()


def parse_json(text: bytes, most: float = LIMITS.parsed) -> Any:
    """Plain data; what is no JSON, nested too deeply, or larger than `most` when parsed, is a ValueError."""
    if parsed_size(text) > most:
        raise ValueError(f"it would take more than {most / 1e9:.1f} GB of memory")
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def parsed_size(text: bytes) -> int:
    """Bytes that JSON takes while it is parsed, at most: by its length, its values and its objects.

    >>> parsed_size(b'[{"a": 1}, {}]')
    784
    """
    return 8 * len(text) + 64 * sum(map(text.count, (b",", b"[", b":"))) + 240 * text.count(b"{")


def with_checksum(blank: bytes) -> bytes:
    """Content whose first `BLANK` gives way to the SHA-256 of all of it."""
    return blank.replace(BLANK.encode(), _sum_of(blank).encode(), 1)


def has_checksum(content: bytes, checksum: Any) -> bool:
    """Whether the checksum that stands in the content is that of every byte of it."""
    if not isinstance(checksum, str) or not CHECKSUM.fullmatch(checksum):
        return False
    return checksum == _sum_of(content.replace(checksum.encode(), BLANK.encode(), 1))


def _sum_of(content: bytes) -> str:
    return f"sha256:{hashlib.sha256(content).hexdigest()}"


@contextmanager
def atomic_write(path: Path) -> Iterator[Path]:
    """A file to write that takes the place of `path` when all is on the disk; a full disk is a sentence."""
    device = is_device(path)  # /dev/stdout is written to, not replaced
    temporary = path if device else temporary_of(path)
    try:
        if not device:
            temporary.unlink(missing_ok=True)  # a link left there would be written through
        yield temporary
        if not device:
            with temporary.open("rb+") as file:  # before the name: a power cut would else leave it empty
                os.fsync(file.fileno())
            os.replace(temporary, path.resolve())
    except BrokenPipeError:
        raise
    except OSError as error:
        told = f"{path} cannot be written ({error.strerror or error})"
        raise DataworthError(f"{told}: make room, or choose another place.") from error
    finally:
        if not device:
            temporary.unlink(missing_ok=True)


RUN = ("=", "+", "-", "@", "\t", "\r")
"""What a cell begins with that a spreadsheet runs as a formula."""


def write_csv(path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    """Records as a CSV that can be opened in a spreadsheet: no name in it is run as a formula."""
    with atomic_write(path) as place, place.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows({name: plain_cell(cell) for name, cell in row.items()} for row in rows)


def plain_cell(cell: Any) -> Any:
    """A text that a spreadsheet would run, behind an apostrophe; anything else, numbers too, as it is.

    >>> plain_cell("=cmd()"), plain_cell("-0.5"), plain_cell("a=b"), plain_cell(-0.5)
    ("'=cmd()", '-0.5', 'a=b', -0.5)
    """
    if not isinstance(cell, str) or not cell.startswith(RUN):
        return cell
    try:
        float(cell)
    except ValueError:
        return f"'{cell}"
    return cell


def temporary_of(path: Path) -> Path:
    """Where this process writes what will be `path`."""
    target = path.resolve()  # so that a link stays a link
    return target.with_name(f".{target.name}.{os.getpid()}.tmp")


def is_device(path: Path) -> bool:
    """Whether there is something that is no plain file."""
    return path.exists() and not path.is_file()


def cache_directory() -> Path:
    """`DATAWORTH_CACHE`, or the place that the platform has for caches."""
    from platformdirs import user_cache_path

    usual = user_cache_path("dataworth", appauthor=False, opinion=False)
    return Path(os.environ.get("DATAWORTH_CACHE") or usual)
