"""The few things that charts are drawn with: scales, ticks, axes, marks. Colours are classes of the page."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from ..numbers import number
from .elements import Safe, el, join, shortened

WIDTH = 440
"""Of every chart, in its own units; a page shows it as wide as there is room for."""
SHAPES = {
    "good": "M0-6 6 5-6 5Z",
    "better": "M-2-6H2V-2H6V2H2V6H-2V2H-6V-2H-2Z",
    "neutral": "M-5-5H5V5H-5Z",
    "bad": "M0-7 6 0 0 7-6 0Z",
    "worst": "M-5-7 0-2 5-7 7-5 2 0 7 5 5 7 0 2-5 7-7 5-2 0-7-5Z",
}
ROUND = "M-5 0A5 5 0 1 1 5 0A5 5 0 1 1-5 0Z"
SERIES = ("plain", "bad", "good", "better", "spent", "neutral", "worst", "plain")
"""Tones of lines in a chart of several."""
Scale = Callable[[float], float]


def scale(low: float, high: float, start: float, end: float) -> Scale:
    """From values to places.

    >>> scale(0.0, 2.0, 100.0, 200.0)(1.0)
    150.0
    """
    width = (high - low) or 1.0
    return lambda value: round(start + (value - low) / width * (end - start), 1)


def ticks(low: float, high: float, most: int = 5) -> list[float]:
    """Round numbers in a range, at most so many or one more.

    >>> ticks(-0.3, 1.1), ticks(0, 100, 4)
    ([0.0, 0.5, 1.0], [0.0, 50.0, 100.0])
    """
    if not math.isfinite(high - low) or high <= low:
        return [low]
    rough = (high - low) / most
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * times for times in (1, 2, 5, 10) if power * times >= rough * 0.999)
    first = math.ceil(low / step - 1e-9)
    return [round(i * step, 10) + 0.0 for i in range(first, math.floor(high / step + 1e-9) + 1)]


def range_of(values: Iterable[float], margin: float = 0.06, zero: bool = False) -> tuple[float, float]:
    """Lowest and highest, with some room."""
    known = [value for value in values if math.isfinite(value)] + ([0.0] if zero else [])
    low, high = (min(known), max(known)) if known else (0.0, 1.0)
    room = (high - low) * margin or abs(high) * margin or 1.0
    return low - room, high + room


def tick_digits(places: Sequence[float]) -> int:
    """Digits that tell ticks apart."""
    step = places[1] - places[0] if len(places) > 1 else abs(places[0]) or 1.0
    return max(0, min(6, -math.floor(math.log10(step) + 1e-9)))


def label(x: float, y: float, said: str, anchor: str = "start", class_: str | None = None) -> Safe:
    """Words at a place; very long ones are cut."""
    return el("text", shortened(said, 56), x=x, y=y, text_anchor=anchor, class_=class_)


def line(x1: float, y1: float, x2: float, y2: float, class_: str) -> Safe:
    """A straight line."""
    return el("path", d=f"M{x1} {y1}L{x2} {y2}", class_=class_)


def mark(x: float, y: float, tone: str, tip: str | None = None) -> Safe:
    """A point in the shape of its tone."""
    inside = [] if tip is None else [el("title", shortened(tip))]
    shape = SHAPES.get(tone, ROUND)
    return el("path", *inside, d=shape, transform=f"translate({x} {y})", class_=f"mark {tone}")


def axis_below(at: Scale, places: Sequence[float], y: float, unit: str, top: float, said: Any = None) -> Safe:
    """Ticks, faint lines above them, and what they count."""
    digits = tick_digits(places)
    pieces = []
    for value in places:
        x = at(value)
        pieces += [
            line(x, top, x, y, "grid"),
            label(x, y + 16, said(value) if said else number(value, digits), "middle"),
        ]
    return join([*pieces, label(WIDTH / 2, y + 36, unit, "middle", "unit")])


def axis_beside(at: Scale, places: Sequence[float], x: float, right: float, unit: str, top: float) -> Safe:
    """The same at the left side; the unit stands above."""
    digits = tick_digits(places)
    pieces = []
    for value in places:
        pieces += [
            line(x, at(value), right, at(value), "grid"),
            label(x - 6, at(value) + 4, number(value, digits), "end"),
        ]
    return join([*pieces, label(0, top - 10, unit, "start", "unit")])


def drawing(height: float, caption: str, *pieces: str) -> Safe:
    """A chart of a height; its caption stands beside it."""
    return el(
        "svg", *pieces, viewBox=f"0 0 {WIDTH} {height}", role="img", aria_labelledby=caption, class_="chart"
    )
