"""Files read and written whole or not at all, the checksum of files for others; where caches are."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from dataworth.errors import DataworthError

BLANK = "sha256:" + 64 * "0"
"""What stands for a checksum until it is known; `with_checksum` puts it there."""
CHECKSUM = re.compile("sha256:[0-9a-f]{64}")
MOST_BYTES = 1 << 30
"""Of a file that is parsed as one piece."""


def read_whole(path: Path, most: int = MOST_BYTES) -> bytes:
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


def parse_json(text: bytes | str) -> Any:
    """Plain data; what is no JSON, or nested too deeply, is a ValueError."""
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


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
