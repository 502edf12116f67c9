"""The Dataset: features, labels and what belongs to each row; immutable, and checked once, when it is made.

narwhals and pyarrow are imported when a frame is given.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from ..arrays import Array
from ..errors import DataworthError
from ..wording import counted, listed, option
from .convert import CODED, Column, Kind, from_any, refuse_infinite, refuse_missing, renamed
from .vectors import LabelSummary as LabelSummary
from .vectors import as_labels, as_outputs, as_texts, as_weights, joined_vectors, names_of_rows, text_keys
from .vectors import label_keys as label_keys
from .vectors import summarise_labels as summarise_labels

SLAB = 8192
"""Rows that are worked on together where a second copy of a large dataset would be too much."""
TEXTS = ("groups", "ids", "attributes")
OPTIONAL = ("groups", "ids", "weights", "attributes")
WIDEST_FIRST: tuple[Kind, ...] = (
    "response", "pair", "text", "categorical", "difference", "numeric", "boolean",
)  # fmt: skip
UNKNOWN = -1.0
"""The code of a category that the columns selected against do not have; a missing value is NaN instead."""


class Dataset:
    """Rows of features with labels; immutable.

    Args:
        X: rows × features: numbers or booleans in two dimensions, or a pandas, polars or pyarrow frame.
            Text columns become codes of their texts, free text among them; columns of equally long lists of
            numbers (embeddings) become one numeric column per entry, `name[0]`, `name[1]`, ….
        y: one label per row: numbers, booleans (stored as 0 and 1) or text; or rows × outputs, a vector of
            two numbers or more per row, which then are `outputs`, and `y` is a name of each.
        groups: which rows belong together (a patient, a document, a prompt); compared as text. Rows of one
            group are never split between blocks, halves or folds.
        ids: what a row is called; compared as text. Repeats are fine: a duplicated row keeps its id.
        weights: how often each row counts; finite, ≥ 0, not all zero.
        attributes: what `match-groups`, `reweight` and the attribute check look at (a scanner, a background);
            compared as text.
        names: column names, in place of x0, x1, … or those of the frame.
        allow_missing: keep missing feature values as NaN instead of refusing them.

    Where responses were made vectors, `facts` are what else is known of each (`data.texts.FACTS`).

    >>> D = Dataset([[0.0, 1.5], [2.0, 0.5], [1.0, 1.0]], ["no", "yes", "yes"])
    >>> D
    Dataset(3 rows × 2 features, labels no: 1, yes: 2)
    >>> D.take([0, 0, 2]).y.tolist()
    ['no', 'no', 'yes']
    >>> Dataset([1, 2, 3], [0, 1, 1])
    Traceback (most recent call last):
        ...
    dataworth.errors.DataworthError: X has shape (3,), but rows × features are expected: reshape it with \
