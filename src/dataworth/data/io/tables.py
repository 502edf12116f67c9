"""Tables of frames, Hugging Face datasets and Bunches, and of formats that are read whole.

A table that dataworth writes names the roles of its columns in its metadata, so that reading it back needs no
options; Hugging Face writes names of classes there.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.json as pj

from dataworth.atomic import parse_json
from dataworth.data.convert import as_frame, column_kind
from dataworth.data.dataset import Dataset
from dataworth.data.io.cells import NA_VALUES, plain_values, texts_of
from dataworth.data.io.delimited import AS_FOUND, Delimited, refuse_twice
from dataworth.data.io.notes import Note
from dataworth.data.vectors import text_key, to_arrow
from dataworth.errors import DataworthError
from dataworth.wording import counted, listed, needs_extra, option

HUB = "hf:"
"""What the name of a dataset of the Hugging Face hub begins with: hf:NAME:SPLIT, or hf:NAME:CONFIG:SPLIT."""
KEY = b"dataworth"
ROLE_OPTIONS = ("label", "group", "attribute", "id", "weights", "features")
NPZ_ROLES = {"label": "y", "group": "groups", "id": "ids", "weights": "weights", "attribute": "attributes"}


@dataclass
class Part:
    """A table on its way to a Dataset.

    typed: whether its format has types, so that what is text was meant to be; how: how its text is written;
    total: of how many rows these were drawn, if they were; cleaned: columns in which a cell was taken for
    missing because the user said so.
    """

    table: Any
    typed: bool = True
    notes: list[Note] = field(default_factory=list)
    how: Delimited = AS_FOUND
    total: int | None = None
    cleaned: set[str] = field(default_factory=set)


def with_columns(table: Any, columns: Sequence[Any]) -> Any:
    """The table with other columns under its names."""
    return pa.Table.from_arrays(list(columns), names=table.column_names, metadata=table.schema.metadata)


def with_roles(table: Any, roles: dict[str, str], **facts: Any) -> Any:
    """A pyarrow table that says what its columns are, and further facts, in its metadata.

    >>> roles_of(with_roles(pa.table({"a": [1], "b": [2]}), {"label": "b", "group": "c"}))
    {'label': 'b'}
    """
    said = json.dumps({"roles": roles, **facts})
    return table.replace_schema_metadata({**(table.schema.metadata or {}), KEY: said.encode()})


def roles_of(table: Any) -> dict[str, str]:
    """What a table says of its columns; what it does not have, or says badly, is not said."""
    said = _metadata(table, KEY).get("roles")
    named = said if isinstance(said, dict) else {}
    return {role: named[role] for role in ROLE_OPTIONS if named.get(role) in table.column_names}


def differences_of(table: Any) -> list[str]:
    """The columns that a table says are differences of two things that are compared."""
    said = _metadata(table, KEY).get("differences")
    return [name for name in said if name in table.column_names] if isinstance(said, list) else []


def _metadata(table: Any, key: bytes) -> dict[str, Any]:
    """What the metadata of a table say under a key: a JSON object, or nothing."""
    try:
        said = parse_json((table.schema.metadata or {})[key])
    except (KeyError, ValueError):
        return {}
    return said if isinstance(said, dict) else {}


def cleaned(table: Any, na_values: Sequence[str]) -> tuple[Any, list[tuple[str, str, int]]]:
    """The table without 16-bit numbers, with names of classes, and with cells missing that are `na_values`.

    Also says which column had which of them, and how often.
    """
    half = pa.float16()  # for which pyarrow cannot do all that is asked of it
    columns = [c.cast(pa.float32()) if c.type == half else c for c in table.columns]
    named, found = _classes_of(table), []
    for j, name in enumerate(table.column_names):
        if (classes := named.get(name)) and pa.types.is_integer(columns[j].type):
            codes = columns[j].to_pylist()
            texts = [None if code is None or code < 0 else classes[code] for code in codes]
            columns[j] = pa.array(texts, pa.string())
        for marker in na_values:
            column, count = _without(columns[j], marker)
            if count:
                columns[j] = column
                found.append((name, marker, count))
    return with_columns(table, columns), found


def _without(column: Any, marker: str) -> tuple[Any, int]:
    """The column without the cells that are the marker, and how many those were; numbers are numbers.

    >>> [_without(pa.chunked_array([some]), "-9")[1] for some in (["1", " -9", "2"], [1.5, -9.0])]
    [1, 1]
    """
    kind = column.type
    if pa.types.is_dictionary(kind):
        column, kind = column.cast(kind.value_type), kind.value_type
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        equal = pc.equal(pc.utf8_trim_whitespace(column), pa.scalar(marker, kind))
    elif pa.types.is_integer(kind) or pa.types.is_floating(kind):
        try:
            equal = pc.equal(column.cast(pa.float64(), safe=False), float(marker))
        except ValueError:
            return column, 0
    else:
        return column, 0
    count = int(pc.sum(equal).as_py() or 0)
    return (pc.if_else(equal, pa.scalar(None, kind), column), count) if count else (column, 0)


def _classes_of(table: Any) -> dict[str, Any]:
    """Names that stand for whole numbers, where Hugging Face's metadata say so; −1 is no label.

    Numbers alone would not do: another dataset may number the same classes otherwise.
    """
    try:
        features = _metadata(table, b"huggingface")["info"]["features"]
        return {name: one["names"] for name, one in features.items() if one.get("_type") == "ClassLabel"}
    except (KeyError, TypeError, ValueError, AttributeError):
        return {}


def plain_table(table: Any) -> Any:
    """The table, with numbers and dates as such where a text writes them as programs do."""
    columns = []
    for column in table.columns:
        text = column_kind(column) == "categorical" and column.null_count < len(column)
        values = plain_values(texts_of(column)) if text else None
        columns.append(column if values is None else values)
    return with_columns(table, columns)


def part_of_object(source: Any) -> Part:
    """The table of a frame, a Bunch, a dataset of Hugging Face, or the name of one on the hub."""
    if isinstance(source, str):
        source = _from_hub(source.removeprefix(HUB))
    kind, package = type(source).__name__, type(source).__module__.split(".")[0]
    if package == "datasets" and isinstance(source, dict):
        if len(source) != 1:
            names = ", ".join(map(repr, source))
            raise DataworthError(f"the DatasetDict holds the splits {names}: give one, as dataset['train']")
        (source,) = source.values()
    if package == "datasets" and hasattr(source, "with_format") and hasattr(source, "__len__"):
        # By its own reading, which follows its shuffling and filtering; the table beneath does not.
        source = source.with_format("arrow")[:]
    elif kind == "Bunch" and hasattr(source, "data") and hasattr(source, "target"):
        return _of_bunch(source)
    elif kind == "LazyFrame" and hasattr(source, "collect"):
        source = source.collect()
    return _of_frame(source)


def _from_hub(name: str) -> Any:
    try:
        import datasets
    except ImportError:
        raise DataworthError(needs_extra("a name of the hub", "hf")) from None
    where, *more = name.split(":")
    if len(more) not in (1, 2):
        raise DataworthError(f"{HUB}{name} names no split: give {HUB}NAME:SPLIT, or {HUB}NAME:CONFIG:SPLIT")
    try:
        return datasets.load_dataset(where, *more[:-1], split=more[-1])
    except (OSError, ValueError) as error:
        raise DataworthError(f"the hub has no such dataset ({' '.join(str(error).split())[:160]})") from error


def _of_frame(source: Any) -> Part:
    """A pandas, polars or pyarrow frame."""
    part = Part(None)
    if hasattr(source, "columns") and hasattr(source, "set_axis"):  # pandas, which allows a name twice
        names = [str(name) for name in source.columns]
        refuse_twice(names)
        source = source.set_axis(names, axis=1)
        index = source.index  # one that says something would be lost unseen
        if index.dtype.kind not in "iu" or index.name is not None or index.nlevels > 1:
            name = f" {index.name!r}" if index.name is not None else ""
            says = "frame.reset_index() makes it a column"
            part.notes.append(Note(f"the index{name} of the frame is not used", says))
    frame = as_frame(source, "the frame")
    if frame is None:
        raise DataworthError(
            f"read was given an object of type {type(source).__name__}: give the path of a file, or a pandas,"
            " polars or pyarrow frame; arrays go to dw.Dataset(X, y)"
        )
    if len(frame) == 0:
        raise DataworthError("the frame has no rows: give some")
    columns = [_column(frame.get_column(name), str(name)) for name in frame.columns]
    metadata = source.schema.metadata if isinstance(source, pa.Table) else None  # may say roles
    part.table = pa.Table.from_arrays(columns, names=list(map(str, frame.columns)), metadata=metadata)
    return part


def _column(series: Any, name: str) -> Any:
    """A column for pyarrow; numbers beside texts become texts."""
    try:
        return to_arrow(series, name)
    except DataworthError:
        values = series.to_list()
        if not all(value is None or isinstance(value, str | int | float) for value in values):
            raise
        known = [None if value is None or value != value else value for value in values]
        return pa.array([v if v is None or isinstance(v, str) else text_key(v) for v in known], pa.string())


def _of_bunch(source: Any) -> Part:
    """A Bunch of scikit-learn: its data with their names, and its target, which is the label."""
    if hasattr(source.data, "columns"):
        table = _of_frame(source.data).table
    else:
        block = Dataset(source.data, np.zeros(len(source.target)), allow_missing=True)
        names = [str(name) for name in source.get("feature_names", block.names)]
        table = pa.Table.from_arrays([pa.array(column) for column in block.X.T], names=names)
    target = np.asarray(source.target)
    if target.shape != (table.num_rows,):
        wrong = f"the Bunch has a target of shape {target.shape}, but one label a row is expected"
        raise DataworthError(wrong)
    taken = table.column_names
    label = next(name for name in ("target", "label", "target of the Bunch") if name not in taken)
    return Part(with_roles(table.append_column(label, pa.array(target)), {"label": label}))


def _read_json_lines(path: Path) -> Any:
    with pa.input_stream(str(path)) as stream:
        # A line must fit in a block; the default of 1 MB is too little for some embeddings.
        return pj.read_json(stream, read_options=pj.ReadOptions(block_size=1 << 24))


def _read_json(path: Path) -> Any:
    """A list of objects, an object of lists, or lines of objects under the wrong name."""
    with path.open("rb") as file:
        start = file.read(64).lstrip()
    if start[:1] == b"{":
        try:
            return pa.table(parse_json(path.read_bytes()))
        except (ValueError, TypeError):
            return _read_json_lines(path)
    return pa.Table.from_pylist(parse_json(path.read_bytes()))


def _read_arrow(path: Path) -> Any:
    """Arrow's file format (also Feather 2), or its stream format, which `datasets` writes."""
    with pa.OSFile(str(path)) as source:
        try:
            return pa.ipc.open_file(source).read_all()
        except pa.ArrowInvalid:
            source.seek(0)
            return pa.ipc.open_stream(source).read_all()


