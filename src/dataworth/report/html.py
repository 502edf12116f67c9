"""HTML from Python. What is not an element is text, and is escaped."""

from __future__ import annotations

from html import escape
from typing import Any

from .document import Name, Words, plain, shortened

EMPTY = {"meta", "link", "br", "hr", "img", "input"}


class Safe(str):
    """A piece of a page."""

    __slots__ = ()


def text(value: str) -> Safe:
    """A text of a page."""
    return value if isinstance(value, Safe) else Safe(escape(plain(value)).replace(" %", "\u00a0%"))


def words(value: Words) -> Safe:
    """A text with names in it; names read in their own direction."""
    pieces = [value] if isinstance(value, str) else value
    return Safe("".join(el("bdi", shortened(p)) if isinstance(p, Name) else text(p) for p in pieces))


def el(name: str, /, *children: str, **attributes: Any) -> Safe:
    """An element. Names of attributes may end in "_", and other "_" are hyphens; None leaves one out."""
    told = ""
    for key, value in attributes.items():
        if value is None or value is False:
            continue
        key = key.rstrip("_").replace("_", "-")
        shown = f"{value:.6g}" if isinstance(value, float) else escape(plain(str(value)))
        told += f" {key}" if value is True else f' {key}="{shown}"'
    if name in EMPTY:
        return Safe(f"<{name}{told}>")
    return Safe(f"<{name}{told}>{''.join(text(child) for child in children)}</{name}>")