X.reshape(-1, 1) if it is one feature, X.reshape(1, -1) if one row
    """

    __slots__ = (
        "X", "attribute_name", "attributes", "columns", "facts", "groups", "ids", "outputs", "weights", "y",
    )  # fmt: skip

    X: Array
    y: NDArray[Any]
    groups: NDArray[np.str_] | None
    ids: NDArray[np.str_] | None
    weights: Array | None
    attributes: NDArray[np.str_] | None
    attribute_name: str
    outputs: Array | None
    facts: Array | None
    columns: tuple[Column, ...]

    def __init__(
        self,
        X: Any,
        y: Any,
        groups: Any = None,
        ids: Any = None,
        weights: Any = None,
        *,
        attributes: Any = None,
        names: Sequence[str] | None = None,
        allow_missing: bool = False,
    ) -> None:
        matrix, columns = from_any(X)
        columns = renamed(columns, names)
        refuse_infinite(matrix, columns)
        if not allow_missing:
            refuse_missing(matrix, columns)
        n, texts = len(matrix), (groups, ids, attributes)
        outputs = as_outputs(y, n)
        self._set(
            X=matrix,
            columns=columns,
            outputs=outputs,
            facts=None,
            y=as_labels(y, n) if outputs is None else names_of_rows(outputs),
            weights=as_weights(weights, n),
            attribute_name="attribute",
            **{name: as_texts(given, name, n) for name, given in zip(TEXTS, texts, strict=True)},
        )

    def _set(self, **fields: Any) -> None:
        for name, values in fields.items():
            if isinstance(values, np.ndarray):
                values.setflags(write=False)
            object.__setattr__(self, name, values)

    @staticmethod
    def _make(fields: dict[str, Any]) -> Dataset:
        """A Dataset of fields that are known to be good and that nobody else holds: no checks, no copies."""
        self = object.__new__(Dataset)
        self._set(**fields)
        return self

    def _fields(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__slots__}

    def _with(self, **changes: Any) -> Dataset:
        """The same with some fields replaced by others that are known to be good."""
        return Dataset._make({**self._fields(), **changes})

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"a Dataset is immutable: make a new one instead of setting {name!r}")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"a Dataset is immutable: {name!r} cannot be deleted")

    def __reduce__(self) -> tuple[Any, ...]:
        # An explicit rebuild, because an unpickled array is writeable again.
        return Dataset._make, (self._fields(),)

    def __len__(self) -> int:
        return len(self.X)

    def __repr__(self) -> str:
        size = f"{counted(len(self), 'row')} × {counted(self.n_features, 'feature')}"
        extra = [name for name in OPTIONAL if getattr(self, name) is not None]
        told = f"{summarise_labels(self.y)}"
        if self.outputs is not None:
            told = f"vectors of {self.outputs.shape[1]}"
        return f"Dataset({', '.join([size, f'labels {told}', *extra])})"

    @property
    def n_features(self) -> int:
        """The number of columns of `X`."""
        return self.X.shape[1]

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns of `X`."""
        return tuple(column.name for column in self.columns)

    def take(self, rows: Any) -> Dataset:
        """The given rows, in the given order: integers, repeats allowed, or a boolean mask.

        >>> D = Dataset([[1.0], [2.0], [3.0]], [0, 1, 1])
        >>> D.take([2, 0, 2]).X.ravel().tolist(), D.take(D.y == 1).X.ravel().tolist()
        ([3.0, 1.0, 3.0], [2.0, 3.0])
        """
        index = np.asarray(rows)
        index = index if index.size or index.dtype == bool else np.zeros(0, dtype=np.intp)
        if index.ndim != 1 or index.dtype.kind not in "biu":
            wrong = f"rows of type {index.dtype} and shape {index.shape}"
            raise DataworthError(f"take was given {wrong}: give a flat list of row numbers, or a mask")
        n = counted(len(self), "row")
        if index.dtype == bool and len(index) != len(self):
            raise DataworthError(f"take was given a mask of length {len(index)} for {n}: give one per row")
        if index.dtype != bool and index.size and (index.min() < 0 or index.max() >= len(self)):
            row = index.min() if index.min() < 0 else index.max()
            raise DataworthError(f"take was given row {row} of {n}: rows are counted from 0")
        every = self._fields().items()
        return self._with(**{name: a[index] for name, a in every if isinstance(a, np.ndarray)})

    def with_labels(self, y: Any) -> Dataset:
        """The same rows with other labels.

        >>> Dataset([[1.0], [2.0]], [0, 1]).with_labels(["a", "b"])
        Dataset(2 rows × 1 feature, labels a: 1, b: 1)
        """
        return (
            self.with_outputs(y) if np.ndim(y) == 2 else self._with(y=as_labels(y, len(self)), outputs=None)
        )

    def with_outputs(self, outputs: Any, y: Any = None) -> Dataset:
        """The same rows with vectors as labels, and `y` as their names: of equal vectors one, if not given.

        >>> Dataset([[1.0], [2.0]], [0, 1]).with_outputs([[0.0, 1.0], [2.0, 3.0]]).outputs.shape
        (2, 2)
        """
        found = as_outputs(np.asarray(outputs, dtype=float), len(self))
        if found is None:
            shape = np.shape(outputs)
            raise DataworthError(f"outputs have shape {shape}, but rows × two numbers or more are expected")
        return self._with(outputs=found, y=names_of_rows(found) if y is None else as_labels(y, len(self)))

    def with_features(self, X: Any) -> Dataset:
        """The same rows and columns with other values (codes, for categories).

        >>> Dataset([[1.0], [2.0]], [0, 1]).with_features([[3.0], [4.0]]).X.ravel().tolist()
        [3.0, 4.0]
        """
        return self._with(X=np.array(X, dtype=float).reshape(self.X.shape))

    def with_categories(self, name: str, texts: NDArray[np.str_]) -> Dataset:
        """The same rows with one more column, of categories.

        >>> Dataset([[1.0], [2.0]], [0, 1]).with_categories("site", np.array(["b", "a"])).X.tolist()
        [[1.0, 1.0], [2.0, 0.0]]
        """
        values, codes = np.unique(texts, return_inverse=True)
        column = Column(name, "categorical", tuple(values.tolist()))
        return self._with(X=np.column_stack([self.X, codes]), columns=(*self.columns, column))

    def with_weights(self, weights: Any) -> Dataset:
        """The same rows with other weights, or with none.

        >>> Dataset([[1.0], [2.0]], [0, 1]).with_weights([2, 1]).weights.tolist()
        [2.0, 1.0]
        """
        return self._with(weights=as_weights(weights, len(self)))

    @staticmethod
    def concat(parts: Iterable[Dataset]) -> Dataset:
        """All rows of the parts, in order; columns are matched by name and must agree.

        Groups, ids and attributes are kept only if every part has them; a part without weights has weights
        of 1.

        >>> D = Dataset([[1.0], [2.0]], [0, 1])
        >>> Dataset.concat([D, D.take([1])]).y.tolist()
        [0, 1, 1]
        """
        parts = list(parts)
        if not parts:
            raise DataworthError("concat was given no datasets: give at least one")
        first = set(parts[0].names)
        kinds: dict[str, list[Column]] = {}
        for column in (column for part in parts for column in part.columns):
            kinds.setdefault(column.name, []).append(column)
        columns = []
        for name in parts[0].names:  # the column that can hold all; `select` refuses what does not fit it
            kind = min((column.kind for column in kinds[name]), key=WIDEST_FIRST.index)
            texts = sorted({text for column in kinds[name] for text in column.categories})
            columns.append(Column(name, kind, tuple(texts)))
        # unnamed columns are left to `select`, which says the two numbers of features
        named = [part for part in parts[1:] if not (_unnamed(columns) and _unnamed(part.columns))]
        if extra := [name for part in named for name in part.names if name not in first]:
            wrong = f"the datasets have different columns: {listed(extra)} of one is not in the first"
            raise DataworthError(f"{wrong}: give all the same columns")
        parts = [part.select(columns) for part in parts]
        joined = {}
        for name in TEXTS:
            each = [getattr(part, name) for part in parts]
            joined[name] = None if any(own is None for own in each) else np.concatenate(each)
        if any(p.weights is not None for p in parts):
            each = [np.ones(len(p)) if p.weights is None else p.weights for p in parts]
            joined["weights"] = np.concatenate(each)
        for name in ("outputs", "facts"):
            joined[name] = joined_vectors([getattr(part, name) for part in parts if len(part)], name)
        labels = [part.y for part in parts if len(part)] or [parts[0].y]  # no rows, no say in the type
        if len({y.dtype.kind == "U" for y in labels}) > 1:
            labels = [y if y.dtype.kind == "U" else text_keys(y) for y in labels]
        X = np.concatenate([part.X for part in parts])
        return parts[0]._with(X=X, columns=tuple(columns), y=np.concatenate(labels), **joined)

    def select(self, columns: Sequence[Column]) -> Dataset:
        """The same rows with the given columns (those of another dataset), by name; further ones are dropped.

        Categories are coded as in the given columns, an unknown one as −1; a missing value stays NaN.

        >>> train = Dataset([[1.0, 2.0]], [0], names=["a", "b"])
        >>> Dataset([[5.0, 6.0, 7.0]], [1], names=["b", "c", "a"]).select(train.columns).X.tolist()
        [[7.0, 5.0]]
        """
        columns = tuple(columns)
        if columns == self.columns:
            return self
        if _unnamed(columns) and _unnamed(self.columns) and len(columns) != self.n_features:
            differ = f"the rows have {counted(self.n_features, 'feature')}, but {len(columns)} are expected"
            raise DataworthError(f"{differ}: give both datasets the same features, or name their columns")
        place = {name: j for j, name in enumerate(self.names)}
        missing = [c.name for c in columns if c.name not in place]
        if missing:
            lacking = f"the rows lack {listed(missing)}, which the other dataset has"
            raise DataworthError(f"{lacking}: add the missing columns, or leave them out of both")
        X = np.empty((len(self), len(columns)))
        kept = []
        for j, wanted in enumerate(columns):
            own = self.columns[place[wanted.name]]
            values = self.X[:, place[wanted.name]]
            if own.kind in CODED and wanted.kind in CODED:
                # Texts are read, not looked up: those that the other dataset lacks stay what they are.
                free = wanted.kind != "categorical" and not set(own.categories) <= set(wanted.categories)
                X[:, j] = values if free else _recode(values, own, wanted)
                kept.append(Column(own.name, wanted.kind, own.categories if free else wanted.categories))
            elif own.kind not in CODED and wanted.kind not in CODED:
                X[:, j] = values
                # A 0/1 column may be boolean here and numeric there; it is named for what it holds here.
                kept.append(Column(own.name, own.kind))
            elif np.isnan(values).all():
                # An empty column has no kind of its own: a reader cannot tell, and takes it for numeric.
                X[:, j] = np.nan
                kept.append(wanted)
            else:
                differ = f"column {own.name!r} is {own.kind}, but {wanted.kind} in the other dataset"
                text = f"read both as text with {option('categories', own.name)}"
                raise DataworthError(f"{differ}: convert one of them, leave both out, or {text}")
        return self._with(X=X, columns=tuple(kept))

    def pick(self, places: Sequence[int]) -> Dataset:
        """The same rows with the columns in these places, in the given order."""
        if list(places) == list(range(self.n_features)):
            return self
        X = np.ascontiguousarray(self.X[:, list(places)])
        return self._with(X=X, columns=tuple(self.columns[j] for j in places))

    def row_keys(self) -> NDArray[np.bytes_]:
        """A 128-bit hash of each row's features, as 32 hexadecimal bytes; the same in every process.

        −0.0 equals 0.0, missing equals missing, and a category counts by its text, not its code.

        >>> keys = Dataset([[0.0, 1.0], [-0.0, 1.0], [1.0, 0.0]], [0, 0, 1]).row_keys()
        >>> bool(keys[0] == keys[1]), bool(keys[0] == keys[2])
        (True, False)
        """
        slabs = self._canonical_bits()
        digests = [hashlib.blake2b(row, digest_size=16).hexdigest() for rows in slabs for row in rows]
        return np.array(digests, dtype="S32")

    def _canonical_bits(self) -> Iterator[NDArray[np.uint64]]:
        """X as little-endian words, a slab of rows at a time: equal words for equal content."""
        words = {
            j: np.frombuffer(b"".join(digest8(c) for c in column.categories), "<u8")
            for j, column in enumerate(self.columns)
            if column.kind in CODED
        }
        for i in range(0, len(self), SLAB):
            own = self.X[i : i + SLAB]
            X = own + 0.0  # −0.0 + 0.0 is 0.0
            X[np.isnan(X)] = np.nan  # one of the many bit patterns of NaN
            bits = X.astype("<f8", copy=False).view("<u8")
            for j, codes in words.items():
                known = own[:, j] >= 0  # neither missing nor unknown
                bits[known, j] = codes[own[known, j].astype(np.intp)]
            yield bits

    def content_hash(self) -> str:
        """SHA-256 of all content: names, kinds, values, labels and what else belongs to the rows.

        Values count, not how they are stored: labels 1, 1.0 and True agree, and so do codes of categories.

        >>> Dataset([[1.0]], [1]).content_hash() == Dataset([[1]], [True]).content_hash()
        True
        """
        digest = hashlib.sha256()
        # Lengths and names come first, so that no two contents run together into the same bytes.
        header = {"rows": len(self), "columns": [[c.name, c.kind] for c in self.columns]}
        digest.update(json.dumps(header).encode())
        for rows in self._canonical_bits():
            digest.update(rows.tobytes())
        texts = [label_keys(self.y), self.groups, self.ids]
        digest.update(json.dumps([None if t is None else t.tolist() for t in texts]).encode())
        digest.update(b"none" if self.weights is None else (self.weights + 0.0).astype("<f8").tobytes())
        if self.outputs is not None:
            digest.update((self.outputs + 0.0).astype("<f8").tobytes())
        if self.attributes is not None:
            digest.update(json.dumps({"attributes": self.attributes.tolist()}).encode())
        return digest.hexdigest()


def digest8(text: str) -> bytes:
    """Eight bytes made from a text; the same in every process."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()


def _recode(codes: Array, own: Column, wanted: Column) -> Array:
    place = {category: float(code) for code, category in enumerate(wanted.categories)}
    lookup = np.array([place.get(category, UNKNOWN) for category in own.categories])
    known = codes >= 0
    result = codes.copy()  # missing stays NaN, unknown stays unknown
    result[known] = lookup[codes[known].astype(np.intp)]
    return result


def _unnamed(columns: Sequence[Column]) -> bool:
    return all(column.name == f"x{j}" for j, column in enumerate(columns))
