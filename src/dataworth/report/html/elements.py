"""HTML and SVG from Python: whatever is not already an element is text, and is escaped."""

from __future__ import annotations

import re
from html import escape
from typing import Any

from ..document import Name, Words

LONGEST = 120
"""Characters of somebody else's name that are shown."""
UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufeff]")
"""Characters that turn text around, or that a page cannot hold."""
EMPTY = {"meta", "link", "br", "hr", "img", "input"}


class Safe(str):
    """A piece of a page."""

    __slots__ = ()


def plain(value: str) -> str:
    """A text whose unseen characters are spelt out.

    >>> plain("a\\u202eb")
    'a\\\\u202eb'
    """
    return UNSEEN.sub(lambda found: f"\\u{ord(found[0]):04x}", value)


def shortened(name: str, longest: int = LONGEST) -> str:
    """A name with its middle left out, if it is very long.

    >>> shortened("abcdefghij", 7)
    'abc…hij'
    """
    half = (longest - 1) // 2
    return name if len(name) <= longest else f"{name[: longest - 1 - half]}…{name[-half:]}"


def text(value: str) -> Safe:
    """A text of a page."""
    return value if isinstance(value, Safe) else Safe(escape(plain(value)).replace(" %", "\u00a0%"))


def words(value: Words) -> Safe:
    """A text with names in it; names read in their own direction."""
    pieces = [value] if isinstance(value, str) else value
    return Safe("".join(el("bdi", shortened(p)) if isinstance(p, Name) else text(p) for p in pieces))


def el(name: str, /, *children: str, **attributes: Any) -> Safe:
    """An element. Names of attributes may end in "_", and other "_" are hyphens; None leaves one out.

    >>> el("p", "a < b", class_="note", data_x=1.5, hidden=True, id=None)
    '<p class="note" data-x="1.5" hidden>a &lt; b</p>'
    """
    told = ""
    for key, value in attributes.items():
        if value is None or value is False:
            continue
        key = key.rstrip("_")
        key = key if key in ("viewBox",) else key.replace("_", "-")
        told += f" {key}" if value is True else f' {key}="{escape(plain(str(value)))}"'
    if name in EMPTY:
        return Safe(f"<{name}{told}>")
    return Safe(f"<{name}{told}>{''.join(text(child) for child in children)}</{name}>")


def join(pieces: Any) -> Safe:
    """Pieces one after the other."""
    return Safe("".join(text(piece) for piece in pieces))
