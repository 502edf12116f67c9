"""Documents as HTML: a page with its style and its script inside, and a short form for notebooks."""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from importlib.resources import files
from itertools import count
from zlib import crc32

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
    Tile,
    shortened,
)
from .svg import ROUND, SHAPES, Safe, el, figure, words

READ = (
    (
        "PMI",
        "pointwise mutual information of the data and the test set: how much better the test labels are "
        "predicted with the data than without any",
    ),
    ("nat", "its unit; +0.1 nats a test row is about 10 % more probability on the right answer"),
    ("block", "a part of the test set that is scored by itself; how much blocks differ gives the interval"),
    ("95 % interval", "made so that it holds the true value in 95 of 100 such measurements"),
)
CONTROL = (
    "control",
    "what anybody could have had without knowing anything new: as many rows removed at random, or the best "
    "that models of the data themselves could do",
)
ENDS = (
    "Numbers on this page are sums over blocks of rows; no row of the data is in it. What they need: the "
    "test set was not used to make the data"
)
HOLD = ", and the checks above hold"


@cache
def asset(name: str) -> str:
    """A style, or the script."""
    return files("dataworth.report").joinpath(name).read_text(encoding="utf-8")


def page(document: Document, date: str) -> str:
    """The whole page."""
    script, style = asset("page.js"), asset("page.css") + asset("chart.css")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'; base-uri 'none'"
    numbered = count(1)
    head = el(
        "head",
        el("meta", charset="utf-8"),
        el("meta", http_equiv="Content-Security-Policy", content=policy),
        el("meta", name="viewport", content="width=device-width, initial-scale=1"),
        el("meta", name="color-scheme", content="light dark"),
        el("meta", name="generator", content=f"dataworth {__version__}"),
        el("title", f"{document.kind}: {document.word} – dataworth"),
        el("style", Safe(style)),
    )
    links = [el("li", el("a", one.title, href=f"#s{i}")) for i, one in enumerate(document.sections, 1)]
    read = Facts([*READ, CONTROL] if document.kind == "Audit" else READ)
    body = el(
        "body",
        el("a", "Skip to the result", href="#result", class_="skip"),
        el(
            "header",
            el("p", el("strong", "dataworth"), f" {document.kind.lower()}", class_="brand"),
            el("p", words(document.subject), class_="subject"),
            el("p", el("time", date), class_="date"),
            el("button", "Dark", type="button", id="theme", hidden=True),
        ),
        el(
            "main",
            answer(document, numbered),
            el("nav", el("ul", *links), aria_label="On this page"),
            *(section(one, f"s{i}", numbered) for i, one in enumerate(document.sections, 1)),
            section(Section(title="How to read this", blocks=(read,)), "words", numbered),
            id="result",
        ),
        el(
            "footer",
            el("p", f"Made by dataworth {__version__} on {date}. {ENDS}{HOLD if document.checked else ''}."),
        ),
        el("div", id="tip", hidden=True),
        el("script", Safe(script)),
    )
    return f"<!doctype html>\n{el('html', head, body, lang='en')}\n"


def fragment(document: Document) -> str:
    """The answer, its numbers and its chart, in the notebook's own ink, on light and on dark.

    Nothing in it is an element that notebooks lay out themselves, as they do lists of names and facts.
    """
    key = crc32(repr(document).encode())  # cells of a notebook are one page
    told = [document.sentence, document.interval, document.meaning]
    return el(
        "div",
        el("style", Safe(asset("notebook.css") + asset("chart.css"))),
        el("p", glyph(document.tone), document.word, class_="word"),
        *(el("p", el("strong", words(one)) if not i else words(one)) for i, one in enumerate(told) if one),
        *([] if document.alarm is None else [el("p", el("strong", words(document.alarm)))]),
        tiles(document),
        *(figure(chart, key) for chart in document.charts[:1]),
        class_="dw",
    )


