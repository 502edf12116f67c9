"""The short form of a report for a notebook: the answer, its numbers, and the chart that shows it."""

from __future__ import annotations

from itertools import count

from ..document import Document
from .charts import figure
from .elements import el, words
from .page import glyph, tile

STYLE = {
    "plain": "#2f7fc8",
    "good": "#00875f",
    "better": "#b05590",
    "spent": "#a56c00",
    "neutral": "#777c85",
    "bad": "#c65313",
    "worst": "currentColor",
}
"""Colours that can be seen on light and on dark, for a notebook does not say which it is."""


def fragment(document: Document) -> str:
    """A piece of a page; what stands in it is the notebook's own ink."""
    tones = "".join(f".dw .{name}{{--tone:{colour}}}" for name, colour in STYLE.items())
    style = (
        ".dw{max-width:34rem;line-height:1.45}.dw p{margin:.2em 0}.dw dl{display:flex;flex-wrap:wrap;gap:.2em 2em;"
        "margin:.6em 0}.dw dl>div{display:block}.dw dd{margin:0}.dw dt,.dw .below,.dw figcaption{opacity:.75;"
        "font-size:.88em}.dw .value{font-weight:600}.dw figure{margin:0}.dw .glyph{width:1em;height:1em;"
        "vertical-align:-.12em;margin-right:.4em}.dw .word{font-weight:600}.dw .mark{fill:var(--tone)}.dw .bar"
        "{stroke:var(--tone);stroke-width:4}.dw .chart{width:100%}.dw .chart text{fill:currentColor;"
        "font-size:12.5px}.dw .grid{stroke:currentColor;opacity:.15}.dw .zero{stroke:currentColor}" + tones
    )
    alarm = [] if document.alarm is None else [el("p", el("strong", words(document.alarm)))]
    chart = [] if document.chart is None else [figure(document.chart, next(count(1)))]
    return el(
        "div",
        el("style", style),
        el("p", glyph(document.tone), document.word, class_="word"),
        el("p", el("strong", words(document.sentence))),
        el("p", words(document.interval)),
        *alarm,
        el("dl", *map(tile, document.figures)),
        *chart,
        class_="dw",
    )
