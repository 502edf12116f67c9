"""The short form of a report for a notebook: the answer, its numbers, and the chart that shows it.

Its colours can be seen on light and on dark, for a notebook does not say which it is.
"""

from __future__ import annotations

from zlib import crc32

from ..document import Document
from .charts import figure
from .elements import Safe, el, words
from .page import asset, glyph, tile


def fragment(document: Document) -> str:
    """A piece of a page, in the notebook's own ink."""
    number = crc32(repr(document).encode())  # cells of a notebook are one page
    return el(
        "div",
        el("style", Safe(asset("fragment.css"))),
        el("p", glyph(document.tone), document.word, class_="word"),
        el("p", el("strong", words(document.sentence))),
        el("p", words(document.interval)),
        *([] if document.alarm is None else [el("p", el("strong", words(document.alarm)))]),
        el("dl", *map(tile, document.figures)),
        *([] if document.chart is None else [figure(document.chart, number)]),
        class_="dw",
    )
