"""A report as Markdown, for a pull request: the answer and the tables; charts are told by their captions."""

from __future__ import annotations

import re
from html import escape

from dataworth.version import __version__

from .document import LOOKS, Block, Cell, Chart, Document, Name, Section, Table, Words, plain, shortened

SPECIAL = re.compile(r"([\\`*_\[\]|~#])")
MAX_ROWS = 40
"""Rows of a table beyond which only its first ones are shown: more is no reading for a pull request."""


def text(value: str) -> str:
    """A text that is nothing but text: no markup, no mention, one line."""
    value = " ".join(plain(value).split())
    return SPECIAL.sub(r"\\\1", escape(value, quote=False)).replace("@", "@\u200b")


def words(value: Words) -> str:
    """A text with names in it."""
    pieces = [value] if isinstance(value, str) else value
    return "".join(_spaced(p) if not isinstance(p, Name) else text(shortened(p)) for p in pieces)


def markdown(document: Document, date: str) -> str:
    """The whole report; everything but the answer is folded."""
    lines = [
        f"## {LOOKS[document.answer.tone].emoji} {document.kind}: {text(document.answer.word)}",
        f"**{words(document.answer.sentence)}**",
        text(document.short),
    ]
    lines += [f"*What it means:* {text(document.answer.meaning)}"] if document.answer.meaning else []
    lines += [f"> **Before you use it.** {text(document.alarm)}"] if document.alarm else []
    lines += [folded(one) for one in document.sections]
    lines.append(f"<sub>{text(document.source)} · {text(date)} · dataworth {__version__}</sub>")
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
    return "\n".join(f"- **{text(name)}:** {words(said)}" for name, said in block.rows)


def table(block: Table) -> str:
    """Its caption, and a row a line; of a long one the first rows that a terminal would show, if any."""
    shown = block.rows if len(block.rows) <= MAX_ROWS else block.rows[: block.first or 0]
    if not shown:
        return ""
    sides = [":--" if is_text or not i else "--:" for i, is_text in enumerate(block.texts())]
    rows = [[words((one.shown if isinstance(one, Cell) else one) or "–") for one in row] for row in shown]
    lines = [[words(name) for name in block.columns], sides, *rows]
    caption = f"{text(block.caption)}\n\n" if block.caption else ""
    return caption + "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _spaced(piece: str) -> str:
    """A piece between names keeps the spaces at its ends."""
    start, end = piece[: len(piece) - len(piece.lstrip())], piece[len(piece.rstrip()) :]
    return f"{start}{text(piece)}{end}" if piece.strip() else " "
