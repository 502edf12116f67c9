"""What users give, turned into arrays: frames, series, lists, objects.

narwhals and pyarrow are imported when a frame is given, not before.
"""

from __future__ import annotations

import numbers
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ..arrays import Array
from ..errors import DataworthError
from ..wording import counted, listed

Kind = Literal["numeric", "boolean", "categorical"]


@dataclass(frozen=True)
class Column:
    """One column of `Dataset.X`; a categorical one holds codes into its `categories`, sorted texts."""

    name: str
    kind: Kind
    categories: tuple[str, ...] = ()


def column_kind(column: Any) -> str:
    """What a pyarrow array can serve as: a `Kind`, "embedding" (lists of numbers), or the reason why not.

    >>> import pyarrow as pa
    >>> column_kind(pa.array([1, 2])), column_kind(pa.array([[0.1], [0.2]])), column_kind(pa.array([b"a"]))
    ('numeric', 'embedding', 'binary')
    """
    import pyarrow.types as t

    kind = column.type
    if t.is_dictionary(kind):
        kind = kind.value_type
        if t.is_integer(kind) or t.is_floating(kind) or t.is_boolean(kind):
            return "categorical"
    if t.is_boolean(kind):
        return "boolean"
    if t.is_integer(kind) or t.is_floating(kind) or t.is_decimal(kind) or t.is_null(kind):
        return "numeric"
    # By name, because pyarrow 15 does not have all of these as predicates.
    name = str(kind)
    if name in ("string", "large_string", "string_view"):
        return "categorical"
    if t.is_temporal(kind):
        return "date or time"
    if "binary" in name.split("[")[0]:
        return "binary"
    if name.split("<")[0] in ("list", "large_list", "fixed_size_list"):
        inner = kind.value_type
        if t.is_integer(inner) or t.is_floating(inner) or t.is_null(inner):
            return "embedding"
    return "nested"


def to_arrow(series: Any, name: str) -> Any:
    """A narwhals series as one pyarrow array: a single set of types for pandas, polars and pyarrow."""
    import pyarrow as pa

    try:
        array = series.to_arrow()
    except (pa.ArrowException, TypeError, ValueError) as error:
        raise DataworthError(
            f"column {name!r} mixes values of different types: make it all numbers or all text"
        ) from error
    if isinstance(array, pa.ChunkedArray):
        array = array.unify_dictionaries().combine_chunks()
    if isinstance(array, pa.ExtensionArray) and str(array.type.extension_name).startswith("arrow."):
        array = array.storage  # tensors of a fixed shape, and the like
    return array


def as_frame(X: Any, what: str = "X") -> Any:
    """X as a narwhals frame, or None if it is none; sentences call it `what`."""
    if isinstance(X, np.ndarray | list | tuple):
        return None
    import narwhals as nw

    if type(X).__name__ == "RecordBatch":
        import pyarrow as pa

        X = pa.Table.from_batches([X])
    try:
        frame = nw.from_native(X, eager_only=True, pass_through=True)
        if isinstance(frame, nw.DataFrame):
            _ = frame.columns  # pandas allows a name twice, narwhals says so here
            return frame
    except nw.exceptions.DuplicateError as error:
        _refuse_twice([str(name) for name in X.columns], what)
        raise DataworthError(f"{what} has a column name more than once: give each its own name") from error
    if type(X).__name__ == "LazyFrame":
        raise DataworthError(f"{what} is a lazy frame, but its rows are needed: collect() it")
    return None


def from_array(X: Any) -> tuple[Array, tuple[Column, ...]]:
    """An array-like as a float matrix with columns x0, x1, …."""
    if hasattr(X, "toarray"):
        raise DataworthError("X is a sparse matrix, but a dense one is needed: give X.toarray()")
    try:
        raw = np.asarray(X)
    except ValueError as error:
        raise DataworthError("X has rows of different lengths: give every row the same features") from error
    if raw.ndim != 2:
        how = "reshape it with X.reshape(len(X), -1)" if raw.ndim > 2 else "give a list of rows"
        if raw.ndim == 1:
            how = "reshape it with X.reshape(-1, 1) if it is one feature, X.reshape(1, -1) if one row"
        raise DataworthError(f"X has shape {raw.shape}, but rows × features are expected: {how}")
    text = raw.dtype.kind not in "biufO" or (
        raw.dtype.kind == "O" and any(isinstance(value, str | bytes) for value in raw.flat)
    )
    try:
        # Always a copy: the caller may still write to what X shares its memory with.
        matrix = None if text else np.array(raw, dtype=np.float64, order="C")
    except (TypeError, ValueError):
        matrix = None
    if matrix is None:
        raise DataworthError(
            f"X is an array of type {raw.dtype} with values that are not numbers: give numbers or booleans,"
            " or a frame if some columns are text"
        )
    kind: Kind = "boolean" if raw.dtype.kind == "b" else "numeric"
    return matrix, tuple(Column(f"x{j}", kind) for j in range(matrix.shape[1]))


