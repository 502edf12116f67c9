"""Files to Datasets: the format follows from the suffix, and every refusal is one sentence."""

from __future__ import annotations

import shlex
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dataworth.data.convert import as_frame, to_arrow
from dataworth.data.dataset import Dataset
from dataworth.data.io.images import holds_images
from dataworth.data.io.roles import Role, assign_roles, check_kinds, refuse_unusable, unusable
from dataworth.data.io.sealed import is_sealed
from dataworth.data.io.written_roles import WHY, roles_of
from dataworth.errors import DataworthError
from dataworth.wording import counted, listed

MISSING = ("", "NA", "NaN", "nan", "null", "None")
"""The cells of a text file that stand for a missing value."""

READING_ERRORS = (OSError, ValueError, KeyError, EOFError, RuntimeError, zipfile.BadZipFile, zlib.error)
NOT_VECTORS = ("feature", "ignored", "unusable")
NPZ_ROLES = {"label": "y", "group": "groups", "id": "ids", "weights": "weights"}


def read(
    source: Any,
    label: str | None = None,
    features: str | Sequence[str] | None = None,
    group: str | None = None,
    id: str | None = None,
    weights: str | None = None,
    impute: bool = False,
    exclude: str | Sequence[str] | None = None,
) -> Dataset:
    """Read a Dataset from csv, tsv, jsonl, parquet, feather, arrow or npz, or from a frame.

    Args:
        source: a file, whose suffix says what it is, or a pandas, polars or pyarrow frame. An npz holds `X`
            and `y` (and, if it likes, `groups`, `ids`, `weights`, `names`); they have these roles whatever
            columns are named in other files.
        label: the label column; guessed only if exactly one is named label, target, y, class or outcome.
        features: names or patterns (`emb_*`) of the feature columns; by default all that have no other role.
        group: the column that says which rows belong together.
        id: the column that names rows; guessed from its name.
        weights: the column that says how often a row counts.
        impute: keep missing feature values, as NaN, for the yardstick to fill in, instead of refusing them.
        exclude: names or patterns of columns to leave out.

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
    return read_with_roles(source, label, features, group, id, weights, impute, exclude)[0]


def read_with_roles(
    source: Any,
    label: str | None = None,
    features: str | Sequence[str] | None = None,
    group: str | None = None,
    id: str | None = None,
    weights: str | None = None,
    impute: bool = False,
    exclude: str | Sequence[str] | None = None,
    absent_ok: bool = False,
) -> tuple[Dataset, list[Role]]:
    """As `read`, with the role of every column, so that a guess can be shown.

    With `absent_ok`, `exclude` may name columns that are not there: they may be in another file.
    """
    with naming(source):
        table, roles, reasons = table_with_roles(
            source, label, features, group, id, weights, exclude, absent_ok
        )
        refuse_unusable(reasons)
        for role in roles:
            count = int(missing_rows(table[role.column]).sum())
            if count and role.role in ("label", "group", "id", "weight"):
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
        return _table(Path(path))


@contextmanager
def naming(source: Any) -> Iterator[None]:
    """Begin every sentence about a file with the file: a command may have read several."""
    try:
        yield
    except DataworthError as error:
        if not isinstance(source, str | PathLike):
            raise
        raise DataworthError(f"{source}: {error}") from error.__cause__


def table_with_roles(
    source: Any,
    label: str | None,
    features: str | Sequence[str] | None,
    group: str | None,
    id: str | None,
    weights: str | None,
    exclude: str | Sequence[str] | None = None,
    absent_ok: bool = False,
) -> tuple[Any, list[Role], dict[str, str]]:
    """The table, its roles, and the features that cannot be used, with why; missing values are unchecked."""
    import narwhals as nw

    path = Path(source) if isinstance(source, str | PathLike) else None
    table = _table_of_frame(source) if path is None else _table(path)
    suffix = "" if path is None else _suffix(path)
    frame = nw.from_native(table, eager_only=True)
    if suffix == ".npz":
        fixed = {option: name for option, name in NPZ_ROLES.items() if name in table.column_names}
        roles = [
            replace(role, why="what an npz names so") if role.column in fixed.values() else role
            for role in assign_roles(frame, features=features, exclude=exclude, absent_ok=absent_ok, **fixed)
        ]
    else:
        asked = {"label": label, "features": features, "group": group, "id": id, "weights": weights}
        # What the file itself says counts where nothing was asked for, and no column has two roles.
        said = {option: name for option, name in roles_of(table).items() if asked[option] is None}
        said = {option: name for option, name in said.items() if name not in asked.values()}
        named: dict[str, Any] = {**asked, **said}
        roles = [
            replace(role, why=WHY) if role.column in said.values() else role
            for role in assign_roles(frame, exclude=exclude, absent_ok=absent_ok, **named)
        ]
    if suffix.startswith((".csv", ".tsv")):
        # Before the checks of roles, which would take a numeric column with one stray word for free text.
        for role in roles:
            if role.role in ("label", "weight", "feature") and role.kind == "categorical":
                _refuse_stray_text(table[role.column], role.column)
    check_kinds(roles)
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
    columns = [
        to_arrow(frame.get_column(column), name) for column, name in zip(frame.columns, names, strict=True)
    ]
    metadata = source.schema.metadata if isinstance(source, pa.Table) else None  # may say roles
    return pa.Table.from_arrays(columns, names=names, metadata=metadata)


def to_dataset(table: Any, roles: Sequence[Role], allow_missing: bool) -> Dataset:
    """The Dataset that the roles make of the table."""
    where = {role.role: table[role.column] for role in roles if role.role not in NOT_VECTORS}
    return Dataset(
        table.select([role.column for role in roles if role.role == "feature"]),
        where["label"],
        groups=where.get("group"),
        ids=where.get("id"),
        weights=where.get("weight"),
        allow_missing=allow_missing,
    )


def missing_rows(column: Any) -> NDArray[np.bool_]:
    """Where a pyarrow column is missing: null, or not a number."""
    import pyarrow.compute as pc

    return np.asarray(pc.is_null(column, nan_is_null=True).to_numpy(), dtype=bool)


def _table(path: Path) -> Any:
    import pyarrow as pa

    if is_sealed(path):
        raise DataworthError("these are sealed data, without rows: give rows (only score and rank take it)")
    reader = READERS.get(_suffix(path))
    if reader is None and holds_images(path):
        place = shlex.quote(str(path))
        raise DataworthError(
            "these are images, but features are numbers: make a table of vectors of them first, with"
            f" dataworth embed {place} -o vectors.parquet"
        )
    if not path.exists():
        raise DataworthError("there is no such file: check the path")
    if path.is_dir():
        raise DataworthError("this is a directory, but a file is expected: name one of its files")
    if reader is None:
        raise DataworthError(f"the suffix is not one of {' '.join(READERS)}: convert the file, or rename it")
    try:
        table = reader(path)
        names = list(table.column_names)
        # A damaged file can point outside itself, which would end the process later, not raise.
        table.validate(full=True)
    except DataworthError:
        raise
    except UnicodeDecodeError as error:
        raise DataworthError("this is not UTF-8 text: save it as UTF-8") from error
    except (pa.ArrowException, *READING_ERRORS) as error:
        reason = " ".join(str(error).split())[:160]
        if "UTF8" in reason.replace("-", "").upper():
            raise DataworthError("this is not UTF-8 text: save it as UTF-8") from error
        if "allow_pickle" in reason:  # numpy's advice, which would run whatever code the file holds
            reason = "it is no archive of plain arrays"
        if reason.startswith("Empty"):
            raise DataworthError("the file is empty: write rows to it") from error
        raise DataworthError(
            f"this cannot be read as {_suffix(path)} ({reason}): check that the file is complete"
        ) from error
    twice = [name for name, times in Counter(names).items() if times > 1]
    if twice:
        raise DataworthError(f"the file has {listed(twice)} more than once: give each its own name")
    if table.num_rows == 0:
        raise DataworthError("the file has no rows: write some to it")
    return table


def _suffix(path: Path) -> str:
    """The longest known suffix, so that .csv.gz is not taken for .gz."""
    name = path.name.lower()
    return max((suffix for suffix in READERS if name.endswith(suffix)), key=len, default="")


def _read_csv(path: Path, delimiter: str = ",") -> Any:
    import pyarrow as pa
    import pyarrow.csv as csv

    _check_header(path, delimiter)
    with pa.input_stream(str(path)) as stream:  # unpacks .gz by itself
        table = csv.read_csv(
            stream,
            parse_options=csv.ParseOptions(delimiter=delimiter, newlines_in_values=True),
            convert_options=csv.ConvertOptions(null_values=list(MISSING), strings_can_be_null=True),
        )
    names = [name.strip() for name in table.column_names]
    for name, column in zip(names, table.columns, strict=True):
        if pa.types.is_binary(column.type):
            raise DataworthError(f"column {name!r} is not UTF-8 text: save the file as UTF-8")
    return pa.Table.from_arrays([_tidied(column) for column in table.columns], names=names)


def _check_header(path: Path, delimiter: str) -> None:
    """Refuse another separator or encoding, which would make one column of them all."""
    import pyarrow as pa

    with pa.input_stream(str(path)) as stream:
        start = stream.read(1 << 16)
    if start.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise DataworthError("this is UTF-16, not UTF-8 text: save it as UTF-8")
    header = start.split(b"\n")[0].decode("utf-8", "replace").strip()
    others = [other for other in ";\t|," if other in header]
    if others and delimiter not in header:
        shown = "a tab" if others[0] == "\t" else repr(others[0])
        raise DataworthError(
            f"one column only: is the separator {shown}? this reader expects commas (.csv) or tabs (.tsv)"
        )


def _read_tsv(path: Path) -> Any:
    return _read_csv(path, "\t")


def _tidied(column: Any) -> Any:
    """A CSV column without the spaces around its texts, which hide numbers and missing values."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not pa.types.is_string(column.type):
        return column
    trimmed = pc.utf8_trim_whitespace(column)
    if trimmed.equals(column):
        return column
    absent = pc.is_in(trimmed, value_set=pa.array(MISSING))
    trimmed = pc.if_else(absent, pa.scalar(None, pa.string()), trimmed)
    for kind in (pa.int64(), pa.float64()):
        try:
            return trimmed.cast(kind)
        except pa.ArrowInvalid:
            pass
    return trimmed


