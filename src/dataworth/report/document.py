"""What a result says, before it looks like anything: sections of text, tables, facts and charts.

`documents/` makes one Document of each kind of result; `terminal.py`, `page.py` and `markdown.py` write it,
and `plot.py` draws its charts. A chart is data, and its caption says what it shows, so that it
can be left out where nothing can be drawn.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

Interval = Sequence[float] | None
Tone = Literal["good", "better", "neutral", "spent", "cost", "bad", "worst", "plain"]
"""What a verdict is for the reader."""


class Look(NamedTuple):
    """How a tone looks: on a terminal, in a figure (a colour of Okabe and Ito, a shape), and in a word."""

    style: str
    colour: str
    shape: str
    emoji: str


LOOKS: dict[Tone, Look] = {
    "plain": Look("bold", "#0072B2", "o", "🔵"),
    "good": Look("bold green", "#009E73", "^", "🟢"),
    "better": Look("bold cyan", "#CC79A7", "P", "🟣"),
    "spent": Look("bold yellow", "#56B4E9", "p", "🟡"),
    "neutral": Look("bold", "#777777", "s", "⚪"),
    "cost": Look("bold yellow", "#E69F00", "v", "🟤"),
    "bad": Look("bold red", "#D55E00", "D", "🔶"),
    "worst": Look("bold red", "#000000", "X", "⚫"),
}
VERDICT_TONES: dict[str | None, Tone] = {
    "informative": "good",
    "improved": "better",
    "recycled": "spent",
    "inconclusive": "neutral",
    "unchanged": "plain",
    "costly": "cost",
    "strategic": "bad",
    "harmful": "worst",
}
Level = Literal["brief", "verbose", "page"]
"""Where a block is shown: on every terminal, on one that asks for details (-v), or in reports only. Reports
show all levels."""
MAX_NAME = 120
"""Characters of a name of others that are shown."""
MAX_LINE = 300
"""Characters of a line in reports and figures; names in it may be very long."""
NUMBER = re.compile(r"[+−]?\d[\d.,e+−]*(%| \*| ±.*| \[.*| no interval)?|–?")
"""A number with its error or interval, or nothing, as a cell of a table."""
UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufeff]")
"""Characters that turn text around, or that a page cannot hold."""


class Name(str):
    """A text that others chose: the name of a dataset, a column, a file. It is shown, never trusted."""

    __slots__ = ()


Words = str | Sequence[str]
"""A text, or pieces of it, where names stand in it."""


def plain(value: str) -> str:
    """A text whose unseen characters are spelt out."""
    return UNSEEN.sub(lambda found: f"\\u{ord(found[0]):04x}", value)


def shortened(name: str, longest: int = MAX_NAME) -> str:
    """A name with its middle left out, if it is very long."""
    half = (longest - 1) // 2
    return name if len(name) <= longest else f"{name[: longest - 1 - half]}…{name[-half:]}"


def names(given: Sequence[str], between: str = ", ") -> list[str]:
    """Names as pieces of a text, with something between them."""
    return [piece for name in given for piece in (between, Name(name))][1:]


# --- blocks ------------------------------------------------------------------------------------------------


class Cell(NamedTuple):
    """A cell that sorts by a number, or has the colour of a tone."""

    shown: Words
    value: float | None = None
    tone: Tone | None = None


@dataclass(frozen=True)
class Table:
    """Rows whose first cell names them.

    first: rows that a terminal shows (three times as many with -v); all if it is None.
    private: columns that stay on the terminal, such as ids of rows.
    """

    caption: str
    columns: tuple[str, ...]
    rows: Sequence[Sequence[str | Cell]]
    level: Level = "page"
    first: int | None = None
    private: tuple[str, ...] = ()
    sorts: bool = False
    folded: bool = False

    def texts(self) -> list[bool]:
        """Which columns hold words; the others hold numbers."""
        shown = [["".join(one.shown if isinstance(one, Cell) else one) for one in row] for row in self.rows]
        return [not all(map(NUMBER.fullmatch, cells)) for cells in zip(*shown, strict=True)]

    def public(self) -> Table:
        """The table without its private columns."""
        kept = [i for i, name in enumerate(self.columns) if name not in self.private]
        columns, *rows = ([row[i] for i in kept] for row in (self.columns, *self.rows))
        return replace(self, columns=tuple(map(str, columns)), rows=rows)


class Facts(NamedTuple):
    """Names and what there is to say of each."""

    rows: Sequence[tuple[str, Words]]
    level: Level = "page"


# --- charts ------------------------------------------------------------------------------------------------


class Mark(NamedTuple):
    """A point with its interval on a line of its own; `beside` is a word that belongs to it."""

    name: str
    value: float
    interval: Interval
    tone: Tone = "plain"
    beside: str = ""


class Point(NamedTuple):
    """A place in a plane, with an interval of its height."""

    x: float
    y: float
    interval: Interval = None


class Series(NamedTuple):
    """Points of one kind: joined by a line, or small and faint where there are many."""

    name: str
    points: Sequence[Point]
    tone: Tone = "plain"
    joined: bool = False
    faint: bool = False


@dataclass(frozen=True)
class Chart:
    """What all charts have; `unit` is what their values count."""

    caption: str
    unit: str


@dataclass(frozen=True)
class Forest(Chart):
    """Points with intervals, one below the other; with a line at zero where zero has a meaning."""

    marks: Sequence[Mark]
    zero: bool = True


@dataclass(frozen=True)
class Plane(Chart):
    """Series over an axis `across`; the height counts `unit`.

    log: the axis across is logarithmic.
    x_zero: also a line at zero of the axis across.
    corners: names of the quadrants from the upper right, clockwise.
    chosen: a dashed line at a place of the axis across.
    """

    across: str
    series: Sequence[Series]
    log: bool = False
    x_zero: bool = False
    corners: Sequence[str] = ()
    chosen: float | None = None


Block = Table | Facts | Chart


class Section(NamedTuple):
    """One question, and what answers it."""

    title: str
    blocks: Sequence[Block]


class Answer(NamedTuple):
    """A result in a word, with its tone, in a sentence, and what that means for the reader."""

    word: str
    tone: Tone
    sentence: Words
    meaning: str = ""


@dataclass(frozen=True, kw_only=True)
class Document:
    """A result: the answer in a line, a word and a sentence, what that means, and all the rest.

    line: the result in one line.
    headline, question: what a terminal shows first; without a headline the line is it.
    answer: what a report shows first, with the line.
    alarm: what must be dealt with before the answer stands.
    charts: what `plot` draws; a report shows the first beside the answer.
    source: what was measured on what.
    """

    kind: str
    line: str
    answer: Answer
    sections: Sequence[Section]
    headline: str = ""
    question: str = ""
    alarm: str = ""
    charts: Sequence[Chart] = ()
    source: str = ""

    @property
    def title(self) -> str:
        """The headline, or the line as a sentence."""
        return self.headline or f"{self.line}."

    @property
    def short(self) -> str:
        """The line, as reports show it."""
        return shortened(self.line, MAX_LINE)

    def brief(self) -> tuple[list[Table], list[tuple[str, Words]]]:
        """The tables, and all facts, that every terminal shows."""
        blocks = [one for section in self.sections for one in section.blocks if not isinstance(one, Chart)]
        shown = [one for one in blocks if one.level == "brief"]
        facts = [row for one in shown if isinstance(one, Facts) for row in one.rows]
        return [one for one in shown if isinstance(one, Table)], facts
