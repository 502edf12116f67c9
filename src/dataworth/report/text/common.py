"""What reports of scores, audits and rankings share: the facts below the table, and the details for -v."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import RenderableType
from rich.text import Text

from ..numbers import number
from ..quantities import benchmark, counted_pmi, unit_of
from . import layout
from .checks import check_details, check_facts
from .yardstick import yardstick_facts, yardstick_line

if TYPE_CHECKING:
    from dataworth.valuation.audit.audit import Audit
    from dataworth.valuation.rank import Ranking
    from dataworth.valuation.score import Score


def facts(result: Score | Audit | Ranking) -> list[tuple[str, str]]:
    """Yardstick, notes and checks."""
    notes = [("Note", note) for note in result.notes]
    return [("Yardstick", yardstick_line(result.yardstick)), *notes, *check_facts(result.checks)]


def details(result: Score | Audit | Ranking, bits: bool) -> list[RenderableType]:
    """Each arm and the yardstick, for -v."""
    unit, factor = unit_of(bits)
    pairs, values = result.table, counted_pmi(result) * factor
    name, points, _ = benchmark(result.yardstick)
    arms = layout.table("arm", "rows", f"PMI, {unit}", f"s.d., {unit}", name, f"information gain, {unit}")
    for arm, pmi in zip(pairs.arms, values.T, strict=True):
        spread = float(pmi.std(ddof=1)) if len(pmi) > 1 else float("nan")
        layout.add_row(
            arms,
            str(arm),
            number(float(pairs.column("data_rows", arm).mean()), 0),
            number(float(pmi.mean()), 3),
            number(spread, 3),
            number(float(pairs.column("accuracy", arm).mean()) * points, 2),
            number(float(pairs.column("information_gain", arm).mean()) * factor, 2),
        )
    return [
        Text(""),
        arms,
        Text("yardstick", style="dim"),
        layout.grid(yardstick_facts(result.yardstick)),
        Text("checks", style="dim"),
        layout.grid(check_details(result.checks)),
    ]
