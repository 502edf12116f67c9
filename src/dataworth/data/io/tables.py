"""Tables of frames and of formats that are read whole, and what they say of their columns in metadata."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from contextlib import suppress
from itertools import zip_longest
from math import inf
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.json as pj

from dataworth.atomic import parse_json
from dataworth.data.convert import as_frame, refuse_twice
from dataworth.data.dataset import Dataset
from dataworth.data.io import sizes
from dataworth.data.io.cells import NA_VALUES
from dataworth.data.io.notes import Note
from dataworth.data.vectors import to_arrow
from dataworth.errors import DataworthError
from dataworth.limits import refuse_columns, refuse_unpacked
from dataworth.wording import counted, needs_extra, option

KEY = b"dataworth"
FAR = "delete what stands far from the table, or save it as .csv"
ROLE_OPTIONS = ("label", "group", "attribute", "id", "weights", "features")
NPZ_ROLES = {"label": "y", "group": "groups", "id": "ids", "weights": "weights", "attribute": "attributes"}


def with_columns(table: Any, columns: Sequence[Any]) -> Any:
    """The table with other columns under its names."""
    return pa.Table.from_arrays(list(columns), names=table.column_names, metadata=table.schema.metadata)


def with_roles(table: Any, roles: dict[str, str], **facts: Any) -> Any:
    """A pyarrow table that says what its columns are, and further facts, in its metadata."""
    said = json.dumps({"roles": roles, **facts})
    return table.replace_schema_metadata({**(table.schema.metadata or {}), KEY: said.encode()})


def roles_of(table: Any) -> dict[str, str]:
    """What a table says of its columns; what it does not have, or says badly, is not said."""
    said: Any = _metadata(table, KEY).get("roles")
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
    """The table without 16-bit numbers, with names of classes, and without `na_values`: which, how often."""
    half = pa.float16()  # for which pyarrow cannot do all that is asked of it
    columns = [c.cast(pa.float32()) if c.type == half else c for c in table.columns]
    try:  # numbers alone would not do: another dataset may number the same classes otherwise
        features = _metadata(table, b"huggingface")["info"]["features"]
        named = {n: list(one["names"]) for n, one in features.items() if one.get("_type") == "ClassLabel"}
    except (KeyError, TypeError, ValueError, AttributeError):
        named = {}
    found = []
    for j, name in enumerate(table.column_names):
        if (classes := named.get(name)) and pa.types.is_integer(columns[j].type):
            names = dict(enumerate(map(str, classes)))  # −1 is no label
            columns[j] = pa.array([names.get(code) for code in columns[j].to_pylist()], pa.string())
        for marker in na_values:
            column, count = _without(columns[j], marker)
            if count:
                columns[j] = column
                found.append((name, marker, count))
    return with_columns(table, columns), found


def _without(column: Any, marker: str) -> tuple[Any, int]:
    """The column without the cells that are the marker, and how many those were; numbers are numbers."""
    kind = column.type
    if pa.types.is_dictionary(kind):
        column, kind = column.cast(kind.value_type), kind.value_type
    equal: Any = pa.array([], pa.bool_())
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        equal = pc.equal(pc.utf8_trim_whitespace(column), pa.scalar(marker, kind))
    elif pa.types.is_integer(kind) or pa.types.is_floating(kind):
        with suppress(ValueError):
            equal = pc.equal(column.cast(pa.float64(), safe=False), float(marker))
    count = int(pc.sum(equal).as_py() or 0)
    return (pc.if_else(equal, pa.scalar(None, kind), column), count) if count else (column, 0)


def table_of(source: Any) -> tuple[Any, list[Note]]:
    """The table of a frame, or of a dataset of Hugging Face; and notes."""
    if type(source).__name__ == "Bunch":
        raise DataworthError("a Bunch is no frame: load it with as_frame=True, and give its .frame")
    if type(source).__name__ == "DatasetDict":
        if len(source) != 1:
            splits = ", ".join(map(repr, source))
            raise DataworthError(f"the DatasetDict holds the splits {splits}: give one, as data['train']")
        (source,) = source.values()
    if type(source).__module__.startswith("datasets.") and hasattr(source, "__len__"):
        # By its own reading, which follows its shuffling and filtering; the table beneath does not.
        source = source.with_format("arrow")[:]
    notes = []
    if hasattr(source, "set_axis") and hasattr(source, "columns"):  # pandas, which allows a name twice
        names = [str(name) for name in source.columns]
        refuse_twice(names)
        source = source.set_axis(names, axis=1)
        index = source.index  # one that says something would be lost unseen
        if index.dtype.kind not in "iu" or index.name is not None or index.nlevels > 1:
            name = f" {index.name!r}" if index.name is not None else ""
            says = "frame.reset_index() makes it a column"
            notes.append(Note(f"the index{name} of the frame is not used", says))
    frame = as_frame(source, "the frame")
    if frame is None:
        raise DataworthError(
            f"read was given an object of type {type(source).__name__}: give the path of a file, or a pandas,"
            " polars or pyarrow frame; arrays go to dw.Dataset(X, y)"
        )
    if len(frame) == 0:
        raise DataworthError("the frame has no rows: give some")
    columns = [to_arrow(frame.get_column(name), str(name)) for name in frame.columns]
    metadata = source.schema.metadata if isinstance(source, pa.Table) else None  # may say roles
    return pa.Table.from_arrays(columns, names=list(map(str, frame.columns)), metadata=metadata), notes


def _read_json_lines(path: Path) -> Any:
    with pa.input_stream(str(path)) as stream:
        # A line must fit in a block; the default of 1 MB is too little for some embeddings.
        return pj.read_json(stream, read_options=pj.ReadOptions(block_size=1 << 24))


def _read_json(path: Path) -> Any:
    """A list of objects, an object of lists, what pandas writes (`to_json` in any orient that has names), or
    lines of objects under the wrong name."""
    raw = path.read_bytes()
    try:
        told = parse_json(raw, inf)
    except ValueError:
        if not raw.lstrip().startswith(b"{"):
            raise
        told = None
    if isinstance(told, dict):
        told = _of_pandas(told)
    if isinstance(told, dict):
        refuse_columns(len(told))
        with suppress(ValueError, TypeError):
            return pa.table(told)
    if isinstance(told, list):
        if told and isinstance(told[0], list):
            without = "its rows are lists, which do not name their columns"
            raise DataworthError(f"{without}: write objects, in pandas to_json(orient='records')")
        columns = len(told[0]) if told and isinstance(told[0], dict) else 0
        refuse_columns(columns)
        refuse_unpacked(len(raw), sizes.CELL * len(told) * columns, sizes.UNPACK)
        return pa.Table.from_pylist(told)
    sizes.size_of_lines(path)  # which refuses too many keys
    return _read_json_lines(path)


def _is_object(value: Any) -> bool:
    return isinstance(value, dict)


def _of_pandas(told: dict[str, Any]) -> Any:
    """What `DataFrame.to_json` wrote, as an object of lists or a list of objects; anything else as it is.

    Of an object of objects, the outer names are columns (pandas' default), unless only they are numbers.

    >>> _of_pandas({"a": {"0": 1, "1": 2}, "b": {"0": 3, "1": 4}})
    {'a': [1, 2], 'b': [3, 4]}
    >>> _of_pandas({"0": {"a": 1, "b": 3}, "1": {"a": 2, "b": 4}})
    [{'a': 1, 'b': 3}, {'a': 2, 'b': 4}]
    >>> _of_pandas({"columns": ["a"], "index": [0, 1], "data": [[1], [2]]})
    {'a': [1, 2]}
    """
    rows, names = told.get("data"), told.get("columns")
    if told.keys() == {"schema", "data"} and isinstance(rows, list) and all(map(_is_object, rows)):
        return [{name: cell for name, cell in row.items() if name != "index"} for row in rows]
    if told.keys() == {"columns", "index", "data"} and isinstance(names, list) and isinstance(rows, list):
        if all(isinstance(row, list) and len(row) == len(names) for row in rows):
            return dict(zip(map(str, names), map(list, zip(*rows, strict=True)), strict=True))
        return told
    inner = list(told.values())
    if not inner or not all(_is_object(one) and one.keys() == inner[0].keys() for one in inner):
        return told
    if all(map(str.isdecimal, told)) and not all(map(str.isdecimal, inner[0])):
        return inner
    return {name: [one[key] for key in inner[0]] for name, one in told.items()}


def _read_arrow(path: Path) -> Any:
    """Arrow's file format (also Feather 2), or its stream format, which `datasets` writes."""
    with pa.OSFile(str(path)) as source:
        try:
            table = pa.ipc.open_file(source).read_all()
        except pa.ArrowInvalid:
            source.seek(0)
            table = pa.ipc.open_stream(source).read_all()
    table.validate(full=True)
    sizes.refuse_unfolded(path.stat().st_size, [table])
    return table


def _read_npz(path: Path) -> Any:
    # Opened here, because numpy leaves a file that it cannot read open.
    with path.open("rb") as handle:
        file = np.load(handle, allow_pickle=False)
        present = list(getattr(file, "files", []))  # a lone array, saved under a wrong name, has none
        if not {"X", "y"} <= {*present}:
            held = f"but this one {', '.join(present) or 'no named arrays'}"
            raise DataworthError(f"an npz holds X and y, {held}: save it with numpy.savez(file, X=X, y=y)")
        found = {name: file[name] for name in ("X", "names", *NPZ_ROLES.values()) if name in present}
    X, names = found.pop("X"), found.pop("names", None)
    refuse_columns(X.shape[1] if X.ndim == 2 else 0)
    # A Dataset with labels that do not matter, for its checks of X.
    named = None if names is None else names.tolist()
    block = Dataset(X, np.zeros(len(X)) if X.ndim else [], names=named, allow_missing=True)
    for name, values in found.items():
        if values.shape != (len(block),):
            rows = counted(len(block), "row")
            raise DataworthError(f"{name} has shape {values.shape}, but X has {rows}: give one value per row")
    cells = block.X.astype(bool) if X.dtype == bool else block.X
    return pa.Table.from_arrays(list(map(pa.array, (*cells.T, *found.values()))), [*block.names, *found])


def read_excel(path: Path, sheet: str | None, notes: list[Note]) -> Any:
    """The texts of the first sheet, or the one asked for; its first row that is not empty is the header."""
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
        found = _rows_of(book[used], path.stat().st_size)
    finally:
        book.close()
    if not found:
        raise DataworthError(f"the sheet {used!r} has no rows: name another with {option('sheet')}")
    if others := [name for name in names if sheet is None and name != used]:
        told = f"sheet {used!r} is read, and not {', '.join(map(repr, others))}"
        notes.append(Note(told, f"{option('sheet')} changes that"))
    # each with its name first; what has neither name nor cells is no column
    columns = [column for column in zip_longest(*found) if any(column)]
    arrays = [pa.array(cells, pa.string()) for _, *cells in columns]
    return pa.Table.from_arrays(arrays, names=[name or "" for name, *_ in columns])


def _rows_of(sheet: Any, stored: int) -> list[list[str | None]]:
    """The rows that are not empty, as long as there are not too many cells up to the last of each."""
    sheet.reset_dimensions()  # what it says of its size, one cell far away, would make rows of nothing
    found: list[list[str | None]] = []
    cells = longest = 0
    for row in sheet.iter_rows(values_only=True):
        cells, longest = cells + len(row), max(longest, len(row))
        refuse_unpacked(stored, sizes.TEXT * max(cells, longest * (len(found) + 1)), FAR)
        if any(value is not None for value in row):
            found.append(list(map(_cell, row)))
    return [row for row in found if any(cell is not None for cell in row)]


def _cell(value: Any) -> str | None:
    """A cell of a sheet as a text file has it."""
    whole = int(value) if isinstance(value, float) and value.is_integer() else value
    text = str(whole).strip()
    return None if value is None or text in NA_VALUES else text


READERS: dict[str, Callable[[Path], Any]] = {
    **dict.fromkeys((".jsonl", ".jsonl.gz", ".ndjson"), _read_json_lines),
    ".json": _read_json,
    **dict.fromkeys((".feather", ".arrow"), _read_arrow),
    ".npz": _read_npz,
}
"""What reads each suffix of other kinds."""
