"""The corrected file: the rows and columns of the given one, as they stand there, with other labels."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import parquet

from dataworth.atomic import atomic_write
from dataworth.data.io.files import DELIMITED, Part, suffix_of
from dataworth.errors import DataworthError

SUFFIXES = (".csv", ".parquet")


def usual_path(source: Path) -> Path:
    """`corrected.csv` for text and spreadsheets; for files with types `corrected.parquet`."""
    plain = suffix_of(source) in (*DELIMITED, ".xlsx")
    return Path("corrected.csv" if plain else "corrected.parquet")


def check_path(path: Path, part: Part, source: Path) -> None:
    """A sentence where the corrected file cannot be of this kind, or would be the data themselves."""
    if path.suffix not in SUFFIXES:
        raise DataworthError(
            f"{path}: corrected data are written as {' '.join(SUFFIXES)}: give it such a name."
        )
    if path.resolve() == source.resolve():
        raise DataworthError(f"{path} is the data themselves: name another file of corrections with -o.")
    folded = [f.name for f in part.table.schema if pa.types.is_nested(f.type) or pa.types.is_binary(f.type)]
    if path.suffix == ".csv" and folded:
        raise DataworthError(
            f"{path}: column {folded[0]!r} does not fit into a .csv: name a .parquet with -o."
        )


def relabelled(table: Any, column: str, cells: dict[int, Any]) -> Any:
    """The table with other cells in its label column, all else as it is."""
    if not cells:
        return table
    place = table.column_names.index(column)
    kind = table[column].type
    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    new = table[column].to_pylist()
    for row, cell in cells.items():
        new[row] = cell
    if not pa.types.is_string(kind):  # a class that the column does not have yet is known as text
        new = [pa.scalar(one).cast(kind).as_py() if isinstance(one, str) else one for one in new]
    return table.set_column(place, table.schema.field(place).with_type(kind), pa.array(new, kind))


def write_corrected(path: Path, part: Part, column: str, cells: dict[int, Any]) -> None:
    """Write the file, whole or not at all; text in the encoding, and with the separator, of the given one."""
    table = relabelled(part.table, column, cells)
    with atomic_write(path) as place:
        if path.suffix == ".parquet":
            parquet.write_table(table, place, write_page_checksum=True)
            return
        how = part.how
        with place.open("w", newline="", encoding=encoding_of(how.encoding)) as file:
            writer = csv.writer(file, delimiter=how.sep or ",", lineterminator="\n")
            if how.header is not False:
                writer.writerow(table.column_names)
            for batch in table.to_batches(max_chunksize=10_000):
                columns = [one.to_pylist() for one in batch.columns]
                writer.writerows(zip(*columns, strict=True))


def encoding_of(given: str | None) -> str:
    """The encoding of the given file, without a mark at its beginning."""
    return {"utf-8-sig": "utf-8"}.get(given or "utf-8", given or "utf-8")