def _read_npz(path: Path) -> Any:
    # Opened here, because numpy leaves a file that it cannot read open.
    with path.open("rb") as handle:
        file = np.load(handle, allow_pickle=False)
        present = list(getattr(file, "files", []))  # a lone array, saved under a wrong name, has none
        if lacking := [name for name in ("X", "y") if name not in present]:
            raise DataworthError(
                f"an npz holds X and y, but {' and '.join(lacking)} {'is' if len(lacking) == 1 else 'are'}"
                f" missing (it holds {', '.join(present) or 'no named arrays'}): save it with"
                " numpy.savez(file, X=X, y=y)"
            )
        used = [name for name in ("X", "names", *NPZ_ROLES.values()) if name in present]
        found = {name: file[name] for name in used}
    X, names = found.pop("X"), found.pop("names", None)
    # A Dataset with labels that do not matter, for its checks of X.
    named = None if names is None else names.tolist()
    block = Dataset(X, np.zeros(len(X)) if X.ndim else [], names=named, allow_missing=True)
    for name, values in found.items():
        if values.shape != (len(block),):
            rows = counted(len(block), "row")
            raise DataworthError(f"{name} has shape {values.shape}, but X has {rows}: give one value per row")
    if both := [name for name in block.names if name in found]:
        raise DataworthError(f"the file has {listed(both)} more than once: give each its own name")
    kinds = [bool if column.kind == "boolean" else float for column in block.columns]
    columns = [pa.array(values.astype(kind)) for values, kind in zip(block.X.T, kinds, strict=True)]
    columns += [pa.array(values) for values in found.values()]
    return pa.Table.from_arrays(columns, names=[*block.names, *found])


