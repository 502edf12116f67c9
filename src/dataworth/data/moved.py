"""What a change moved, for people: classes, columns, and a few rows of each kind of change."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..arrays import Array, Flags, Rows
from .changes import DIGITS, MOST_CLASSES, Change
from .convert import CODED, Column
from .dataset import Dataset, label_keys
from .rows import first_of, same_rows

EXAMPLES = 5
"""Rows of each kind of change that are shown."""
SHOWN_COLUMNS = 6
"""Columns of a row that are shown, and columns that are said to have moved."""
LEAST_SHIFT = 0.05
"""Shift from which a column is said to have moved: in standard deviations, or a proportion of rows."""
MAX_CELL = 60
MAX_COLUMNS = 2000


@dataclass(frozen=True)
class Example:
    """A row of a change: what became of it, its name, its label and some of its cells.

    row: its id, else its number, from 1. twin: of a removed row, the one with the same features that stayed.
    """

    kind: str
    row: str
    label: str
    cells: tuple[tuple[str, str], ...]
    twin: str | None = None


def moved(
    before: Dataset, after: Dataset, change: Change, gone: Sequence[Flags] | None = None
) -> dict[str, Any]:
    """Numbers of rows by class, and the columns that moved most, as plain data.

    before, after, gone: as `examples` takes them. A column moves by |Δ mean| / s.d., a column of categories
    by the proportion of rows that have another one (total variation); `cells` are those of kept rows that
    were edited. Of very wide data the first columns are looked at (`MAX_COLUMNS`).

    >>> from dataworth.data.changes import compare
    >>> old = Dataset([[1.0], [2.0], [3.0]], ["a", "b", "b"], ids=[1, 2, 3])
    >>> new = Dataset([[1.0], [2.0], [9.0]], ["a", "b", "a"], ids=[1, 2, 3])
    >>> moved(old, new, compare(old, new))["classes"]
    {'a': [1, 2], 'b': [2, 1]}
    """
    told: dict[str, Any] = {}
    given, parts = gone or [np.zeros(len(part), dtype=bool) for part in (before, after)], (before, after)
    rows = [np.flatnonzero(~one) for one in given]
    keys = [label_keys(part.y[own]) for part, own in zip(parts, rows, strict=True)]
    names = np.unique(np.concatenate(keys))
    if len(names) <= MOST_CLASSES:
        told["classes"] = {str(name): [int((own == name).sum()) for own in keys] for name in names}
    known = set(before.names)
    shared = [name for name in after.names[:MAX_COLUMNS] if name in known]
    place = [{name: j for j, name in enumerate(part.names)} for part in (before, after)]
    found: list[dict[str, Any]] = []
    for name in shared:
        one, two = (part.columns[of[name]] for part, of in zip((before, after), place, strict=True))
        values = [p.X[own, of[name]] for p, own, of in zip(parts, rows, place, strict=True)]
        cells = int(
            _differ(one, two, values[0][change.origin[change.edited]], values[1][change.edited]).sum()
        )
        shift, words = _shift(one, two, values)
        if cells or shift >= LEAST_SHIFT:
            found.append({"column": name, "cells": cells, "shift": round(shift, 3), "moved": words})
    found.sort(key=lambda column: (-column["shift"], -column["cells"]))
    return {**told, "columns": found[:SHOWN_COLUMNS]}


def _differ(one: Column, two: Column, old: Array, new: Array) -> Any:
    if one.kind in CODED and two.kind in CODED and one.categories != two.categories:
        return np.array([_cell(one, a) != _cell(two, b) for a, b in zip(old, new, strict=True)], dtype=bool)
    return ~((old == new) | (np.isnan(old) & np.isnan(new)))


def _shift(one: Column, two: Column, values: list[Array]) -> tuple[float, str]:
    """How far a column moved, and how in words."""
    if one.kind in CODED or two.kind in CODED:
        if one.kind in ("text", "pair") or two.kind in ("text", "pair"):
            return 0.0, ""
        shares: list[dict[str, float]] = []
        for column, own in zip((one, two), values, strict=True):
            codes, times = np.unique(own[~np.isnan(own)], return_counts=True)
            total = max(1, int(times.sum()))
            shares.append({_cell(column, c): int(n) / total for c, n in zip(codes, times, strict=True)})
        change = {
            text: shares[1].get(text, 0.0) - shares[0].get(text, 0.0) for text in {**shares[0], **shares[1]}
        }
        if not change:
            return 0.0, ""
        most = max(change, key=lambda text: abs(change[text]))
        ends = [own.get(most, 0.0) for own in shares]
        return sum(map(abs, change.values())) / 2, f"{most}: {ends[0]:.0%} → {ends[1]:.0%} of the rows"
    old, new = (own[~np.isnan(own)] for own in values)
    if not len(old) or not len(new):
        return 0.0, ""
    unit = float(max(np.abs(old).max(), np.abs(new).max())) or 1.0  # squares of 1e200 overflow
    means, spreads = zip(
        *((float((own / unit).mean()), float((own / unit).std())) for own in (old, new)), strict=True
    )
    spread = spreads[0] or spreads[1]
    shift = abs(means[1] - means[0]) / spread if spread else 0.0
    return (shift, f"mean {unit * means[0]:.4g} → {unit * means[1]:.4g}") if np.isfinite(shift) else (0.0, "")


def examples(
    before: Dataset, after: Dataset, change: Change, gone: Sequence[Flags], first: tuple[str, ...] = ()
) -> tuple[Example, ...]:
    """A few rows of each kind of change, evenly spread over the file.

    before, after: as they were read; gone: rows of theirs that the change is not of, for they stand in the
    test set; first: columns to show first.
    """
    origin, (old, new) = change.origin, (np.flatnonzero(~one) for one in gone)
    return tuple(_examples(before, after, change, origin, old, new, first))


def _examples(
    before: Dataset,
    after: Dataset,
    change: Change,
    origin: Rows,
    old: Rows,
    new: Rows,
    first: tuple[str, ...],
) -> Iterator[Example]:
    removed = np.setdiff1d(np.arange(change.before_rows), origin[origin >= 0])
    twins = _twins(before.take(old), removed)
    kinds = {
        "removed": removed[twins < 0],
        "removed, its twin stays": removed[twins >= 0],
        "relabelled": np.flatnonzero(change.relabelled),
        "edited": np.flatnonzero(change.edited & ~change.relabelled),
        "new": np.flatnonzero(origin < 0),
    }
    for kind, every in kinds.items():
        places = np.unique(np.linspace(0, len(every) - 1, EXAMPLES).round().astype(int))
        for i in every[places] if len(every) else ():
            if kind.startswith("removed"):
                twin = twins[np.searchsorted(removed, i)]
                yield _alone(kind, before, old[i], first, None if twin < 0 else _name(before, old[twin]))
            elif kind == "new":
                yield _alone(kind, after, new[i], first)
            else:
                yield _both(kind, before, old[origin[i]], after, new[i], first)


def _twins(before: Dataset, removed: Rows) -> Rows:
    """For each removed row the first that stays and has the same features; −1 without."""
    stays = np.setdiff1d(np.arange(len(before)), removed)
    if not len(removed) or not len(stays):
        return np.full(len(removed), -1)
    keys = same_rows(before, digits=DIGITS)[0]
    place = first_of(keys[stays], keys[removed])
    return np.where(place >= 0, stays[place], -1)


def _alone(kind: str, data: Dataset, row: int, first: tuple[str, ...], twin: str | None = None) -> Example:
    names = _chosen(data.names, first)
    cells = {c.name: _cell(c, x) for c, x in zip(data.columns, data.X[row], strict=True) if c.name in names}
    told = tuple((name, cells[name]) for name in names)
    return Example(kind, _name(data, row), _cut(str(label_keys(data.y[[row]])[0])), told, twin)


def _both(kind: str, before: Dataset, old: int, after: Dataset, new: int, first: tuple[str, ...]) -> Example:
    """A row before and after: columns that differ go first."""
    was = {c.name: _cell(c, x) for c, x in zip(before.columns, before.X[old], strict=True)}
    now = {c.name: _cell(c, x) for c, x in zip(after.columns, after.X[new], strict=True)}
    differ = tuple(name for name in now if was.get(name) != now[name])
    names = _chosen(after.names, differ or first)
    cells = tuple(
        (name, f"{was.get(name, '–')} → {now[name]}" if name in differ else now[name]) for name in names
    )
    labels = [_cut(str(label_keys(part.y[[row]])[0])) for part, row in ((before, old), (after, new))]
    label = labels[1] if labels[0] == labels[1] else " → ".join(labels)
    return Example(kind, _name(after, new) if before.ids is None else _name(before, old), label, cells)


def _chosen(names: tuple[str, ...], first: tuple[str, ...]) -> tuple[str, ...]:
    known = set(names)
    return tuple(dict.fromkeys([*(name for name in first if name in known), *names]))[:SHOWN_COLUMNS]


def _name(data: Dataset, row: int) -> str:
    return str(row + 1) if data.ids is None else _cut(str(data.ids[row]))


def _cell(column: Column, value: float) -> str:
    """What a cell holds, as text."""
    if np.isnan(value):
        return "–"
    if column.kind in CODED:
        return _cut(column.categories[int(value)]) if 0 <= value < len(column.categories) else "other"
    return str(bool(value)).lower() if column.kind == "boolean" else f"{value:.6g}"


def _cut(text: str) -> str:
    return text if len(text) <= MAX_CELL else f"{text[: MAX_CELL - 1]}…"