def from_frame(frame: Any) -> tuple[Array, tuple[Column, ...]]:
    """A narwhals frame as a float matrix with its columns."""
    blocks: list[Array] = []
    columns: list[Column] = []
    for label in frame.columns:
        name = str(label)
        array = to_arrow(frame.get_column(label), name)
        kind = column_kind(array)
        if kind in ("numeric", "boolean"):
            blocks.append(_numbers(array)[:, None])
            columns.append(Column(name, "numeric" if kind == "numeric" else "boolean"))
        elif kind == "categorical":
            codes, categories = _codes(array)
            blocks.append(codes[:, None])
            columns.append(Column(name, "categorical", categories))
        elif kind == "embedding":
            block = _embedding(array, name)
            blocks.append(block)
            columns.extend(Column(f"{name}[{j}]", "numeric") for j in range(block.shape[1]))
        else:
            raise DataworthError(
                f"column {name!r} is {kind}, but features are numbers, booleans, text or lists of numbers:"
                " convert it, or leave it out"
            )
    matrix = np.hstack(blocks) if blocks else np.empty((len(frame), 0))
    return np.array(matrix, dtype=np.float64, order="C"), tuple(columns)


def _numbers(array: Any) -> Array:
    """A numeric or boolean pyarrow array as floats, missing as NaN."""
    import pyarrow as pa

    if pa.types.is_boolean(array.type):
        array = array.cast(pa.uint8())
    elif pa.types.is_decimal(array.type) or pa.types.is_null(array.type):
        array = array.cast(pa.float64())
    return np.asarray(array.to_numpy(zero_copy_only=False), dtype=np.float64)


def _codes(array: Any) -> tuple[Array, tuple[str, ...]]:
    """A text pyarrow array as codes into the sorted texts that occur; missing as NaN."""
    import pyarrow as pa

    if not pa.types.is_dictionary(array.type):
        array = array.dictionary_encode()
    entries = array.dictionary.to_pylist()
    texts = [v if v is None or isinstance(v, str) else _key(v) for v in entries]
    index = _numbers(array.indices)
    used = np.unique(index[~np.isnan(index)]).astype(np.intp)
    categories = sorted({text for text in (texts[i] for i in used) if text is not None})
    place = {text: float(code) for code, text in enumerate(categories)}
    lookup = np.array([place.get(text, np.nan) if text is not None else np.nan for text in texts] + [np.nan])
    return lookup[np.where(np.isnan(index), len(texts), index).astype(np.intp)], tuple(categories)


def _embedding(array: Any, name: str) -> Array:
    """A pyarrow array of equally long lists as a matrix; a missing list is a row of NaN."""
    import pyarrow.compute as pc

    present = ~array.is_null().to_numpy(zero_copy_only=False)
    lengths = np.unique(pc.list_value_length(array.drop_null()).to_numpy(zero_copy_only=False))
    if len(lengths) > 1:
        raise DataworthError(
            f"column {name!r} holds lists of different lengths ({lengths[0]} to {lengths[-1]}): give every"
            " row an embedding of the same length"
        )
    width = int(lengths[0]) if len(lengths) else int(getattr(array.type, "list_size", 0))
    if width == 0 and len(array):
        raise DataworthError(f"column {name!r} holds only empty lists: fill it, or leave it out")
    matrix = np.full((len(array), width), np.nan)
    # Without the missing lists, whose slots a fixed-size list keeps among its values.
    matrix[present] = _numbers(array.drop_null().flatten()).reshape(-1, width) if width else 0.0
    return matrix


