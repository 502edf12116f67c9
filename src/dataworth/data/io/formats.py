"""Files to pyarrow tables: the format follows from the suffix, and every refusal is one sentence."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from dataworth.atomic import parse_json
from dataworth.data.dataset import Dataset
from dataworth.data.io.delimited import AS_FOUND, Delimited, read_delimited, renaming_note, unique
from dataworth.data.io.excel import read_excel
from dataworth.data.io.images import holds_images
from dataworth.data.io.notes import Note
from dataworth.data.io.packed import check_array, refuse_bomb
from dataworth.data.io.sampled import sample_note, sample_of_parquet
from dataworth.data.io.sealed import is_sealed
from dataworth.data.memory import refuse_too_large
from dataworth.errors import DataworthError
from dataworth.wording import counted, listed, option

CELL = 24
"""Bytes that a number takes while a table is read: in the table, in the Dataset, and once on the way."""
NPZ_ROLES = {"label": "y", "group": "groups", "id": "ids", "weights": "weights", "attribute": "attributes"}


@dataclass
class Part:
    """A table on its way to a Dataset.

    name: what sentences call it, if it is a file; typed: whether its format has types, so that what is text
    was meant to be; how: how its text is written; again: reads it once more, with some columns as text;
    units: what numbers of a column were written with, where it changes them; before: rows of the file that
    stand before these.
    """

    name: str | None
    table: Any
    typed: bool = True
    notes: list[Note] = field(default_factory=list)
    how: Delimited = AS_FOUND
    again: Callable[[Delimited], Part] | None = None
    units: dict[str, str] = field(default_factory=dict)
    before: int = 0


def part_of_file(path: Path, how: Delimited = AS_FOUND) -> Part:
    """The file as a table with rows."""
    if is_sealed(path):
        raise DataworthError("these are sealed data, without rows: give rows (only score and rank take it)")
    suffix = suffix_of(path)
    if not suffix:
        refuse_images(path)
    if not path.exists():
        raise DataworthError("there is no such file: check the path")
    if not path.is_file():
        raise DataworthError("this is a pipe or a device, which may have no end: save it as a file")
    if not suffix:
        known = " ".join(dict.fromkeys(SUFFIXES))
        hint = "save it as .xlsx" if path.suffix.lower() == ".xls" else "convert the file, or rename it"
        raise DataworthError(f"the suffix is not one of {known}: {hint}")
    part = _reading(path, suffix, how)
    if part.table.num_rows == 0:
        raise DataworthError("the file has no rows: write some to it")
    return part


def refuse_images(path: Path) -> None:
    """A sentence where images are given for a table."""
    if holds_images(path):
        place = shlex.quote(str(path))
        raise DataworthError(
            "these are images, but features are numbers: make a table of vectors of them first, with"
            f" dataworth embed {place} -o vectors.parquet"
        )


def _reading(path: Path, suffix: str, how: Delimited) -> Part:
    """One file; whatever goes wrong in it is a sentence."""
    from pyarrow import parquet

    try:
        if how.sample is None or suffix not in DELIMITED:  # a sample of text is drawn in constant memory
            refuse_bomb(path)
        if suffix in DELIMITED:
            table, found = read_delimited(path, how, DELIMITED[suffix])
            notes = list(found.notes)
            return Part(str(path), table, False, notes, found, lambda how: _reading(path, suffix, how))
        if suffix == ".xlsx":
            table, notes = read_excel(path, how.sheet)
            return Part(str(path), table, False, notes, how)
        if suffix == ".parquet":
            with parquet.ParquetFile(path, page_checksum_verification=True) as file:
                return part_of_parquet(str(path), [file], how)
        return _checked(Part(str(path), READERS[suffix](path), how=how))
    except DataworthError:
        raise
    except MemoryError as error:
        why = "it asks for more memory than there is: it is damaged, or has too many rows for this machine"
        raise DataworthError(why) from error
    except Exception as error:  # a damaged file can make a parser raise anything
        reason = " ".join(str(error).split())[:160]
        if isinstance(error, UnicodeDecodeError) or "UTF8" in reason.replace("-", "").upper():
            raise DataworthError("this is not UTF-8 text: save it as UTF-8") from error
        if "allow_pickle" in reason:  # numpy's advice, which would run whatever code the file holds
            reason = "it is no archive of plain arrays"
        if "straddling" in reason:
            raise DataworthError(
                "a line is longer than 16 MB: cut its texts, or leave the row out"
            ) from error
        if reason.startswith("Empty"):
            raise DataworthError("the file is empty: write rows to it") from error
        why = reason or type(error).__name__
        raise DataworthError(
            f"this cannot be read as {suffix} ({why}): check that the file is complete"
        ) from error


def part_of_parquet(name: str, files: Sequence[Any], how: Delimited) -> Part:
    """Open Parquet files as one table, or a sample of its rows."""
    import pyarrow as pa

    part = Part(name, None, how=how)
    total = sum(file.metadata.num_rows for file in files)
    if how.sample is None or how.sample >= total:
        cells = sum(file.metadata.num_rows * file.metadata.num_columns for file in files)
        refuse_too_large(
            CELL * cells,
            "reading all of it",
            f"read some rows, with {option('sample', min(100_000, total // 2))}",
        )
        # Not read_table, which would add columns for directories named like "part=1".
        tables = [file.read() for file in files]
        part.table = tables[0] if len(tables) == 1 else pa.concat_tables(tables, promote_options="permissive")
    else:
        part.table, total = sample_of_parquet(files, how.sample)
        part.how = replace(how, total=total)
        part.notes.append(sample_note(part.table.num_rows, total))
    return _checked(part)


def _checked(part: Part) -> Part:
    """The part, once its table is known to be whole; with distinct names of columns."""
    # A damaged file can point outside itself, which would end the process later, not raise.
    part.table.validate(full=True)
    part.table = with_unique_names(part.table, part.notes)
    return part


def with_unique_names(table: Any, notes: list[Note]) -> Any:
    """The table with distinct column names, and a note if it had others."""
    names = list(map(str, table.column_names))
    if note := renaming_note(names):
        notes.append(note)
    return table if note is None else table.rename_columns(unique(names))


def suffix_of(path: Path) -> str:
    """The longest known suffix, so that .csv.gz is not taken for .gz."""
    name = path.name.lower()
    return max((suffix for suffix in SUFFIXES if name.endswith(suffix)), key=len, default="")


def _read_json_lines(path: Path) -> Any:
    import pyarrow as pa
    import pyarrow.json

    with pa.input_stream(str(path)) as stream:
        # A line must fit in a block; the default of 1 MB is too little for some embeddings.
        return pa.json.read_json(stream, read_options=pa.json.ReadOptions(block_size=1 << 24))


def _read_arrow(path: Path) -> Any:
    """Arrow's file format (also Feather 2), or its stream format, which `datasets` writes."""
    import pyarrow as pa

    with pa.OSFile(str(path)) as source:
        try:
            return pa.ipc.open_file(source).read_all()
        except pa.ArrowInvalid:
            source.seek(0)
            return pa.ipc.open_stream(source).read_all()


