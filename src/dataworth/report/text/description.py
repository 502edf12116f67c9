"""A file as text: what each of its columns would be used as, and why."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import Any

from dataworth.data.io import Description
from dataworth.wording import counted

from . import layout


def line(description: Description) -> str:
    """A file in one line."""
    features = sum(role.role == "feature" for role in description.roles)
    label = next((repr(role.column) for role in description.roles if role.role == "label"), "not known")
    unusable = sum(role.role == "unusable" for role in description.roles)
    also = f", {unusable} unusable" if unusable else ""
    also += f", {counted(len(description.problems), 'problem')}" if description.problems else ""
    counts = f"{counted(description.rows, 'row')}, {counted(features, 'feature column')}"
    return f"{description.path}: {counts}, label {label}{also}"


def full(description: Description, verbose: bool = False) -> layout.Rendered:
    """What each column would be used as, and why; features of one kind share a line unless verbose."""
    rows = []
    for names, role in _alike(description.roles, description.missing, apart=verbose):
        missing = sum(description.missing.get(name, 0) for name in names)
        rows.append((_enumerated(names), role.role, role.kind, role.why, str(missing or "")))
    return layout.report(
        f"{line(description)}.",
        layout.table(("column", "used as", "holds", "why", "missing"), rows),
        [
            ("Labels", "not known" if description.labels is None else str(description.labels)),
            *(("Problem", problem) for problem in description.problems),
            *(("Note", note) for note in description.notes),
        ],
    )


def _alike(roles: Iterable[Any], missing: Mapping[str, int], apart: bool) -> list[tuple[list[str], Any]]:
    """Neighbouring columns with the same role, kind and reason; one with missing values stands alone."""

    def kind(role: Any) -> tuple[Any, ...]:
        alone = apart or role.column in missing
        return role.role, role.kind, role.why, role.column if alone else None

    runs = [list(run) for _, run in groupby(roles, kind)]
    return [([role.column for role in run], run[0]) for run in runs]


def _enumerated(names: Sequence[str]) -> str:
    return ", ".join(names) if len(names) <= 3 else f"{names[0]}, {names[1]} … {names[-1]} ({len(names)})"
