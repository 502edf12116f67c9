"""Charts as SVG, one function a kind."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..document import Bar, Chart, Forest, Histogram, Lines, Quadrants, Scatter
from ..numbers import digits_for, number, with_interval
from .elements import Safe, el, join, shortened
from .svg import (
    SERIES,
    WIDTH,
    axis_below,
    axis_beside,
    drawing,
    label,
    line,
    mark,
    range_of,
    scale,
    ticks,
)

MOST_BINS = 32
NAMED = 32
"""Characters of a name that have room beside a value."""


def forest(chart: Forest, caption: str) -> Safe:
    """Each point has two lines: its name and value, and below them the point with its interval."""
    ends = [end for one in chart.marks for end in (one.value, *(one.interval or ()))]
    low, high = range_of(ends, zero=chart.zero)
    at, step, top = scale(low, high, 10, WIDTH - 10), 46, 6
    bottom = top + step * len(chart.marks)
    places = ticks(low, high)
    pieces = [axis_below(at, places, bottom, chart.unit, bottom)]
    for place, one in enumerate(chart.marks):
        y = top + step * place + 32
        # names stand between the lines, not on them
        pieces += [line(at(tick), y - 10, at(tick), y + 14, "grid") for tick in places]
        pieces += [line(at(0), y - 10, at(0), y + 14, "zero")] if chart.zero else []
        shown = with_interval(one.value, one.interval, sign=chart.zero)
        pieces += [
            label(0, y - 16, shortened(one.name, NAMED), "start", "over"),
            label(WIDTH, y - 16, shown, "end", "over strong"),
        ]
        if one.interval is not None:
            pieces.append(line(at(one.interval[0]), y, at(one.interval[1]), y, f"bar {one.tone}"))
        pieces.append(mark(at(one.value), y, one.tone, f"{one.name}: {shown}"))
    return drawing(bottom + 44, caption, *pieces)


def histogram(chart: Histogram, caption: str) -> Safe:
    """Bars of counts, with the mean and its interval above them."""
    values = np.array([value for value in chart.values if math.isfinite(value)])
    low, high = range_of([*values, *(chart.interval or ())], zero=True)
    bins = min(MOST_BINS, max(4, len(np.histogram_bin_edges(values, bins="auto")) - 1))
    counts, edges = np.histogram(values, bins=bins)
    left, top, bottom = 40, 62, 320
    at, up = scale(low, high, left, WIDTH - 8), scale(0, float(counts.max()) or 1.0, bottom, top)
    whole = sorted({round(tick) for tick in ticks(0, float(counts.max()), 4)})
    pieces = [
        axis_beside(up, whole, left, WIDTH - 8, chart.counted, top - 26),
        axis_below(at, ticks(low, high), bottom, chart.unit, bottom),
    ]
    for n, start, end in zip(counts.tolist(), edges[:-1], edges[1:], strict=True):
        if n:
            digits = digits_for(end - start)
            tip = f"{n} {chart.counted}: {number(start, digits)} to {number(end, digits)}"
            x, width = at(start), max(1.0, at(end) - at(start) - 1)
            box = {"x": x, "y": up(n), "width": round(width, 1), "height": round(bottom - up(n), 1)}
            pieces.append(el("rect", el("title", tip), **box, class_="bin"))
    pieces.append(line(at(0), top - 6, at(0), bottom, "zero"))
    y = top - 16
    if chart.interval is not None:
        pieces.append(line(at(chart.interval[0]), y, at(chart.interval[1]), y, f"bar {chart.tone}"))
    said = f"mean {with_interval(chart.mean, chart.interval)}"
    pieces += [mark(at(chart.mean), y, chart.tone, said), label(WIDTH, y - 16, said, "end", "over strong")]
    return drawing(bottom + 44, caption, *pieces)


def quadrants(chart: Quadrants, caption: str) -> Safe:
    """Dots about two zero lines; the corner where the first rises and the second falls is shaded."""
    left, top, right, bottom = 48, 30, WIDTH - 8, 320
    (x0, x1), (y0, y1) = (range_of([p[k] for p in chart.points], 0.12, zero=True) for k in (0, 1))
    at, up = scale(x0, x1, left, right), scale(y0, y1, bottom, top)
    shade = {"x": at(0), "y": up(0), "width": round(right - at(0), 1), "height": round(bottom - up(0), 1)}
    pieces = [
        el("rect", **shade, class_="shade"),
        axis_beside(up, ticks(y0, y1), left, right, chart.unit, top),
        axis_below(at, ticks(x0, x1), bottom, chart.across, top),
        line(at(0), top, at(0), bottom, "zero"),
        line(left, up(0), right, up(0), "zero"),
    ]
    one = chart.counted.removesuffix("s")
    for i, (x, y) in enumerate(chart.points):
        if math.isfinite(x + y):
            tip = f"{one} {i + 1}: {chart.unit} {number(y, 2, True)}; {chart.across} {number(x, 2, True)}"
            pieces.append(el("circle", el("title", tip), cx=at(x), cy=up(y), r=3.2, class_="dot"))
    corners = [(right - 4, y, "end") for y in (top + 14, bottom - 8)]
    corners += [(left + 4, y, "start") for y in (bottom - 8, top + 14)]
    for (x, y, anchor), said in zip(corners, chart.corners, strict=True):
        pieces.append(label(x, y, said, anchor, "over corner"))
    pieces.append(mark(at(chart.mean[0]), up(chart.mean[1]), chart.tone, "mean"))
    return drawing(bottom + 44, caption, *pieces)


def scatter(chart: Scatter, caption: str) -> Safe:
    """Dots of several kinds, named above; the first kind is round and faint, the others have their shapes."""
    points = [point for one in chart.series for point in one.points]
    named = [one for one in chart.series if one.points]
    left, top = 48, 30 + 18 * len(named)
    right, bottom = WIDTH - 8, top + 260
    (x0, x1), (y0, y1) = (range_of([p[k] for p in points], zero=bool(k)) for k in (0, 1))
    at, up = scale(x0, x1, left, right), scale(y0, y1, bottom, top)
    pieces = [
        axis_beside(up, ticks(y0, y1), left, right, "", top),
        label(0, 10, chart.unit, "start", "unit"),
        axis_below(at, ticks(x0, x1), bottom, chart.across, top),
        line(left, up(0), right, up(0), "zero"),
    ]
    for i, one in enumerate(named):
        pieces += [
            mark(left + 6, 20 + 18 * i, one.tone),
            label(left + 18, 24 + 18 * i, f"{one.name} ({len(one.points):,})", "start", "over"),
        ]
        for x, y in one.points:
            if one.tone == "plain":
                pieces.append(el("circle", cx=at(x), cy=up(y), r=2.6, class_="dot"))
            else:
                pieces.append(mark(at(x), up(y), one.tone))
    return drawing(bottom + 44, caption, *pieces)


def lines(chart: Lines, caption: str) -> Safe:
    """Values over a logarithmic scale, each with its interval; several lines have names above."""
    points = [point for _, line_ in chart.lines for point in line_]
    low, high = range_of([end for p in points for end in (p.value, *(p.interval or ()))], zero=True)
    first, last = range_of([math.log10(p.at) for p in points])
    named = [name for name, _ in chart.lines if name and len(chart.lines) > 1]
    left, top = 48, 30 + 18 * len(named)
    bottom, right = top + 190, WIDTH - 8
    across, up = scale(first, last, left, right), scale(low, high, bottom, top)
    at: Callable[[float], float] = lambda value: across(math.log10(value))  # noqa: E731
    places = sorted({p.at for p in points})
    shown = [c for i, c in enumerate(places) if not i or at(c) - at(places[i - 1]) > 30 or len(places) < 7]
    pieces = [
        axis_beside(up, ticks(low, high), left, right, chart.unit, top),
        axis_below(at, shown, bottom, chart.across, bottom, lambda value: f"{value:g}"),
        line(left, up(0), right, up(0), "zero"),
    ]
    if chart.chosen is not None:
        pieces += [
            line(at(chart.chosen), top, at(chart.chosen), bottom, "chosen"),
            label(at(chart.chosen), top - 4, "chosen", "middle", "over"),
        ]
    for i, (name, some) in enumerate(chart.lines):
        tone = SERIES[i % len(SERIES)]
        if named:
            pieces += [
                mark(left + 6, 20 + 18 * i, tone),
                label(left + 18, 24 + 18 * i, name, "start", "over"),
            ]
        path = "L".join(f"{at(p.at)} {up(p.value)}" for p in some)
        pieces.append(el("path", d=f"M{path}", class_=f"line {tone}"))
        for p in some:
            if p.interval is not None:
                pieces.append(
                    line(at(p.at), up(p.interval[0]), at(p.at), up(p.interval[1]), f"whisker {tone}")
                )
            also = f" ({p.said})" if p.said else ""
            tip = f"{p.at:g}: {with_interval(p.value, p.interval)}{also}"
            pieces.append(mark(at(p.at), up(p.value), tone, f"{name} {tip}".strip()))
    if named:  # names stand where the unit would
        pieces[0] = axis_beside(up, ticks(low, high), left, right, "", top)
        pieces.append(label(0, 10, chart.unit, "start", "unit"))
    return drawing(bottom + 44, caption, *pieces)


def bar(chart: Bar, caption: str) -> Safe:
    """One bar; its parts are named below it."""
    whole, x, pieces = sum(n for _, n in chart.parts) or 1.0, 0.0, []
    for i, (name, n) in enumerate(chart.parts):
        width = round(n / whole * WIDTH, 1)
        said = f"{n:,.0f} {name} ({n / whole:.0%})".replace("%)", " %)")
        box = {"x": round(x, 1), "y": 4, "width": max(0.5, width - 1.5), "height": 26}
        swatch = {"x": 0, "y": 44 + 22 * i, "width": 12, "height": 12}
        pieces += [
            el("rect", el("title", said), **box, class_=f"part {SERIES[i]}"),
            el("rect", **swatch, class_=f"part {SERIES[i]}"),
            label(20, 54 + 22 * i, said, "start", "over"),
        ]
        x += n / whole * WIDTH
    return drawing(48 + 22 * len(chart.parts), caption, *pieces)


DRAWN: dict[type, Callable[[Any, str], Safe]] = {
    Forest: forest,
    Histogram: histogram,
    Quadrants: quadrants,
    Scatter: scatter,
    Lines: lines,
    Bar: bar,
}


def figure(chart: Chart, number: int) -> Safe:
    """A chart with its caption."""
    caption = f"figure-{number}"
    drawn = DRAWN[type(chart)](chart, caption)
    return join([el("figure", drawn, el("figcaption", chart.caption, id=caption))])
