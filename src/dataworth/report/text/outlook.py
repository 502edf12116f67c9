"""An outlook as text: measured sizes, then the forecast."""

from __future__ import annotations

from dataworth.valuation.outlook import Outlook

from ..numbers import digits_for, number, scaled, with_interval
from ..quantities import unit_of
from . import layout, yardstick


def line(outlook: Outlook, bits: bool = False) -> str:
    """The value with more rows, and what they add."""
    unit, factor = unit_of(bits)
    value = with_interval(outlook.value * factor, scaled(outlook.interval, factor), unit)
    gain = number(
        outlook.gain * factor, digits_for(outlook.value * factor, scaled(outlook.interval, factor)), sign=True
    )
    falls = "; the value falls as rows are added" if outlook.falls else ""
    return f"with {outlook.more} more rows {value} per block, {gain} to what there is{falls}"


def full(outlook: Outlook, bits: bool = False, verbose: bool = False) -> layout.Rendered:
    """One row a size."""
    unit, factor = unit_of(bits)
    rows = []
    for one in outlook.curve:
        value, interval = one.value * factor, scaled(one.interval, factor)
        shown = number(value, digits_for(value)) if one.measured else with_interval(value, interval)
        rows.append((str(one.rows), shown, "measured" if one.measured else "foretold"))
    facts = [
        ("Values", f"{unit} per block of {outlook.test_rows / outlook.blocks:.3g} test rows"),
        ("Range", "nine in ten of such forecasts; it holds for rows like these"),
        ("Laws", f"{outlook.gaussian:.0%} one that levels off, {1 - outlook.gaussian:.0%} the logarithm"),
    ]
    if outlook.target is not None:
        needed = f"{outlook.needed} rows in all" if outlook.needed else "not with a hundred times the rows"
        facts.append(("Target", f"{number(outlook.target * factor, 3)} {unit}: {needed}"))
    facts += [("Yardstick", yardstick.line(outlook.yardstick)), *(("Note", note) for note in outlook.notes)]
    table = layout.table(("rows", f"value, {unit}", "conclusion"), rows)
    return layout.report(f"{line(outlook, bits)}.", table, facts, question=outlook.question)
