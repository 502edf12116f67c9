"""Formats that are read whole: JSON, Arrow, npz and xlsx to tables; packed files are measured first."""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Sequence
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from dataworth.atomic import parse_json
from dataworth.data.dataset import Dataset
from dataworth.data.io.notes import Note
from dataworth.data.io.numbers import NA_VALUES
from dataworth.data.memory import free_memory
from dataworth.errors import DataworthError
from dataworth.wording import counted, listed, needs_extra, option

TIMES_ITS_TEXT = 5
"""How much more memory a table takes than its text, at most, while it is read."""
SMALL = 100_000_000
"""Bytes that any file may unpack to."""
EXPANDED = 200
"""How many times its own size a file may unpack to beyond that: tables of text take 3 to 50."""
NPZ_ROLES = {"label": "y", "group": "groups", "id": "ids", "weights": "weights", "attribute": "attributes"}
HEADERS = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}


def refuse_bomb(path: Path) -> None:
    """A sentence if a .gz, .npz or .xlsx unpacks to more than SMALL bytes and EXPANDED times its size."""
    size = path.stat().st_size
    most = max(SMALL, EXPANDED * size)
    if path.suffix.lower() == ".gz" and size * 1032 > most:  # deflate packs no more than that
        unpacked = unpacked_size(path, most)
    elif path.suffix.lower() in (".npz", ".xlsx") and zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            unpacked = sum(entry.file_size for entry in archive.infolist())
    else:
        return
    if unpacked > most:
        raise DataworthError(
            f"it has {size:,} bytes and unpacks to over {most:,}: unpack it yourself, if that is meant"
        )


def unpacked_size(path: Path, most: float | None = None) -> int:
    """Bytes of the text of a file; of a packed one counted until they are more than `most`."""
    import pyarrow as pa

    if path.suffix.lower() != ".gz":
        return path.stat().st_size
    most = free_memory() / TIMES_ITS_TEXT if most is None else most
    size = 0
    with pa.input_stream(str(path)) as stream:
        while size <= most and (more := len(stream.read(1 << 22))):
            size += more
    return size


def _read_json_lines(path: Path) -> Any:
    import pyarrow as pa
    import pyarrow.json

    with pa.input_stream(str(path)) as stream:
        # A line must fit in a block; the default of 1 MB is too little for some embeddings.
        return pa.json.read_json(stream, read_options=pa.json.ReadOptions(block_size=1 << 24))


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
            _check_array(file.zip, name)
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


def _check_array(archive: zipfile.ZipFile, label: str) -> None:
    """A sentence if an array of an npz is none, or has not as many bytes as its shape says.

    numpy would make room for that shape before it finds the bytes missing.
    """
    name = f"{label}.npy"
    if name not in archive.namelist():
        raise DataworthError(f"{label} is no array: save it with numpy.savez(file, X=X, y=y)")
    with archive.open(name) as member:
        version = np.lib.format.read_magic(member)
        if version not in HEADERS:
            raise DataworthError(f"{label} is no array of plain numbers or texts: save it as one")
        shape, _, kind = HEADERS[version](member)
        size = archive.getinfo(name).file_size - member.tell()
    if kind.hasobject:
        raise DataworthError(
            f"{label} holds Python objects, not numbers or texts: save it as an array of those"
        )
    if prod(shape) * kind.itemsize != size or min(shape, default=0) < 0:
        raise DataworthError(f"{label} has {size:,} bytes, but not those of its shape {shape}: save it again")


def read_excel(path: Path, sheet: str | None, notes: list[Note]) -> Any:
    """The first sheet with rows, or the one asked for; the first row that is not empty is its header."""
    import pyarrow as pa

    try:
        import openpyxl
    except ImportError:
        raise DataworthError(f"{needs_extra('an .xlsx', 'excel')}, or save it as .csv") from None
    book = openpyxl.load_workbook(path, read_only=True, data_only=True)
    try:
        names = book.sheetnames
        if sheet is not None and sheet not in names:
            raise DataworthError(
                f"there is no sheet {sheet!r} among {', '.join(map(repr, names))}: say another"
            )
        filled: dict[str, list[Any]] = {}
        for name in names if sheet is None else [sheet]:
            cells = [r for r in book[name].iter_rows(values_only=True) if any(c is not None for c in r)]
            filled |= {name: cells} if cells else {}
    finally:
        book.close()
    if not filled:
        raise DataworthError("the workbook has no rows: write some to it")
    used = next(iter(filled))
    if len(filled) > 1:
        others = ", ".join(repr(name) for name in filled if name != used)
        notes.append(Note(f"sheet {used!r} is read, and not {others}", f"{option('sheet')} changes that"))
    width = max(len(row) for row in filled[used])
    header, *rows = [[*row, *[None] * (width - len(row))] for row in filled[used]]
    titles = ["" if cell is None else str(cell).strip() for cell in header]
    columns = [_excel_column([row[j] for row in rows]) for j in range(width)]
    kept = [j for j in range(width) if titles[j] or columns[j].null_count < len(columns[j])]
    return pa.Table.from_arrays([columns[j] for j in kept], names=[titles[j] for j in kept])


def _excel_column(cells: Sequence[Any]) -> Any:
    """Cells of one type as they are, of several as their texts."""
    import pyarrow as pa

    tidy = [cell.strip() if isinstance(cell, str) else cell for cell in cells]
    tidy = [None if isinstance(cell, str) and cell in NA_VALUES else cell for cell in tidy]
    kinds = {type(cell) for cell in tidy if cell is not None}
    if kinds <= {int, float}:
        return pa.array(tidy, pa.float64() if kinds == {int, float} else None)
    if len(kinds) == 1 or {kind.__name__ for kind in kinds} <= {"date", "datetime"}:
        return pa.array(tidy)
    return pa.array([None if cell is None else _excel_text(cell) for cell in tidy], pa.string())


def _excel_text(cell: Any) -> str:
    return str(int(cell)) if isinstance(cell, float) and cell.is_integer() else str(cell)


READERS: dict[str, Callable[[Path], Any]] = {
    **dict.fromkeys((".jsonl", ".jsonl.gz", ".ndjson"), _read_json_lines),
    ".json": _read_json,
    **dict.fromkeys((".feather", ".arrow"), _read_arrow),
    ".npz": _read_npz,
}
"""What reads each suffix of other kinds."""
