"""What a file holds and what would be made of it, without using it: `dataworth describe`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dataworth.data import Dataset, LabelSummary, summarise_labels
from dataworth.io.readers import missing_rows, naming, table_with_roles, to_dataset
from dataworth.io.roles import Role
from dataworth.wording import counted, listed

SCHEMA = "dataworth/description/1"


@dataclass(frozen=True)
class Description:
    """A file's rows, the role of each column, its labels, where values are missing, and what to know."""

    path: str
    rows: int
    roles: tuple[Role, ...]
    labels: LabelSummary
    missing: dict[str, int]
    notes: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return {
            "schema": SCHEMA,
            "path": self.path,
            "rows": self.rows,
            "roles": [asdict(role) for role in self.roles],
            "labels": self.labels.to_dict(),
            "missing": dict(self.missing),
            "notes": list(self.notes),
        }


def describe(
    path: str | PathLike[str],
    label: str | None = None,
    features: str | Sequence[str] | None = None,
    group: str | None = None,
    id: str | None = None,
    weights: str | None = None,
) -> Description:
    """Describe a file; missing values are reported, and what else `read` refuses is refused.

    >>> import tempfile, pathlib
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "people.csv"
    >>> _ = file.write_text("age,city,label\\n31,Ulm,0\\n,Bonn,1\\n")
    >>> about = describe(file)
    >>> print(about.rows, about.labels, about.missing)
    2 0: 1, 1: 1 {'age': 1}
    """
    with naming(path):
        table, roles = table_with_roles(Path(path), label, features, group, id, weights)
        incomplete = {role.column: _missing(table, role) for role in roles if role.role != "ignored"}
        needed = [r.column for r in roles if r.role in ("label", "group", "id", "weight")]
        without = np.any([incomplete[name] for name in needed], axis=0)
        data = to_dataset(table.filter(~without), roles, allow_missing=True)
    missing = {name: int(rows.sum()) for name, rows in incomplete.items() if rows.any()}
    notes = _notes(data, incomplete, needed)
    return Description(
        str(path), table.num_rows, tuple(roles), summarise_labels(data.y), missing, tuple(notes)
    )


def _missing(table: Any, role: Role) -> NDArray[np.bool_]:
    if role.role == "feature" and role.kind == "embedding":  # missing as a whole, or somewhere within
        block = Dataset(table.select([role.column]), np.zeros(table.num_rows), allow_missing=True)
        return np.asarray(np.isnan(block.X).any(axis=1))
    return missing_rows(table[role.column])


def _notes(data: Dataset, incomplete: dict[str, Any], needed: Sequence[str]) -> list[str]:
    notes = []
    for name in needed:
        if incomplete[name].any():
            lost = counted(int(incomplete[name].sum()), "row")
            notes.append(f"{lost} without a value of {name!r}: reading needs one in every row")
    features = [rows for name, rows in incomplete.items() if name not in needed]
    holes = int(np.any(features, axis=0).sum())
    if holes:
        notes.append(
            f"{counted(holes, 'row')} with missing feature values: reading needs impute=True (--impute)"
        )
    constant = [c.name for j, c in enumerate(data.columns) if len(np.unique(data.X[:, j])) == 1]
    if constant and len(data) > 1:
        notes.append(f"constant: {listed(constant)}")
    if len(data) > 1 and len(np.unique(data.y)) == 1:
        notes.append("all labels are the same")
    return notes
