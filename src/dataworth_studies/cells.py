"""Finished cells of a study, one JSON line each: a study that is started again goes on where it stopped."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dataworth import DataworthError

Record = dict[str, Any]


class Cells:
    """What was computed, by its key; kept in a file if there is one.

    >>> cells = Cells(None)
    >>> cells.get({"C": 1.0}, lambda: {"value": 2.0})["value"], len(cells.records)
    (2.0, 1)
    """

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self.records: dict[str, Record] = {}
        if path is not None and path.exists():
            text = path.read_text()
            if not text.endswith("\n"):
                path.write_text(text + "\n")  # what follows must not be lost with the line that was cut off
            for line in text.splitlines():
                try:
                    record = json.loads(line)
                except ValueError:
                    continue  # the line that an interruption cut off
                self.records[_text(record["key"])] = record

    @classmethod
    def of(cls, out: Path | None, name: str) -> Cells:
        """The cells of one study in a directory of results, if there is one."""
        return cls(None if out is None else out / "cells" / f"{name}.jsonl")

    def get(self, key: Record, compute: Callable[[], Record]) -> Record:
        """The cell of this key: as it was kept, or computed and kept."""
        text = _text(key)
        if text not in self.records:
            record = {"key": key, **compute()}
            if self.path is not None:
                self.path.parent.mkdir(parents=True, exist_ok=True)
                with self.path.open("a") as file:
                    file.write(json.dumps(record) + "\n")
            self.records[text] = record
        return self.records[text]


def digest(*arrays: NDArray[Any]) -> str:
    """A short hash of arrays, for keys: other numbers under the same name are another cell.

    >>> digest(np.zeros(2)) == digest(np.zeros(2)), digest(np.zeros(2)) == digest(np.ones(2))
    (True, False)
    """
    found = hashlib.sha256()
    for array in arrays:
        found.update(str(array.shape).encode() + np.ascontiguousarray(array).tobytes())
    return found.hexdigest()[:16]


def at_least(least: int, **counts: int) -> None:
    """Whole numbers that are large enough, or a sentence.

    >>> at_least(2, pairs=1)
    Traceback (most recent call last):
        ...
    dataworth.errors.DataworthError: pairs is 1; give a whole number, 2 or more.
    """
    for name, count in counts.items():
        if isinstance(count, bool) or not isinstance(count, int | np.integer) or count < least:
            raise DataworthError(f"{name} is {count!r}; give a whole number, {least} or more.")


def _text(key: Record) -> str:
    return json.dumps(key, sort_keys=True)
