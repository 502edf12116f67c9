"""How a report is laid out: headline, question, table and facts, as rich renders them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from rich import box
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

TEXT_COLUMNS = (
    "measure",
    "dataset",
    "curation",
    "verdict",
    "conclusion",
    "arm",
    "column",
    "used as",
    "holds",
    "why",
)
SHORT_COLUMNS = ("from", "to", "rows", "verdict")


def report(
    headline: Text,
    question: str | None,
    table: Table | None,
    facts: Iterable[tuple[str, str]],
    details: list[RenderableType],
) -> RenderableType:
    """A sentence first, then the numbers it rests on."""
    parts: list[RenderableType] = [headline]
    if question is not None:
        parts.append(Text(question))
    parts.append(Text(""))
    if table is not None:
        parts += [table, Text("")]
    parts.append(grid(facts))
    return Group(*parts, *details)


def grid(facts: Iterable[tuple[str, str]]) -> RenderableType:
    """Names and facts, a line each."""
    grid = Table.grid(padding=(0, 2))
    grid.add_column(no_wrap=True, style="dim")
    grid.add_column(overflow="fold")
    for name, fact in facts:
        add_row(grid, name, fact)
    return Padding(grid, (0, 0, 0, 1))


def table(*headers: str) -> Table:
    """A table of numbers, except in columns that are known to hold text; short columns never break."""
    table = Table(
        box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, collapse_padding=True, header_style="dim"
    )
    for header in headers:
        side: Literal["left", "right"] = "left" if header in TEXT_COLUMNS else "right"
        table.add_column(header, justify=side, overflow="fold", no_wrap=header in SHORT_COLUMNS)
    return table


def add_row(table: Table, *cells: str | Text) -> None:
    """A row of plain text: brackets in somebody's column names are not markup."""
    table.add_row(*(Text(cell) if isinstance(cell, str) else cell for cell in cells))
