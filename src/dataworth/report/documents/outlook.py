"""An outlook: what more rows like these would be worth."""

from __future__ import annotations

from dataworth.valuation.outlook import Outlook
from dataworth.valuation.supplementary import Further

from ..document import Cell, Document, Facts, Plane, Section, Series, Table, Tone
from ..numbers import digits_for, number, unit_of
from . import shared


def document(outlook: Outlook, further: Further, bits: bool = False) -> Document:
    """The curve, and how far it can be trusted."""
    unit, block = unit_of(bits), shared.per_block(outlook.test_rows, outlook.blocks)
    value = unit.named(outlook)
    gain = number(outlook.gain * unit.factor, unit.digits(outlook), sign=True)
    falls = "; the value falls as rows are added" if outlook.falls else ""
    word, tone, sentence, meaning = answer(outlook)
    facts = [
        ("Values", f"{unit.name} per {block}"),
        ("Range", "nine in ten of such forecasts; it holds for rows like these"),
        ("Laws", f"{outlook.gaussian:.0%} one that levels off, {1 - outlook.gaussian:.0%} the logarithm"),
    ]
    if outlook.target is not None:
        needed = f"{outlook.needed} rows in all" if outlook.needed else "not with a hundred times the rows"
        facts.append(("Target", f"{number(outlook.target * unit.factor, 3)} {unit.name}: {needed}"))
    return Document(
        kind="Outlook",
        line=f"with {outlook.more} more rows {value} per block, {gain} to what there is{falls}",
        word=word,
        tone=tone,
        sentence=sentence,
        meaning=meaning,
        charts=(chart(outlook, bits),),
        sections=[
            Section("The curve", (table(outlook, bits), Facts(facts, "brief"))),
            shared.yardstick_section(outlook),
            shared.replay_section(outlook),
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


def chart(outlook: Outlook, bits: bool) -> Plane:
    """Measured sizes, and the forecast with its range."""
    unit = unit_of(bits)
    points = [
        unit.point(
            one.rows, one, f"{one.rows} rows: {unit.show(one)} ({'measured' if one.measured else 'foretold'})"
        )
        for one in outlook.curve
    ]
    n = sum(one.measured for one in outlook.curve)
    return Plane(
        "Measured on random parts of the data, then foretold; bars are ranges of nine in ten.",
        f"PMI, {unit.name} per block",
        "rows of data",
        [
            Series("foretold, 90 %", points[n - 1 :], "bad", joined=True),
            Series("measured", points[:n], joined=True),
        ],
        log=True,
    )


def table(outlook: Outlook, bits: bool) -> Table:
    """One row a size."""
    unit, rows = unit_of(bits), []
    for one in outlook.curve:
        value = one.value * unit.factor
        shown = Cell(number(value, digits_for(value)), one.value) if one.measured else unit.cell(one)
        rows.append((Cell(str(one.rows), one.rows), shown, "measured" if one.measured else "foretold"))
    return Table(
        "Value by size", ("rows", f"value, {unit.name}", "conclusion"), rows, level="brief", sorts=True
    )
