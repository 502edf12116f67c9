"""One review: the list, what was decided, the corrected file, the audit by test rows that did not choose."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from dataworth.arrays import Array
from dataworth.data.dataset import Dataset, label_keys
from dataworth.data.io.files import Part
from dataworth.data.labels import Numeric
from dataworth.data.order import canonical
from dataworth.errors import DataworthError
from dataworth.valuation.audit.audit import audit
from dataworth.valuation.values.guard import REVIEW, about
from dataworth.valuation.values.label_noise import error_rate
from dataworth.valuation.values.values import Values

from .corrected import write_corrected
from .expectation import ENOUGH, NEXT, recalibrated
from .log import LABEL, MAX_NAME, SKIP, UNDO, Entry, Log, now, read
from .rows import Rows, cut

LEVEL = 0.95
MAX_BATCH = 50
"""Rows that a page gets together."""


@dataclass
class Session:
    """A review that is open.

    values: of the data, by half of the test set. part: the table of the file, as its cells are. label: its
    column of labels. sources: where each row comes from, if that is known. path: of the corrected file.
    source: what the page calls the data. options: of the audit.
    """

    data: Dataset
    test: Dataset
    values: Values
    part: Part
    label: str
    sources: Sequence[str] | None
    path: Path
    source: str
    who: str
    rows: Rows
    options: dict[str, Any] = field(default_factory=dict)
    guard: Any = field(default_factory=threading.RLock)

    def __post_init__(self) -> None:
        self.numeric = isinstance(self.values.yardstick.labels, Numeric)
        labels: Any = self.values.yardstick.labels
        self.classes: list[str] | None = None if self.numeric else list(labels.names)
        given, suggested = self.values.labels.label, self.values.labels.suggested
        if given is None or suggested is None:
            raise DataworthError(
                f"{self.source}: rows are texts with responses, which no key corrects: review labels; see "
                "mismatched rows by 'dataworth values'."
            )
        self.given, self.suggested = list(map(told, given)), [told(near(one)) for one in suggested]
        self.ids = self.values.ids
        self.order = self.values.ranked_label_issues
        self.log = Log.open(log_of(self.path), self._head(), self.given, self.classes)
        self.last: dict[int, Entry] = {}
        for entry in self.log.entries:
            self._take(entry)
        self.audit: dict[str, Any] = {"state": "none"}
        self.report: str | None = None

    def _head(self) -> dict[str, Any]:
        """The first line of the log: what it is of; values of rows stay in memory."""
        told = {"schema": REVIEW, **hashes_of(self.data, self.test), "label": self.label, "begun": now()}
        return {**about(self.values), **told}

    def _take(self, entry: Entry) -> None:
        """What an entry does to the state: the last one of a row counts, and they stay in their order."""
        self.last.pop(entry.row, None)
        if entry.action != UNDO:
            self.last[entry.row] = entry

    # what people do

    def decide(self, row: int, after: str | None, who: str | None = None) -> None:
        """Label a row (from 1), or skip it (None); on the disk when this returns."""
        with self.guard:
            if type(row) is not int or not 1 <= row <= len(self.given):
                raise DataworthError(f"row {row!r} is none of the {len(self.given)} rows: rows count from 1.")
            after = None if after is None else self.checked(after)
            self._add(SKIP if after is None else LABEL, row, after, who)

    def undo(self) -> int | None:
        """Take the last decision back; which row it was of."""
        with self.guard:
            if not self.last:
                return None
            row = next(reversed(self.last))
            self._add(UNDO, row, None, None)
            return row

    def checked(self, label: str) -> str:
        """A label that the test set knows, or a number; a sentence otherwise."""
        if self.classes is not None:
            if label in self.classes:
                return label
            raise DataworthError(
                f"{cut(str(label), 80)!r} is no label: labels are {', '.join(self.classes)}."
            )
        try:
            number = float(label)
        except (TypeError, ValueError):
            number = float("nan")
        if not np.isfinite(number):
            raise DataworthError(
                f"{cut(str(label), 80)!r} is no number: the labels of these data are numbers."
            )
        return told(number)

    def _add(self, action: str, row: int, after: str | None, who: str | None) -> None:
        own = None if self.ids is None else self.ids[row - 1]
        name = cut(who or self.who, MAX_NAME)
        entry = Entry(action, row, own, self.given[row - 1], after, name, now())
        self.log.add(entry)
        self._take(entry)

    # what there is to see

    @property
    def changed(self) -> dict[int, str]:
        """Rows (from 0) whose label was changed, and to what."""
        found = ((row - 1, entry.after) for row, entry in self.last.items())
        return {row: after for row, after in found if after is not None and after != self.given[row]}

    def chances(self) -> Array:
        """The probability that each label is wrong, by what was found so far; decided ones are known."""
        seen, wrong = np.zeros((2, len(self.given)), dtype=bool)
        for row, entry in self.last.items():
            seen[row - 1] = entry.action == LABEL
            wrong[row - 1] = entry.after is not None and entry.after != entry.before
        q = recalibrated(self.values.rows.p_mislabeled, seen, wrong)
        return np.where(seen, 0.0, q)

    def state(self) -> dict[str, Any]:
        """Progress, the expected number of errors left, and whether to stop."""
        with self.guard:
            q = self.chances()
            labelled = sum(entry.action == LABEL for entry in self.last.values())
            ahead = [row for row in self.order if row + 1 not in self.last][:NEXT]
            wrong = float(q[ahead].sum()) if ahead else 0.0
            first = next((k for k, row in enumerate(self.order) if row + 1 not in self.last), len(self.order))
            return {
                "total": len(self.order),
                "labelled": labelled,
                "changed": len(self.changed),
                "skipped": len(self.last) - labelled,
                "left": float(np.nansum(q)),
                "next": len(ahead),
                "next_wrong": wrong,
                "enough": wrong <= ENOUGH * len(ahead),
                "place": first,
                "undo": bool(self.last),
                "audit": self.audit,
            }

    def about(self) -> dict[str, Any]:
        """What does not change while the page is open."""
        return {
            "source": self.source,
            "output": str(self.path),
            "log": str(self.log.path),
            "who": self.who,
            "classes": self.classes,
            "rows": len(self.given),
            "annotators": self.annotators,
        }

    def batch(self, place: int, count: int) -> list[dict[str, Any]]:
        """Some rows of the list, as they are shown."""
        with self.guard:
            places = range(max(0, place), min(len(self.order), place + min(count, MAX_BATCH)))
            return [{"place": k, **self.item(self.order[k])} for k in places]

    def item(self, row: int) -> dict[str, Any]:
        """One row (from 0)."""
        why, entry = self.rows.why(row), self.last.get(row + 1)
        why["rows"] = [self.neighbour(other) for other in why["rows"]]
        return {
            "row": row + 1,
            "id": None if self.ids is None else cut(self.ids[row], 200),
            "given": self.given[row],
            "suggested": self.suggested[row],
            "p": float(self.values.rows.p_mislabeled[row]),
            "annotator": None if self.sources is None else cut(self.sources[row], 200),
            "why": why,
            "decided": None if entry is None else entry.after or SKIP,
            **self.rows.shown(row),
        }

    def neighbour(self, row: int) -> dict[str, Any]:
        """A row (from 0) that is shown beside another."""
        image = self.rows.image(row) is not None
        return {"row": row + 1, "label": self.given[row], "cells": self.rows.brief(row), "image": image}

    @cached_property
    def annotators(self) -> list[dict[str, Any]]:
        """Each source with its rows, its error rate and interval (for all at once), worst first."""
        if self.sources is None:
            return []
        names, code = np.unique(np.asarray(self.sources), return_inverse=True)
        classes = 2 if self.classes is None else len(self.classes)
        found = []
        for k, name in enumerate(names):
            right, wrong = (one[(code == k) & np.isfinite(one)] for one in self.values.doubts)
            rate = error_rate(right, wrong, 1.0 - (1.0 - LEVEL) / len(names))
            low, high = rate.interval or (0.0, 1.0)
            below = self.classes is not None and low > 1.0 - 1.0 / classes
            told = {"rate": rate.value, "low": low, "high": high, "below_random": below}
            found.append({"name": cut(str(name), 200), "rows": int((code == k).sum()), **told})
        return sorted(found, key=lambda one: -one["rate"])

    # what comes out

    def save(self) -> None:
        """Write the corrected file, whole or not at all."""
        with self.guard:
            write_corrected(self.path, self.part, self.label, self.cells())

    def cells(self) -> dict[int, Any]:
        """New cells of the label column: a class as the file itself writes it, where it does."""
        column = self.part.table[self.label].to_pylist()
        spelled = dict(zip(reversed(self.given), reversed(column), strict=True))
        return {row: spelled.get(after, after) for row, after in self.changed.items()}

    def corrected(self) -> Dataset:
        """The data with corrected labels."""
        if self.numeric:
            y = self.data.y.astype(float)
            for row, after in self.changed.items():
                y[row] = float(after)
            return self.data.with_labels(y)
        both = [*self.test.y.tolist(), *self.data.y.tolist()]
        known = dict(zip(label_keys(np.asarray(both)).tolist(), both, strict=True))
        y = self.data.y.astype(object)
        for row, after in self.changed.items():
            y[row] = known[after]
        return self.data.with_labels(np.array(y.tolist()))

    def judge(self, progress: Any = None) -> Any:
        """The audit of the corrections, on the half of the test set that did not choose the list."""
        with self.guard:
            after = self.corrected()
        given = {**self.options, "values": self.log.path, "progress": progress}
        return audit(self.data, after, self.test, **given)

    def close(self) -> None:
        """Write the corrected file, and let others open the log."""
        self.save()
        self.log.close()


def hashes_of(data: Dataset, test: Dataset) -> dict[str, str]:
    """What a log is of."""
    return {"data_hash": data.content_hash(), "test_hash": canonical(test).content_hash()}


def check_log(path: Path, data: Dataset, test: Dataset) -> None:
    """A sentence, if a log is of other data or test rows."""
    read(path, hashes_of(data, test), (), None)


def near(label: Any) -> Any:
    """A predicted number to four digits; a class as it is."""
    return float(f"{label:.4g}") if isinstance(label, float) else label


def told(label: Any) -> str:
    """A label as text; a number as short as it is the same number."""
    return repr(float(label)) if isinstance(label, float) else str(label)


def log_of(path: Path) -> Path:
    """Where the log of a corrected file is: beside it, where audits find it."""
    return path.with_name(f"{path.stem}.review.jsonl")
