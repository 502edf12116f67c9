"""What a value, or a change of it, is made of, as text: for --explain and -v."""

from __future__ import annotations

from rich.console import Group
from rich.text import Text

from dataworth.measure.parts import AuditParts, MeanParts
from dataworth.valuation.audit.audit import Audit
from dataworth.valuation.rank import Ranking
from dataworth.valuation.score import Score

from ..numbers import digits_for, number, scaled, with_interval
from ..quantities import unit_of
from . import layout

PART_NAMES = {
    "confidence": "confidence gained, KL(both‖prior)",
    "against_data": "− disagreement with the data, KL(both‖data)",
    "against_test": "− disagreement with the test set, KL(both‖test)",
    "unexplained": "not explained",
    "value": "= PMI",
    "information_data": "how sure the data are, PI(data)",
    "information_test": "how sure the test set is, PI(test)",
}


def full(result: Score | Audit | Ranking, bits: bool = False) -> layout.Rendered:
    """What a value, or a change of it, is made of; for --explain and -v."""
    told, columns, rows = lines(result, bits)
    return Group(Text(""), Text(told, style="dim"), layout.table(("measure", *columns), rows))


def lines(
    result: Score | Audit | Ranking, bits: bool = False
) -> tuple[str, tuple[str, ...], list[tuple[str, ...]]]:
    """A title, the columns, and a row for each part."""
    unit, factor = unit_of(bits)
    parts = result.parts
    if isinstance(parts, MeanParts):
        parts = {"value, 95 % interval": parts}
    elif isinstance(parts, AuditParts):
        parts = {"from": parts.before, "to": parts.after, "change, 95 % interval": parts.change}
    columns: dict[str, MeanParts] = parts
    rows = []
    for name, shown in PART_NAMES.items():
        found = {header: getattr(means, name) for header, means in columns.items()}
        if name == "unexplained" and all(abs(one.value) < 5e-4 for one in found.values()):
            continue
        last = scaled([*found.values()][-1].interval, factor)
        cells = []
        for header, one in found.items():
            value, interval = one.value * factor, scaled(one.interval, factor)
            if "interval" in header:
                cells.append(with_interval(value, interval, sign=header.startswith("change")))
            else:
                cells.append(number(value, min(3, digits_for(value, last))))
        rows.append((shown, *cells))
    first = next(iter(columns.values()))
    some = "" if first.pairs == first.all_pairs else f", the first {first.pairs} of {first.all_pairs}"
    return f"why, in {unit}{some}", tuple(columns), rows
