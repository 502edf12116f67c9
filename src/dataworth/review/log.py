"""The log of a review: one line a decision, on the disk before it is confirmed, never written over.

The first line says of which data and test rows it is; each other line carries a checksum. What a power cut,
or anything else, did to a line costs that line alone: the others count, and the file stays as it is.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from filelock import FileLock, Timeout

from dataworth.atomic import atomic_write, parse_json, read_whole
from dataworth.errors import DataworthError
from dataworth.valuation.values.guard import RESTORE, REVIEW
from dataworth.wording import counted

LABEL, SKIP, UNDO = "label", "skip", "undo"
ACTIONS = (LABEL, SKIP, UNDO)
MAX_NAME = 200
"""Characters of a reviewer's name."""


class Entry(NamedTuple):
    """What was decided of a row (counted from 1), by whom, when; `after` is None but for a label."""

    action: str
    row: int
    id: str | None
    before: str
    after: str | None
    who: str
    when: str

    @property
    def line(self) -> str:
        """As it stands in the log."""
        told = self._asdict()
        return json.dumps({**told, "sum": checksum(told)}, ensure_ascii=False) + "\n"


def checksum(told: dict[str, Any]) -> str:
    """Of an entry, by which damage is noticed."""
    plain = json.dumps(told, sort_keys=True).encode()
    return hashlib.blake2b(plain, digest_size=6).hexdigest()


def parsed(line: bytes, labels: Sequence[str], classes: Sequence[str] | None) -> Entry | None:
    """An entry that is whole, and of a row of these data; else None."""
    try:
        told = parse_json(line)
        given = told.pop("sum")
        entry = Entry(**told)
        if given != checksum(told) or entry.action not in ACTIONS or type(entry.row) is not int:
            return None
        if not 1 <= entry.row <= len(labels) or labels[entry.row - 1] != entry.before:
            return None
        wanted = entry.action == LABEL
        if (entry.after is not None) != wanted or (wanted and classes and entry.after not in classes):
            return None
    except (ValueError, TypeError, KeyError, AttributeError):
        return None
    return entry


@dataclass
class Log:
    """An open log: what was decided so far, and where the next decision is written."""

    path: Path
    entries: list[Entry]
    damaged: list[int]
    file: BinaryIO
    lock: FileLock

    @classmethod
    def open(
        cls, path: Path, head: dict[str, Any], labels: Sequence[str], classes: Sequence[str] | None
    ) -> Log:
        """The log of these data, begun or continued; a sentence if it is of others, or open elsewhere."""
        lock = FileLock(path.with_name(f".{path.name}.lock"))
        try:
            lock.acquire(timeout=0)
        except Timeout:
            raise DataworthError(f"{path} is open in another review: end that one first.") from None
        try:
            if not path.exists() or not path.stat().st_size:
                with atomic_write(path) as place:
                    place.write_text(json.dumps(head) + "\n", encoding="utf-8")
            entries, damaged = read(path, head, labels, classes)
            file = path.open("ab")
            if not read_whole(path).endswith(b"\n"):  # a line was cut off: the next one begins anew
                file.write(b"\n")
        except BaseException:
            lock.release()
            raise
        return cls(path, entries, damaged, file, lock)

    def add(self, entry: Entry) -> None:
        """Write an entry; when this returns, it is on the disk."""
        self.file.write(entry.line.encode())
        self.file.flush()
        os.fsync(self.file.fileno())
        self.entries.append(entry)

    def close(self) -> None:
        """Let others open it."""
        self.file.close()
        self.lock.release()

    @property
    def note(self) -> str | None:
        """What is to be said of lines that could not be read."""
        if not self.damaged:
            return None
        where = ", ".join(map(str, self.damaged[:5]))
        more = ", …" if len(self.damaged) > 5 else ""
        return (
            f"{self.path}: {counted(len(self.damaged), 'line')} cannot be read (line {where}{more}) and "
            f"{'is' if len(self.damaged) == 1 else 'are'} left out; the other "
            f"{counted(len(self.entries), 'entry').replace('entrys', 'entries')} count"
        )


def read(
    path: Path, head: dict[str, Any], labels: Sequence[str], classes: Sequence[str] | None
) -> tuple[list[Entry], list[int]]:
    """The entries of a log that is of these data, and the numbers of lines that are damaged."""
    try:
        first, *lines = read_whole(path).split(b"\n")
    except OSError as error:
        raise DataworthError(f"{path}: {error.strerror}: {RESTORE}") from None
    try:
        own = parse_json(first)
        schema, *hashes = (own[name] for name in ("schema", "data_hash", "test_hash"))
    except (ValueError, KeyError, TypeError):
        raise DataworthError(f"{path}: the first line of this review log is damaged: {RESTORE}") from None
    for what, known in zip(("data", "test rows"), hashes, strict=True):
        if schema != REVIEW or known != head["data_hash" if what == "data" else "test_hash"]:
            raise DataworthError(
                f"{path} is the log of a review with other {what}, or with these as they were: "
                "restore them, or name another file of corrections with -o."
            )
    entries, damaged = [], []
    for number, line in enumerate(lines, start=2):
        if line.strip():
            entry = parsed(line, labels, classes)
            if entry is None:
                damaged.append(number)
            else:
                entries.append(entry)
    return entries, damaged


def now() -> str:
    """The time, to the second, in UTC."""
    return datetime.now(UTC).isoformat(timespec="seconds")
