"""What a file holds and what would be made of it, without using it: `dataworth describe`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from os import PathLike
from pathlib import Path
from typing import Any, Unpack, cast

import numpy as np
from numpy.typing import NDArray

from dataworth.data.dataset import Dataset, LabelSummary, summarise_labels
from dataworth.data.io.image_tables import read_images
from dataworth.data.io.images import holds_images
from dataworth.data.io.readers import missing_rows, naming, table_with_roles, to_dataset
from dataworth.data.io.roles import NUMBERS_ROWS, Asked, Role, exclusion, marked
from dataworth.data.vectors import as_labels
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
        lists = {"roles": [asdict(role) for role in self.roles], "notes": list(self.notes)}
        return {"schema": SCHEMA, **asdict(self), **lists, "labels": self.labels.to_dict()}


def describe(source: Any, *, impute: bool = False, **asked: Unpack[Asked]) -> Description:
    """Describe a file or a frame; missing values and unusable columns are reported, not refused.

    What else `read` refuses is refused; the columns are asked for as there.

    >>> import tempfile, pathlib
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "people.csv"
    >>> _ = file.write_text("age,city,label\\n31,Ulm,0\\n,Bonn,1\\n")
    >>> about = describe(file)
    >>> print(about.rows, about.labels, about.missing)
    2 0: 1, 1: 1 {'age': 1}
    """
    if isinstance(source, str | PathLike) and holds_images(Path(source)):
        return _describe_images(source)
    with naming(source):
        table, roles, reasons = table_with_roles(source, **asked)
        roles = marked(roles, reasons)
        used = [role for role in roles if role.role not in ("ignored", "unusable")]
        incomplete = {role.column: _missing(table, role) for role in used}
        needed = [role.column for role in used if role.role != "feature"]
        without = np.any([incomplete[name] for name in needed], axis=0)
        complete = table.filter(~without)
        target = next(role.column for role in used if role.role == "label")
        labels = summarise_labels(as_labels(complete[target], complete.num_rows))
        # As features, if there are any: reading would refuse infinite values.
        data = to_dataset(complete, roles, allow_missing=True) if len(used) > len(needed) else None
    missing = {name: int(rows.sum()) for name, rows in incomplete.items() if rows.any()}
    notes = [] if not reasons else [f"reading needs {exclusion(list(reasons))}"]
    if numbers := [role.column for role in roles if role.why == NUMBERS_ROWS]:
        left_out = "left out, unless --features asks for it"
        notes.append(f"{listed(numbers)} only numbering or naming the rows: {left_out}")
    notes += _missing_notes(incomplete, needed, impute)
    notes += [] if data is None else _constant_notes(data)
    name = str(source) if isinstance(source, str | PathLike) else "frame"
    return Description(name, table.num_rows, tuple(roles), labels, missing, tuple(notes))


def _describe_images(source: str | PathLike[str]) -> Description:
    """What a folder or zip of images says, before the images are made features."""
    found = read_images(source)
    whys = {"label": "the folder", "group": "the folder in that", "id": "the path"}
    roles = [Role(column, cast(Any, role), "categorical", whys[role]) for role, column in found.roles.items()]
    roles.append(Role("image", "unusable", "image", "make it features with dataworth embed"))
    labels = summarise_labels(as_labels(found.table["label"], found.table.num_rows))
    return Description(str(source), found.table.num_rows, tuple(roles), labels, {}, found.notes)


def _missing(table: Any, role: Role) -> NDArray[np.bool_]:
    if role.role == "feature" and role.kind == "embedding":  # missing as a whole, or somewhere within
        block = Dataset(table.select([role.column]), np.zeros(table.num_rows), allow_missing=True)
        return np.asarray(np.isnan(block.X).any(axis=1))
    return missing_rows(table[role.column])


def _missing_notes(incomplete: dict[str, Any], needed: Sequence[str], impute: bool) -> list[str]:
    lost = {name: counted(int(incomplete[name].sum()), "row") for name in needed if incomplete[name].any()}
    notes = [f"{n} without a value of {name!r}: reading needs one in every row" for name, n in lost.items()]
    features = [rows for name, rows in incomplete.items() if name not in needed]
    if holes := int(np.any(features, axis=0).sum()) if features else 0:
        how = "they will be filled in" if impute else "reading needs impute=True (--impute)"
        notes.append(f"{counted(holes, 'row')} with missing feature values: {how}")
    return notes


def _constant_notes(data: Dataset) -> list[str]:
    notes = []
    constant = [c.name for j, c in enumerate(data.columns) if len(np.unique(data.X[:, j])) == 1]
    if constant and len(data) > 1:
        notes.append(f"constant: {listed(constant)}")
    if len(data) > 1 and len(np.unique(data.y)) == 1:
        notes.append("all labels are the same")
    return notes
