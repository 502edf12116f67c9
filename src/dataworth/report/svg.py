"""HTML and SVG from Python, and charts drawn with them. What is not an element is text, and is escaped.

Colours are classes of the page, so that a chart follows light, dark and print.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from html import escape
from typing import Any, NamedTuple

from .document import LOOKS, Chart, Forest, Mark, Name, Plane, Series, Tone, Words, plain, shortened
from .numbers import number, with_interval

EMPTY = {"meta", "link", "br", "hr", "img", "input"}
WIDTH = 440
"""Of every chart, in its own units; a page shows it as wide as there is room for."""
LEFT, RIGHT, HEIGHT = 48, WIDTH - 8, 260
"""Where a plane begins and ends, and how high it is."""
MAX_LABEL, MAX_MARK = 56, 32
"""Characters of a label, and of a name that has room beside a value."""
Scale = Callable[[float], float]


# --- elements ----------------------------------------------------------------------------------------------


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
    """An element. Names of attributes may end in "_", and other "_" are hyphens; None leaves one out.

    >>> el("p", "a < b", class_="note", data_x=1.5, hidden=True, id=None)
    '<p class="note" data-x="1.5" hidden>a &lt; b</p>'
    """
    told = ""
    for key, value in attributes.items():
        if value is None or value is False:
            continue
        key = key if key == "viewBox" else key.rstrip("_").replace("_", "-")
        shown = f"{value:.6g}" if isinstance(value, float) else escape(plain(str(value)))
        told += f" {key}" if value is True else f' {key}="{shown}"'
    if name in EMPTY:
        return Safe(f"<{name}{told}>")
    return Safe(f"<{name}{told}>{''.join(text(child) for child in children)}</{name}>")


# --- scales and marks --------------------------------------------------------------------------------------


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


def _range_of(values: Iterable[float], margin: float = 0.06, zero: bool = False) -> tuple[float, float]:
    known = [value for value in values if math.isfinite(value)] + ([0.0] if zero else [])
    low, high = (min(known), max(known)) if known else (0.0, 1.0)
    room = (high - low) * margin or abs(high) * margin or 1.0
    return low - room, high + room


def _tick_digits(places: Sequence[float]) -> int:
    step = places[1] - places[0] if len(places) > 1 else abs(places[0]) or 1.0
    return max(0, min(6, -math.floor(math.log10(step) + 1e-9)))


def _label(x: float, y: float, said: str, anchor: str = "start", class_: str | None = None) -> Safe:
    return el("text", shortened(said, MAX_LABEL), x=x, y=y, text_anchor=anchor, class_=class_)


def _line(x1: float, y1: float, x2: float, y2: float, class_: str) -> Safe:
    return el("path", d=f"M{x1} {y1}L{x2} {y2}", class_=class_)


def _mark(places: Sequence[tuple[float, float]], tone: Tone, tip: str = "") -> Safe:
    inside = [el("title", shortened(tip))] if tip else []
    drawn = "".join(f"M{x} {y}{LOOKS[tone].path}" for x, y in places)
    return el("path", *inside, d=drawn, class_=f"mark {tone}")


def _axis_below(at: Scale, places: Sequence[float], y: float, unit: str, log: bool = False) -> list[Safe]:
    said = [f"{value:g}" if log else number(value, _tick_digits(places)) for value in places]
    shown = [_label(at(value), y + 16, one, "middle") for value, one in zip(places, said, strict=True)]
    return [*shown, _label(WIDTH / 2, y + 36, unit, "middle", "unit")]


# --- charts ------------------------------------------------------------------------------------------------


def _interval_mark(one: Mark, at: Scale, y: float, tip: str) -> list[Safe]:
    """A value with its interval, along the axis across."""
    bar = (
        []
        if one.interval is None
        else [_line(at(one.interval[0]), y, at(one.interval[1]), y, f"bar {one.tone}")]
    )
    return [*bar, _mark([(at(one.value), y)], one.tone, tip)]


def forest(chart: Forest) -> tuple[float, list[Safe]]:
    """Each point has two lines: its name and value, and below them the point with its interval."""
    ends = [end for one in chart.marks for end in (one.value, *(one.interval or ()))]
    low, high = _range_of(ends, zero=chart.zero)
    at, step, top = scale(low, high, 10, WIDTH - 10), 46, 6
    bottom = top + step * len(chart.marks)
    places = ticks(low, high)
    pieces = _axis_below(at, places, bottom, chart.unit)
    for place, one in enumerate(chart.marks):
        y = top + step * place + 32
        # names stand between the lines, not on them
        pieces += [_line(at(tick), y - 10, at(tick), y + 14, "grid") for tick in places]
        pieces += [_line(at(0), y - 10, at(0), y + 14, "zero")] if chart.zero else []
        shown = with_interval(one.value, one.interval, sign=chart.zero)
        name = f"{shortened(one.name, MAX_MARK)}{f': {one.beside}' if one.beside else ''}"
        pieces += [
            _label(0, y - 16, name, "start", "over"),
            _label(WIDTH, y - 16, shown, "end", "over strong"),
        ]
        pieces += _interval_mark(one, at, y, f"{one.name}: {shown}")
    return bottom + 44, pieces


class Frame(NamedTuple):
    """Where a plane and its ticks stand."""

    at: Scale
    up: Scale
    top: float
    bottom: float
    x_ticks: Sequence[float]
    y_ticks: Sequence[float]

    @classmethod
    def of(cls, chart: Plane) -> Frame:
        """Room for all that is drawn, and for the legend above it."""
        points = [point for one in chart.series for point in one.points]
        change = math.log10 if chart.log else float
        low, high = _range_of([change(p.x) for p in points], zero=chart.x_zero)
        least, most = _range_of([y for p in points for y in (p.y, *(p.interval or ()))], 0.1, zero=True)
        top = 30.0 + 18 * len(chart.legend)
        across = scale(low, high, LEFT, RIGHT)

        def at(x: float) -> float:
            return across(change(x))

        x_ticks = _apart([p.x for p in points], at) if chart.log else ticks(low, high)
        up = scale(least, most, top + HEIGHT, top)
        return cls(at, up, top, top + HEIGHT, x_ticks, ticks(least, most))


def _apart(xs: Sequence[float], at: Scale) -> list[float]:
    """Places of points on a logarithmic scale that leave room for their numbers."""
    shown: list[float] = []
    for x in sorted(set(xs)):
        if not shown or at(x) - at(shown[-1]) > 30:
            shown.append(x)
    return shown


def plane(chart: Plane) -> tuple[float, list[Safe]]:
    """Series between two axes, with a legend above."""
    frame = Frame.of(chart)
    top, bottom = frame.top, frame.bottom
    pieces = backdrop(chart, frame)
    pieces += [piece for one in chart.series for piece in series(one, frame)]
    for i, named in enumerate(chart.legend):
        pieces += [_mark([(LEFT + 6, 24 + 18 * i)], named.tone)]
        pieces += [_label(LEFT + 18, 28 + 18 * i, named.name, "start", "over")]
    corners = [(RIGHT - 4, top + 14, "end"), (RIGHT - 4, bottom - 8, "end")]
    corners += [(LEFT + 4, bottom - 8, "start"), (LEFT + 4, top + 14, "start")]
    for (x, y, anchor), said in zip(corners, chart.corners, strict=False):
        pieces.append(_label(x, y, said, anchor, "over corner"))
    return bottom + 44, pieces


def backdrop(chart: Plane, frame: Frame) -> list[Safe]:
    """What stands behind the data: shades, axes, and lines at zero and at what was chosen."""
    at, up, top, bottom = frame[:4]
    pieces = []
    if chart.corners:
        sides = {"width": round(RIGHT - at(0), 1), "height": round(bottom - up(0), 1)}
        pieces.append(el("rect", x=at(0), y=up(0), **sides, class_="shade"))
    for y in frame.y_ticks:
        shown = number(y, _tick_digits(frame.y_ticks))
        pieces += [_line(LEFT, up(y), RIGHT, up(y), "grid"), _label(LEFT - 6, up(y) + 4, shown, "end")]
    pieces += _axis_below(at, frame.x_ticks, bottom, chart.across, chart.log)
    pieces.append(_label(0, 10, chart.unit, "start", "unit"))
    pieces += [_line(at(0), top, at(0), bottom, "zero")] if chart.x_zero else []
    pieces.append(_line(LEFT, up(0), RIGHT, up(0), "zero"))
    if chart.chosen is not None:
        pieces.append(_line(at(chart.chosen), top, at(chart.chosen), bottom, "chosen"))
        pieces.append(_label(at(chart.chosen), top - 4, "chosen", "middle", "over"))
    return pieces


def series(one: Series, frame: Frame) -> list[Safe]:
    """Points of one kind: faint dots, or marks with intervals, which a line may join."""
    at, up = frame.at, frame.up
    known = [p for p in one.points if math.isfinite(p.x + p.y)]
    pieces = []
    if one.joined:
        path = "L".join(f"{at(p.x)} {up(p.y)}" for p in known)
        pieces.append(el("path", d=f"M{path}", class_=f"line {one.tone}"))
    for p in known:
        if p.interval is not None:
            low, high = map(up, p.interval)
            pieces.append(_line(at(p.x), low, at(p.x), high, f"whisker {one.tone}"))
        if p.tip and one.faint:
            pieces.append(el("circle", el("title", p.tip), cx=at(p.x), cy=up(p.y), r=3, class_="dot"))
        elif p.tip:
            pieces.append(_mark([(at(p.x), up(p.y))], one.tone, f"{one.name} {p.tip}".strip()))
    places = [(at(p.x), up(p.y)) for p in known if not p.tip]
    if places and one.faint:  # many dots as one path: a page stays small
        pieces.append(el("path", d="".join(f"M{x} {y}h0" for x, y in places), class_="dots"))
    elif places:
        pieces.append(_mark(places, one.tone))
    return pieces


DRAWN: dict[type, Callable[[Any], tuple[float, list[Safe]]]] = {Forest: forest, Plane: plane}


def figure(chart: Chart, key: int) -> Safe:
    """A chart with its caption, which is also its name for those who do not see it."""
    caption = f"figure-{key}"
    height, pieces = DRAWN[type(chart)](chart)
    size = {"viewBox": f"0 0 {WIDTH} {height:g}", "role": "img", "aria_labelledby": caption}
    drawn = el("svg", *pieces, **size, class_="dw-chart")
    return el("figure", drawn, el("figcaption", chart.caption, id=caption))
