"""Files in: formats, the types and roles of columns, and what a file holds (`read`, `describe`)."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import Any, Unpack

import numpy as np

from dataworth.data.dataset import Dataset, LabelSummary, summarise_labels
from dataworth.data.io.align import Options, release, sentences
from dataworth.data.io.align import read_together as read_together
from dataworth.data.io.files import LARGE, columns_if_large
from dataworth.data.io.notes import ReadingWarning as ReadingWarning
from dataworth.data.io.notes import refuse_all, warn
from dataworth.data.io.roles import Role as Role
from dataworth.data.io.roles import assign_roles as assign_roles
from dataworth.data.io.schema import missing_rows
from dataworth.data.vectors import as_labels
from dataworth.errors import DataworthError
from dataworth.wording import counted, listed

SCHEMA = "dataworth/description/1"
DESCRIBED, MIN_DESCRIBED = 100_000, 1000
"""Rows that a large file is described by; of very wide ones fewer, so that they are not large either."""


def read(
    source: Any,
    label: str | int | None = None,
    features: str | Sequence[str] | None = None,
    group: str | int | None = None,
    id: str | int | None = None,
    weights: str | int | None = None,
    impute: bool = False,
    exclude: str | Sequence[str] | None = None,
    attribute: str | int | None = None,
    *,
    categorical: str | Sequence[str] | None = None,
    numeric: str | Sequence[str] | None = None,
    decimal: str | None = None,
    dayfirst: bool | None = None,
    no_label_normalization: bool = False,
    sep: str | None = None,
    encoding: str | None = None,
    header: bool | None = None,
    sheet: str | None = None,
    sample: int | None = None,
    na_values: str | Sequence[str] | None = None,
) -> Dataset:
    """Read a Dataset from a file, a directory or pattern of files, a frame, or another table.

    What is decided without being asked for (a decimal comma, a date, an id that is left out) is a
    `ReadingWarning`, which names the argument that changes it.

    Args:
        source: csv, tsv, txt, xlsx (extra `excel`), json, jsonl, parquet, feather, arrow or npz, by its
            suffix; a directory or a pattern (`part-*.csv`) of these; a pandas, polars or pyarrow frame; a
            Hugging Face `Dataset`, or the directory it was saved to. An npz holds `X` and `y` (and, if it
            likes, `groups`, `ids`, `weights`, `attributes`, `names`), which have these roles.
        label: the label column; guessed only if exactly one is named label, target, y, class or outcome.
        features: names or patterns (`emb_*`) of the feature columns; by default all that have no other role.
            A column that only numbers the rows (`rownames`, `Unnamed: 0`, or 1, 2, … n), or is named or looks
            like an id, is left out unless it is named here.
        group: the column that says which rows belong together (patient, document, prompt).
        id: the column that names rows; guessed from its name.
        weights: the column that says how often a row counts.
        impute: keep missing feature values, as NaN, for the yardstick to fill in, instead of refusing them.
        exclude: names or patterns of columns to leave out.
        attribute: the column that `match-groups`, `reweight` and the attribute check look at.
        categorical: columns that are text as it is written, also if they look like numbers or dates.
        numeric: columns that are numbers, also if they look like codes (`007`).
        decimal: "." or ",", where the file leaves open whether `1,234` is 1234 or 1.234.
        dayfirst: where it leaves open whether 03/04/2021 is in April (True) or in March (False).
        no_label_normalization: keep labels apart that differ only in case or spaces.
        sep: the separator of a text file; found by default.
        encoding: its encoding; by default UTF-8 or what its first bytes say, else Windows-1252.
        header: whether its first row names the columns, as it does by default.
        sheet: the sheet of an xlsx; the first by default.
        sample: how many rows to draw at random, without loading the others: of a Parquet or text file that
            does not fit in memory, say. Each set of as many rows is as likely as any other.
        na_values: a text, or several, that stands for a missing value, beside empty cells, NA and the like:
            "xx", or a number such as -999.

    Returns:
        The Dataset.

    Raises:
        DataworthError: what is wrong with the file, all of it, in sentences that begin with its name.

    >>> import tempfile, pathlib
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "people.csv"
    >>> _ = file.write_text("age,city,label\\n31,Ulm,0\\n45,Bonn,1\\n")
    >>> D = read(file)
    >>> D, D.names
    (Dataset(2 rows × 2 features, labels 0: 1, 1: 1), ('age', 'city'))
    """
    asked: Any = {name: value for name, value in locals().items() if name not in ("source", "impute")}
    (found,) = read_together([source], impute=impute, **asked)
    refuse_all(sentences([found]))
    warn(found.notes, found.name)
    data: Dataset = found.data
    del found
    release()
    return data


@dataclass(frozen=True)
class Description:
    """A file's rows, the role of each column, its labels, where values are missing, and what to know.

    problems: what reading would refuse.
    """

    path: str
    rows: int
    roles: tuple[Role, ...]
    labels: LabelSummary | None
    missing: dict[str, int]
    notes: tuple[str, ...]
    problems: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        labels = None if self.labels is None else self.labels.to_dict()
        return {"schema": SCHEMA, **asdict(self), "labels": labels}


def describe(source: Any, impute: bool = False, **asked: Unpack[Options]) -> Description:
    """Describe a file or frame without using it; arguments as in `read`. A label is not needed.

    >>> import tempfile, pathlib
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "people.csv"
    >>> _ = file.write_text("age,city,label\\n31,Ulm,0\\n,Bonn,1\\n")
    >>> about = describe(file)
    >>> print(about.rows, about.labels, about.missing)
    2 0: 1, 1: 1 {'age': 1}
    """
    if asked.get("sample") is None and (columns := columns_if_large(source)) is not None:
        asked["sample"] = max(MIN_DESCRIBED, min(DESCRIBED, LARGE // (8 * columns)))
    (found,) = read_together([source], impute=impute, **asked)
    if found.part is None:
        refuse_all(sentences([found]))
    table = found.part.table
    used = [role for role in found.roles if role.used]
    incomplete = {role.column: missing_rows(table[role.column]) for role in used}
    for name in (role.column for role in used if role.role == "feature" and role.kind == "embedding"):
        block = Dataset(table.select([name]), np.zeros(table.num_rows), allow_missing=True)
        incomplete[name] = np.asarray(np.isnan(block.X).any(axis=1))  # as a whole, or within
    missing = {name: int(rows.sum()) for name, rows in incomplete.items() if rows.any()}
    notes = [str(note) for note in found.notes if not note.decision.endswith(" guessed")]
    features = [role for role in used if role.role == "feature"]
    if impute and (holes := int(np.any([incomplete[role.column] for role in features], axis=0).sum())):
        notes.append(f"{counted(holes, 'row')} with missing feature values: they will be filled in")
    labels = None
    for column in (table[role.column] for role in found.roles if role.role == "label"):
        present = column.filter(~missing_rows(column))
        with suppress(DataworthError):  # nested, say, which is among the problems
            y = as_labels(present, len(present)) if found.data is None else found.data.y
            labels = summarise_labels(y)
    several = table.num_rows > 1
    if several and labels is not None and labels.classes is not None and len(labels.classes) == 1:
        notes.append("all labels are the same")
    plain = [role.column for role in features if several and role.kind not in ("embedding", "pair")]
    if constant := [name for name in plain if len(table[name].unique()) == 1]:
        notes.append(f"constant: {listed(constant)}")
    name, rows = found.name or "frame", found.part.total or table.num_rows
    return Description(name, rows, tuple(found.roles), labels, missing, tuple(notes), tuple(found.problems))
