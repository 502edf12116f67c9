"""A report of a split: what each vendor adds to the others, and what is shared."""

from __future__ import annotations

from dataworth.valuation.further import Further
from dataworth.valuation.split import Split

from ..document import Cell, Document, Facts, Figure, Forest, Mark, Name, Section, Table, Words
from ..numbers import digits_for, number, scaled, with_interval
from ..quantities import unit_of
from . import shared


def document(split: Split, further: Further, bits: bool = False) -> Document:
    """The vendors, the one that adds most first."""
    unit, factor = unit_of(bits)
    block = f"block of {split.test_rows / split.blocks:.3g} test rows"
    total, interval = split.total.value * factor, scaled(split.total.interval, factor)
    worth = with_interval(total, interval, unit)
    common = with_interval(split.shared.value * factor, scaled(split.shared.interval, factor), unit)
    adding = [one.name for one in split.vendors if one.adds.positive]
    marks = [
        Mark(
            Name(one.name),
            one.adds.value * factor,
            scaled(one.adds.interval, factor),
            "good" if one.adds.positive else "bad" if one.adds.negative else "neutral",
        )
        for one in split.vendors
    ]
    marks.append(Mark("shared", split.shared.value * factor, scaled(split.shared.interval, factor)))
    return Document(
        kind="Split",
        subject=shared.subject(split),
        word="what each adds" if adding else "nobody adds anything that is seen",
        tone="good" if adding else "neutral",
        sentence=sentence(adding, len(split.vendors)),
        interval=f"All together are worth {worth} (95 % interval) per {block}.",
        meaning=(
            "A vendor is paid for what it adds to all others. Second names, copies and labels of one's own "
            "making add nothing on average."
        ),
        alarm=None,
        checked=False,
        figures=[
            Figure("Together", f"{number(total, digits_for(total, interval))} {unit}", f"per {block}"),
            Figure("Vendors", str(len(split.vendors)), f"{len(adding)} shown to add something"),
            Figure("Test rows", f"{split.test_rows:,}", f"in {split.blocks} blocks"),
        ],
        chart=Forest(
            caption="What each adds to all others, and what two or more have; 95 % intervals for all.",
            unit=f"PMI, {unit} per block",
            marks=marks,
        ),
        sections=[
            Section(
                title="The vendors",
                blocks=(
                    table(split, bits),
                    Facts([("Shared", f"{common}: what two or more of them have, needed from one only")]),
                ),
            ),
            shared.yardstick_section(split),
            shared.replay_section(split, ()),
        ],
    )


def sentence(adding: list[str], vendors: int) -> Words:
    """Who is shown to add something."""
    if not adding:
        return f"None of {vendors} is shown to add anything to the others."
    joined: list[str] = [piece for name in adding for piece in (", ", Name(name))][1:]
    return ["Shown to add something to the others: ", *joined, f" ({len(adding)} of {vendors})."]


def table(split: Split, bits: bool) -> Table:
    """One row a vendor."""
    unit, factor = unit_of(bits)
    rows = []
    for one in split.vendors:
        alone, adds = (
            Cell(with_interval(known.value * factor, scaled(known.interval, factor), sign=sign), known.value)
            for known, sign in ((one.alone, False), (one.adds, True))
        )
        share = "–" if one.share is None else f"{one.share:.1%}".replace("-", "−").replace("%", " %")
        rows.append(
            (Cell([Name(one.name)]), Cell(f"{one.rows:,}", one.rows), alone, adds, Cell(share, one.share))
        )
    columns = ("dataset", "rows", f"alone, {unit}", f"adds to the others, {unit}", "of the total")
    return Table(caption="Vendors, the one that adds most first", columns=columns, rows=rows, sorts=True)
