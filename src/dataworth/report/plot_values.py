"""Values, splits and outlooks as figures."""

from __future__ import annotations

from typing import Any

import numpy as np

from dataworth.valuation.outlook import Outlook
from dataworth.valuation.split import Split
from dataworth.valuation.values.values import Values

from .plot import GREY, PLAIN, figure_of, forest, given, note
from .quantities import unit_of

LISTED, DOUBTED = "#D55E00", "#E69F00"


def values_figure(values: Values, bits: bool = False) -> Any:
    """Value against trust, listed rows and doubted labels marked; below it the sources as intervals."""
    unit, factor = unit_of(bits)
    rows = values.rows
    heights = (4.0, 0.6 * len(values.groups) + 0.6) if values.groups else (4.0,)
    title = "value against trust; marked: on the list, and labels more likely wrong than right"
    figure, panels = figure_of(1.2 + sum(heights), title, heights=heights, size=10, width=88)
    above = panels[0]
    known = np.isfinite(rows.value)
    doubted = known & (rows.p_wrong > 0.5) & ~rows.harmful
    listed = known & rows.harmful
    above.axhline(0, color="black", linewidth=0.8)
    for some, colour, shape, name in (
        (known & ~listed & ~doubted, GREY, "o", "other rows"),
        (doubted, DOUBTED, "s", "label likely wrong"),
        (listed, LISTED, "D", "on the list"),
    ):
        above.plot(
            rows.log_label[some] * factor,
            rows.value[some] * factor,
            shape,
            color=colour,
            markersize=4,
            label=name,
        )
    above.set_xlabel(f"trust: log-probability of the label, {unit}")
    above.set_ylabel(f"value, {unit}")
    above.legend(frameon=False, fontsize=9)
    if values.groups:
        marks = [((LISTED, "D") if one.worse else PLAIN) for one in values.groups]
        forest(
            panels[1],
            [
                (one.name, one.share.value, one.share.interval, mark)
                for one, mark in zip(values.groups, marks, strict=True)
            ],
            factor,
        )
        panels[1].set_xlabel(f"share, {unit} per block (marked: worse than rows at random)")
    note(figure, given(values.replay))
    return figure


def split_figure(split: Split, bits: bool = False) -> Any:
    """What each vendor adds, and what is shared."""
    unit, factor = unit_of(bits)
    rows = [(one.name, one.adds.value, one.adds.interval, PLAIN) for one in split.vendors]
    rows.append(("shared", split.shared.value, split.shared.interval, (GREY, "s")))
    figure, (axes,) = figure_of(
        1.4 + 0.5 * len(rows), "what each adds to all others, and what several have", size=10
    )
    forest(axes, rows, factor)
    axes.set_xlabel(f"PMI, {unit} per block")
    note(figure, given(split.replay))
    return figure


def outlook_figure(outlook: Outlook, bits: bool = False) -> Any:
    """The curve: measured parts, and the forecast with its range."""
    unit, factor = unit_of(bits)
    figure, (axes,) = figure_of(3.8)
    measured = [one for one in outlook.curve if one.measured]
    ahead = [one for one in outlook.curve if not one.measured]
    axes.plot(
        [one.rows for one in measured],
        [one.value * factor for one in measured],
        "-o",
        color=PLAIN[0],
        markersize=5,
        label="measured",
    )
    join = [measured[-1], *ahead]
    axes.plot([one.rows for one in join], [one.value * factor for one in join], "--", color=GREY)
    for place, one in enumerate(ahead):
        low, high = one.interval or (one.value, one.value)
        axes.plot([one.rows] * 2, [low * factor, high * factor], color=GREY, linewidth=2.2)
        axes.plot(
            one.rows,
            one.value * factor,
            "s",
            color=GREY,
            markersize=7,
            label="_" if place else "foretold, 90 %",
        )
    axes.set_xscale("log")
    axes.set_xlabel("rows")
    axes.set_ylabel(f"value, {unit} per block")
    axes.legend(frameon=False, fontsize=9)
    note(figure, given(outlook.replay))
    return figure
