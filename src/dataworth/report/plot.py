"""Charts by matplotlib: a figure of a document, and each chart of a page as SVG in the page's own colours."""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Callable, Sequence
from datetime import date
from textwrap import fill
from typing import Any

from dataworth.version import __version__

from .document import LOOKS, MAX_LINE, Chart, Document, Forest, Plane, plain, shortened
from .numbers import digits_for, number

INK, GREY = "#000000", "#777777"
WIDTH, PAGE_WIDTH = 7.0, 4.3
"""Inches of a figure, and of a chart in a page, which can be read on a phone."""
MAX_NAME, MAX_LABEL = 28, 56
BACKGROUND = {"facecolor": "white", "edgecolor": "none", "pad": 0.5}
"""Behind a number, so that no line runs through it."""
VARIABLES = {"#ffffff": "paper", **{look.colour.lower(): tone for tone, look in LOOKS.items()}}
"""Colours of the page's style by those of figures, so that a chart follows light, dark and print."""
NOT_PAGE = re.compile(
    r"^.*?(?=<svg)|<metadata>.*?</metadata>|<!--.*?-->| xmlns\S*|; stroke-linejoin: miter| id=\"[\w.]+_\d+\"",
    re.DOTALL,
)
"""What matplotlib writes for SVG files: its prologue, and ids that several charts would share."""
MARKERS = re.compile(r"<use [^>]*?( style=\"[^\"]*\")/>(?:\s*<use [^>]*?\1/>)+")
"""Markers of one style, which each has of its own."""


def figure(document: Document) -> Any:
    """The charts of a document one below the other, with its headline and what it is made of."""
    with _drawing():
        made = _panels(document.charts, WIDTH, 0.9)
        title = fill(shortened(plain(document.title), MAX_LINE), 84)
        made.suptitle(title, x=0.02, ha="left", fontsize=10)
        about = (plain(document.source), f"dataworth {__version__}, {date.today():%Y-%m-%d}")
        said = fill(" · ".join(filter(None, about)), 110)
        made.supxlabel(said, x=0.02, ha="left", fontsize=8, color=GREY)
    return made


def svg(chart: Chart, key: str) -> str:
    """A chart for a page, whose element `key` has its name."""
    file = io.StringIO()
    with _drawing(**{"svg.fonttype": "none", "svg.hashsalt": key}), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph")  # the reader's browser has more letters
        _panels([chart], PAGE_WIDTH, 0.1).savefig(file, format="svg", transparent=True)
    drawn = NOT_PAGE.sub("", file.getvalue()).strip()
    for colour, name in VARIABLES.items():
        drawn = drawn.replace(colour, f"var(--{name})")
    # tenths of a point, and one style for many markers, in a page that stays small
    drawn = re.sub(r"(\.\d)\d+", r"\1", drawn)
    drawn = MARKERS.sub(lambda run: f"<g{run[1]}>{run[0].replace(run[1], '')}</g>", drawn)
    return drawn.replace("<svg", f'<svg class="dw-chart" role="img" aria-labelledby="{key}"', 1)


def _drawing(**more: Any) -> Any:
    """In names of others $ is a letter."""
    import matplotlib as mpl

    settings: Any = {"text.parse_math": False, **more}
    return mpl.rc_context(settings)


def _panels(charts: Sequence[Chart], width: float, room: float) -> Any:
    """Charts one below the other; no pyplot, so no global state."""
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    heights = [0.7 + 0.5 * len(one.marks) if isinstance(one, Forest) else 3.4 for one in charts]
    layout = ConstrainedLayoutEngine(w_pad=0.12, h_pad=0.08)
    made = Figure(figsize=(width, room + sum(heights)), layout=layout)
    panels = made.subplots(len(heights), 1, height_ratios=heights, squeeze=False).ravel()
    for axes, chart in zip(panels, charts, strict=True):
        axes.spines[["top", "right"]].set_visible(False)
        DRAWN[type(chart)](axes, chart)
    return made


def forest(axes: Any, chart: Forest) -> None:
    """Points with intervals, one below the other, each with its value above it."""
    if chart.zero:
        axes.axvline(0, color=INK, linewidth=0.8)
    above = {"textcoords": "offset points", "ha": "center", "fontsize": 9, "bbox": BACKGROUND}
    for place, one in enumerate(chart.marks):
        look = LOOKS[one.tone]
        if one.interval is not None:
            axes.plot(one.interval, [place, place], color=look.colour, linewidth=2.2, solid_capstyle="butt")
        axes.plot(one.value, place, look.shape, color=look.colour, markersize=8)
        shown = number(one.value, digits_for(one.value, one.interval), sign=chart.zero)
        axes.annotate(shown, (one.value, place), (0, 9), **above)
        beside = {"transform": axes.get_yaxis_transform(), "va": "center", "color": look.colour}
        axes.text(1.02, place, one.beside, **beside)
    axes.set_yticks(range(len(chart.marks)), [shortened(plain(one.name), MAX_NAME) for one in chart.marks])
    axes.set_ylim(len(chart.marks) - 0.6, -0.7)
    axes.margins(x=0.12)
    axes.spines["left"].set_visible(False)
    axes.tick_params(axis="y", length=0)
    axes.set_xlabel(chart.unit)


def plane(axes: Any, chart: Plane) -> None:
    """Series between two axes."""
    if chart.log:
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter(
            lambda value, _: f"{value:g}"
        )  # powers as matplotlib writes are no text
    if chart.chosen is not None:
        axes.axvline(chart.chosen, color=GREY, linewidth=1.0, linestyle="--", label="chosen")
    if chart.x_zero:
        axes.axvline(0, color=INK, linewidth=0.8)
    axes.axhline(0, color=INK, linewidth=0.8)
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
            markeredgewidth=0,
            alpha=0.5 if series.faint else 1.0,
            label=shortened(plain(series.name), MAX_LABEL) or "_",
        )
    corners = ((0.98, 0.95, "right"), (0.98, 0.03, "right"), (0.02, 0.03, "left"), (0.02, 0.95, "left"))
    for (x, y, side), name in zip(corners, chart.corners, strict=False):
        axes.text(x, y, name, transform=axes.transAxes, ha=side, fontsize=8, color=GREY)
    named = [one for one in chart.series if one.name and one.points]
    if len(named) > 1 or chart.chosen is not None:
        axes.legend(frameon=False, fontsize=9, loc="lower left", bbox_to_anchor=(0, 1))
    axes.set_xlabel(chart.across)
    axes.set_ylabel(chart.unit)


DRAWN: dict[type, Callable[[Any, Any], None]] = {Forest: forest, Plane: plane}
