"""Tables that are no files: frames, datasets of Hugging Face, Bunches; and what tables say of themselves.

A table that dataworth writes names the roles of its columns in its metadata, so that reading it back needs no
options; Hugging Face writes names of classes there.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from dataworth.atomic import parse_json
from dataworth.data.convert import as_frame
from dataworth.data.io.files import Part, with_unique_names
from dataworth.data.io.notes import Note
from dataworth.data.vectors import text_keys, to_arrow
from dataworth.errors import DataworthError
from dataworth.wording import needs_extra

HUB = "hf:"
"""What the name of a dataset of the Hugging Face hub begins with: hf:NAME:SPLIT, or hf:NAME:CONFIG:SPLIT."""
KEY = b"dataworth"
ROLE_OPTIONS = ("label", "group", "attribute", "id", "weights", "features")


def with_roles(table: Any, roles: dict[str, str], **facts: Any) -> Any:
    """A pyarrow table that says what its columns are, and further facts, in its metadata.

    >>> import pyarrow as pa
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
    """The columns that a table says are differences of two things that are compared.

    >>> import pyarrow as pa
    >>> differences_of(with_roles(pa.table({"a": [1], "b": [2]}), {}, differences=["a", "c"]))
    ['a']
    """
    said = _metadata(table, KEY).get("differences")
    return [name for name in said if name in table.column_names] if isinstance(said, list) else []


def _metadata(table: Any, key: bytes) -> dict[str, Any]:
    """What the metadata of a table say under a key: a JSON object, or nothing."""
    try:
        said = parse_json((table.schema.metadata or {})[key])
    except (KeyError, ValueError):
        return {}
    return said if isinstance(said, dict) else {}


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


def part_of_object(source: Any) -> Part:
    """The table of a frame, a Bunch, a dataset of Hugging Face, or the name of one on the hub."""
    if isinstance(source, str):
        source = _from_hub(source.removeprefix(HUB))
    kind, package = type(source).__name__, type(source).__module__.split(".")[0]
    if package == "datasets" and isinstance(source, dict):
        if len(source) != 1:
            names = ", ".join(map(repr, source))
            raise DataworthError(
                f"the DatasetDict holds the splits {names}: give one, as in dataset['train']"
            )
        (source,) = source.values()
    if package == "datasets" and hasattr(source, "with_format") and hasattr(source, "__len__"):
        # By its own reading, which follows its shuffling and filtering; the table beneath does not.
        return _of_frame(source.with_format("arrow")[:])
    if kind == "Bunch" and hasattr(source, "data") and hasattr(source, "target"):
        return _of_bunch(source)
    if kind == "LazyFrame" and hasattr(source, "collect"):
        source = source.collect()
    return _of_frame(source)


def _of_frame(source: Any) -> Part:
    """A pandas, polars or pyarrow frame."""
    import pyarrow as pa

    part = Part(None, None)
    if type(source).__module__.startswith("pandas") and hasattr(source, "columns"):
        part.notes += _index_notes(source)
    if hasattr(source, "columns") and hasattr(source, "set_axis"):  # pandas allows a name twice
        named = pa.table([pa.nulls(1)] * len(source.columns), names=[str(name) for name in source.columns])
        source = source.set_axis(with_unique_names(named, part.notes).column_names, axis=1)
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


def _index_notes(frame: Any) -> list[Note]:
    """A pandas index that says something is no column, and would be lost unseen."""
    index = frame.index
    if index.dtype.kind in "iu" and index.name is None and index.nlevels == 1:
        return []
    name = f" {index.name!r}" if index.name is not None else ""
    return [Note(f"the index{name} of the frame is not used", "frame.reset_index() makes it a column")]


def _column(series: Any, name: str) -> Any:
    """A column for pyarrow; numbers beside texts become texts."""
    import pyarrow as pa

    try:
        return to_arrow(series, name)
    except DataworthError:
        values = series.to_list()
        if not all(value is None or isinstance(value, str | int | float | bool) for value in values):
            raise
        absent = [value is None or value != value for value in values]
        texts = [v if isinstance(v, str) else str(text_keys(np.array([v]))[0]) for v in values]
        return pa.array([None if no else text for no, text in zip(absent, texts, strict=True)], pa.string())


def _of_bunch(source: Any) -> Part:
    """A Bunch of scikit-learn: its data with their names, and its target, which is the label."""
    import pyarrow as pa

    if hasattr(source.data, "toarray"):
        raise DataworthError(
            "the Bunch holds a sparse matrix, but a dense one is needed: give its .toarray()"
        )
    if hasattr(source.data, "columns"):
        table = _of_frame(source.data).table
    else:
        X = np.asarray(source.data)
        if X.ndim != 2:
            raise DataworthError(f"the Bunch holds data of shape {X.shape}, but rows × features are expected")
        names = [str(name) for name in source.get("feature_names", [f"x{j}" for j in range(X.shape[1])])]
        table = pa.Table.from_arrays([pa.array(column) for column in X.T], names=names)
    target = np.asarray(source.target)
    if target.ndim != 1:
        raise DataworthError(
            f"the Bunch has a target of shape {target.shape}, but one label a row is expected"
        )
    label = next(
        name for name in ("target", "label", "target of the Bunch") if name not in table.column_names
    )
    return Part(None, with_roles(table.append_column(label, pa.array(target)), {"label": label}))


def tidy(table: Any) -> Any:
    """The table without numbers of 16 bits, and with names of classes in place of their numbers."""
    return _with_class_names(_without_halves(table))


def _without_halves(table: Any) -> Any:
    """Numbers of 16 bits as numbers of 32, for which pyarrow can do all that is asked of it."""
    import pyarrow as pa

    half = pa.float16()
    if half not in table.schema.types:
        return table
    fields = [field.with_type(pa.float32()) if field.type == half else field for field in table.schema]
    return table.cast(pa.schema(fields, table.schema.metadata))


def _with_class_names(table: Any) -> Any:
    """The table with names in place of numbers where Hugging Face's metadata say so; −1 is no label.

    Numbers alone would not do: another dataset may number the same classes otherwise.
    """
    import pyarrow as pa

    try:
        features = _metadata(table, b"huggingface")["info"]["features"]
        named = {name: one["names"] for name, one in features.items() if one.get("_type") == "ClassLabel"}
    except (KeyError, TypeError, ValueError, AttributeError):
        return table
    for name, classes in named.items():
        at = table.schema.get_field_index(name)
        if at >= 0 and pa.types.is_integer(table.schema.field(at).type):
            codes = table[name].to_pylist()
            texts = [None if code is None or code < 0 else classes[code] for code in codes]
            table = table.set_column(at, name, pa.array(texts, pa.string()))
    return table
