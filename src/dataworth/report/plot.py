"""Results as figures. Colours are those of Okabe and Ito, and every verdict also has a shape of its own."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from itertools import groupby
from textwrap import fill
from typing import Any

from dataworth.valuation.audit.audit import Audit
from dataworth.valuation.rank import Ranking
from dataworth.valuation.replay import Replay
from dataworth.valuation.score import Score
from dataworth.valuation.sensitivity import QUANTITIES, Sensitivity
from dataworth.version import __version__

from .numbers import digits_for, number, scaled, with_interval
from .quantities import benchmark, counted_pmi, per_what, unit_of

VERDICT_MARKS = {
    "informative": ("#009E73", "^"),
    "improved": ("#CC79A7", "P"),
    "recycled": ("#56B4E9", "o"),
    "inconclusive": ("#777777", "s"),
    "costly": ("#E69F00", "v"),
    "strategic": ("#D55E00", "D"),
    "harmful": ("#000000", "X"),
}
PLAIN = ("#0072B2", "o")
GREY = "#777777"
WIDTH = 7.0
NAMED = 4
"""Datasets that a note names."""
BACKGROUND = {"facecolor": "white", "edgecolor": "none", "pad": 0.5}
"""Behind a number, so that no line runs through it."""
Row = tuple[str, float, Sequence[float] | None, tuple[str, str]]
"""Name, value, interval, and the colour and shape of its mark."""


def score_figure(score: Score, bits: bool = False) -> Any:
    """The values of all blocks or pairs, with their mean and its interval."""
    unit, factor = unit_of(bits)
    figure, (axes,) = figure_of(3.4)
    values = counted_pmi(score)[:, 0] * factor
    heights, _, _ = axes.hist(values, bins="auto", color="#CCCCCC", edgecolor="white")
    value, interval = score.value * factor, scaled(score.interval, factor)
    top = 1.1 * float(heights.max())
    if interval is not None:
        axes.plot(interval, [top, top], color=PLAIN[0], linewidth=2.5, solid_capstyle="butt")
    axes.plot([value, value], [0, top], color=PLAIN[0], linewidth=1.5)
    axes.plot(value, top, PLAIN[1], color=PLAIN[0], markersize=8)
    shown = f"mean {with_interval(value, interval, unit)}"
    axes.annotate(shown, (value, top), (0, 8), textcoords="offset points", ha="center")
    axes.set_ylim(0, 1.25 * top)
    axes.yaxis.get_major_locator().set_params(integer=True)
    axes.set_xlabel(f"PMI, {unit} per {per_what(score.details, score.table)}")
    axes.set_ylabel("pairs" if score.details.blocks is None else "blocks")
    note(figure, given(score.replay))
    return figure


def audit_figure(audit: Audit, bits: bool = False) -> Any:
    """ΔPMI and what it is made of in one panel, the benchmark in another: their units differ."""
    unit, factor = unit_of(bits)
    mark = VERDICT_MARKS.get(audit.verdict or "", PLAIN)
    rows: list[Row] = [("after − before", audit.delta, audit.interval, mark)]
    if (made := audit.made_of) is not None:
        rows.append(("the data's own models", made.own.value, made.own.interval, (GREY, "o")))
        rows.append(("only from outside", made.outside.value, made.outside.interval, mark))
    elif (control := audit.control) is not None and control.selection != audit.delta:
        rows.append(("after − blind control", control.selection, control.selection_interval, mark))
    verdict = f"{audit.verdict}: {audit.reason}"
    if audit.verdict is None:
        verdict = f"no verdict: {audit.reason.split(':')[0]}"
    figure, (above, below) = figure_of(2.9 + 0.5 * len(rows), verdict, heights=(len(rows), 1))
    forest(above, rows, factor)
    above.set_xlabel(f"change of PMI, {unit} per {per_what(audit.details, audit.table)}")
    name, points, change_unit = benchmark(audit.yardstick)
    forest(below, [("after − before", audit.accuracy_delta, audit.accuracy_interval, (GREY, "o"))], points)
    below.set_xlabel(f"change of {name.split(',')[0]}" + (f", {change_unit}" if change_unit else ""))
    note(figure, given(audit.replay))
    return figure


def ranking_figure(ranking: Ranking, bits: bool = False) -> Any:
    """All candidates, best first; those tied with the best share its colour."""
    unit, factor = unit_of(bits)
    title = "best first; simultaneous 95 % intervals; circles: the best and what cannot be told from it"
    figure, (axes,) = figure_of(1.4 + 0.5 * len(ranking), title if len(ranking) > 1 else None, size=10)
    rows = [
        (_short(one.name), one.value, one.interval, (GREY, "s") if place and not one.tied else PLAIN)
        for place, one in enumerate(ranking)
    ]
    forest(axes, rows, factor, zero=False)
    axes.set_xlabel(f"PMI, {unit} per {per_what(ranking.details, ranking.table)}")
    note(figure, given(ranking.replay))
    return figure


def sensitivity_figure(sensitivity: Sensitivity, bits: bool = False) -> Any:
    """Above: the value and the conclusion over prior variances; below: what the test set says of these."""
    unit, factor = unit_of(bits)
    points = sensitivity.points
    priors = [point.prior_variance for point in points]
    figure, (above, below) = figure_of(5.4, sensitivity.summary, heights=(3, 2), size=10, width=88)
    runs = [list(run) for plausible, run in groupby(points, lambda point: point.plausible) if plausible]
    for axes in (above, below):
        axes.set_xscale("log")
        for place, run in enumerate(runs):  # the edge shows a single one
            ends, label = (run[0].prior_variance, run[-1].prior_variance), "_" if place else "plausible"
            axes.axvspan(*ends, color="#EEEEEE", linewidth=6, zorder=0, label=label)
        axes.axvline(sensitivity.chosen, color=GREY, linewidth=1.0, linestyle="--", label="chosen")
    above.axhline(0, color="black", linewidth=0.8)
    values = [point.value.value * factor for point in points]
    above.plot(priors, values, color="#BBBBBB", linewidth=1.0, zorder=1)
    for point, value in zip(points, values, strict=True):
        colour, shape = VERDICT_MARKS.get(point.conclusion or "", PLAIN)
        interval = scaled(point.value.interval, factor)
        if interval is not None:
            above.plot([point.prior_variance] * 2, interval, color=colour, linewidth=2.2)
        label = point.conclusion or "no verdict"
        label = "_" if label in above.get_legend_handles_labels()[1] else label
        above.plot(point.prior_variance, value, shape, color=colour, markersize=8, label=label)
    above.set_ylabel(f"{QUANTITIES[sensitivity.what]}, {unit}")
    above.legend(frameon=False, fontsize=9)
    below.plot(priors, [point.held_out * factor for point in points], "-o", color=PLAIN[0], markersize=4)
    below.set_ylabel(f"held out, {unit}", color=PLAIN[0])
    below.set_xlabel("prior variance C")
    beside = below.twinx()
    beside.spines["top"].set_visible(False)
    beside.plot(priors, [point.accuracy for point in points], "-s", color="#D55E00", markersize=4)
    beside.set_ylabel("accuracy, CV", color="#D55E00")
    return figure


def demo_figure(demo: Any, bits: bool = False) -> Any:
    """One row a chapter, with its verdict: the change of PMI, and beside it the benchmark's."""
    unit, factor = unit_of(bits)
    audits = [(chapter.name, chapter.audit) for chapter in demo.audits]
    height, title = 1.6 + 0.55 * len(audits), "Did these curations add information?"
    figure, (axes, beside) = figure_of(height, title, across=(3, 2))
    marks = [VERDICT_MARKS.get(a.verdict or "", PLAIN) for _, a in audits]
    rows = [(name, a.delta, a.interval, mark) for (name, a), mark in zip(audits, marks, strict=True)]
    forest(axes, rows, factor)
    first = audits[0][1]
    axes.set_xlabel(f"change of PMI, {unit}\nper {per_what(first.details, first.table)}")
    name, points, change_unit = benchmark(first.yardstick)
    rows = [
        ("", a.accuracy_delta, a.accuracy_interval, mark) for (_, a), mark in zip(audits, marks, strict=True)
    ]
    forest(beside, rows, points, words=[a.verdict or "no verdict" for _, a in audits])
    beside.set_xlabel(f"change of {name.split(',')[0]},\n{change_unit}")
    note(figure, f"scikit-learn's digits, odd or even; {first.details.test_rows} test rows; 95 % intervals")
    return figure


