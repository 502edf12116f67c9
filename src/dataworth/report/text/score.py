"""A score as text: its value, its accuracy, and what it was measured with."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import RenderableType
from rich.text import Text

from dataworth.wording import counted

from ..numbers import scaled, with_interval
from ..quantities import benchmark, draws, per_what, unit_of
from . import common, layout

if TYPE_CHECKING:
    from dataworth.valuation.score import Score


def score_line(score: Score, bits: bool = False) -> str:
    """The score in one line."""
    unit, factor = unit_of(bits)
    return with_interval(score.value * factor, scaled(score.interval, factor), unit)


def score_report(score: Score, bits: bool = False, verbose: bool = False) -> RenderableType:
    """The score, its accuracy, and what it was measured with."""
    unit, factor = unit_of(bits)
    interval = scaled(score.interval, factor)
    rows = float(score.table.test_rows.mean())
    name, points, _ = benchmark(score.yardstick)
    accuracy = scaled(score.accuracy.interval, points)
    table = layout.table("measure", "value, 95 % interval")
    per = per_what(score.details, score.table)
    layout.add_row(table, f"PMI, {unit} per {per}", with_interval(score.value * factor, interval))
    per_row = with_interval(score.per_row * factor, scaled(interval, 1 / rows))
    layout.add_row(table, f"PMI, {unit} per test row", per_row)
    layout.add_row(table, name, with_interval(score.accuracy.value * points, accuracy))
    details = score.details
    size = f"{counted(details.data_rows or 0, 'data row')}, {counted(details.test_rows, 'test row')}"
    return layout.report(
        Text(f"worth {score_line(score, bits)} per {per}.", style="bold"),
        f"{score.question} {score.answer[0].upper()}{score.answer[1:]}.",
        table,
        [("Measured on", f"{size}, {draws(score.details)}"), *common.facts(score)],
        common.details(score, bits) if verbose else [],
    )
