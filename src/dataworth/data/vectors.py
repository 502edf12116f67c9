"""One value per row as users give it, turned into an array: labels, groups, ids, weights, attributes.

narwhals and pyarrow are imported when a series is given, not before.
"""

from __future__ import annotations

import hashlib
import numbers
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arrays import Array
from ..errors import DataworthError
from ..limits import LIMITS, refuse_too_large
from ..wording import and_more, counted

MOST_WEIGHT = 2.0**53
"""How often a row can count: beyond it, one more row would not be noticed."""


def binary_size(X: Array) -> Array:
    """For each column the power of two just above its largest size, 1 where all is 0.

    What is divided by it loses no digit, and has squares that neither vanish nor overflow.
    """
    largest = np.abs(X).max(axis=0, initial=0.0)
    return np.asarray(np.ldexp(1.0, np.where(largest > 0, np.frexp(largest)[1], 0)))


def to_arrow(series: Any, name: str) -> Any:
    """A narwhals series as one pyarrow array: a single set of types for pandas, polars and pyarrow."""
    import pyarrow as pa

    try:
        array = series.to_arrow()
    except (pa.ArrowException, TypeError, ValueError) as error:
        raise DataworthError(
            f"column {name!r} mixes values of different types: frame[{name!r}].astype(str) makes it text"
        ) from error
    return one_array(array)


def _as_arrow(values: Any, what: str) -> Any:
    """A series of pandas or polars, or a pyarrow array, as one pyarrow array; None if it is none of these."""
    import pyarrow as pa

    if isinstance(values, pa.Array | pa.ChunkedArray):
        return one_array(values)
    import narwhals as nw

    series = nw.from_native(values, series_only=True, pass_through=True)
    return to_arrow(series, what) if isinstance(series, nw.Series) else None


def one_array(array: Any) -> Any:
    """A pyarrow column as one array; tensors of a fixed shape, and the like, as what they are stored as."""
    import pyarrow as pa

    if isinstance(array, pa.ChunkedArray):
        array = array.chunk(0) if array.num_chunks == 1 else array.unify_dictionaries().combine_chunks()
    if isinstance(array, pa.ExtensionArray) and str(array.type.extension_name).startswith("arrow."):
        array = array.storage
    return array


def to_numpy(column: Any) -> NDArray[Any]:
    """A pyarrow array or column as numpy's, a missing number as NaN.

    Numbers and truth values not by pyarrow's own way, which imports pandas to ask it for its types.
    """
    import pyarrow as pa

    array = one_array(column)
    if pa.types.is_boolean(array.type) and not array.null_count:
        return np.from_dlpack(array.cast(pa.uint8())).view(bool)
    if not (pa.types.is_integer(array.type) or pa.types.is_floating(array.type)):
        return np.asarray(array.to_numpy(zero_copy_only=False))
    if not array.null_count:
        return np.from_dlpack(array)
    held = pa.Array.from_buffers(array.type, len(array), [None, array.buffers()[1]], offset=array.offset)
    return np.where(to_numpy(array.is_valid()), np.from_dlpack(held), np.nan)


def as_vector(values: Any, what: str, *, anything: bool = False) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """One-dimensional values as a numeric, boolean or text array, and where they are missing."""
    if isinstance(values, np.ndarray):
        raw = values
    elif isinstance(values, list | tuple | range):
        # As objects first: numpy would write a missing value among texts as "nan" or "None".
        raw = _objects(list(values))
    else:  # a pandas or polars series or a pyarrow array; anything else by its own conversion
        import pyarrow as pa

        array = _as_arrow(values, what)
        if array is None:
            raw = np.asarray(values)
        else:
            _refuse_long(array, what)
            plain = pa.types.is_integer(array.type) or pa.types.is_floating(array.type)
            whole = plain and array.null_count == 0
            raw = to_numpy(array) if whole else _objects(array.to_pylist())
    if raw.ndim != 1:
        raise DataworthError(f"{what} has shape {raw.shape}, but one value per row is needed: flatten it")
    if raw.dtype.kind == "T":  # numpy's own texts of variable length
        raw = raw.astype(object)
    if raw.dtype.kind == "O":
        return _from_objects(raw, what, anything)
    if raw.dtype.kind in "mM" and anything:
        return raw.astype(str), np.isnat(raw)
    if raw.dtype.kind not in "biufU":
        raise DataworthError(f"{what} is of type {raw.dtype}, but numbers or text are needed: convert it")
    return raw, np.isnan(raw) if raw.dtype.kind == "f" else np.zeros(len(raw), dtype=bool)