def _read_json_lines(path: Path) -> Any:
    import pyarrow as pa
    import pyarrow.json as json

    with pa.input_stream(str(path)) as stream:
        # A line must fit in a block; the default of 1 MB is too little for some embeddings.
        return json.read_json(stream, read_options=json.ReadOptions(block_size=1 << 24))


def _read_parquet(path: Path) -> Any:
    import pyarrow.parquet as parquet

    # Not read_table, which would add columns for directories named like "part=1".
    with parquet.ParquetFile(path) as file:
        return file.read()


def _read_arrow(path: Path) -> Any:
    """Arrow's file format (also Feather 2), or its stream format, which `datasets` writes."""
    import pyarrow as pa

    with pa.OSFile(str(path)) as source:
        try:
            return pa.ipc.open_file(source).read_all()
        except pa.ArrowInvalid:
            source.seek(0)
            return pa.ipc.open_stream(source).read_all()


def _read_npz(path: Path) -> Any:
    import pyarrow as pa

    # Opened here, because numpy leaves a file that it cannot read open.
    with path.open("rb") as handle:
        file = np.load(handle, allow_pickle=False)
        present = list(getattr(file, "files", []))  # a lone array, saved under a wrong name, has none
        lacking = [name for name in ("X", "y") if name not in present]
        if lacking:
            raise DataworthError(
                f"an npz holds X and y, but {' and '.join(lacking)} {'is' if len(lacking) == 1 else 'are'}"
                f" missing (it holds {', '.join(present) or 'no named arrays'}): save it with"
                " numpy.savez(file, X=X, y=y)"
            )
        names = file["names"].tolist() if "names" in present else None
        X = file["X"]
        others = {name: file[name] for name in NPZ_ROLES.values() if name in present}
    # A Dataset with labels that do not matter, for its checks of X.
    block = Dataset(X, np.zeros(len(X)) if X.ndim else [], names=names, allow_missing=True)
    for name, values in others.items():
        if values.shape != (len(block),):
            raise DataworthError(
                f"{name} has shape {values.shape}, but X has {counted(len(block), 'row')}: give one value"
                " per row"
            )
    arrays = [np.ascontiguousarray(column) for column in block.X.T]
    truths = [column.kind == "boolean" for column in block.columns]
    columns = [pa.array(a.astype(bool) if t else a) for a, t in zip(arrays, truths, strict=True)]
    columns += [pa.array(values) for values in others.values()]
    return pa.Table.from_arrays(columns, names=[*block.names, *others])


def _refuse_stray_text(column: Any, name: str) -> None:
    """A column that is text because of a few cells was meant to be numbers."""
    import pyarrow.compute as pc

    entries = pc.value_counts(column.drop_null()).to_pylist()
    counts = {entry["values"]: entry["counts"] for entry in entries}
    strays = [value for value in counts if not _is_number(value)]
    stray_rows = sum(counts[value] for value in strays)
    if 0 < stray_rows < 0.1 * sum(counts.values()):
        row, value = min((pc.index(column, value).as_py(), value) for value in strays)
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


READERS: dict[str, Callable[[Path], Any]] = {
    ".csv": _read_csv,
    ".csv.gz": _read_csv,
    ".tsv": _read_tsv,
    ".tsv.gz": _read_tsv,
    ".jsonl": _read_json_lines,
    ".jsonl.gz": _read_json_lines,
    ".ndjson": _read_json_lines,
    ".parquet": _read_parquet,
    ".feather": _read_arrow,
    ".arrow": _read_arrow,
    ".npz": _read_npz,
}
"""What reads each suffix."""
