"""A report of an outlook: what more rows like these would be worth."""

from __future__ import annotations

from dataworth.valuation.further import Further
from dataworth.valuation.outlook import Outlook

from ..document import Cell, Document, Facts, Figure, Lines, Point, Section, Table, Tone, Words
from ..numbers import digits_for, number, scaled, with_interval
from ..quantities import unit_of
from . import shared


def document(outlook: Outlook, further: Further, bits: bool = False) -> Document:
    """The curve, and how far it can be trusted."""
    unit, factor = unit_of(bits)
    value, interval = outlook.value * factor, scaled(outlook.interval, factor)
    digits = digits_for(value, interval)
    gain = number(outlook.gain * factor, digits, sign=True)
    block = f"block of {outlook.test_rows / outlook.blocks:.3g} test rows"
    word, tone, sentence, meaning = answer(outlook)
    points = [
        Point(one.rows, one.value * factor, scaled(one.interval, factor), "" if one.measured else "foretold")
        for one in outlook.curve
    ]
    measured = [point for point in points if not point.said]
    laws = f"{outlook.gaussian:.0%} one that levels off, {1 - outlook.gaussian:.0%} the logarithm"
    facts: list[tuple[str, Words]] = [
        ("Range", "nine in ten of such forecasts; it holds for rows like these"),
        ("Laws", laws.replace("%", " %")),
    ]
    if outlook.target is not None:
        needed = f"{outlook.needed:,} rows in all" if outlook.needed else "not with a hundred times the rows"
        facts.append(("Target", f"{number(outlook.target * factor, 3)} {unit}: {needed}"))
    return Document(
        kind="Outlook",
        subject=shared.subject(outlook),
        word=word,
        tone=tone,
        sentence=sentence,
        interval=(
            f"With {outlook.more:,} more rows they would be worth {with_interval(value, interval, unit)} "
            f"(a range that holds in nine of ten forecasts) per {block}, {gain} to what there is."
        ),
        meaning=meaning,
        alarm=None,
        checked=False,
        figures=[
            Figure("Foretold", f"{number(value, digits)} {unit}", f"per {block}"),
            Figure("Gain", f"{gain} {unit}", f"with {outlook.more:,} more rows"),
            Figure("Rows", f"{outlook.have:,}", f"{outlook.test_rows:,} test rows"),
        ],
        chart=Lines(
            caption="Measured on random parts of the data, then foretold; bars are ranges of nine in ten.",
            unit=f"PMI, {unit} per block",
            lines=[("measured", measured), ("foretold", [measured[-1], *points[len(measured) :]])],
            across="rows of data",
        ),
        sections=[
            Section(title="The curve", blocks=(table(outlook, bits), Facts(facts))),
            shared.yardstick_section(outlook),
            shared.replay_section(outlook, ()),
        ],
    )


def answer(outlook: Outlook) -> tuple[str, Tone, str, str]:
    """Word, tone, sentence, meaning."""
    if outlook.falls:
        return (
            "more may hurt",
            "bad",
            "The value falls as rows are added.",
            "Look at the labels first: 'dataworth values' says which.",
        )
    if outlook.interval[0] > outlook.value - outlook.gain:
        return (
            "more would help",
            "good",
            "More rows like these would be worth more than what there is.",
            "Weigh the gain against what the rows cost; other rows may bring more than rows like these.",
        )
    return (
        "cannot tell",
        "neutral",
        "Whether more rows like these would be worth more cannot be told.",
        "More test rows, or a larger step, would tell.",
    )


def table(outlook: Outlook, bits: bool) -> Table:
    """One row a size."""
    unit, factor = unit_of(bits)
    rows = [
        (
            Cell(f"{one.rows:,}", one.rows),
            Cell(with_interval(one.value * factor, scaled(one.interval, factor)), one.value)
            if one.interval is not None
            else Cell(number(one.value * factor, digits_for(one.value * factor)), one.value),
            "measured" if one.measured else "foretold",
        )
        for one in outlook.curve
    ]
    columns = ("rows", f"PMI, {unit} per block", "how")
    return Table(caption="Value by size", columns=columns, rows=rows, texts=("how",), sorts=True)