def _refuse_long(array: Any, what: str) -> None:
    """A sentence, if a text is too long for a name: numpy gives every row the room of the longest."""
    import pyarrow as pa
    import pyarrow.compute as pc

    texts = array.dictionary if pa.types.is_dictionary(array.type) else array
    if "string" in str(texts.type):  # views have no length of their own
        texts = texts.cast(pa.large_string())
        longest = pc.max(pc.binary_length(texts)).as_py() or 0
        if longest > LIMITS.name:
            least = f"a text of {longest:,} bytes where {LIMITS.name:,} are too many for a name"
            raise DataworthError(f"{what} holds {least}: shorten it, or leave the row out")
        refuse_too_large(
            4.0 * longest * len(array), f"an array of {what}", "shorten the longest of its texts"
        )


def _objects(values: list[Any]) -> NDArray[Any]:
    try:
        return np.asarray(values, dtype=object)
    except ValueError:  # lists that almost fit together; each is one wrong value
        return np.fromiter(values, dtype=object, count=len(values))


def _from_objects(raw: NDArray[Any], what: str, anything: bool) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    missing = np.array([_is_missing(value) for value in raw], dtype=bool)
    present = list(raw[~missing])
    reals = [isinstance(value, numbers.Real | Decimal | np.bool_) for value in present]
    values: NDArray[Any]
    if present and all(isinstance(value, bool | np.bool_) for value in present):
        values = np.array(present, dtype=bool)
    elif all(reals):
        whole = all(isinstance(value, numbers.Integral | np.bool_) for value in present)
        try:
            values = np.array(present, dtype=np.int64 if whole and present else np.float64)
        except OverflowError:  # an integer beyond 64 bits, which only text keeps exactly
            values = np.array([str(value) for value in present])
    else:
        texts = []
        for value, real in zip(present, reals, strict=True):
            odd = not real and not isinstance(value, str)
            if odd and (not anything or isinstance(value, bytes | list | dict | np.ndarray)):
                odd_one = f"{what} holds a value of type {type(value).__name__}"
                raise DataworthError(f"{odd_one}, but numbers or text are expected: convert it")
            texts.append(text_key(value) if real else str(value))
        values = np.array(texts)
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
    if values.dtype.kind == "U":
        return np.char.strip(values)
    if values.dtype.kind in "biu":
        return (values + 0).astype(np.str_)
    distinct, inverse = np.unique(values.astype(np.float64), return_inverse=True)
    texts = [str(int(v)) if v.is_integer() else repr(v) for v in distinct.tolist()]
    return np.array(texts, dtype=np.str_)[inverse]


def text_key(value: Any) -> str:
    """One value as text."""
    return str(text_keys(np.array([value]))[0])


def as_labels(y: Any, n: int) -> NDArray[Any]:
    """Labels of n rows, one value each."""
    values = entries(y, "y", "labels", n)
    if values.dtype.kind == "f":
        if np.isinf(values).any():
            many = counted(int(np.isinf(values).sum()), "infinite label")
            raise DataworthError(f"y has {many}: give finite labels, or leave the rows out")
        return np.array(values, dtype=np.float64)
    whole = values.dtype.kind in "bi" or (values.dtype.kind == "u" and (values < 2**63).all())
    return np.array(values, dtype=np.int64 if whole else None)


def as_outputs(y: Any, n: int) -> Array | None:
    """Vectors as labels: an array of n rows of two numbers or more; None if y is no such array."""
    if not isinstance(y, np.ndarray | list) or np.ndim(y) != 2:
        return None
    found = np.asarray(y)
    if found.shape[1] < 2 or found.dtype.kind not in "biuf":
        return None
    if len(found) != n:
        rows = f"{len(found)} labels for {counted(n, 'row')} of X"
        raise DataworthError(f"y has {rows}: give one per row")
    if not np.isfinite(found).all():
        raise DataworthError("y has vectors with values that are missing or infinite: leave those rows out")
    return np.array(found, dtype=float)


