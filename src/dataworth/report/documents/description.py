"""A file: what each of its columns would be used as, and why."""

from __future__ import annotations

from itertools import groupby
from typing import Any

from dataworth.data.io import Description
from dataworth.valuation.supplementary import Further
from dataworth.wording import counted

from ..document import Answer, Cell, Document, Facts, Level, Name, Section, Table
from ..numbers import Unit

COLUMNS = ("column", "used as", "holds", "why", "missing")


def document(description: Description, further: Further, unit: Unit) -> Document:
    """What each column would be used as, and why."""
    told, answer = _line(description), Answer("readable", "good", [Name(_line(description)), "."])
    if description.problems:
        answer = answer._replace(word=f"{len(description.problems)} problems", tone="bad")
    facts = [
        ("Labels", "not known" if description.labels is None else str(description.labels)),
        *(("Problem", problem) for problem in description.problems),
        *(("Note", note) for note in description.notes),
    ]
    blocks = (_table(description, "brief"), Facts(facts, "brief"), _table(description, "verbose"))
    return Document(kind="Description", line=told, answer=answer, sections=[Section("Columns", blocks)])


def _line(description: Description) -> str:
    features = sum(role.role == "feature" for role in description.roles)
    label = next((repr(role.column) for role in description.roles if role.role == "label"), "not known")
    unusable = sum(role.role == "unusable" for role in description.roles)
    also = f", {unusable} unusable" if unusable else ""
    also += f", {counted(len(description.problems), 'problem')}" if description.problems else ""
    counts = f"{counted(description.rows, 'row')}, {counted(features, 'feature column')}"
    return f"{description.path}: {counts}, label {label}{also}"


def _table(description: Description, level: Level) -> Table:
    """Neighbouring columns used alike share a line, unless all are asked for or one has missing values."""
    rows, missing, apart = [], description.missing, level == "verbose"

    def kind(role: Any) -> tuple[Any, ...]:
        alone = apart or role.column in missing
        return role.role, role.kind, role.why, role.column if alone else None

    for (used, holds, why, _), run in groupby(description.roles, kind):
        columns = [role.column for role in run]
        told, lost = ", ".join(columns), sum(missing.get(name, 0) for name in columns)
        if len(columns) > 3:
            told = f"{columns[0]}, {columns[1]} … {columns[-1]} ({len(columns)})"
        rows.append((Cell([Name(told)]), used, holds, why, str(lost or "")))
    caption = "Every column" if apart else "Columns"
    return Table(caption, COLUMNS, rows, level=level, folded=apart)
