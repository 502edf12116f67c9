"""An audit as text: the verdict in its colour, the intervals it rests on, and what changed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from rich.text import Text

from dataworth.valuation.audit.audit import Audit

from ..numbers import digits_for, number, scaled, with_interval
from ..quantities import benchmark, draws, per_what, told_in_words, unit_of
from . import common, layout

CONTROLS = {
    "by yardstick": "the yardstick's model",
    "by boosting": "boosting",
    "by linear": "a linear model",
    "by smooth": "a Gaussian process",
    "by spreading": "labels spread along neighbours",
    "by mean": "the mean of its models",
    "by clean": "the mean of its models, learnt without doubted rows",
    "labels at random": "labels changed at random",
    "labels on a line": "all labels stretched or shifted",
}
"""What the data's own controls do, by the beginning of their names."""
DROPPED = "dropped "
VERDICT_STYLES = {
    "informative": "bold green",
    "improved": "bold cyan",
    "recycled": "bold yellow",
    "inconclusive": "bold",
    "costly": "bold yellow",
    "strategic": "bold red",
    "harmful": "bold red",
}


def verdict_word(audit: Audit) -> Text:
    """The verdict in its colour."""
    return Text(audit.verdict or "no verdict", style=VERDICT_STYLES.get(audit.verdict or "", "bold"))


def line(audit: Audit, bits: bool = False) -> str:
    """Verdict and change in one line."""
    unit, factor = unit_of(bits)
    change = with_interval(audit.delta * factor, scaled(audit.interval, factor), unit, sign=True)
    why = ""
    if audit.verdict == "inconclusive" and audit.interval is not None and audit.interval[0] > 0:
        why = f" ({audit.reason})"  # an interval above zero asks for the reason
    return f"{audit.verdict or 'no verdict'}{why}: ΔPMI {change}"


def benchmark_sentence(audit: Audit, bits: bool = False) -> str:
    """Would the benchmark have noticed?"""
    name, points, unit = benchmark(audit.yardstick, audit.benchmark, bits)
    interval = scaled(audit.benchmark_interval, points)
    moved = with_interval(audit.benchmark_delta * points, interval, unit, sign=True)
    name = f"less {name}" if audit.benchmark == "log_loss" else name
    said = "the benchmark would not have noticed"
    if interval is None:
        said = "whether the benchmark would have noticed cannot be told"
    elif interval[0] > 0:
        said = "the benchmark would have shown an improvement"
    elif interval[1] < 0:
        said = "the benchmark would have shown a loss"
    return f"{name[0].upper()}{name.split(',')[0][1:]} moved by {moved}: {said}."


def change_text(change: dict[str, Any]) -> str:
    """What became of the rows, by kinds that add up.

    All but the new and repeated are the rows before, all but the removed the rows after. Rows may be both
    edited and relabelled, and copies of kept rows may be: then these two stand apart.

    >>> change = {"kept": 9, "unchanged": 4, "removed": 1, "new": 0, "repeated": 2, "matched_by": "ids"}
    >>> change_text({**change, "edited": 2, "relabelled": 3})
    '4 kept unchanged, 2 edited, 3 relabelled, 1 removed, 2 repeated (rows matched by ids)'
    >>> change_text({**change, "edited": 2, "relabelled": 5})
    '4 kept unchanged, 5 changed, 1 removed, 2 repeated (2 edited, 5 relabelled; rows matched by ids)'
    """
    kinds = {kind: change[kind] for kind in ("edited", "relabelled")}
    changed = {"changed": change["kept"] - change["unchanged"]}
    apart = "" if sum(kinds.values()) == changed["changed"] else f"{_told(kinds)}; "
    kept = "kept unchanged" if any(kinds.values()) else "kept"
    rest = {kind: change[kind] for kind in ("removed", "new", "repeated")}
    told = _told({kept: change["unchanged"], **(changed if apart else kinds), **rest})
    return f"{told} ({apart}rows matched by {change['matched_by']})"


def changed_rows(audit: Audit) -> str:
    """What became of the rows, and why they are not as many as the files have."""
    told, rows = [], {"before": audit.details.before_rows, "after": audit.details.after_rows}
    for name, count in rows.items():
        given = audit.replay.data.get(name, {}).get("rows")
        if count is not None and given is not None and (why := common.of_given(count, given)):
            told.append(f"{count} rows {name}{why}")
    return f"{change_text(audit.change)}{'; '.join(['', *told])}"


def _told(counts: dict[str, int]) -> str:
    return ", ".join(f"{n} {kind}" for kind, n in counts.items() if n)


