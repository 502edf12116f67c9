"""A ranking as text: the datasets, best first."""

from __future__ import annotations

from dataworth.valuation.rank import Ranking

from ..numbers import digits_for, number, scaled, with_interval
from ..quantities import against_nothing, benchmark, draws, per_what, unit_of
from . import common, layout


def line(ranking: Ranking, bits: bool = False) -> str:
    """The best, and who is tied with it."""
    unit, factor = unit_of(bits)
    best = ranking[0]
    tied = [other.name for other in ranking.ranking[1:] if other.tied]
    shown = with_interval(best.value * factor, scaled(best.interval, factor), unit)
    also = f"; cannot be told from it: {', '.join(tied)}" if tied else ""
    return f"best: {best.name}, {shown}{also}" if len(ranking) > 1 else f"{best.name}: {shown}"


def full(ranking: Ranking, bits: bool = False, verbose: bool = False) -> layout.Rendered:
    """The datasets, best first."""
    unit, factor = unit_of(bits)
    name, points, _ = benchmark(ranking.yardstick)
    several = len(ranking) > 1
    digits = max(digits_for(one.value * factor, scaled(one.interval, factor)) for one in ranking)
    rows = []
    for place, one in enumerate(ranking):
        worth, gap = (
            with_interval(known.value * factor, scaled(known.interval, factor), sign=sign, digits=digits)
            for known, sign in ((one, False), (one.to_best, True))
        )
        compared = (gap if place else "",) if several else ()
        accuracy = number(one.accuracy * points, 1 if points > 1 else 3)
        a_row = number(one.per_row * factor, 3)
        rows.append((one.name, worth, a_row, *compared, str(one.rows), accuracy))
    best = f"{ranking[0].name} {against_nothing(ranking, ranking[0].per_row, bits)}"
    to_best = ("to the best",) if several else ()
    at_once = "; the 95 % intervals hold for all datasets at once" if several else ""
    return layout.report(
        f"{line(ranking, bits)}.",
        layout.table(
            ("dataset", f"value, {unit}", "a test row", *to_best, "rows", name.removeprefix("test ")), rows
        ),
        [
            ("Values", f"per {per_what(ranking.details, ranking.table)}{at_once}"),
            ("In words", best),
            ("Measured on", f"{ranking.details.test_rows} test rows, {draws(ranking.details)}"),
            *common.facts(ranking),
        ],
        common.details(ranking, bits) if verbose else (),
        ranking.question,
    )
