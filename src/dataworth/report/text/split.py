"""A split as text: what each vendor adds, and what is paid for it."""

from __future__ import annotations

from dataworth.valuation.split import Split

from ..numbers import scaled, with_interval
from ..quantities import unit_of
from . import layout, yardstick


def line(split: Split, bits: bool = False) -> str:
    """Who gets which part of the total."""
    unit, factor = unit_of(bits)
    total = with_interval(split.total.value * factor, scaled(split.total.interval, factor), unit)
    parts = ", ".join(f"{one.name} adds {one.adds.value * factor:.2g}" for one in split.vendors)
    return f"{parts} of {total}".replace("-", "−")


def full(split: Split, bits: bool = False, verbose: bool = False) -> layout.Rendered:
    """One row a vendor."""
    unit, factor = unit_of(bits)
    rows = []
    for one in split.vendors:
        adds, alone = (
            with_interval(known.value * factor, scaled(known.interval, factor), sign=sign)
            for known, sign in ((one.adds, True), (one.alone, False))
        )
        share = "–" if one.share is None else f"{one.share:.1%}".replace("-", "−")
        rows.append((one.name, str(one.rows), alone, adds, share))
    shared = with_interval(split.shared.value * factor, scaled(split.shared.interval, factor), unit)
    block = f"block of {split.test_rows / split.blocks:.3g} test rows"
    return layout.report(
        f"{line(split, bits)}.",
        layout.table(("dataset", "rows", f"alone, {unit}", "adds to the others", "of the total"), rows),
        [
            ("Values", f"{unit} per {block}; the 95 % intervals hold for all vendors at once"),
            ("Shared", f"{shared}: what two or more of them have, needed from one only"),
            (
                "Pays",
                "what each adds: second names, copies, labels of one's own making add nothing on average",
            ),
            ("Yardstick", yardstick.line(split.yardstick)),
            *(("Note", note) for note in split.notes),
        ],
        question=split.question,
    )