def full(audit: Audit, bits: bool = False, verbose: bool = False) -> layout.Rendered:
    """The verdict, the three intervals it rests on, and what changed."""
    headline = Text(f"no verdict: {audit.reason.split(':')[0]}.")
    if audit.verdict is not None:
        headline = Text.assemble(verdict_word(audit), (f": {audit.reason}.", "bold"))
    return layout.report(
        headline,
        layout.table(("measure", "from", "to", "change, 95 % interval"), _lines(audit, bits)),
        [
            ("In words", told_in_words(audit.per_row, audit.yardstick, bits)),
            *made_of(audit, bits),
            ("Benchmark", benchmark_sentence(audit, bits)),
            ("Changed", changed_rows(audit)),
            ("Measured on", f"{audit.details.test_rows} test rows, {draws(audit.details)}"),
            *could_see(audit, bits),
            *common.facts(audit),
        ],
        common.details(audit, bits) if verbose else (),
        audit.question,
    )


def made_of(audit: Audit, bits: bool) -> list[tuple[str, str]]:
    """What a rise is made of, in a sentence."""
    if (made := audit.made_of) is None:
        return []
    unit, factor = unit_of(bits)
    own, outside = (
        with_interval(part.value * factor, scaled(part.interval, factor), unit, sign=True)
        for part in (made.own, made.outside)
    )
    how = "by doing nothing" if made.strongest == "nothing" else f"at best ({in_plain_words(made.strongest)})"
    told = f"{own} is what the data's own models could have done, {how}; {outside} is what only somebody "
    return [("Made of", f"{told}from outside could know")]


def in_plain_words(control: str) -> str:
    """What a control of the data's own models did.

    >>> in_plain_words("by clean, to the sure")
    'the mean of its models, learnt without doubted rows, to the sure'
    >>> in_plain_words("labels at random 2, row by row")
    'labels changed at random, row by row'
    >>> in_plain_words("dropped by boosting"), in_plain_words("edited on a line")
    ('rows dropped by boosting', 'edited on a line')
    """
    dropped, control = control.startswith(DROPPED), control.removeprefix(DROPPED)
    told = next((name for name in CONTROLS if control.startswith(name)), "")
    words = CONTROLS.get(told, "") + re.sub(r"^ \d+", "", control.removeprefix(told))
    return f"rows dropped by {words}" if dropped else words


def could_see(audit: Audit, bits: bool) -> list[tuple[str, str]]:
    """What such a test set shows 4 times in 5, and how many rows would decide what it did not."""
    if (seen := audit.could_see) is None:
        return []
    unit, factor = unit_of(bits)
    told = []
    if seen.rise is not None and seen.labels is not None:
        part = number(100 * seen.labels, 0 if seen.labels > 0.095 else 1)
        labels = f"{part} % of the labels of {seen.of_rows} rows mended"
        told.append(f"a rise of {number(seen.rise * factor, 2)} {unit} a block (about {labels})")
    if seen.more_rows is not None:
        told.append(f"{seen.more_rows} more rows beside {seen.of_rows - seen.more_rows}")
    shown = ", or ".join(told) or f"not even a fifth of the labels of {seen.of_rows} rows mended"
    text = f"4 times in 5, with these {audit.details.test_rows} test rows: {shown}"
    if audit.verdict == "inconclusive" and seen.test_rows is not None:
        text += f"; a change like this one would take about {rounded(seen.test_rows):,} test rows"
    return [("Could see", text)]


def rounded(rows: int) -> int:
    """To two digits: an estimate of an estimate.

    >>> rounded(1234), rounded(87)
    (1200, 87)
    """
    scale = 10 ** max(0, len(str(rows)) - 2)
    return round(rows / scale) * scale


def _lines(audit: Audit, bits: bool) -> Iterator[tuple[str, str, str, str]]:
    """What was measured, from, to, and the change with its interval."""
    unit, factor = unit_of(bits)
    name, points, _ = benchmark(audit.yardstick)
    per_row = factor / float(audit.table.test_rows.mean())
    value = (audit.before, audit.after, audit.delta, audit.interval)
    lines = [
        (f"PMI, {unit} per {per_what(audit.details, audit.table)}", factor, *value),
        (f"PMI, {unit} per test row", per_row, *value),
    ]
    if (made := audit.made_of) is not None:
        middle = audit.before + made.own.value
        own, outside = (made.own.value, made.own.interval), (made.outside.value, made.outside.interval)
        lines.append((f"of it, the data's own models, {unit}", factor, audit.before, middle, *own))
        lines.append((f"of it, only from outside, {unit}", factor, middle, audit.after, *outside))
    elif (control := audit.control) is not None and control.selection != audit.delta:
        blind = (control.value, audit.after, control.selection, control.selection_interval)
        lines.append((f"PMI against the blind control, {unit}", factor, *blind))
    before, after = (float(audit.table.column("accuracy", arm).mean()) for arm in ("before", "after"))
    lines.append((name, points, before, after, audit.accuracy_delta, audit.accuracy_interval))
    for metric, told in audit.metrics.items():
        name, points, _ = benchmark(audit.yardstick, metric, bits)
        lines.append((name, points, *(told[key] for key in ("before", "after", "change", "interval"))))
    for what, scale, start, end, change, interval in lines:
        digits = digits_for(change * scale, scaled(interval, scale))
        moved = with_interval(change * scale, scaled(interval, scale), sign=True)
        yield what, number(start * scale, digits), number(end * scale, digits), moved
