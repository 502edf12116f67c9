"""Documents on a terminal: the headline, the question, brief tables and facts; with -v the details below.

`report` and `listing` also lay out what the command line has to say of things that are no results.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from rich import box
from rich.console import Group, JustifyMethod, RenderableType
from rich.padding import Padding
from rich.table import Table as RichTable
from rich.text import Text

from .document import LOOKS, Cell, Document, Facts, Table, Words

MAX_CELL = 4000
"""Characters of a cell."""
SHORT_COLUMNS = {"from", "to", "rows", "verdict"}
"""Columns that never break."""
LOOK: dict[str, Any] = {"box": box.SIMPLE_HEAD, "pad_edge": False, "show_edge": False, "header_style": "dim"}
VERBOSE = 3
"""How many times as many rows of a long table are shown with -v."""


def render(document: Document, verbose: bool = False) -> RenderableType:
    """A whole document."""
    tables, facts = document.brief()
    shown, details = [_table(block, verbose) for block in tables], _details(document) if verbose else ()
    return report(_headline(document), facts, shown, document.question, details)


def table(block: Table) -> RenderableType:
    """A table by itself, below its caption."""
    return Group(Text(""), Text(block.caption, style="dim"), _table(block, verbose=True))


def report(
    headline: str | Text,
    facts: Iterable[tuple[str, Words]],
    tables: Sequence[RenderableType] = (),
    question: str = "",
    details: Iterable[RenderableType] = (),
) -> RenderableType:
    """A sentence first, then the numbers it rests on."""
    parts: list[RenderableType] = [tamed(headline, "bold") if isinstance(headline, str) else headline]
    parts += [tamed(question)] if question else []
    parts.append(Text(""))
    parts += [part for one in tables for part in (one, Text(""))]
    return Group(*parts, _grid(facts), *details)


def listing(headers: Iterable[str], rows: Iterable[Sequence[str]], *remarks: str) -> RenderableType:
    """A table of text, of which the columns that say what something is may break, and remarks below it."""
    made = RichTable(**LOOK)
    for header in headers:
        made.add_column(header, no_wrap=not header.startswith("what"))
    return Group(_filled(made, rows), Text(""), *(Text(remark, style="dim") for remark in remarks))


def _headline(document: Document) -> Text:
    """The headline; the word that it begins with has its colour."""
    answer, title = document.answer, tamed(document.title).plain
    word = answer.word if title.startswith(answer.word) else ""
    return Text.assemble((word, LOOKS[answer.tone].style), (title.removeprefix(word), "bold"))


def _details(document: Document) -> Iterable[RenderableType]:
    """Sections with blocks for -v, below their titles."""
    for section in document.sections:
        found = [b for b in section.blocks if isinstance(b, Table | Facts) and b.level == "verbose"]
        if found:
            yield Group(Text(""), Text(section.title, style="dim"))
        for block in found:
            yield _table(block, verbose=True) if isinstance(block, Table) else _grid(block.rows)


def _table(block: Table, verbose: bool) -> RenderableType:
    """A table; columns of words stand left, those of numbers right."""
    made = RichTable(**LOOK, collapse_padding=True)
    for header, is_text in zip(block.columns, block.texts() or [True] * len(block.columns), strict=True):
        side: JustifyMethod = "left" if is_text else "right"
        made.add_column(tamed(header), justify=side, overflow="fold", no_wrap=header in SHORT_COLUMNS)
    shown = None if block.first is None else block.first * (VERBOSE if verbose else 1)
    return _filled(made, block.rows[:shown])


def _grid(facts: Iterable[tuple[str, Words]]) -> RenderableType:
    """Names and facts, a line each."""
    made = RichTable.grid(padding=(0, 2))
    made.add_column(no_wrap=True, style="dim")
    made.add_column(overflow="fold")
    return Padding(_filled(made, facts), (0, 0, 0, 1))


def _filled(made: RichTable, rows: Iterable[Sequence[str | Cell | Words]]) -> RichTable:
    """Rows of plain text: brackets in the name of a column are not markup."""
    for row in rows:
        cells = [one if isinstance(one, Cell) else Cell(one) for one in row]
        made.add_row(*(tamed(one.shown, LOOKS[one.tone].style if one.tone else "") for one in cells))
    return made


def tamed(words: Words, style: str = "") -> Text:
    """A text that commands no terminal, as names in a file may; without its middle, if that is very long."""
    text = "".join(words)
    if len(text) > MAX_CELL:  # rich takes minutes for megabytes
        text = f"{text[: MAX_CELL // 2]} … {text[-MAX_CELL // 2 :]}"
    return Text("".join(one if one.isprintable() or one == "\n" else "\ufffd" for one in text), style)
