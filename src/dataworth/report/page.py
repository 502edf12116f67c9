"""Documents as HTML: a page with its style and its script inside, and a short form for notebooks."""

from __future__ import annotations

import base64
import hashlib
from dataclasses import replace
from functools import cache
from importlib.resources import files
from itertools import count
from zlib import crc32

from dataworth.version import __version__

from .document import LOOKS, Block, Cell, Chart, Document, Facts, Name, Section, Table, shortened
from .html import Safe, el, words
from .plot import svg

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
    "test set was not used to make the data, and the checks of the result hold."
)


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
        el("title", f"{document.kind}: {document.answer.word} – dataworth"),
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
            el("p", document.source, class_="subject"),
            el("p", el("time", date), class_="date"),
            el("button", "Dark", type="button", id="theme", hidden=True),
        ),
        el(
            "main",
            _answer(document, numbered),
            el("nav", el("ul", *links), aria_label="On this page"),
            *(_section(one, f"s{i}", numbered) for i, one in enumerate(document.sections, 1)),
            _section(Section("How to read this", (read,)), "words", numbered),
            id="result",
        ),
        el("footer", el("p", f"Made by dataworth {__version__} on {date}. {ENDS}")),
        el("script", Safe(script)),
    )
    return f"<!doctype html>\n{el('html', head, body, lang='en')}\n"


def fragment(document: Document) -> str:
    """The answer, its numbers and its chart, in the notebook's own ink, on light and on dark.

    Nothing in it is an element that notebooks lay out themselves, as they do lists of names and facts.
    """
    key = crc32(repr(document).encode())  # cells of a notebook are one page
    brief = [one.public() for one in document.brief()[0][:1]]
    return el(
        "div",
        el("style", Safe(asset("notebook.css") + asset("chart.css"))),
        *_said(document, "strong"),
        *(table(replace(one, rows=one.rows[: one.first], sorts=False)) for one in brief),
        *(figure(chart, key) for chart in document.charts[:1]),
        class_="dw",
    )


def _said(document: Document, heading: str) -> list[Safe]:
    glyph = el("span", LOOKS[document.answer.tone].emoji, aria_hidden="true")
    told = [
        el("p", glyph, " ", document.answer.word, class_=f"word {document.answer.tone}"),
        el(heading, words(document.answer.sentence)),
        el("p", document.short, class_="interval"),
    ]
    told += [el("p", document.answer.meaning, class_="meaning")] if document.answer.meaning else []
    alarm = [el("strong", "Before you use it. "), document.alarm]
    return [*told, *([el("p", *alarm, class_="alarm")] if document.alarm else [])]


def _answer(document: Document, numbered: count[int]) -> Safe:
    beside = [figure(chart, next(numbered)) for chart in document.charts[:1]]
    hero = el("div", el("div", *_said(document, "h1"), class_="said"), *beside, class_="hero")
    return el("section", hero, class_="answer", aria_label="The answer")


def figure(chart: Chart, number: int) -> Safe:
    """A chart with its caption, which is also its name for those who do not see it."""
    key = f"figure-{number}"
    return el("figure", Safe(svg(chart, key)), el("figcaption", chart.caption, id=key))


def _section(one: Section, key: str, numbered: count[int]) -> Safe:
    blocks = (figure(b, next(numbered)) if isinstance(b, Chart) else shown(b) for b in one.blocks)
    return el("section", el("h2", one.title, id=key), *blocks, aria_labelledby=key)


def shown(block: Block) -> Safe:
    """A block that is no chart."""
    if isinstance(block, Table):
        return table(block.public())
    assert isinstance(block, Facts)
    rows = [piece for name, fact in block.rows for piece in (el("dt", name), el("dd", words(fact)))]
    return el("dl", *rows, class_="facts")


def table(block: Table) -> Safe:
    """A table that scrolls by itself where it is too wide; folded, it is there on request."""
    sides = [None if is_text or not i else "n" for i, is_text in enumerate(block.texts())]
    names = [Name(shortened(name, 40)) if isinstance(name, Name) else name for name in block.columns]
    heads = [el("th", words(n), scope="col", class_=side) for n, side in zip(names, sides, strict=True)]
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
