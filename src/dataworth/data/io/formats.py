"""Files to pyarrow tables: the format follows from the suffix, and every refusal is one sentence."""

from __future__ import annotations

import shlex
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from dataworth.data.dataset import Dataset
from dataworth.data.io.images import holds_images
from dataworth.data.io.sealed import is_sealed
from dataworth.errors import DataworthError
from dataworth.wording import counted, listed

MISSING = ("", "NA", "NaN", "nan", "null", "None")
"""The cells of a text file that stand for a missing value."""

READING_ERRORS = (OSError, ValueError, KeyError, EOFError, RuntimeError, zipfile.BadZipFile, zlib.error)
NPZ_ROLES = {"label": "y", "group": "groups", "id": "ids", "weights": "weights", "attribute": "attributes"}


def table_of_file(path: Path) -> Any:
    """The file as a pyarrow Table, with rows and with distinct column names."""
    import pyarrow as pa

    if is_sealed(path):
        raise DataworthError("these are sealed data, without rows: give rows (only score and rank take it)")
    reader = READERS.get(suffix_of(path))
    if reader is None and holds_images(path):
        place = shlex.quote(str(path))
        raise DataworthError(
            "these are images, but features are numbers: make a table of vectors of them first, with"
            f" dataworth embed {place} -o vectors.parquet"
        )
    if not path.exists():
        raise DataworthError("there is no such file: check the path")
    if path.is_dir():
        return _read_parts(path)
    if reader is None:
        raise DataworthError(f"the suffix is not one of {' '.join(READERS)}: convert the file, or rename it")
    try:
        table = reader(path)
        names = list(table.column_names)
        # A damaged file can point outside itself, which would end the process later, not raise.
        table.validate(full=True)
    except DataworthError:
        raise
    except (pa.ArrowException, *READING_ERRORS) as error:
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
        raise DataworthError(
            f"this cannot be read as {suffix_of(path)} ({reason}): check that the file is complete"
        ) from error
    twice = [name for name, times in Counter(names).items() if times > 1]
    if twice:
        raise DataworthError(f"the file has {listed(twice)} more than once: give each its own name")
    if table.num_rows == 0:
        raise DataworthError("the file has no rows: write some to it")
    return table


def _read_parts(directory: Path) -> Any:
    """The files of a directory as one table, as a dataset comes from the Hugging Face hub."""
    import pyarrow as pa

    for suffix in (".parquet", ".arrow", ".jsonl", ".jsonl.gz"):
        if files := sorted(directory.rglob(f"*{suffix}")):
            parts = [table_of_file(file) for file in files]
            if any(part.schema != parts[0].schema for part in parts):
                raise DataworthError("the files of this directory have different columns: name one of them")
            return pa.concat_tables(parts)
    raise DataworthError("this is a directory without tables, but a file is expected: name a file")


def suffix_of(path: Path) -> str:
    """The longest known suffix, so that .csv.gz is not taken for .gz."""
    name = path.name.lower()
    return max((suffix for suffix in READERS if name.endswith(suffix)), key=len, default="")


def _read_csv(path: Path, delimiter: str = ",") -> Any:
    import pyarrow as pa
    import pyarrow.csv as csv

    _check_header(path, delimiter)
    with pa.input_stream(str(path)) as stream:  # unpacks .gz by itself
        table = csv.read_csv(
            stream,
            parse_options=csv.ParseOptions(delimiter=delimiter, newlines_in_values=True),
            convert_options=csv.ConvertOptions(null_values=list(MISSING), strings_can_be_null=True),
        )
    names = [name.strip() for name in table.column_names]
    for name, column in zip(names, table.columns, strict=True):
        if pa.types.is_binary(column.type):
            raise DataworthError(f"column {name!r} is not UTF-8 text: save the file as UTF-8")
    return pa.Table.from_arrays([_tidied(column) for column in table.columns], names=names)


def _check_header(path: Path, delimiter: str) -> None:
    """Refuse another separator or encoding, which would make one column of them all."""
    import pyarrow as pa

    with pa.input_stream(str(path)) as stream:
        start = stream.read(1 << 16)
    if start.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise DataworthError("this is UTF-16, not UTF-8 text: save it as UTF-8")
    header = start.split(b"\n")[0].decode("utf-8", "replace").strip()
    others = [other for other in ";\t|," if other in header]
    if others and delimiter not in header:
        shown = "a tab" if others[0] == "\t" else repr(others[0])
        raise DataworthError(
            f"one column only: is the separator {shown}? this reader expects commas (.csv) or tabs (.tsv)"
        )


def _tidied(column: Any) -> Any:
    """A CSV column without the spaces around its texts, which hide numbers and missing values."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not pa.types.is_string(column.type):
        return column
    trimmed = pc.utf8_trim_whitespace(column)
    if trimmed.equals(column):
        return column
    absent = pc.is_in(trimmed, value_set=pa.array(MISSING))
    trimmed = pc.if_else(absent, pa.scalar(None, pa.string()), trimmed)
    for kind in (pa.int64(), pa.float64()):
        try:
            return trimmed.cast(kind)
        except pa.ArrowInvalid:
            pass
    return trimmed


def _read_json_lines(path: Path) -> Any:
    import pyarrow as pa
    import pyarrow.json as json

    with pa.input_stream(str(path)) as stream:
        # A line must fit in a block; the default of 1 MB is too little for some embeddings.
        return json.read_json(stream, read_options=json.ReadOptions(block_size=1 << 24))


def _read_parquet(path: Path) -> Any:
    import pyarrow.parquet as parquet

    # Not read_table, which would add columns for directories named like "part=1".
    with parquet.ParquetFile(path) as file:
        return file.read()


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
        names = file["names"].tolist() if "names" in present else None
        X = file["X"]
        others = {name: file[name] for name in NPZ_ROLES.values() if name in present}
    # A Dataset with labels that do not matter, for its checks of X.
    block = Dataset(X, np.zeros(len(X)) if X.ndim else [], names=names, allow_missing=True)
    for name, values in others.items():
        if values.shape != (len(block),):
            raise DataworthError(
                f"{name} has shape {values.shape}, but X has {counted(len(block), 'row')}: give one value"
                " per row"
            )
    kinds = [bool if column.kind == "boolean" else float for column in block.columns]
    columns = [pa.array(values.astype(kind)) for values, kind in zip(block.X.T, kinds, strict=True)]
    columns += [pa.array(values) for values in others.values()]
    return pa.Table.from_arrays(columns, names=[*block.names, *others])


READERS: dict[str, Callable[[Path], Any]] = {
    **dict.fromkeys((".csv", ".csv.gz"), _read_csv),
    **dict.fromkeys((".tsv", ".tsv.gz"), partial(_read_csv, delimiter="\t")),
    **dict.fromkeys((".jsonl", ".jsonl.gz", ".ndjson"), _read_json_lines),
    ".parquet": _read_parquet,
    **dict.fromkeys((".feather", ".arrow"), _read_arrow),
    ".npz": _read_npz,
}
"""What reads each suffix."""
