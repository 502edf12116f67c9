"""An audit as text: the verdict in its colour, the intervals it rests on, and what changed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from ..numbers import digits_for, number, scaled, with_interval
from ..quantities import benchmark, draws, per_what, unit_of
from . import common, layout

if TYPE_CHECKING:
    from dataworth.valuation.audit.audit import Audit

VERDICT_STYLES = {
    "informative": "bold green",
    "recycled": "bold yellow",
    "inconclusive": "bold",
    "costly": "bold yellow",
    "strategic": "bold red",
    "harmful": "bold red",
}


def verdict_text(audit: Audit) -> Text:
    """Verdict and reason, the verdict in its colour."""
    if audit.verdict is None:
        return Text(f"no verdict: {audit.reason.split(':')[0]}.")
    return Text.assemble(
        (audit.verdict, VERDICT_STYLES.get(audit.verdict, "bold")), (f": {audit.reason}.", "bold")
    )


def audit_line(audit: Audit, bits: bool = False) -> str:
    """Verdict and change in one line."""
    unit, factor = unit_of(bits)
    change = with_interval(audit.delta * factor, scaled(audit.interval, factor), unit, sign=True)
    why = ""
    if audit.verdict == "inconclusive" and audit.interval is not None and audit.interval[0] > 0:
        # an interval above zero asks for the reason
        rose = audit.reason.startswith("it rose")
        why = f" ({'rose, but not shown beyond re-using the data' if rose else audit.reason})"
    return f"{audit.verdict or 'no verdict'}{why}: ΔPMI {change}"


def benchmark_sentence(audit: Audit) -> str:
    """Would the benchmark have noticed?"""
    name, points, unit = benchmark(audit.yardstick)
    name = name.split(",")[0]
    interval = scaled(audit.accuracy_interval, points)
    moved = f"{name} moved by {with_interval(audit.accuracy_delta * points, interval, unit, sign=True)}"
    moved = moved[0].upper() + moved[1:]
    if interval is None:
        return f"{moved}: whether the benchmark would have noticed cannot be told."
    if interval[0] > 0:
        return f"{moved}: the benchmark would have shown an improvement."
    if interval[1] < 0:
        return f"{moved}: the benchmark would have shown a loss."
    return f"{moved}: the benchmark would not have noticed."


def change_text(change: dict[str, Any]) -> str:
    """What the curation did to the rows."""
    kinds = ("kept", "removed", "new", "repeated", "relabelled")
    parts = [f"{change[kind]} {kind}" for kind in kinds if change[kind]]
    return f"{', '.join(parts)} (rows matched by {change['matched_by']})"


def audit_report(audit: Audit, bits: bool = False, verbose: bool = False) -> RenderableType:
    """The verdict, the three intervals it rests on, and what changed."""
    return layout.report(
        verdict_text(audit),
        audit.question,
        _audit_table(audit, bits),
        [
            ("Benchmark", benchmark_sentence(audit)),
            ("Changed", change_text(audit.change)),
            ("Measured on", f"{audit.details.test_rows} test rows, {draws(audit.details)}"),
            *common.facts(audit),
        ],
        common.details(audit, bits) if verbose else [],
    )


def _audit_table(audit: Audit, bits: bool) -> Table:
    unit, factor = unit_of(bits)
    table = layout.table("measure", "from", "to", "change, 95 % interval")

    def add(name: str, start: float, end: float, change: float, interval: Sequence[float] | None) -> None:
        digits = digits_for(change, interval)
        shown = with_interval(change, interval, sign=True)
        layout.add_row(table, name, number(start, digits), number(end, digits), shown)

    rows = float(audit.table.test_rows.mean())
    value = [n * factor for n in (audit.before, audit.after, audit.delta)]
    interval = scaled(audit.interval, factor)
    add(f"PMI, {unit} per {per_what(audit.details, audit.table)}", value[0], value[1], value[2], interval)
    per_row = [n / rows for n in value]
    add(f"PMI, {unit} per test row", per_row[0], per_row[1], per_row[2], scaled(interval, 1 / rows))
    if audit.control is not None:
        start, change = audit.control.value * factor, audit.control.selection * factor
        add(
            f"PMI against the blind control, {unit}",
            start,
            value[1],
            change,
            scaled(audit.control.selection_interval, factor),
        )
    name, points, _ = benchmark(audit.yardstick)
    start, end = (float(audit.table.column("accuracy", arm).mean()) * points for arm in ("before", "after"))
    add(name, start, end, audit.accuracy_delta * points, scaled(audit.accuracy_interval, points))
    return table
