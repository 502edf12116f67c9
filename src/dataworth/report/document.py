"""What a report says, before it looks like anything: sections of text, tables, facts and charts.

`content/` makes a Document of a result; `html/` and `markdown.py` write it. A chart carries its numbers, and
its caption says what it shows, so that it can be left out where nothing can be drawn.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from .numbers import Interval


class Name(str):
    """A text that is somebody else's: a dataset's, a column's, a file's. It is shown, never trusted."""

    __slots__ = ()


Words = str | Sequence[str]
"""A text, or pieces of it, where names stand in it."""
Tone = Literal["good", "better", "neutral", "spent", "bad", "worst", "plain"]
"""What a verdict is for the reader; each has a colour and a shape."""


class Cell(NamedTuple):
    """What stands in a table where it sorts by a number that it does not show as such."""

    shown: Words
    value: float | None = None


@dataclass(frozen=True, kw_only=True)
class Table:
    """Rows whose first cell names them; columns in `texts` hold words, the others numbers."""

    caption: str
    columns: tuple[str, ...]
    rows: Sequence[Sequence[str | Cell]]
    texts: tuple[str, ...] = ()
    sorts: bool = False
    folded: bool = False


class Facts(NamedTuple):
    """Names and what there is to say of each."""

    rows: Sequence[tuple[str, Words]]


class Paragraph(NamedTuple):
    """A sentence or two."""

    words: Words


class Code(NamedTuple):
    """What can be typed."""

    text: str


class Mark(NamedTuple):
    """A point with its interval on a line of its own."""

    name: str
    value: float
    interval: Interval
    tone: Tone = "plain"


@dataclass(frozen=True, kw_only=True)
class Chart:
    """What all charts have."""

    caption: str
    unit: str


@dataclass(frozen=True, kw_only=True)
class Forest(Chart):
    """Points with intervals, one below the other; with a line at zero where it means something."""

    marks: Sequence[Mark]
    zero: bool = True


@dataclass(frozen=True, kw_only=True)
class Histogram(Chart):
    """How values spread, and their mean."""

    values: Sequence[float]
    mean: float
    interval: Interval
    counted: str
    tone: Tone = "plain"


@dataclass(frozen=True, kw_only=True)
class Quadrants(Chart):
    """Points about zero in two directions; `corners` are named from the upper right, clockwise."""

    points: Sequence[tuple[float, float]]
    mean: tuple[float, float]
    across: str
    corners: tuple[str, str, str, str]
    counted: str
    tone: Tone = "plain"


class Dots(NamedTuple):
    """Points of one kind."""

    name: str
    points: Sequence[tuple[float, float]]
    tone: Tone


@dataclass(frozen=True, kw_only=True)
class Scatter(Chart):
    """Points of several kinds, the last above the others, with a line at height zero."""

    series: Sequence[Dots]
    across: str


class Point(NamedTuple):
    """A place on a line, with its interval."""

    at: float
    value: float
    interval: Interval = None
    said: str = ""


@dataclass(frozen=True, kw_only=True)
class Lines(Chart):
    """Values over something that is shown on a logarithmic scale."""

    lines: Sequence[tuple[str, Sequence[Point]]]
    across: str
    chosen: float | None = None


@dataclass(frozen=True, kw_only=True)
class Bar(Chart):
    """A whole and what it is made of, as one bar."""

    parts: Sequence[tuple[str, float]]


Block = Table | Facts | Paragraph | Code | Forest | Histogram | Quadrants | Scatter | Lines | Bar


@dataclass(frozen=True, kw_only=True)
class Section:
    """One question, and what answers it."""

    title: str
    blocks: Sequence[Block]


class Figure(NamedTuple):
    """One of the few numbers that a reader sees first."""

    name: str
    value: str
    below: str = ""


@dataclass(frozen=True, kw_only=True)
class Document:
    """A report: what it is of, the answer in a word and in a sentence, what that means, and all the rest.

    `alarm` is what must be dealt with before the answer stands; `checked` says whether checks were made.
    """

    kind: str
    subject: Words
    word: str
    tone: Tone
    sentence: Words
    interval: Words
    meaning: str
    alarm: Words | None
    figures: Sequence[Figure]
    sections: Sequence[Section]
    chart: Chart | None = None
    checked: bool = True
