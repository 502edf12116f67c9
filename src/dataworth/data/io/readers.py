"""Files and frames to Datasets, by the roles of their columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from dataworth.data.convert import Kind, as_frame
from dataworth.data.dataset import Dataset
from dataworth.data.io.formats import NPZ_ROLES, suffix_of, table_of_file
from dataworth.data.io.preferences import LONGER, PREFERRED, PROMPT, RESPONSES, are_preferences, pair_table
from dataworth.data.io.roles import (
    Asked,
    Role,
    assign_roles,
    check_kinds,
    refuse_unusable,
    unusable,
    with_texts,
)
from dataworth.data.io.written_roles import WHY, differences_of, roles_of
from dataworth.data.vectors import to_arrow
from dataworth.errors import DataworthError
from dataworth.wording import counted

NOT_VECTORS = ("feature", "ignored", "unusable")
NPZ_WHY = "what an npz names so"
PAIR_ROLES = {"label": PREFERRED, "group": PROMPT, "attribute": LONGER, "features": RESPONSES}
PAIR_WHY = "recognised by chosen and rejected"


def read(
    source: Any,
    label: str | None = None,
    features: str | Sequence[str] | None = None,
    group: str | None = None,
    id: str | None = None,
    weights: str | None = None,
    impute: bool = False,
    exclude: str | Sequence[str] | None = None,
    attribute: str | None = None,
) -> Dataset:
    """Read a Dataset from csv, tsv, jsonl, parquet, feather, arrow or npz, or from a frame.

    Args:
        source: a file, whose suffix says what it is, or a pandas, polars or pyarrow frame. An npz holds `X`
            and `y` (and, if it likes, `groups`, `ids`, `weights`, `attributes`, `names`); they have these
            roles whatever columns are named in other files.
        label: the label column; guessed only if exactly one is named label, target, y, class or outcome.
        features: names or patterns (`emb_*`) of the feature columns; by default all that have no other role.
            A column that only numbers the rows (`rownames`, `Unnamed: 0`, or 1, 2, … n) is left
            out unless it is named here.
        group: the column that says which rows belong together (patient, document, prompt).
        id: the column that names rows; guessed from its name.
        weights: the column that says how often a row counts.
        impute: keep missing feature values, as NaN, for the yardstick to fill in, instead of refusing them.
        exclude: names or patterns of columns to leave out.
        attribute: the column that `match-groups`, `reweight` and the attribute check look at.

    Returns:
        The Dataset.

    Raises:
        DataworthError: what is wrong with the file, in one sentence that begins with its name.

    >>> import tempfile, pathlib
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "people.csv"
    >>> _ = file.write_text("age,city,label\\n31,Ulm,0\\n45,Bonn,1\\n")
    >>> D = read(file)
    >>> D, D.names
    (Dataset(2 rows × 2 features, labels 0: 1, 1: 1), ('age', 'city'))
    >>> import pyarrow.csv
    >>> read(pyarrow.csv.read_csv(file), exclude="city")
    Dataset(2 rows × 1 feature, labels 0: 1, 1: 1)
    """
    asked: Asked = {"label": label, "features": features, "group": group, "attribute": attribute}
    asked |= {"id": id, "weights": weights, "exclude": exclude}
    return read_with_roles(source, impute=impute, **asked)[0]


def read_with_roles(
    source: Any, *, impute: bool = False, **asked: Unpack[Asked]
) -> tuple[Dataset, list[Role]]:
    """As `read`, with the role of every column, so that a guess can be shown.

    With `absent_ok`, `exclude` may name columns that are not there: they may be in another file.
    """
    with naming(source):
        table, roles, reasons = table_with_roles(source, **asked)
        refuse_unusable(reasons)
        for role in roles:
            count = int(missing_rows(table[role.column]).sum())
            if count and role.role not in NOT_VECTORS:
                raise DataworthError(
                    f"the {role.role} column {role.column!r} has {counted(count, 'missing value')} in"
                    f" {counted(table.num_rows, 'row')}: fill them in, or leave the rows out"
                )
        dataset = to_dataset(table, roles, allow_missing=impute)
    import pyarrow as pa

    del table
    pa.default_memory_pool().release_unused()  # else pyarrow keeps the file's size for itself
    return dataset, roles


def read_table(path: str | PathLike[str]) -> Any:
    """The file as a pyarrow Table, with rows and with distinct column names."""
    with naming(path):
        return table_of_file(Path(path))


@contextmanager
def naming(source: Any) -> Iterator[None]:
    """Begin every sentence about a file with the file: a command may have read several."""
    try:
        yield
    except DataworthError as error:
        if not isinstance(source, str | PathLike):
            raise
        raise DataworthError(f"{source}: {error}") from error.__cause__


def table_with_roles(source: Any, **asked: Unpack[Asked]) -> tuple[Any, list[Role], dict[str, str]]:
    """The table, its roles, and the features that cannot be used, with why; missing values are unchecked."""
    import narwhals as nw

    path = Path(source) if isinstance(source, str | PathLike) else None
    table = _table_of_frame(source) if path is None else table_of_file(path)
    suffix = "" if path is None else suffix_of(path)
    named: dict[str, Any] = dict(asked)
    said, why = roles_of(table), WHY
    paired = are_preferences(table.column_names) and named.get("label") is None
    if paired:
        table, dropped = pair_table(table)
        said, why = PAIR_ROLES, PAIR_WHY
        if dropped:
            why += f"; {counted(dropped, 'pair')} left out, empty or one response twice"
    if suffix == ".npz":  # its names say what is what, whatever columns are named in other files
        named |= dict.fromkeys(NPZ_ROLES)
        said, why = {role: name for role, name in NPZ_ROLES.items() if name in table.column_names}, NPZ_WHY
    # What the file itself says counts where nothing was asked for, and no column has two roles.
    taken = list(named.values())
    said = {role: name for role, name in said.items() if named.get(role) is None and name not in taken}
    frame = nw.from_native(table, eager_only=True)
    roles = [
        replace(role, why=why) if role.column in said.values() else role
        for role in assign_roles(frame, **(named | said))
    ]
    if suffix.startswith((".csv", ".tsv")):
        # Before the checks of roles, which would take a numeric column with one stray word for free text.
        for role in roles:
            if role.role in ("label", "weight", "feature") and role.kind == "categorical":
                _refuse_stray_text(table[role.column], role.column)
    check_kinds(roles)
    if paired:
        roles = [replace(role, kind="pair") if role.column == RESPONSES else role for role in roles]
    roles = with_texts(frame, roles)
    return table, roles, unusable(frame, roles)


def _table_of_frame(source: Any) -> Any:
    """A pandas, polars or pyarrow frame as a pyarrow Table."""
    import pyarrow as pa

    frame = as_frame(source, "the frame")
    if frame is None:
        raise DataworthError(
            f"read was given an object of type {type(source).__name__}: give the path of a file, or a pandas,"
            " polars or pyarrow frame; arrays go to dw.Dataset(X, y)"
        )
    if len(frame) == 0:
        raise DataworthError("the frame has no rows: give some")
    names = [str(name) for name in frame.columns]
    columns = [to_arrow(frame.get_column(name), str(name)) for name in frame.columns]
    metadata = source.schema.metadata if isinstance(source, pa.Table) else None  # may say roles
    return pa.Table.from_arrays(columns, names=names, metadata=metadata)


def to_dataset(table: Any, roles: Sequence[Role], allow_missing: bool) -> Dataset:
    """The Dataset that the roles make of the table."""
    where = {role.role: table[role.column] for role in roles if role.role not in NOT_VECTORS}
    kinds: dict[str, Kind] = dict.fromkeys(differences_of(table), "difference")
    kinds |= {role.column: "pair" for role in roles if role.role == "feature" and role.kind == "pair"}
    made = Dataset(
        table.select([role.column for role in roles if role.role == "feature"]),
        where["label"],
        groups=where.get("group"),
        ids=where.get("id"),
        weights=where.get("weight"),
        attributes=where.get("attribute"),
        allow_missing=allow_missing,
    )
    own = (kinds.get(column.name.partition("[")[0], column.kind) for column in made.columns)
    columns = tuple(replace(column, kind=kind) for column, kind in zip(made.columns, own, strict=True))
    return made if columns == made.columns else made._with(columns=columns)


def missing_rows(column: Any) -> NDArray[np.bool_]:
    """Where a pyarrow column is missing: null, or not a number."""
    import pyarrow.compute as pc

    return np.asarray(pc.is_null(column, nan_is_null=True).to_numpy(), dtype=bool)


def _refuse_stray_text(column: Any, name: str) -> None:
    """A column that is text because of a few cells was meant to be numbers."""
    present = column.drop_null()
    strays = {value for value in present.unique().to_pylist() if not _is_number(value)}
    rows = [row for row, value in enumerate(column.to_pylist()) if value in strays]
    if 0 < len(rows) < 0.1 * len(present):
        row, value = rows[0], column[rows[0]].as_py()
        raise DataworthError(
            f"column {name!r} holds numbers, but {value!r} in data row {row + 1}: correct it, or leave the"
            " cell empty if the value is missing"
        )


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return "_" not in text  # 1_000 is Python, not data
