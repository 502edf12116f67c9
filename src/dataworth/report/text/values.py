"""Values as text: the labels to look at again, the rows on the list, the sources; no row is told to go."""

from __future__ import annotations

import numpy as np

from dataworth.valuation.values.values import KINDS, Values
from dataworth.wording import counted

from ..numbers import digits_for, number, scaled, with_interval
from ..quantities import unit_of
from . import layout, yardstick

SHOWN = 10
"""Rows of each list; files have them all."""
BEWARE = (
    "a value below zero says that these test rows were predicted worse with the row, not that it is wrong; "
    "judge a change by other test rows (--cross-fit, or dataworth audit --honest)"
)


def line(values: Values, bits: bool = False) -> str:
    """How many labels to look at again, and how many rows are on the list."""
    doubted, listed = int((values.rows.p_wrong > 0.5).sum()), int(values.rows.harmful.sum())
    worse = [one.name for one in values.groups if one.worse]
    also = f"; worse than rows at random: {', '.join(worse)}" if worse else ""
    return (
        f"{counted(doubted, 'label')} of {counted(len(values.rows), 'row')} to look at again, "
        f"{counted(listed, 'row')} with a value shown below zero{also}"
    )


def full(values: Values, bits: bool = False, verbose: bool = False) -> layout.Rendered:
    """The least trusted labels, then the list, then the sources."""
    unit, factor = unit_of(bits)
    rows, shown = values.rows, 3 * SHOWN if verbose else SHOWN
    doubted = [row for row in values.least_trusted if rows.p_wrong[row] > 0.5]
    listed = [int(row) for row in np.argsort(rows.value, kind="stable") if rows.harmful[row]]
    first = (doubted or values.least_trusted)[:shown]
    listed = [row for row in listed if row not in first]
    tables = [_rows(values, first, unit, factor)]
    if listed:
        tables.append(_rows(values, listed[:shown], unit, factor))
    told = f"above: the {len(first)} least trusted labels"
    told += f", then the {len(listed[:shown])} lowest values of other rows on the list" if listed else ""
    block = f"{unit} per block of {values.test_rows / values.blocks:.3g} test rows"
    total = with_interval(values.total.value * factor, scaled(values.total.interval, factor), block)
    facts = [
        ("Total", f"all rows together: {total}"),
        ("Values", f"{unit} that all {values.test_rows} test rows gain by the row, {KINDS[values.kind]}"),
        ("Rows", f"{told}; row 1 is the first row of data; -o FILE has all, counted from 0"),
        ("Trust", "p wrong: probability that the label is wrong, by all other rows and the test set"),
        ("List", f"rows with a value below zero, expected proportion of false entries {values.fdr:g}"),
        ("Beware", BEWARE),
    ]
    if values.groups:
        tables.append(_groups(values, unit, factor))
        facts.append(("Sources", f"{block}; 95 % intervals hold for all sources at once"))
    if (tried := values.cross_fit) is not None:
        change = with_interval(
            tried.change.value * factor, scaled(tried.change.interval, factor), f"{unit} per block", sign=True
        )
        out = f"leaving out the labels that other parts doubt ({tried.left_out:g} rows on average)"
        facts.append(("Cross-fit", f"{out}: {change}, over {tried.parts} parts of the test set"))
    facts += [("Yardstick", yardstick.line(values.yardstick)), *(("Note", note) for note in values.notes)]
    facts.append(("Duplicates", "are not seen by values: a copy stands in for its original"))
    return layout.report(f"{line(values, bits)}.", layout.stacked(tables), facts, question=values.question)


def _rows(values: Values, places: list[int], unit: str, factor: float) -> layout.Rendered:
    rows = values.rows
    own = values.ids is not None
    told = []
    for row in places:
        value, stderr = rows.value[row] * factor, rows.stderr[row] * factor
        digits = digits_for(value, (value - stderr, value + stderr))
        name = (values.ids[row],) if values.ids is not None else ()
        listed = "yes" if rows.harmful[row] else ""
        amount = f"{number(value, digits, sign=True)} ± {number(stderr, digits)}"
        told.append((str(row + 1), *name, number(rows.p_wrong[row], 3), amount, listed))
    return layout.table(("row", *(("id",) if own else ()), "p wrong", f"value, {unit}", "on the list"), told)


def _groups(values: Values, unit: str, factor: float) -> layout.Rendered:
    told = []
    for one in values.groups:
        numbers = (
            with_interval(known.value * factor, scaled(known.interval, factor), sign=True)
            for known in (one.share, one.value, one.against_random)
        )
        told.append((one.name, str(one.rows), *numbers, "worse" if one.worse else ""))
    headers = ("source", "rows", f"share, {unit}", "adds to the others", "against rows at random", "")
    return layout.table(headers, told)
