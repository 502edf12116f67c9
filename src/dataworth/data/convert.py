"""Features as users give them, turned into a matrix with columns: arrays and frames.

narwhals and pyarrow are imported when a frame is given, not before.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Literal

import numpy as np

from ..arrays import Array
from ..errors import DataworthError
from ..wording import counted, listed, option
from .vectors import one_array, text_key, to_arrow, to_numpy

Kind = Literal["numeric", "boolean", "categorical", "text", "pair", "difference", "response"]
CODED = ("categorical", "text", "pair", "response")
"""Kinds whose columns hold codes into their categories."""
LEAST_WORDS = 4
"""Words that entries of a column of free text have on average; categories and ids have fewer."""
MOST_CATEGORIES = 50
"""Different entries from which a column of such words is free text even where they repeat."""


@dataclass(frozen=True)
class Column:
    """One column of `Dataset.X`; one of a kind in `CODED` holds codes into its `categories`, sorted texts.

    A difference is a number that changes its sign where the two things that are compared change places. A
    response is a text that is no feature: what the row's features are to predict (`Dataset.outputs`).
    """

    name: str
    kind: Kind
    categories: tuple[str, ...] = ()


def column_kind(column: Any) -> str:
    """What a pyarrow array can serve as: a `Kind`, "embedding" (lists of numbers), or the reason why not."""
    return _kind_of_type(column.type)


@cache  # there may be very many columns, of few types
def _kind_of_type(kind: Any) -> str:
    import pyarrow.types as t

    if t.is_dictionary(kind):
        kind = kind.value_type
        if t.is_integer(kind) or t.is_floating(kind) or t.is_boolean(kind):
            return "categorical"
    # by name, because pyarrow 15 does not have all of these as predicates
    name = str(kind)
    listed_in = kind.value_type if name.split("<")[0] in ("list", "large_list", "fixed_size_list") else None
    told = {
        "boolean": t.is_boolean(kind),
        "numeric": any(of(kind) for of in (t.is_integer, t.is_floating, t.is_decimal, t.is_null)),
        "categorical": name in ("string", "large_string", "string_view"),
        "date or time": t.is_temporal(kind),
        "binary": "binary" in name.split("[")[0],
        "embedding": listed_in and any(of(listed_in) for of in (t.is_integer, t.is_floating, t.is_null)),
    }
    return next((held for held, so in told.items() if so), "nested")


def is_text(texts: Sequence[str], rows: int) -> bool:
    """Whether different texts, which occur in so many rows, are free text rather than categories or ids."""
    if len(texts) <= rows / 2 and len(texts) <= MOST_CATEGORIES:
        return False
    return sum(len(text.split()) for text in texts) >= LEAST_WORDS * max(1, len(texts))


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
    except nw.exceptions.DuplicateError:
        refuse_twice([str(name) for name in X.columns], what)
    if type(X).__name__ == "LazyFrame":
        raise DataworthError(f"{what} is a lazy frame, but its rows are needed: collect() it")
    return None


def from_any(X: Any) -> tuple[Array, tuple[Column, ...]]:
    """A frame or an array-like as a float matrix with its columns."""
    if type(X).__module__ == "pyarrow.lib" and hasattr(X, "itercolumns"):  # a table, which needs no narwhals
        return from_arrow(X.column_names, map(one_array, X.itercolumns()), len(X))
    frame = as_frame(X)
    if frame is None:
        return from_array(X)
    names = [str(name) for name in frame.columns]
    columns = zip(frame.columns, names, strict=True)
    return from_arrow(names, (to_arrow(frame.get_column(own), name) for own, name in columns), len(frame))


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
    objects = raw.flat if raw.dtype.kind == "O" else ()
    try:
        if raw.dtype.kind not in "biufO" or any(isinstance(value, str | bytes) for value in objects):
            raise TypeError
        # Always a copy: the caller may still write to what X shares its memory with.
        matrix = np.array(raw, dtype=np.float64, order="C")
    except (TypeError, ValueError):
        what = f"X is an array of type {raw.dtype} with values that are not numbers"
        raise DataworthError(f"{what}: give numbers, or a frame if some columns are text") from None
    kind: Kind = "boolean" if raw.dtype.kind == "b" else "numeric"
    return matrix, tuple(Column(f"x{j}", kind) for j in range(matrix.shape[1]))


def from_arrow(names: Sequence[str], arrays: Iterable[Any], rows: int) -> tuple[Array, tuple[Column, ...]]:
    """Pyarrow arrays as a float matrix with its columns."""
    blocks: list[Any] = []  # what becomes one column of the matrix, or several
    columns: list[Column] = []
    for name, array in zip(names, arrays, strict=True):
        kind = column_kind(array)
        if kind in ("numeric", "boolean"):
            blocks.append(array)  # made numbers when they are put in place: a copy of all would be too much
            columns.append(Column(name, "numeric" if kind == "numeric" else "boolean"))
        elif kind == "categorical":
            codes, texts = _codes(array)
            blocks.append(codes)
            columns.append(Column(name, "text" if is_text(texts, len(codes)) else "categorical", texts))
        elif kind == "embedding":
            blocks.append(_embedding(array, name))
            columns.extend(Column(f"{name}[{j}]", "numeric") for j in range(blocks[-1].shape[1]))
        else:
            kinds = "features are numbers, booleans, text or lists of numbers"
            raise DataworthError(f"column {name!r} is {kind}, but {kinds}: convert it, or leave it out")
    matrix = np.empty((rows, len(columns)))
    end = 0
    for block in blocks:
        values = block if isinstance(block, np.ndarray) else numbers_of(block)
        start, end = end, end + (values.shape[1] if values.ndim == 2 else 1)
        matrix[:, start:end] = values.reshape(len(matrix), end - start)
    return matrix, tuple(columns)


def numbers_of(array: Any) -> Array:
    """A numeric or boolean pyarrow array as floats, missing as NaN."""
    import pyarrow as pa

    if pa.types.is_boolean(array.type):
        array = array.cast(pa.uint8())
    elif pa.types.is_decimal(array.type) or pa.types.is_null(array.type):
        array = array.cast(pa.float64())
    return np.asarray(to_numpy(array), dtype=np.float64)


def _codes(array: Any) -> tuple[Array, tuple[str, ...]]:
    """A text pyarrow array as codes into the sorted texts that occur; missing as NaN."""
    import pyarrow as pa

    if not pa.types.is_dictionary(array.type):
        array = array.dictionary_encode()
    entries = [*array.dictionary.to_pylist(), None]
    texts = [v if v is None or isinstance(v, str) else text_key(v) for v in entries]
    index = np.nan_to_num(numbers_of(array.indices), nan=len(texts) - 1).astype(np.intp)
    categories = sorted({texts[i] for i in np.unique(index)} - {None})
    place = {text: float(code) for code, text in enumerate(categories)}
    return np.array([place.get(text, np.nan) for text in texts])[index], tuple(categories)


def _embedding(array: Any, name: str) -> Array:
    """A pyarrow array of equally long lists as a matrix; a missing list is a row of NaN."""
    import pyarrow.compute as pc

    present = to_numpy(array.is_valid())
    lengths = np.unique(to_numpy(pc.list_value_length(array.drop_null())))
    if len(lengths) > 1:
        different = f"lists of different lengths ({lengths[0]} to {lengths[-1]})"
        raise DataworthError(f"column {name!r} holds {different}: give every row one of the same length")
    width = int(lengths[0]) if len(lengths) else int(getattr(array.type, "list_size", 0))
    if width == 0 and len(array):
        raise DataworthError(f"column {name!r} holds only empty lists: fill it, or leave it out")
    matrix = np.full((len(array), width), np.nan)
    # Without the missing lists, whose slots a fixed-size list keeps among its values.
    matrix[present] = numbers_of(array.drop_null().flatten()).reshape(-1, width) if width else 0.0
    return matrix


def renamed(columns: tuple[Column, ...], names: Sequence[str] | None) -> tuple[Column, ...]:
    """The columns under other names; names must be unique."""
    if names is not None:
        if len(names) != len(columns):
            given = f"{counted(len(names), 'name')} for {counted(len(columns), 'column')}"
            raise DataworthError(f"names has {given}: give one per column")
        columns = tuple(replace(column, name=str(name)) for name, column in zip(names, columns, strict=True))
    refuse_twice([column.name for column in columns], "X")
    return columns


def refuse_twice(names: Sequence[str], what: str = "it") -> None:
    """A sentence about names that several columns have."""
    if twice := [name for name, times in Counter(names).items() if times > 1]:
        line = "frame.loc[:, ~frame.columns.duplicated()] keeps the first"
        raise DataworthError(f"{what} has {listed(twice)} more than once: name each, or in pandas, {line}")


def refuse_infinite(X: Array, columns: Sequence[Column]) -> None:
    """A sentence that names the columns with infinite values."""
    counts = np.isinf(X).sum(axis=0)
    for j in np.flatnonzero(counts)[:1].tolist():
        many = counted(int(counts[j]), "infinite value")
        raise DataworthError(f"column {columns[j].name!r} has {many}: replace or leave out what is infinite")


def refuse_missing(X: Array, columns: Sequence[Column]) -> None:
    """A sentence that names the columns with missing values."""
    absent = np.isnan(X)
    if absent.any():
        named = [columns[int(j)].name for j in np.flatnonzero(absent.any(axis=0))]
        which = f"{int(absent.any(axis=1).sum())} of {counted(len(X), 'row')} have missing values, in"
        keep = f"keep them with {option('impute', True)} (allow_missing=True in dw.Dataset)"
        raise DataworthError(f"{which} {listed(named)}: leave them out, fill them in, or {keep}")
