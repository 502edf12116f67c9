"""How a report is laid out: headline, question, table and facts, as rich renders them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich import box
from rich.console import Group, JustifyMethod, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

Rendered = RenderableType
Facts = Iterable[tuple[str, str]]
TEXT_COLUMNS = {"measure", "dataset", "curation", "verdict", "conclusion", "arm"}
TEXT_COLUMNS |= {"column", "used as", "holds", "why", "source", "id", "on the list", ""}
LONGEST = 4000
"""Characters of a cell."""
SHORT_COLUMNS = {"from", "to", "rows", "verdict"}


def report(
    headline: str | Text,
    table: RenderableType | None,
    facts: Facts,
    details: Iterable[RenderableType] = (),
    question: str | None = None,
) -> RenderableType:
    """A sentence first, then the numbers it rests on."""
    parts: list[RenderableType] = [Text(headline, style="bold") if isinstance(headline, str) else headline]
    parts += [] if question is None else [Text(question)]
    parts += [Text("")] if table is None else [Text(""), table, Text("")]
    return Group(*parts, grid(facts), *details)


def stacked(tables: Sequence[RenderableType]) -> RenderableType:
    """Tables one below the other, with a line between."""
    return Group(*(part for table in tables for part in (table, Text("")))) if len(tables) > 1 else tables[0]


def grid(facts: Facts) -> RenderableType:
    """Names and facts, a line each."""
    grid = Table.grid(padding=(0, 2))
    grid.add_column(no_wrap=True, style="dim")
    grid.add_column(overflow="fold")
    return Padding(_filled(grid, facts), (0, 0, 0, 1))


def table(headers: Iterable[str], rows: Iterable[Sequence[str | Text]]) -> RenderableType:
    """A table of numbers, except in columns that are known to hold text; short columns never break."""
    table = Table(
        box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, collapse_padding=True, header_style="dim"
    )
    for header in headers:
        side: JustifyMethod = "left" if header in TEXT_COLUMNS else "right"
        table.add_column(header, justify=side, overflow="fold", no_wrap=header in SHORT_COLUMNS)
    return _filled(table, rows)


def listing(headers: Iterable[str], rows: Iterable[Sequence[str]], *remarks: str) -> RenderableType:
    """A table of text, of which the columns that say what something is may break, and remarks below it."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, header_style="dim")
    for header in headers:
        table.add_column(header, no_wrap=not header.startswith("what"))
    return Group(_filled(table, rows), Text(""), *(Text(remark, style="dim") for remark in remarks))


def _filled(table: Table, rows: Iterable[Sequence[str | Text]]) -> Table:
    """Rows of plain text: brackets in somebody's column names are not markup."""
    for cells in rows:
        table.add_row(*(Text(cut(cell)) if isinstance(cell, str) else cell for cell in cells))
    return table


def cut(text: str) -> str:
    """A text without its middle, if it is longer than anybody reads: rich takes minutes for megabytes.

    >>> cut("short"), len(cut("x" * 10**6))
    ('short', 4003)
    """
    return text if len(text) <= LONGEST else f"{text[: LONGEST // 2]} … {text[-LONGEST // 2 :]}"