def given(replay: Replay) -> str:
    """Files, or the names of datasets, with their rows.

    >>> data = {"before": {"rows": 300, "file": "raw.csv"}, "after": {"rows": 240}}
    >>> given(Replay(command="", seed=0, versions={}, data=data, test={"rows": 400, "file": "t.csv"}))
    'raw.csv (300 rows), after (240 rows), on t.csv (400 rows)'
    """
    told = [f"{_short(one.get('file', name))} ({one['rows']} rows)" for name, one in replay.data.items()]
    if len(told) > NAMED:
        told = [*told[: NAMED - 1], f"{len(told) - NAMED + 1} more"]
    test = f"{_short(replay.test.get('file', 'test set'))} ({replay.test['rows']} rows)"
    return f"{', '.join(told)}, on {test}"


def note(figure: Any, text: str) -> None:
    """What a figure is made of, and the day, below it: figures are handed on without their command."""
    said = fill(f"{text} · dataworth {__version__}, {date.today():%Y-%m-%d}", 110)
    figure.supxlabel(said, x=0.02, ha="left", fontsize=8, color=GREY)


def figure_of(
    height: float,
    title: str | None = None,
    heights: Sequence[float] = (1,),
    size: int = 11,
    width: int = 80,
    across: Sequence[float] = (1,),
) -> tuple[Any, list[Any]]:
    """A figure with panels below or beside one another; no pyplot, so no global state."""
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    wide = WIDTH if len(across) == 1 else 1.4 * WIDTH
    figure = Figure(figsize=(wide, height), layout=ConstrainedLayoutEngine(w_pad=0.12, h_pad=0.08))
    made = figure.subplots(
        len(heights), len(across), height_ratios=heights, width_ratios=across, squeeze=False
    )
    panels = made.ravel()
    for axes in panels:
        axes.spines[["top", "right"]].set_visible(False)
    if title is not None:
        figure.suptitle(fill(title, width), x=0.02, ha="left", fontsize=size)
    return figure, list(panels)


