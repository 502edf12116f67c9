"""A sheet of an .xlsx workbook as a pyarrow table; openpyxl is the extra `excel`."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime
from pathlib import Path
from typing import Any

from dataworth.data.io.delimited import renaming_note, unique
from dataworth.data.io.notes import Note
from dataworth.data.io.parsing import MISSING
from dataworth.errors import DataworthError
from dataworth.wording import needs_extra, option


def read_excel(path: Path, sheet: str | None) -> tuple[Any, list[Note]]:
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
        wanted = names if sheet is None else [sheet]
        filled = {name: rows for name in wanted if (rows := _rows(book[name]))}
    finally:
        book.close()
    if not filled:
        raise DataworthError("the workbook has no rows: write some to it")
    notes = []
    used = next(iter(filled))
    if len(filled) > 1:
        others = ", ".join(repr(name) for name in filled if name != used)
        notes.append(Note(f"sheet {used!r} is read, and not {others}", f"{option('sheet')} changes that"))
    header, *rows = filled[used]
    width = max(len(row) for row in filled[used])
    titles = [
        "" if cell is None else str(cell).strip() for cell in [*header, *[None] * (width - len(header))]
    ]
    if note := renaming_note(titles):
        notes.append(note)
    columns = [_column([row[j] if j < len(row) else None for row in rows]) for j in range(width)]
    kept = [j for j in range(width) if titles[j] or columns[j].null_count < len(columns[j])]
    table = pa.Table.from_arrays([columns[j] for j in kept], names=unique([titles[j] for j in kept]))
    return table, notes


def _rows(sheet: Any) -> list[Sequence[Any]]:
    return [row for row in sheet.iter_rows(values_only=True) if any(cell is not None for cell in row)]


def _column(cells: Sequence[Any]) -> Any:
    """Cells of one type as they are, of several as their texts."""
    import pyarrow as pa

    tidy = [cell.strip() if isinstance(cell, str) else cell for cell in cells]
    tidy = [None if isinstance(cell, str) and cell in MISSING else cell for cell in tidy]
    kinds = {type(cell) for cell in tidy if cell is not None}
    if kinds <= {int, float} or len(kinds) == 1 or kinds <= {date, datetime}:
        return pa.array(tidy, pa.float64() if kinds == {int, float} else None)
    return pa.array([None if cell is None else _text(cell) for cell in tidy], pa.string())


def _text(cell: Any) -> str:
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    return cell.isoformat(" ") if isinstance(cell, datetime) else str(cell)