def read_excel(path: Path, sheet: str | None, notes: list[Note]) -> Any:
    """The first sheet, or the one asked for; the first row that is not empty is its header."""
    try:
        import openpyxl
    except ImportError:
        raise DataworthError(f"{needs_extra('an .xlsx', 'excel')}, or save it as .csv") from None
    book = openpyxl.load_workbook(path, read_only=True, data_only=True)
    try:
        names = book.sheetnames
        used = names[0] if sheet is None else sheet
        if used not in names:
            raise DataworthError(f"there is no sheet {used!r} among {', '.join(map(repr, names))}")
        found = [row for row in book[used].iter_rows(values_only=True) if any(c is not None for c in row)]
    finally:
        book.close()
    if not found:
        raise DataworthError(f"the sheet {used!r} has no rows: name another with {option('sheet')}")
    if others := [name for name in names if sheet is None and name != used]:
        told = f"sheet {used!r} is read, and not {', '.join(map(repr, others))}"
        notes.append(Note(told, f"{option('sheet')} changes that"))
    width = max(len(row) for row in found)
    header, *rows = [[*row, *[None] * (width - len(row))] for row in found]
    titles = ["" if cell is None else str(cell).strip() for cell in header]
    columns = [_excel_column([row[j] for row in rows]) for j in range(width)]
    kept = [j for j in range(width) if titles[j] or columns[j].null_count < len(columns[j])]
    return pa.Table.from_arrays([columns[j] for j in kept], names=[titles[j] for j in kept])


def _excel_column(cells: Sequence[Any]) -> Any:
    """Cells of one type as they are, of several as their texts."""
    tidy = [cell.strip() if isinstance(cell, str) else cell for cell in cells]
    tidy = [None if isinstance(cell, str) and cell in NA_VALUES else cell for cell in tidy]
    kinds = {type(cell) for cell in tidy if cell is not None}
    if kinds <= {int, float}:
        return pa.array(tidy, pa.float64() if kinds == {int, float} else None)
    if len(kinds) == 1 or {kind.__name__ for kind in kinds} <= {"date", "datetime"}:
        return pa.array(tidy)
    whole = [int(c) if isinstance(c, float) and c.is_integer() else c for c in tidy]
    return pa.array([None if cell is None else str(cell) for cell in whole], pa.string())


READERS: dict[str, Callable[[Path], Any]] = {
    **dict.fromkeys((".jsonl", ".jsonl.gz", ".ndjson"), _read_json_lines),
    ".json": _read_json,
    **dict.fromkeys((".feather", ".arrow"), _read_arrow),
    ".npz": _read_npz,
}
"""What reads each suffix of other kinds."""
