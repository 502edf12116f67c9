"""A uniform sample of the rows of a file, in memory that does not grow with the file.

Every set of n rows is as likely as any other. Parquet says how many rows it has, so that their numbers are
drawn first, and only row groups that hold some are read, some columns at a time. A text is read once from
beginning to end, and the rows with the n smallest of independent random keys are kept.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from dataworth.data.io.notes import Note
from dataworth.wording import counted, option

TOGETHER = 1 << 24
"""Bytes of a row group that are decoded together."""
SEED = 0x5A3B1E


def sample_note(rows: int, total: int) -> Note:
    """That a sample was read, and of what."""
    what = f"{rows:,} of its {counted(total, 'row')} were drawn at random"
    return Note(what.replace(str(total), f"{total:,}", 1), f"{option('sample')} changes how many")


def sample_of_parquet(files: Sequence[Any], rows: int) -> tuple[Any, int]:
    """So many rows of open Parquet files, as if they were one, in their order; and how many there are.

    >>> import io, pyarrow as pa, pyarrow.parquet as pq
    >>> sink = io.BytesIO()
    >>> pq.write_table(pa.table({"a": range(1000)}), sink, row_group_size=100)
    >>> table, total = sample_of_parquet([pq.ParquetFile(sink)], 5)
    >>> table.num_rows, total
    (5, 1000)
    """
    import pyarrow as pa

    groups = [(file, g) for file in files for g in range(file.metadata.num_row_groups)]
    sizes = np.array([file.metadata.row_group(g).num_rows for file, g in groups], dtype=np.int64)
    ends = np.cumsum(sizes)
    total = int(sizes.sum())
    chosen = np.random.default_rng([SEED, total]).choice(total, min(rows, total), replace=False)
    chosen.sort()
    wanted = np.split(chosen, np.searchsorted(chosen, ends[:-1]))
    parts = [
        _rows_of_group(file, g, own - (end - size))
        for (file, g), own, end, size in zip(groups, wanted, ends, sizes, strict=True)
        if len(own)
    ]
    return pa.concat_tables(parts), total


def _rows_of_group(file: Any, group: int, rows: Any) -> Any:
    """Rows of one row group, some columns at a time."""
    import pyarrow as pa

    columns: dict[str, Any] = {}
    for names in _slabs(file, group):
        table = file.read_row_group(group, columns=names)
        columns |= {name: table[name].take(pa.array(rows)) for name in table.column_names}
    schema = file.schema_arrow
    return pa.table([columns[name] for name in schema.names], schema=schema)


def _slabs(file: Any, group: int) -> Iterator[list[str]]:
    """Columns that together are of the size that is decoded at once."""
    about = file.metadata.row_group(group)
    sizes = dict.fromkeys(file.schema_arrow.names, 0)
    for j in range(about.num_columns):
        path = about.column(j).path_in_schema
        name = path if path in sizes else path.split(".")[0]
        sizes[name] += about.column(j).total_uncompressed_size
    names: list[str] = []
    size = 0
    for name, own in sizes.items():
        if names and size + own > TOGETHER:
            yield names
            names, size = [], 0
        names.append(name)
        size += own
    yield names


def sample_of_batches(batches: Iterator[Any], rows: int) -> tuple[Any, int]:
    """So many rows of a stream of record batches, in their order; and how many there were.

    >>> import pyarrow as pa
    >>> stream = (pa.record_batch({"a": range(10 * i, 10 * i + 10)}) for i in range(100))
    >>> table, total = sample_of_batches(stream, 5)
    >>> table.num_rows, total
    (5, 1000)
    """
    import pyarrow as pa

    rng = np.random.default_rng(SEED)
    total, kept, keys = 0, [], np.zeros(0)
    highest = np.inf
    for batch in batches:
        own = rng.random(batch.num_rows)
        total += batch.num_rows
        low = np.flatnonzero(own < highest)
        kept.append(pa.Table.from_batches([batch.take(pa.array(low))]))
        keys = np.concatenate([keys, own[low]])
        if len(keys) > 2 * rows:
            kept, keys = _lowest(kept, keys, rows)
            highest = keys.max()
    kept, keys = _lowest(kept, keys, rows)
    return kept[0], total


def _lowest(tables: list[Any], keys: Any, rows: int) -> tuple[list[Any], Any]:
    """The rows with the lowest keys, in their order."""
    import pyarrow as pa

    table = pa.concat_tables(tables)
    if len(keys) <= rows:
        return [table], keys
    best = np.sort(np.argpartition(keys, rows)[:rows])
    return [table.take(pa.array(best)).combine_chunks()], keys[best]
