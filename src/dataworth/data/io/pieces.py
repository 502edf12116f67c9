"""A file larger than memory as pieces: row groups of Parquet, files of text; each read some rows at a time.

Where pieces begin and end is decided by the files alone, so that sums over them do not depend on who makes
them. What is read of a piece, and as what, is decided before (`streamed`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from glob import glob
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

from dataworth.data.io.delimited import trimmed
from dataworth.data.io.formats import DELIMITED, suffix_of
from dataworth.data.io.parsing import MISSING, Delimited
from dataworth.data.io.shards import files_of_directory
from dataworth.data.io.sources import HUB
from dataworth.data.io.urls import files_of_url, is_url, opened_url
from dataworth.errors import DataworthError
from dataworth.wording import option

CELLS = 1 << 20
"""Cells that are worked on together: 8 MB of numbers."""
MOST_ROWS = 1 << 15
TEXT = 1 << 23
"""Bytes of text that are parsed together."""
BUFFER = 1 << 20
"""Bytes of a column that are fetched together, so that a row group of gigabytes is not."""
COLUMN = re.compile(r"CSV column #(\d+): .*CSV conversion error to [^:]+: invalid value '(.*)'")
STREAMED = "Parquet and text, as .csv, .tsv and .txt, can"


class Piece(NamedTuple):
    """A row group of a Parquet file, or a text file; `before`: rows of the file that stand before it."""

    path: str
    group: int | None = None
    before: int = 0


class NotNumbers(DataworthError):
    """A column of a text that was thought to hold numbers has something else."""

    def __init__(self, column: str, value: str) -> None:
        super().__init__(f"column {column!r} holds {value!r}")
        self.column = column


def pieces_of(source: Any) -> list[Piece]:
    """The pieces of a file, a directory, a pattern or an address; a sentence if they cannot be streamed."""
    name = str(source) if isinstance(source, str | PathLike) else ""
    if is_url(name):
        return [piece for file in files_of_url(name) for piece in _groups(file)]
    path = Path(name)
    if not name or name.startswith(HUB):
        files = []
    elif path.is_dir():
        files = files_of_directory(path)
    else:
        files = [path] if path.exists() else sorted(map(Path, glob(name, recursive=True)))
    files = [file.absolute() for file in files]  # workers may stand elsewhere
    kinds = {".parquet" if suffix_of(file) == ".parquet" else suffix_of(file) in DELIMITED for file in files}
    if kinds == {".parquet"}:
        return [piece for file in files for piece in _groups(str(file))]
    if kinds == {True}:
        return [Piece(str(file)) for file in files]
    raise DataworthError(
        f"it cannot be read in passes ({STREAMED}): read some rows, with {option('sample', 100000)}"
    )


def _groups(file: str) -> list[Piece]:
    with opened(file) as parquet:
        about = parquet.metadata
        sizes = [about.row_group(group).num_rows for group in range(about.num_row_groups)]
    return [Piece(file, group, sum(sizes[:group])) for group in range(len(sizes))]


def opened(file: str) -> Any:
    """A Parquet file, here or elsewhere."""
    import pyarrow as pa
    from pyarrow import parquet

    try:
        source = opened_url(file) if is_url(file) else file
        return parquet.ParquetFile(source, buffer_size=BUFFER)
    except (OSError, pa.ArrowException) as error:
        raise DataworthError(f"{file}: this cannot be read as .parquet: check it") from error


def rows_of(piece: Piece, types: Mapping[str, Any], how: Delimited) -> Iterator[Any]:
    """The rows of a piece as tables of some columns, in their order; `types` are those of columns of a text.

    Raises:
        NotNumbers: a column of a text holds something that is not of its type.
    """
    import pyarrow as pa

    wanted = list(types)
    step = max(8, min(MOST_ROWS, CELLS // max(1, len(wanted))))
    batches = _of_text(piece, types, how) if piece.group is None else _of_group(piece, wanted, step)
    try:
        for batch in batches:
            table = pa.Table.from_batches([batch])
            for start in range(0, table.num_rows, step):
                yield table.slice(start, step)
    except (OSError, pa.ArrowException) as error:
        if found := COLUMN.search(str(error)):
            raise NotNumbers(how.columns[int(found[1])], found[2]) from error
        reason = " ".join(str(error).split())[:160]
        raise DataworthError(f"{piece.path}: this cannot be read ({reason}): check the file") from error


def _of_group(piece: Piece, wanted: Sequence[str], step: int) -> Iterator[Any]:
    with opened(piece.path) as file:
        yield from file.iter_batches(step, row_groups=[piece.group], columns=wanted, use_threads=False)


def _of_text(piece: Piece, types: Mapping[str, Any], how: Delimited) -> Iterator[Any]:
    import pyarrow as pa
    import pyarrow.csv

    encoding = "utf-8" if how.encoding == "utf-8-sig" else str(how.encoding)
    with pa.input_stream(piece.path) as stream:
        reader = pa.csv.open_csv(
            stream,
            read_options=pa.csv.ReadOptions(
                encoding=encoding,
                skip_rows=how.skipped,
                column_names=list(how.columns),
                block_size=max(TEXT, 8 * how.line),
                use_threads=False,
            ),
            parse_options=pa.csv.ParseOptions(delimiter=how.sep, newlines_in_values=True),
            convert_options=pa.csv.ConvertOptions(
                include_columns=list(types),
                column_types=dict(types),
                null_values=list(MISSING),
                strings_can_be_null=True,
                decimal_point=how.decimal or ".",
            ),
        )
        for batch in reader:
            yield pa.record_batch(list(map(trimmed, batch.columns)), names=batch.schema.names)