def _read_npz(path: Path) -> Any:
    import pyarrow as pa

    # Opened here, because numpy leaves a file that it cannot read open.
    with path.open("rb") as handle:
        file = np.load(handle, allow_pickle=False)
        present = list(getattr(file, "files", []))  # a lone array, saved under a wrong name, has none
        lacking = [name for name in ("X", "y") if name not in present]
        if lacking:
            raise DataworthError(
                f"an npz holds X and y, but {' and '.join(lacking)} {'is' if len(lacking) == 1 else 'are'}"
                f" missing (it holds {', '.join(present) or 'no named arrays'}): save it with"
                " numpy.savez(file, X=X, y=y)"
            )
        used = [name for name in ("X", "names", *NPZ_ROLES.values()) if name in present]
        for name in used:
            check_array(file.zip, f"{name}.npy")
        found = {name: file[name] for name in used}
    X, names = found.pop("X"), found.pop("names", None)
    # A Dataset with labels that do not matter, for its checks of X.
    named = None if names is None else names.tolist()
    block = Dataset(X, np.zeros(len(X)) if X.ndim else [], names=named, allow_missing=True)
    for name, values in found.items():
        if values.shape != (len(block),):
            raise DataworthError(
                f"{name} has shape {values.shape}, but X has {counted(len(block), 'row')}: give one value"
                " per row"
            )
    if both := [name for name in block.names if name in found]:
        raise DataworthError(f"the file has {listed(both)} more than once: give each its own name")
    kinds = [bool if column.kind == "boolean" else float for column in block.columns]
    columns = [pa.array(values.astype(kind)) for values, kind in zip(block.X.T, kinds, strict=True)]
    columns += [pa.array(values) for values in found.values()]
    return pa.Table.from_arrays(columns, names=[*block.names, *found])


def _read_json(path: Path) -> Any:
    """A list of objects, an object of lists, or lines of objects under the wrong name."""
    import pyarrow as pa

    with path.open("rb") as file:
        start = file.read(64).lstrip()
    if start[:1] == b"{":
        try:
            return pa.table(parse_json(path.read_bytes()))
        except (ValueError, TypeError):
            return _read_json_lines(path)
    return pa.Table.from_pylist(parse_json(path.read_bytes()))


DELIMITED = {
    ".csv": ",",
    ".csv.gz": ",",
    ".tsv": "\t",
    ".tsv.gz": "\t",
    ".tab": "\t",
    ".txt": None,
    ".txt.gz": None,
}
"""Suffixes of delimited text, with the separator that each promises."""
READERS: dict[str, Callable[[Path], Any]] = {
    **dict.fromkeys((".jsonl", ".jsonl.gz", ".ndjson"), _read_json_lines),
    ".json": _read_json,
    **dict.fromkeys((".feather", ".arrow"), _read_arrow),
    ".npz": _read_npz,
}
"""What reads each suffix of other kinds."""
SUFFIXES = (*DELIMITED, *READERS, ".parquet", ".xlsx")