def glyph(tone: str) -> Safe:
    """The shape of a tone, beside its word."""
    shape = el("path", d=SHAPES.get(tone, ROUND), class_=f"mark {tone}")
    return el("svg", shape, viewBox="-8 -8 16 16", class_="glyph", aria_hidden="true")


def answer(document: Document, numbered: count[int]) -> Safe:
    """The answer in a word, a sentence and a few numbers, with the chart that shows it."""
    told = [
        el("p", glyph(document.tone), document.word, class_=f"word {document.tone}"),
        el("h1", words(document.sentence)),
    ]
    for said, class_ in ((document.interval, "interval"), (document.meaning, "meaning")):
        told += [el("p", words(said), class_=class_)] if said else []
    if document.alarm is not None:
        told.append(el("p", el("strong", "Before you use it. "), words(document.alarm), class_="alarm"))
    beside = [figure(chart, next(numbered)) for chart in document.charts[:1]]
    return el(
        "section",
        el("div", el("div", *told, class_="said"), *beside, class_="hero"),
        tiles(document),
        class_="answer",
        aria_label="The answer",
    )


def tiles(document: Document) -> Safe:
    """The few numbers that a reader sees first."""

    def tile(one: Tile) -> Safe:
        lines = {"name": one.name, "value": one.value, "below": one.below}
        return el("div", *(el("div", said, class_=class_) for class_, said in lines.items() if said))

    return el("div", *map(tile, document.tiles), class_="tiles") if document.tiles else Safe("")


def section(one: Section, key: str, numbered: count[int]) -> Safe:
    """A section; charts that follow each other stand side by side where there is room."""
    pieces: list[Safe] = []
    row: list[Safe] = []
    later: list[Safe] = []  # folded tables of charts stand below the row
    for block in one.blocks:
        if isinstance(block, Chart):
            row.append(figure(block, next(numbered)))
            continue
        if row and isinstance(block, Table) and block.folded:
            later.append(shown(block))
            continue
        pieces += [*charts(row), *later, shown(block)]
        row, later = [], []
    pieces += [*charts(row), *later]
    return el("section", el("h2", one.title, id=key), *pieces, aria_labelledby=key)


def charts(row: list[Safe]) -> list[Safe]:
    """Charts in a row."""
    return [el("div", *row, class_="charts")] if row else []


def shown(block: Block) -> Safe:
    """A block that is no chart."""
    if isinstance(block, Table):
        return table(block.public())
    if isinstance(block, Facts):
        rows = [piece for name, said in block.rows for piece in (el("dt", name), el("dd", words(said)))]
        return el("dl", *rows, class_="facts")
    if isinstance(block, Code):
        return el("pre", el("code", block.text))
    assert isinstance(block, Paragraph)
    return el("p", words(block.words))


def table(block: Table) -> Safe:
    """A table that scrolls by itself where it is too wide; folded, it is there on request."""
    sides = [None if name in block.texts or not i else "n" for i, name in enumerate(block.columns)]
    heads = [
        el(
            "th",
            words(Name(shortened(name, 40)) if isinstance(name, Name) else name),
            scope="col",
            class_=side,
        )
        for name, side in zip(block.columns, sides, strict=True)
    ]
    rows = []
    for row in block.rows:
        first, *others = [one if isinstance(one, Cell) else Cell(one) for one in row]
        told = [el("th", words(first.shown), scope="row", data_v=first.value)]
        told += [
            el("td", words(one.shown or "–"), class_=side, data_v=one.value)
            for one, side in zip(others, sides[1:], strict=True)
        ]
        rows.append(el("tr", *told))
    made = el(
        "table",
        el("caption", block.caption),
        el("thead", el("tr", *heads)),
        el("tbody", *rows),
        class_="sorts" if block.sorts else None,
    )
    region = el("div", made, class_="scroll", role="region", aria_label=block.caption, tabindex="0")
    return el("details", el("summary", f"Table: {block.caption}"), region) if block.folded else region
