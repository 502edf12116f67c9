"""Charts as matplotlib figures."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from textwrap import fill
from typing import Any

from dataworth.version import __version__

from .document import LOOKS, MAX_LINE, Document, Forest, Mark, Plane, shortened
from .numbers import digits_for, number

GREY = "#777777"
WIDTH = 7.0
MAX_NAME = 28
BACKGROUND = {"facecolor": "white", "edgecolor": "none", "pad": 0.5}
"""Behind a number, so that no line runs through it."""


def figure(document: Document) -> Any:
    """The charts of a document one below the other, with its headline and what it is made of.

    No pyplot, so no global state.
    """
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    heights = [_height(chart) for chart in document.charts]
    layout = ConstrainedLayoutEngine(w_pad=0.12, h_pad=0.08)
    made = Figure(figsize=(WIDTH, 0.9 + sum(heights)), layout=layout)
    panels = made.subplots(len(heights), 1, height_ratios=heights, squeeze=False).ravel()
    for axes, chart in zip(panels, document.charts, strict=True):
        axes.spines[["top", "right"]].set_visible(False)
        DRAWN[type(chart)](axes, chart)
    made.suptitle(fill(shortened(document.title, MAX_LINE), 84), x=0.02, ha="left", fontsize=10)
    said = " · ".join(filter(None, (document.source, f"dataworth {__version__}, {date.today():%Y-%m-%d}")))
    made.supxlabel(fill(said, 110), x=0.02, ha="left", fontsize=8, color=GREY)
    return made


def _height(chart: Any) -> float:
    return 0.7 + 0.5 * len(chart.marks) if isinstance(chart, Forest) else 3.4


def forest(axes: Any, chart: Forest) -> None:
    """Points with intervals, one below the other, each with its value above it."""
    if chart.zero:
        axes.axvline(0, color="black", linewidth=0.8)
    above = {"textcoords": "offset points", "ha": "center", "fontsize": 9, "bbox": BACKGROUND}
    for place, one in enumerate(chart.marks):
        _interval_mark(axes, one, place)
        shown = number(one.value, digits_for(one.value, one.interval), sign=chart.zero)
        axes.annotate(shown, (one.value, place), (0, 9), **above)
        beside = {"transform": axes.get_yaxis_transform(), "va": "center", "color": LOOKS[one.tone].colour}
        axes.text(1.02, place, one.beside, **beside)
    axes.set_yticks(range(len(chart.marks)), [shortened(one.name, MAX_NAME) for one in chart.marks])
    axes.set_ylim(len(chart.marks) - 0.6, -0.7)
    axes.margins(x=0.12)
    axes.spines["left"].set_visible(False)
    axes.tick_params(axis="y", length=0)
    axes.set_xlabel(chart.unit)


def _interval_mark(axes: Any, one: Mark, y: float) -> None:
    """A value with its interval, along the axis across."""
    look = LOOKS[one.tone]
    if one.interval is not None:
        axes.plot(one.interval, [y, y], color=look.colour, linewidth=2.2, solid_capstyle="butt")
    axes.plot(one.value, y, look.shape, color=look.colour, markersize=8)


def plane(axes: Any, chart: Plane) -> None:
    """Bins and series between two axes."""
    if chart.log:
        axes.set_xscale("log")
    if chart.chosen is not None:
        axes.axvline(chart.chosen, color=GREY, linewidth=1.0, linestyle="--", label="chosen")
    if chart.x_zero:
        axes.axvline(0, color="black", linewidth=0.8)
    axes.axhline(0, color="black", linewidth=0.8)
    for series in chart.series:
        look = LOOKS[series.tone]
        for point in series.points:
            if point.interval is not None:
                axes.plot([point.x] * 2, point.interval, color=look.colour, linewidth=1.6)
        axes.plot(
            [point.x for point in series.points],
            [point.y for point in series.points],
            f"{'-' if series.joined else ''}{look.shape}",
            color=look.colour,
            markersize=4 if len(series.points) > 30 else 6,
            alpha=0.5 if series.faint else 1.0,
            label=series.name or "_",
        )
    corners = ((0.98, 0.95, "right"), (0.98, 0.03, "right"), (0.02, 0.03, "left"), (0.02, 0.95, "left"))
    for (x, y, side), name in zip(corners, chart.corners, strict=False):
        axes.text(x, y, name, transform=axes.transAxes, ha=side, fontsize=8, color=GREY)
    if chart.legend or chart.chosen is not None:
        axes.legend(frameon=False, fontsize=9)
    axes.set_xlabel(chart.across)
    axes.set_ylabel(chart.unit)


DRAWN: dict[type, Callable[[Any, Any], None]] = {Forest: forest, Plane: plane}