def names_of_rows(outputs: Array) -> NDArray[np.str_]:
    """A name of each row, the same for equal rows."""
    rows = np.ascontiguousarray(outputs + 0.0)  # −0.0 + 0.0 is 0.0
    return np.array([hashlib.blake2b(row, digest_size=8).hexdigest() for row in rows], dtype="U16")


def joined_vectors(given: Sequence[Array | None], what: str) -> Array | None:
    """Vectors of rows of several datasets; none if none has any, and of `facts` if not all have."""
    found = [one for one in given if one is not None]
    if not found or (what == "facts" and len(found) < len(given)):
        return None
    if len(found) < len(given) or len({one.shape[1] for one in found}) > 1:
        raise DataworthError("the labels are vectors of different lengths, or not all: give one kind")
    return np.concatenate(found)


def as_texts(values: Any, what: str, n: int) -> NDArray[np.str_] | None:
    """One text per row, if there are any."""
    return None if values is None else text_keys(entries(values, what, what, n, anything=True))


def as_weights(weights: Any, n: int, *, some: bool = False) -> Array | None:
    """One finite weight ≥ 0 per row, not all zero, if there are any; `some`: there are further rows."""
    if weights is None:
        return None
    values = entries(weights, "weights", "weights", n)
    if values.dtype.kind == "U":
        raise DataworthError("weights are text, but numbers are expected: convert them")
    result = np.array(values, dtype=np.float64)
    wrong = result[~np.isfinite(result) | (result < 0)]
    if len(wrong):
        raise DataworthError(f"weights hold {wrong[0]:g}, but finite numbers ≥ 0 are needed: correct them")
    if n and result.max() > MOST_WEIGHT:
        most = f"no row counts more than {MOST_WEIGHT:.0e} times"
        raise DataworthError(f"weights hold {result.max():g}, but {most}: divide them")
    if n and not result.any() and not some:
        raise DataworthError("weights are all zero, so that no row counts: give some row a positive weight")
    return result


def entries(given: Any, what: str, noun: str, n: int | None, *, anything: bool = False) -> NDArray[Any]:
    """Values, none of them missing; n of them, if that is said."""
    values, missing = as_vector(given, what, anything=anything)
    if n is not None and len(values) != n:
        rows = f"{len(values)} {noun} for {counted(n, 'row')} of X"
        raise DataworthError(f"{what} has {rows}: give one per row")
    if missing.any():
        some = f"{int(missing.sum())} missing {noun} of {len(missing)}"
        raise DataworthError(f"{what} has {some}: fill them in, or leave the rows out")
    return values


@dataclass(frozen=True)
class LabelSummary:
    """The classes and their counts, or (for many numbers) the range."""

    classes: dict[str, int] | None
    low: float | None = None
    high: float | None = None

    def __str__(self) -> str:
        if self.classes is None:
            return f"from {self.low:g} to {self.high:g}"
        shown = [f"{name}: {count}" for name, count in list(self.classes.items())[:5]]
        return ", ".join(shown) + and_more(len(self.classes) - 5) if shown else "none"

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return {"classes": self.classes} if self.classes is not None else {"low": self.low, "high": self.high}


def summarise_labels(y: NDArray[Any]) -> LabelSummary:
    """Text and at most 20 distinct whole numbers are classes; other numbers have a range."""
    values, counts = np.unique(y, return_counts=True)
    if y.dtype.kind in "iuf" and (len(values) > 20 or (values != np.round(values)).any()):
        return LabelSummary(None, float(values[0]), float(values[-1]))
    return LabelSummary(dict(zip(label_keys(values).tolist(), counts.tolist(), strict=True)))


def label_keys(y: Any) -> NDArray[np.str_]:
    """Labels as text, so that 1, 1.0 and True are the same label."""
    return text_keys(entries(y, "y", "labels", None))
