"""The list as a spreadsheet, for those who want one: people fill one column, which is read back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from dataworth.atomic import atomic_write
from dataworth.data.io.files import part_of, reading
from dataworth.errors import DataworthError
from dataworth.wording import counted, needs_extra

from .log import LABEL
from .rows import MAX_TEXT, cut
from .session import Session

RIGHT = "right label"
"""The column that people fill."""
BEFORE = ("row", "id", "annotator", "label", "suggested", "p wrong")
"""Columns in front of it; those that say nothing are left out."""
AFTER = ("why", "shown")
MAX_ROWS = 10_000
WIDTHS = {"row": 8, "p wrong": 9, RIGHT: 16, "why": 40, "shown": 90}


def write_sheet(session: Session, path: Path) -> int:
    """Write the list, least trusted first, and how to fill it; how many rows."""
    try:
        import openpyxl
        from openpyxl.styles import Alignment, Font, PatternFill
        from openpyxl.utils import get_column_letter
        from openpyxl.worksheet.datavalidation import DataValidation
    except ImportError:
        raise DataworthError(f"{needs_extra('an .xlsx', 'excel')}, or use the page.") from None
    rows = session.order[:MAX_ROWS]
    names = [
        name
        for name in (*BEFORE, RIGHT, *AFTER)
        if (name != "id" or session.ids is not None) and (name != "annotator" or session.sources is not None)
    ]
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = "review"
    sheet.append(names)
    for row in rows:
        item = session.item(row)
        near = [f"row {one['row']} ({one['label']})" for one in item["why"]["rows"]]
        entry = session.last.get(row + 1)
        told = {
            **item,
            "label": item["given"],
            "p wrong": round(item["p"], 3),
            RIGHT: entry.after if entry is not None and entry.action == LABEL else None,
            "why": f"like it, with another label: {', '.join(near)}" if near else "",
            "shown": " · ".join(
                [one["text"] for one in item["texts"]] + [f"{n}: {c}" for n, c in item["cells"]]
            ),
        }
        sheet.append([None] * len(names))
        for column, name in enumerate(names, start=1):
            cell = sheet.cell(sheet.max_row, column)
            value = told[name]
            if isinstance(value, str):  # never a formula, whatever it begins with
                cell.value, cell.data_type = plain(value), "s"
            elif value is not None:
                cell.value = value
    sheet.freeze_panes = "A2"
    sheet.auto_filter.ref = sheet.dimensions
    for column, name in enumerate(names, start=1):
        letter = get_column_letter(column)
        sheet.column_dimensions[letter].width = WIDTHS.get(name, 14)
        sheet[f"{letter}1"].font = Font(bold=True)
        if name == RIGHT:
            fill = PatternFill("solid", fgColor="FFF4E5")
            for place in range(1, len(rows) + 2):
                sheet[f"{letter}{place}"].fill = fill
            quoted = ",".join(session.classes or ())
            if (
                session.classes
                and len(quoted) < 250
                and '"' not in quoted
                and all("," not in c for c in session.classes)
            ):
                listed = DataValidation(type="list", formula1=f'"{quoted}"', allow_blank=True)
                sheet.add_data_validation(listed)
                listed.add(f"{letter}2:{letter}{len(rows) + 1}")
        if name == "shown":
            for place in range(2, len(rows) + 2):
                sheet[f"{letter}{place}"].alignment = Alignment(wrap_text=True, vertical="top")
    with atomic_write(path) as temporary:
        book.save(temporary)
    return len(rows)


def plain(text: str) -> str:
    """A text that a sheet can hold."""
    from openpyxl.cell.cell import ILLEGAL_CHARACTERS_RE

    return cut(ILLEGAL_CHARACTERS_RE.sub("\ufffd", text), MAX_TEXT)


def read_sheet(session: Session, path: Path) -> int:
    """Take over the labels that people filled in, all or none; how many are new."""
    try:
        with reading(".xlsx"):
            table = part_of(str(path)).table
    except DataworthError as error:
        raise DataworthError(f"{path}: {str(error).rstrip('.')}.") from None
    if missing := [name for name in ("row", "label", RIGHT) if name not in table.column_names]:
        raise DataworthError(f"{path} has no column {missing[0]!r}: give a sheet of --out, with its columns.")
    told = (table[name].to_pylist() for name in ("row", "label", RIGHT))
    decided: list[tuple[int, str]] = []
    for place, (row, label, right) in enumerate(zip(*told, strict=True), start=2):
        if right is None:
            continue
        number = int(row) if str(row).isdecimal() else 0
        if not 1 <= number <= len(session.given) or plain_label(label, session) != session.given[number - 1]:
            raise DataworthError(
                f"{path}, line {place}: row {row} with the label {label!r} is no row of these data: give the "
                "sheet that was made of them, with its first columns as they were."
            )
        try:
            decided.append((number, session.checked(plain_label(right, session))))
        except DataworthError as error:
            raise DataworthError(f"{path}, line {place}: {error}") from None
    new = [(row, after) for row, after in decided if not already(session, row, after)]
    for row, after in new:
        session.decide(row, after)
    return len(new)


def already(session: Session, row: int, after: str) -> bool:
    """Whether the log says so."""
    entry = session.last.get(row)
    return entry is not None and entry.after == after


def plain_label(cell: Any, session: Session) -> str:
    """A label as the session knows it: spreadsheets turn texts of digits into numbers, and cut spaces."""
    text = "" if cell is None else str(cell)
    if session.classes is None:
        try:
            return repr(float(text))
        except ValueError:
            return text
    return next((name for name in session.classes if name.strip() == text.strip()), text)


def summary(session: Session) -> str:
    """What was decided so far, in a sentence."""
    state = session.state()
    left = f"about {counted(round(state['left']), 'wrong label')} left"
    ahead = f"of the next {state['next']}, about {state['next_wrong']:.0f} wrong"
    return f"{counted(state['changed'], 'label')} corrected of {state['labelled']} looked at; {left}; {ahead}"