def as_vector(values: Any, what: str, *, anything: bool = False) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """One-dimensional values as a numeric, boolean or text array, and where they are missing."""
    if isinstance(values, np.ndarray):
        raw = values
    elif isinstance(values, list | tuple | range):
        # As objects first: numpy would write a missing value among texts as "nan" or "None".
        raw = _objects(list(values))
    else:
        raw = _from_series(values, what)
    if raw.ndim != 1:
        raise DataworthError(
            f"{what} has shape {raw.shape}, but one value per row is needed: give a flat list"
        )
    if raw.dtype.kind == "T":  # numpy's own texts of variable length
        raw = raw.astype(object)
    if raw.dtype.kind == "O":
        return _from_objects(raw, what, anything)
    if raw.dtype.kind in "mM" and anything:
        return raw.astype(str), np.isnat(raw)
    if raw.dtype.kind not in "biufU":
        raise DataworthError(
            f"{what} is of type {raw.dtype}, but numbers, booleans or text are needed: convert it"
        )
    return raw, np.isnan(raw) if raw.dtype.kind == "f" else np.zeros(len(raw), dtype=bool)


def _objects(values: list[Any]) -> NDArray[Any]:
    try:
        return np.asarray(values, dtype=object)
    except ValueError:  # lists that almost fit together; each is one wrong value
        raw = np.empty(len(values), dtype=object)
        for i, value in enumerate(values):
            raw[i] = value
        return raw


def _from_series(values: Any, what: str) -> NDArray[Any]:
    """A pandas or polars series or a pyarrow array as numpy; anything else by its own conversion."""
    import narwhals as nw
    import pyarrow as pa

    if isinstance(values, pa.Array):
        values = pa.chunked_array([values])
    series = nw.from_native(values, series_only=True, pass_through=True)
    if not isinstance(series, nw.Series):
        return np.asarray(values)
    array = to_arrow(series, what)
    plain = pa.types.is_integer(array.type) or pa.types.is_floating(array.type)
    if plain and array.null_count == 0:
        return np.asarray(array.to_numpy(zero_copy_only=False))
    return _objects(array.to_pylist())


def _from_objects(raw: NDArray[Any], what: str, anything: bool) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    missing = np.array([_is_missing(value) for value in raw], dtype=bool)
    present = list(raw[~missing])
    truths = [isinstance(value, bool | np.bool_) for value in present]
    reals = [isinstance(value, numbers.Real | Decimal | np.bool_) for value in present]
    values: NDArray[Any]
    if present and all(truths):
        values = np.array(present, dtype=bool)
    elif all(reals):
        whole = all(isinstance(value, numbers.Integral | np.bool_) for value in present)
        try:
            values = np.array(present, dtype=np.int64 if whole and present else np.float64)
        except OverflowError:  # an integer beyond 64 bits, which only text keeps exactly
            values = np.array([str(value) for value in present])
    else:
        odd = [v for v, real in zip(present, reals, strict=True) if not real and not isinstance(v, str)]
        unfit = [v for v in odd if not anything or isinstance(v, bytes | list | dict | np.ndarray)]
        if unfit:
            raise DataworthError(
                f"{what} holds a value of type {type(unfit[0]).__name__}, but numbers, booleans or text are"
                " expected: convert it"
            )
        pairs = zip(present, reals, strict=True)
        values = np.array([_key(v) if real else str(v) for v, real in pairs])
    # Missing entries stand as empty values: the caller refuses them by the mask.
    full = np.zeros(len(raw), dtype=values.dtype)
    full[~missing] = values
    return full, missing


def _is_missing(value: Any) -> bool:
    # pandas' NA refuses to be compared, even with itself.
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return bool(np.isscalar(value) and value != value)


def text_keys(values: NDArray[Any]) -> NDArray[np.str_]:
    """Values as text, equal for equal values of any type."""
    if values.dtype.kind == "b":
        values = values.astype(np.int8)
    if values.dtype.kind == "U":
        return np.char.strip(values)
    if values.dtype.kind in "iu":
        return values.astype(np.str_)
    distinct, inverse = np.unique(values.astype(np.float64), return_inverse=True)
    texts = [str(int(v)) if v.is_integer() else repr(v) for v in distinct.tolist()]
    return np.array(texts, dtype=np.str_)[inverse]


