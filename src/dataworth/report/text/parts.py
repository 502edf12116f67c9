"""What a value, or a change of it, is made of, as text: for --explain and -v."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.text import Text

from dataworth.measure.parts import AuditParts, MeanParts

from ..numbers import digits_for, number, scaled, with_interval
from ..quantities import unit_of
from . import layout

if TYPE_CHECKING:
    from dataworth.valuation.audit.audit import Audit
    from dataworth.valuation.rank import Ranking
    from dataworth.valuation.score import Score

PART_NAMES = {
    "confidence": "confidence gained, KL(both‖prior)",
    "against_data": "− disagreement with the data, KL(both‖data)",
    "against_test": "− disagreement with the test set, KL(both‖test)",
    "unexplained": "not explained",
    "value": "= PMI",
    "information_data": "information in the data, PI(data)",
    "information_test": "information in the test set, PI(test)",
}


def parts_report(result: Score | Audit | Ranking, bits: bool = False) -> RenderableType:
    """What a value, or a change of it, is made of; for --explain and -v."""
    unit, factor = unit_of(bits)
    columns: dict[str, MeanParts]
    parts = result.parts
    if isinstance(parts, MeanParts):
        columns = {"value, 95 % interval": parts}
    elif isinstance(parts, AuditParts):
        columns = {"from": parts.before, "to": parts.after, "change, 95 % interval": parts.change}
    else:
        columns = parts
    table = layout.table("measure", *columns)
    first = next(iter(columns.values()))
    for name, shown in PART_NAMES.items():
        found = {header: getattr(means, name) for header, means in columns.items()}
        if name == "unexplained" and all(abs(one.value) < 5e-4 for one in found.values()):
            continue
        cells = []
        for header, one in found.items():
            value, interval = one.value * factor, scaled(one.interval, factor)
            if "interval" in header:
                cells.append(with_interval(value, interval, sign=header.startswith("change")))
            else:
                last = scaled(list(found.values())[-1].interval, factor)
                cells.append(number(value, digits_for(value, last)))
        layout.add_row(table, shown, *cells)
    some = "" if first.pairs == first.all_pairs else f", the first {first.pairs} of {first.all_pairs}"
    return Group(Text(""), Text(f"why, in {unit}{some}", style="dim"), table)
