"""A score as text: its value, its accuracy, and what it was measured with."""

from __future__ import annotations

from dataworth.valuation.score import Score
from dataworth.wording import counted

from ..numbers import scaled, with_interval
from ..quantities import against_nothing, benchmark, draws, per_what, unit_of
from . import common, layout


def line(score: Score, bits: bool = False) -> str:
    """The score in one line."""
    unit, factor = unit_of(bits)
    return with_interval(score.value * factor, scaled(score.interval, factor), unit)


def full(score: Score, bits: bool = False, verbose: bool = False) -> layout.Rendered:
    """The score, its accuracy, and what it was measured with."""
    unit, factor = unit_of(bits)
    per = per_what(score.details, score.table)
    per_row = factor / float(score.table.test_rows.mean())
    name, points, _ = benchmark(score.yardstick)
    lines = [
        (f"PMI, {unit} per {per}", score.value * factor, scaled(score.interval, factor)),
        (f"PMI, {unit} per test row", score.per_row * factor, scaled(score.interval, per_row)),
        (name, score.accuracy.value * points, scaled(score.accuracy.interval, points)),
    ]
    for metric, told in score.metrics.items():
        name, points, _ = benchmark(score.yardstick, metric, bits)
        lines.append((name, told["value"] * points, scaled(told["interval"], points)))
    details = score.details
    rows = details.data_rows or 0
    given = common.of_given(rows, score.replay.data["data"]["rows"])
    size = f"{counted(rows, 'data row')}{given}, {counted(details.test_rows, 'test row')}"
    return layout.report(
        f"worth {line(score, bits)} per {per}.",
        layout.table(
            ("measure", "value, 95 % interval"),
            ((name, with_interval(value, interval)) for name, value, interval in lines),
        ),
        [
            ("In words", against_nothing(score, score.per_row, bits)),
            ("Measured on", f"{size}, {draws(details)}"),
            *common.facts(score),
        ],
        common.details(score, bits) if verbose else (),
        f"{score.question} {score.answer[0].upper()}{score.answer[1:]}.",
    )
