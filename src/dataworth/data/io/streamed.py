"""Data that are read in passes, some rows at a time, and are never in memory together.

What the columns are is decided once, by the test set and a sample of the rows, as it is for data that are
read whole (`together`); every pass then reads rows by these decisions. What contradicts them (a word where
the sample had numbers) is a sentence.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from dataworth.arrays import Array
from dataworth.data.convert import Column, column_kind, numbers_of, refuse_infinite, refuse_missing
from dataworth.data.dataset import Dataset
from dataworth.data.io import dates_in_text as dates
from dataworth.data.io.assembled import missing_rows, only_features, with_labels
from dataworth.data.io.columns import Is, settle
from dataworth.data.io.columns import Wishes as Typing
from dataworth.data.io.formats import Part
from dataworth.data.io.markers import without_markers
from dataworth.data.io.notes import Note
from dataworth.data.io.parsing import Delimited
from dataworth.data.io.pieces import Piece, opened, rows_of
from dataworth.data.io.roles import Role
from dataworth.data.io.sources import tidy
from dataworth.data.io.spelling import spellings
from dataworth.data.io.urls import is_url
from dataworth.errors import DataworthError
from dataworth.wording import counted, option

SAMPLE = 20_000
"""Rows that tell what columns hold, that a fit begins with, and that checks look at."""
NAMES = ("group", "attribute", "id")
"""Roles that are compared as text."""


def passes_note() -> Note:
    """That all rows are read, but not at once."""
    return Note("all rows are read, in several passes", f"{option('sample')} reads some of them instead")


@dataclass(frozen=True)
class Reader:
    """What every pass reads of a piece, and as what.

    types: the type of each column that is read, as the sample has it in the end; plain: the columns, if all
    features are numbers as they stand in the file. spelled: labels in the spelling that counts.
    """

    roles: tuple[Role, ...]
    types: Mapping[str, Any]
    how: Delimited
    typing: Typing
    hours: frozenset[str]
    impute: bool
    spelled: tuple[str, ...]
    plain: tuple[Column, ...] | None

    def slabs(self, piece: Piece) -> Iterator[tuple[str, Dataset]]:
        """The rows of a piece, some at a time, in their order; with what sentences call them."""
        before = piece.before
        for table in rows_of(piece, self._parsed(), self.how):
            after = before + table.num_rows
            where = f"{piece.path}, rows {before + 1} to {after}"
            try:
                made = self._made(table, before)
            except DataworthError as error:
                raise DataworthError(f"{where}: {error}") from error
            yield where, made
            before = after

    def as_text(self, column: str) -> Reader:
        """The same with a column of a text file read as it is written, and then made numbers."""
        return replace(self, how=replace(self.how, as_text=(*self.how.as_text, column)))

    def _parsed(self) -> dict[str, Any]:
        """The types that columns of a text are parsed as: numbers as such, all that is not plain as text."""
        import pyarrow as pa

        named = {role.column for role in self.roles if role.role in NAMES}
        found = {}
        for name, kind in self.types.items():
            if name in named or name in self.how.as_text or column_kind(pa.nulls(0, kind)) == "categorical":
                found[name] = pa.string()
            elif pa.types.is_boolean(kind) or pa.types.is_temporal(kind):
                found[name] = kind
            else:
                found[name] = pa.float64()
        return found

    def _made(self, table: Any, before: int) -> Dataset:
        """A Dataset of some rows; `before`: how many stand before them in the file."""
        table = self._typed(without_markers(Part(None, tidy(table)), self.how.missing).table, before)
        for role in self.roles:
            if role.role != "feature" and (count := int(missing_rows(table[role.column]).sum())):
                raise DataworthError(
                    f"the {role.role} column {role.column!r} has {counted(count, 'missing value')}: fill them"
                    " in, or leave the rows out"
                )
        if self.plain is None:
            table.validate(full=True)
            made = only_features(table, self.roles, self.impute, self.hours)
        else:
            made = self._numbers(table, self.plain)
        made = with_labels(made, table, self.roles, some=True)
        if not self.spelled or made.y.dtype.kind != "U":
            return made
        said = spellings([np.array(self.spelled), made.y])
        return made.with_labels([said.get(text, text) for text in made.y.tolist()]) if said else made

    def _typed(self, table: Any, before: int) -> Any:
        """The table with its columns as the sample has them: numbers and dates that are written as text."""
        kinds: dict[str, Is] = {}
        for role in self.roles:
            was, now = table[role.column].type, self.types[role.column]
            if role.role in NAMES or was == now:
                continue
            own, wanted = column_kind(table[role.column]), column_kind(_empty(now))
            if own == wanted or (own, wanted) in (("boolean", "numeric"), ("numeric", "boolean")):
                continue
            kinds[role.column] = {"categorical": "text", "date or time": "date"}.get(wanted, "number")  # type: ignore[assignment]
        if not kinds:
            return table
        part = Part(None, table, typed=False, how=self.how, before=before)
        (problems,) = settle([part], [list(kinds)], replace(self.typing, kinds=kinds))
        if problems:
            raise DataworthError(next(iter(problems.values())))
        return part.table

    def _numbers(self, table: Any, columns: tuple[Column, ...]) -> Dataset:
        """Columns of numbers as a matrix, column by column: what passes over a large file take."""
        X: Array = np.empty((table.num_rows, len(columns)), order="F")
        for j, column in enumerate(columns):
            X[:, j] = numbers_of(table[column.name].combine_chunks())
        if not np.isfinite(X.sum()):
            refuse_infinite(X, columns)
            if not self.impute:
                refuse_missing(X, columns)
        empty = Dataset(np.zeros((0, len(columns))), [])
        return empty._with(X=X, columns=columns)


def _empty(kind: Any) -> Any:
    import pyarrow as pa

    return pa.nulls(0, kind)


@dataclass(frozen=True, eq=False)
class Stream:
    """A dataset that is read in passes; `sample` are some of its rows, drawn at random."""

    name: str
    pieces: tuple[Piece, ...]
    reader: Reader
    sample: Dataset
    rows: int

    def __len__(self) -> int:
        return self.rows

    @property
    def cells(self) -> int:
        """Numbers that a pass reads."""
        return self.rows * self.sample.n_features

    def content_hash(self) -> str:
        """SHA-256 of the files, and of what is read of them."""
        return self._hash

    @cached_property
    def _hash(self) -> str:
        said = [(role.column, role.role) for role in self.reader.roles]
        digest = hashlib.sha256(repr(said).encode())
        for path in dict.fromkeys(piece.path for piece in self.pieces):
            if is_url(path):  # not fetched once more: what its row groups say of themselves
                with opened(path) as file:
                    digest.update(repr(file.metadata.to_dict()).encode())
                continue
            with Path(path).open("rb") as stream:
                digest.update(hashlib.file_digest(stream, "sha256").digest())
        return digest.hexdigest()


def stream_of(
    name: str,
    pieces: Sequence[Piece],
    part: Part,
    raw: Any,
    roles: Sequence[Role],
    hours: set[str],
    sample: Dataset,
    columns: Sequence[Column],
    typing: Typing,
    impute: bool,
    labels: Sequence[Any],
) -> Stream:
    """What was decided of a sample, for all rows.

    raw: the sample's table before columns were typed. columns: those of the test set, or of a yardstick:
    others are not read. labels: of the test set, then of the sample; none if all spellings are to stay.
    """
    known = {column.name for column in columns} | {column.name.partition("[")[0] for column in columns}
    kept = [
        role
        for role in roles
        if role.role in ("label", "weight", *NAMES) or (role.role == "feature" and role.column in known)
    ]
    if any(role.kind == "pair" for role in kept):
        raise DataworthError(
            f"pairs of responses cannot be read in passes: read some rows, with {option('sample', 10000)}"
        )
    if part.how.sep == " ":
        raise DataworthError(
            f"columns that are lined up by spaces cannot be read in passes: say {option('sample', 100000)}"
        )
    if len(set(raw.column_names)) < len(raw.column_names) or raw.column_names != part.table.column_names:
        raise DataworthError("columns of one name cannot be read in passes: give each its own name")
    types = {role.column: part.table.schema.field(role.column).type for role in kept}
    for role in kept:
        if role.kind == "date or time" and column_kind(raw[role.column]) == "categorical":
            typing = replace(typing, dates=_order(raw[role.column], role.column, typing.dates))
    reader = Reader(
        roles=tuple(kept),
        types=types,
        how=replace(part.how, notes=(), sample=None, total=None, decimal=typing.decimal or part.how.decimal),
        typing=replace(typing, decimal=None),  # which some rows alone neither show nor contradict
        hours=frozenset(hours),
        impute=impute,
        spelled=tuple(text for y in labels if y.dtype.kind == "U" for text in _by_number(y)),
        plain=_plain(kept, sample, columns),
    )
    total = part.table.num_rows if part.how.total is None else part.how.total
    return Stream(name, tuple(pieces), reader, sample, total)


def _plain(roles: Sequence[Role], sample: Dataset, columns: Sequence[Column]) -> tuple[Column, ...] | None:
    """The columns in the order of the test set's, if all features are numbers."""
    simple = all(role.kind in ("numeric", "boolean") for role in roles if role.role == "feature")
    own = {column.name: column for column in sample.columns if column.kind in ("numeric", "boolean")}
    if not simple or not all(column.name in own for column in columns):
        return None
    return tuple(own[column.name] for column in columns)


def _by_number(y: Any) -> list[str]:
    texts, times = np.unique(y, return_counts=True)
    return [str(text) for text in texts[np.argsort(-times, kind="stable")]]


def _order(column: Any, name: str, asked: str | None) -> str | None:
    """The order of day and month in which dates of a text are written, if some leave it open."""
    texts = (str(text).strip() for text in column.drop_null().unique().to_pylist())
    cells = {text: day for text in texts if (day := dates.parse(text)) is not None}
    proven = dates.orders(cells)
    if len(proven) == 1:
        return proven.pop()
    if asked is None and any(cell.order == "?" for cell in cells.values()):
        say = f"say {option('dates', 'dmy')} or {option('dates', 'mdy')}"
        raise DataworthError(f"column {name!r} leaves open which is the day: {say}")
    return asked
