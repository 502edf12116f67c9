"""Data that are read in passes, some rows at a time, and are never in memory together.

A file larger than memory is pieces: row groups of Parquet, files of text. The files alone decide where they
begin and end, so that sums over them do not depend on who makes them. What the columns are is decided once,
by the test set and a sample of the rows; what contradicts it is a sentence.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa

from dataworth.data.convert import Column
from dataworth.data.dataset import Dataset
from dataworth.data.io.delimited import Delimited, text_batches
from dataworth.data.io.files import (
    DELIMITED,
    Part,
    files_of,
    is_url,
    opened,
    parquet_batches,
    reading,
    rows_together,
    suffix_of,
)
from dataworth.data.io.notes import naming
from dataworth.data.io.schema import Schema
from dataworth.errors import DataworthError
from dataworth.wording import option

SAMPLE = 20_000
"""Rows that tell what columns hold, that a fit begins with, and that checks look at."""


class Piece(NamedTuple):
    """A row group of a Parquet file, or a text file; `before`: rows of the file that stand before it."""

    path: str
    group: int | None = None
    before: int = 0


def pieces_of(source: Any) -> list[Piece]:
    """The pieces of a file, a directory, a pattern or an address; a sentence if they cannot be streamed."""
    found = files_of(str(source)) if isinstance(source, str | PathLike) else []
    # absolute, for workers may stand elsewhere
    files = [file if is_url(file) else str(Path(file).absolute()) for file in found]
    suffixes = {suffix_of(Path(file)) for file in files}
    if suffixes and suffixes <= DELIMITED.keys():
        return [Piece(file) for file in files]
    if suffixes != {".parquet"}:
        some = f"read some rows, with {option('sample', 100000)}"
        raise DataworthError(f"it cannot be read in passes (Parquet and text can): {some}")
    pieces = []
    for file in files:
        with reading(".parquet"), opened(file) as parquet:
            about = parquet.metadata
        sizes = [about.row_group(group).num_rows for group in range(about.num_row_groups)]
        pieces += [Piece(file, group, sum(sizes[:group])) for group in range(len(sizes))]
    return pieces


@dataclass(frozen=True)
class Reader:
    """What every pass reads of a piece: the columns of a schema, from files that are written in one way."""

    schema: Schema
    how: Delimited

    def slabs(self, piece: Piece) -> Iterator[tuple[str, Dataset]]:
        """The rows of a piece, some at a time, in their order; with what sentences call them."""
        before = piece.before
        for table in self._tables(piece):
            after = before + table.num_rows
            where = f"{piece.path}, rows {before + 1} to {after}"
            with naming(where):
                made = self.schema.transform(table, before)
            yield where, made
            before = after

    def _tables(self, piece: Piece) -> Iterator[Any]:
        wanted = [role.column for role in self.schema.roles]
        step = rows_together(len(wanted))
        with naming(piece.path), reading(suffix_of(Path(piece.path))):
            if piece.group is None:
                batches = text_batches(piece.path, self.how, wanted)
            else:
                batches = parquet_batches(piece.path, step, [piece.group], wanted)
            for batch in batches:
                table = pa.Table.from_batches([batch])
                for start in range(0, table.num_rows, step):
                    yield table.slice(start, step)


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
        said = [(role.column, role.role) for role in self.reader.schema.roles]
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
    name: str, pieces: Sequence[Piece], part: Part, schema: Schema, sample: Dataset, columns: Sequence[Column]
) -> Stream:
    """What was decided of a sample, for all rows; `columns`: those that are read, of the test set."""
    known = {column.name for column in columns} | {column.name.partition("[")[0] for column in columns}
    kept = [r for r in schema.roles if r.used and (r.role != "feature" or r.column in known)]
    if any(role.kind == "pair" for role in kept):
        some = f"read some rows, with {option('sample', 10000)}"
        raise DataworthError(f"pairs of responses cannot be read in passes: {some}")
    reader = Reader(replace(schema, roles=tuple(kept)), part.how)
    return Stream(name, tuple(pieces), reader, sample, part.total or part.table.num_rows)