def forest(
    axes: Any, rows: Sequence[Row], factor: float, zero: bool = True, words: Sequence[str] | None = None
) -> None:
    """Points with intervals, one below the other, each with its value above it."""
    if zero:
        axes.axvline(0, color="black", linewidth=0.8)
    above = {"textcoords": "offset points", "ha": "center", "fontsize": 9, "bbox": BACKGROUND}
    for place, (_, value, interval, (colour, shape)) in enumerate(rows):
        value, interval = value * factor, scaled(interval, factor)
        if interval is not None:
            axes.plot(interval, [place, place], color=colour, linewidth=2.2, solid_capstyle="butt")
        axes.plot(value, place, shape, color=colour, markersize=8)
        label = number(value, digits_for(value, interval), sign=zero)
        axes.annotate(label, (value, place), (0, 9), **above)
        if words is not None:
            beside = axes.get_yaxis_transform()
            axes.text(1.02, place, words[place], transform=beside, va="center", color=colour)
    axes.set_yticks(range(len(rows)), [name for name, *_ in rows])
    axes.set_ylim(len(rows) - 0.6, -0.7)
    axes.margins(x=0.12)
    axes.spines["left"].set_visible(False)
    axes.tick_params(axis="y", length=0)


def _short(name: str) -> str:
    return name if len(name) <= 28 else "…" + name[-27:]
