"""A split: what each vendor adds to the others, and what is shared."""

from __future__ import annotations

from dataworth.valuation.split import Split
from dataworth.valuation.supplementary import Further

from ..document import Cell, Document, Facts, Forest, Name, Section, Table, Words, names
from ..numbers import unit_of
from . import shared


def document(split: Split, further: Further, bits: bool = False) -> Document:
    """The vendors, the one that adds most first."""
    unit, block = unit_of(bits), shared.per_block(split.test_rows, split.blocks)
    adding = [one.name for one in split.vendors if one.adds.positive]
    each = ", ".join(f"{one.name} adds {one.adds.value * unit.factor:.2g}" for one in split.vendors)
    marks = [
        unit.mark(
            Name(one.name),
            one.adds,
            "good" if one.adds.positive else "bad" if one.adds.negative else "neutral",
        )
        for one in split.vendors
    ]
    marks.append(unit.mark("shared", split.shared))
    facts = [
        ("Values", f"{unit.name} per {block}; the 95 % intervals hold for all vendors at once"),
        ("Shared", f"{unit.named(split.shared)}: what two or more of them have, needed from one only"),
        ("Pays", "what each adds: second names, copies, labels of one's own making add nothing on average"),
    ]
    return Document(
        kind="Split",
        line=f"{each} of {unit.named(split.total)}".replace("-", "−"),
        word="what each adds" if adding else "nobody adds anything that is seen",
        tone="good" if adding else "neutral",
        sentence=sentence(adding, len(split.vendors)),
        meaning=(
            "A vendor is paid for what it adds to all others. Second names, copies and labels of one's own "
            "making add nothing on average."
        ),
        charts=(
            Forest(
                "What each adds to all others, and what two or more have; 95 % intervals for all.",
                f"PMI, {unit.name} per block",
                marks,
            ),
        ),
        sections=[
            Section("The vendors", (table(split, bits), Facts(facts, "brief"))),
            shared.yardstick_section(split),
            shared.replay_section(split),
        ],
    )


def sentence(adding: list[str], vendors: int) -> Words:
    """Who is shown to add something."""
    if not adding:
        return f"None of {vendors} is shown to add anything to the others."
    return ["Shown to add something to the others: ", *names(adding), f" ({len(adding)} of {vendors})."]


def table(split: Split, bits: bool) -> Table:
    """One row a vendor."""
    unit = unit_of(bits)
    rows = [
        (
            Cell([Name(one.name)]),
            Cell(str(one.rows), one.rows),
            unit.cell(one.alone),
            unit.cell(one.adds, sign=True),
            Cell("–" if one.share is None else f"{one.share:.1%}".replace("-", "−"), one.share),
        )
        for one in split.vendors
    ]
    return Table(
        "Vendors, the one that adds most first",
        ("dataset", "rows", f"alone, {unit.name}", "adds to the others", "of the total"),
        rows,
        level="brief",
        sorts=True,
    )
