"""A report as Markdown, for a pull request: the answer and the tables; charts are told by their captions."""

from __future__ import annotations

import re
from html import escape

from dataworth.version import __version__

from .document import (
    Block,
    Cell,
    Chart,
    Code,
    Document,
    Facts,
    Name,
    Paragraph,
    Section,
    Table,
    Words,
    plain,
    shortened,
)

SPECIAL = re.compile(r"([\\`*_\[\]|~#])")
MAX_ROWS = 40
"""Rows of a table beyond which only its first ones are shown: more is no reading for a pull request."""
MARKS = {
    "good": "🟢",
    "better": "🟣",
    "spent": "🟡",
    "cost": "🟤",
    "neutral": "⚪",
    "bad": "🔶",
    "worst": "⚫",
    "plain": "🔵",
}


def text(value: str) -> str:
    """A text that is nothing but text: no markup, no mention, one line.

    >>> text("a|b <i>@me")
    'a\\\\|b &lt;i&gt;@\\u200bme'
    """
    value = " ".join(plain(value).split())
    return SPECIAL.sub(r"\\\1", escape(value, quote=False)).replace("@", "@\u200b")


def words(value: Words) -> str:
    """A text with names in it."""
    pieces = [value] if isinstance(value, str) else value
    return "".join(_spaced(p) if not isinstance(p, Name) else text(shortened(p)) for p in pieces)


def markdown(document: Document, date: str) -> str:
    """The whole report; everything but the answer is folded."""
    lines = [
        f"## {MARKS[document.tone]} {document.kind}: {text(document.word)}",
        f"**{words(document.sentence)}**",
    ]
    lines += [words(document.interval)] if document.interval else []
    lines += [f"*What it means:* {text(document.meaning)}"] if document.meaning else []
    if document.alarm is not None:
        lines.append(f"> **Before you use it.** {words(document.alarm)}")
    tiles = [(one.name, one.value + (f" ({one.below})" if one.below else "")) for one in document.tiles]
    lines += [table(Table(caption="", columns=("", ""), rows=tiles))] if tiles else []
    lines += [folded(one) for one in document.sections]
    lines.append(f"<sub>{words(document.subject)} · {text(date)} · dataworth {__version__}</sub>")
    return "\n\n".join(lines) + "\n"


def folded(section: Section) -> str:
    """A section behind its title."""
    inside = "\n\n".join(told for block in section.blocks if (told := shown(block)))
    return f"<details><summary>{escape(section.title)}</summary>\n\n{inside}\n\n</details>"


def shown(block: Block) -> str:
    """A block."""
    if isinstance(block, Chart):
        return f"*{text(block.caption)}*"
    if isinstance(block, Table):
        return table(block.public())
    if isinstance(block, Facts):
        return "\n".join(f"- **{text(name)}:** {words(said)}" for name, said in block.rows)
    if isinstance(block, Code):
        fence = "`" * max(3, 1 + max(map(len, re.findall("`+", block.text)), default=0))
        return f"{fence}sh\n{plain(block.text)}\n{fence}"
    assert isinstance(block, Paragraph)
    return words(block.words)


def table(block: Table) -> str:
    """Its caption, and a row a line; of a long one the first rows that a terminal would show, if any."""
    shown = block.rows if len(block.rows) <= MAX_ROWS else block.rows[: block.first or 0]
    if not shown:
        return ""
    sides = [":--" if name in block.texts or not i else "--:" for i, name in enumerate(block.columns)]
    rows = [[words((one.shown if isinstance(one, Cell) else one) or "–") for one in row] for row in shown]
    lines = [[words(name) for name in block.columns], sides, *rows]
    caption = f"{text(block.caption)}\n\n" if block.caption else ""
    return caption + "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _spaced(piece: str) -> str:
    """A piece between names keeps the spaces at its ends."""
    start, end = piece[: len(piece) - len(piece.lstrip())], piece[len(piece.rstrip()) :]
    return f"{start}{text(piece)}{end}" if piece.strip() else " "
