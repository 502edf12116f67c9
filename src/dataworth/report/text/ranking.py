"""A ranking as text: the datasets, best first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import RenderableType
from rich.text import Text

from ..numbers import bounds, digits_for, number, scaled, with_interval
from ..quantities import benchmark, draws, per_what, unit_of
from . import common, layout

if TYPE_CHECKING:
    from dataworth.valuation.rank import Ranking


def ranking_line(ranking: Ranking, bits: bool = False) -> str:
    """The best, and who is tied with it."""
    unit, factor = unit_of(bits)
    best = ranking[0]
    tied = [other.name for other in ranking.ranking[1:] if other.tied]
    shown = with_interval(best.value * factor, scaled(best.interval, factor), unit)
    also = f"; cannot be told from it: {', '.join(tied)}" if tied else ""
    return f"best: {best.name}, {shown}{also}" if len(ranking) > 1 else f"{best.name}: {shown}"


def ranking_report(ranking: Ranking, bits: bool = False, verbose: bool = False) -> RenderableType:
    """The datasets, best first."""
    unit, factor = unit_of(bits)
    name, points, _ = benchmark(ranking.yardstick)
    compared = ("to the best",) if len(ranking) > 1 else ()
    table = layout.table("dataset", f"value, {unit}", *compared, "rows", name.removeprefix("test "))
    digits = max(digits_for(one.value * factor, scaled(one.interval, factor)) for one in ranking)
    for place, one in enumerate(ranking):
        gap = number(one.to_best.value * factor, digits, sign=True)
        gap = "" if place == 0 else f"{gap} {bounds(scaled(one.to_best.interval, factor), digits)}"
        layout.add_row(
            table,
            one.name,
            f"{number(one.value * factor, digits)} {bounds(scaled(one.interval, factor), digits)}",
            *(gap for _ in compared),
            str(one.rows),
            number(one.accuracy * points, 1 if points > 1 else 3),
        )
    per = per_what(ranking.details, ranking.table)
    facts = [
        (
            "Values",
            f"per {per}; the 95 % intervals hold for all datasets at once" if compared else f"per {per}",
        ),
        ("Measured on", f"{ranking.details.test_rows} test rows, {draws(ranking.details)}"),
        *common.facts(ranking),
    ]
    headline = Text(f"{ranking_line(ranking, bits)}.", style="bold")
    return layout.report(
        headline, ranking.question, table, facts, common.details(ranking, bits) if verbose else []
    )