def _key(value: Any) -> str:
    return str(text_keys(np.array([value]))[0])


def as_labels(y: Any, n: int) -> NDArray[Any]:
    """Labels of n rows."""
    values, missing = as_vector(y, "y")
    _refuse_length(values, "y", "labels", n)
    refuse_missing_entries(missing, "y", "labels")
    if values.dtype.kind == "f":
        if np.isinf(values).any():
            raise DataworthError(
                f"y has {counted(int(np.isinf(values).sum()), 'infinite label')}: give finite labels,"
                " or leave the rows out"
            )
        return np.array(values, dtype=np.float64)
    if values.dtype.kind in "bi" or (values.dtype.kind == "u" and (values <= np.iinfo(np.int64).max).all()):
        return np.array(values, dtype=np.int64)
    return np.array(values)


def as_texts(values: Any, what: str, n: int) -> NDArray[np.str_]:
    """One text per row."""
    entries, missing = as_vector(values, what, anything=True)
    _refuse_length(entries, what, what, n)
    refuse_missing_entries(missing, what, what)
    return text_keys(entries)


def as_weights(weights: Any, n: int) -> Array:
    """One finite weight ≥ 0 per row, not all zero."""
    values, missing = as_vector(weights, "weights")
    _refuse_length(values, "weights", "weights", n)
    refuse_missing_entries(missing, "weights", "weights")
    if values.dtype.kind == "U":
        raise DataworthError("weights are text, but numbers are expected: convert them")
    result = np.array(values, dtype=np.float64)
    if not np.isfinite(result).all() or (result < 0).any():
        wrong = result[~np.isfinite(result) | (result < 0)][0]
        raise DataworthError(
            f"weights hold {wrong:g}, but finite numbers of at least 0 are needed: correct them"
        )
    if n and not result.any():
        raise DataworthError("weights are all zero, so that no row counts: give some row a positive weight")
    return result


def renamed(columns: tuple[Column, ...], names: Sequence[str] | None) -> tuple[Column, ...]:
    """The columns under other names; names must be unique."""
    if names is not None:
        given = [str(name) for name in names]
        if len(given) != len(columns):
            raise DataworthError(
                f"names has {counted(len(given), 'name')} for {counted(len(columns), 'column')}: give one per"
                " column"
            )
        columns = tuple(Column(name, c.kind, c.categories) for name, c in zip(given, columns, strict=True))
    _refuse_twice([column.name for column in columns])
    return columns


def _refuse_twice(names: Sequence[str], what: str = "X") -> None:
    twice = [name for name, times in Counter(names).items() if times > 1]
    if twice:
        raise DataworthError(f"{what} has {listed(twice)} more than once: give each column its own name")


def refuse_infinite(X: Array, columns: Sequence[Column]) -> None:
    """A sentence that names the columns with infinite values."""
    counts = np.isinf(X).sum(axis=0)
    if counts.any():
        j = int(np.argmax(counts > 0))
        it, rows = ("it", "row") if counts[j] == 1 else ("them", "rows")
        raise DataworthError(
            f"column {columns[j].name!r} has {counted(int(counts[j]), 'infinite value')}: replace {it}, or"
            f" leave the {rows} or the column out"
        )


def refuse_missing(X: Array, columns: Sequence[Column]) -> None:
    """A sentence that names the columns with missing values."""
    absent = np.isnan(X)
    if absent.any():
        named = [columns[int(j)].name for j in np.flatnonzero(absent.any(axis=0))]
        raise DataworthError(
            f"{int(absent.any(axis=1).sum())} of {counted(len(X), 'row')} have missing values, in"
            f" {listed(named)}: leave them out, fill them in, or keep them with allow_missing=True"
            " (impute=True in read, --impute)"
        )


def refuse_missing_entries(missing: NDArray[np.bool_], what: str, noun: str) -> None:
    """A sentence about missing entries of a vector."""
    if missing.any():
        raise DataworthError(
            f"{what} has {int(missing.sum())} missing {noun} of {len(missing)}: fill them in, or leave the"
            " rows out"
        )


def _refuse_length(values: NDArray[Any], what: str, noun: str, n: int) -> None:
    if len(values) != n:
        raise DataworthError(
            f"{what} has {len(values)} {noun} for {counted(n, 'row')} of X: give one per row"
        )
