"""A report of an audit: what the curation did, and whether to believe the benchmark."""

from __future__ import annotations

from typing import Any

import numpy as np

from dataworth.valuation.audit.audit import Audit
from dataworth.valuation.further import Further
from dataworth.wording import counted

from ..document import (
    Bar,
    Block,
    Cell,
    Document,
    Facts,
    Figure,
    Forest,
    Histogram,
    Mark,
    Quadrants,
    Section,
    Table,
    Tone,
    Words,
)
from ..numbers import digits_for, number, scaled, with_interval
from ..quantities import benchmark, counted_pmi, draws, per_what, told_in_words, unit_of
from ..text.audit import benchmark_sentence, changed_rows, could_see, made_of
from . import shared

TONES: dict[str, Tone] = {
    "informative": "good",
    "improved": "better",
    "recycled": "spent",
    "inconclusive": "neutral",
    "costly": "spent",
    "strategic": "bad",
    "harmful": "worst",
}
SENTENCES = {
    "informative": "The curation added information that the data did not hold before.",
    "improved": "The curated data are worth more than before; whether that is new knowledge is not yet told.",
    "recycled": "The curated data score higher, but no more than the old data could have done by themselves.",
    "inconclusive": "This test set cannot tell whether the curation helped or hurt.",
    "costly": "The curated data are worth less than before, about as any set of so few rows would be.",
    "strategic": "The curation flatters the benchmark: it keeps what the test rewards and loses information.",
    "harmful": "The curation hurt the data: they are worth less than after a random removal of as many rows.",
}
MEANINGS = {
    "informative": "Use the curated data. The gain is more than the data's own models could have made.",
    "improved": "Use the curated data if you have them; before paying for more, test on more rows.",
    "recycled": "There is nothing wrong and nothing new in it: do not pay for it as new information.",
    "inconclusive": "Decide on other grounds, or come back with more test rows.",
    "costly": "Keep the old data unless fewer rows are worth something to you.",
    "strategic": "Do not adopt it on the benchmark's word: away from this test set, expect it to do worse.",
    "harmful": "Keep the old data, and look at what the curation removed or changed.",
}
CORNERS = (
    "both rose",
    "benchmark up, information down",
    "both fell",
    "information up, benchmark down",
)


def document(audit: Audit, further: Further, bits: bool = False) -> Document:
    """The verdict, what it rests on, what changed, and how to replay it."""
    unit, factor = unit_of(bits)
    verdict = audit.verdict or ""
    tone = TONES.get(verdict, "plain")
    change = with_interval(audit.delta * factor, scaled(audit.interval, factor), unit, sign=True)
    meaning = MEANINGS.get(verdict, "The design size compares rows, not datasets: there is no verdict.")
    needed = None if audit.could_see is None else audit.could_see.test_rows
    if verdict == "inconclusive" and needed is not None:
        meaning += f" A change like this one would take about {needed:,} of them."
    return Document(
        kind="Audit",
        subject=shared.subject(audit),
        word=audit.verdict or "no verdict",
        tone=tone,
        sentence=SENTENCES.get(verdict, f"{audit.question}"),
        interval=(
            f"Information moved by {change} (95 % interval) per {per_what(audit.details, audit.table)}: "
            f"{told_in_words(audit.per_row, audit.yardstick, bits)}."
        ),
        meaning=meaning,
        alarm=shared.alarm(audit),
        figures=figures(audit, bits),
        chart=forest(audit, tone, bits),
        sections=[
            side_by_side(audit, bits),
            by_block(audit, tone, bits),
            changed(audit, bits),
            *shared.parts_section(audit, further, bits),
            *shared.priors_section(further, bits),
            *shared.groups_section(further, bits),
            shared.checks_section(audit),
            shared.yardstick_section(audit),
            shared.replay_section(audit, further.left_out),
        ],
    )


def figures(audit: Audit, bits: bool) -> list[Figure]:
    """What a reader sees first."""
    unit, factor = unit_of(bits)
    name, points, moved = benchmark(audit.yardstick, audit.benchmark, bits)
    digits = digits_for(audit.delta * factor, scaled(audit.interval, factor))
    bench = scaled(audit.benchmark_interval, points)
    shown = number(
        audit.benchmark_delta * points, digits_for(audit.benchmark_delta * points, bench), sign=True
    )
    said = benchmark_sentence(audit, bits).rpartition(": ")[2].rstrip(".")
    details = audit.details
    after = details.after_rows if details.after_rows is not None else details.rows_after
    return [
        Figure(
            "Information",
            f"{number(audit.delta * factor, digits, sign=True)} {unit}",
            f"per {per_what(audit.details, audit.table)}",
        ),
        Figure(name.split(",")[0].capitalize(), f"{shown} {moved}".strip(), said),
        Figure(
            "Rows", f"{details.before_rows:,} → {round(after or 0):,}", f"{details.test_rows:,} test rows"
        ),
        shared.checks_figure(audit),
    ]


def forest(audit: Audit, tone: Tone, bits: bool) -> Forest:
    """The change, and what it is made of or compared with."""
    unit, factor = unit_of(bits)
    marks = [("after − before", audit.delta, audit.interval, tone)]
    if (made := audit.made_of) is not None:
        marks.append(("the data's own models could do", made.own.value, made.own.interval, "plain"))
        marks.append(("only outside knowledge adds", made.outside.value, made.outside.interval, tone))
    elif (control := audit.control) is not None and control.selection != audit.delta:
        marks.append(("after − random control", control.selection, control.selection_interval, tone))
    return Forest(
        caption="The change of information and what it is compared with; bars are 95 % intervals.",
        unit=f"change of PMI, {unit} per {per_what(audit.details, audit.table)}",
        marks=[Mark(name, value * factor, scaled(ends, factor), kind) for name, value, ends, kind in marks],
    )


def side_by_side(audit: Audit, bits: bool) -> Section:
    """Before, control and after: a line for each measure."""
    unit, factor = unit_of(bits)
    table = audit.table
    per_row = factor / float(table.test_rows.mean())
    control, controls = None, table.of_role("accuracy", "control")
    accuracy = float(controls.mean()) if controls.size else None
    if (made := audit.made_of) is not None:
        control = audit.before + made.own.value
        arm = "before" if made.strongest == "nothing" else made.strongest
        accuracy = float(table.column("accuracy", arm).mean())
    elif audit.control is not None and audit.control.selection != audit.delta:
        control = audit.control.value
    means = {arm: float(table.column("accuracy", arm).mean()) for arm in ("before", "after")}
    name, points, _ = benchmark(audit.yardstick)
    pmi = (audit.before, control, audit.after, audit.delta, audit.interval)
    lines = [
        (f"PMI, {unit} per {per_what(audit.details, table)}", factor, *pmi),
        (f"PMI, {unit} per test row", per_row, *pmi),
        (
            name,
            points,
            means["before"],
            accuracy,
            means["after"],
            audit.accuracy_delta,
            audit.accuracy_interval,
        ),
    ]
    for metric, told in audit.metrics.items():
        name, points, _ = benchmark(audit.yardstick, metric, bits)
        lines.append((name, points, told["before"], None, told["after"], told["change"], told["interval"]))
    rows = []
    for what, scale, before, blind, after, change, interval in lines:
        digits = digits_for(change * scale, scaled(interval, scale))
        between = "–" if blind is None else number(blind * scale, digits)
        moved = with_interval(change * scale, scaled(interval, scale), sign=True)
        rows.append((what, number(before * scale, digits), between, number(after * scale, digits), moved))
    columns = ("measure", "before", "control", "after", "change, 95 % interval")
    blindly = (
        "as many rows removed at random" if made is None else "the best that the data's own models could do"
    )
    caption = f"Before, control ({blindly}) and after"
    facts = [
        ("Control", no_control(audit, control is not None)),
        *made_of(audit, bits),
        ("Benchmark", benchmark_sentence(audit, bits)),
    ]
    blocks = (Table(caption=caption, columns=columns, rows=rows), Facts(facts))
    return Section(title="Before, control and after", blocks=blocks)


def no_control(audit: Audit, there: bool) -> str:
    """Why a cell of the control is empty."""
    if audit.control is None:
        return "– there is no control: this design compares rows, not datasets"
    if not there:
        return (
            "– no control is needed: there are no fewer rows than before, so the data before curation are it"
        )
    return "– is not measured: of the control, only information and accuracy are"


def by_block(audit: Audit, tone: Tone, bits: bool) -> Section:
    """How the change spreads over blocks or pairs, and with it the benchmark's."""
    unit, factor = unit_of(bits)
    many = "pairs" if audit.details.blocks is None else "blocks"
    pmi, names = counted_pmi(audit) * factor, [str(arm) for arm in audit.table.arms]
    moved = pmi[:, names.index("after")] - pmi[:, names.index("before")]
    name, points, change_unit = benchmark(audit.yardstick)
    bench = audit.table.change("accuracy", "after", "before") * points
    interval = scaled(audit.interval, factor)
    what, across = f"ΔPMI, {unit}", f"Δ {name.split(',')[0]}" + (f", {change_unit}" if change_unit else "")
    share = float(np.mean((bench > 0) & (moved < 0)))
    told = f"In {share:.0%} of {many} the benchmark rose while information fell.".replace("%", " %")
    pairs = list(zip(moved.tolist(), bench.tolist(), strict=True))
    rows = [(Cell(str(i + 1), i), _cell(one), _cell(other)) for i, (one, other) in enumerate(pairs)]
    return Section(
        title="Blocks of the test set, one by one" if many == "blocks" else "Pairs, one by one",
        blocks=(
            Quadrants(
                caption=f"Each dot is one of {len(pairs)} {many}. {told} A cloud about the lower right "
                "corner is what strategic curation looks like.",
                unit=what,
                across=across,
                points=[(y, x) for x, y in pairs],
                mean=(float(bench.mean()), float(moved.mean())),
                corners=CORNERS,
                counted=many,
                tone=tone,
            ),
            Histogram(
                caption=f"How the change spreads over {len(pairs)} {many}; mean and 95 % interval.",
                unit=what,
                values=moved.tolist(),
                mean=audit.delta * factor,
                interval=interval,
                counted=many,
                tone=tone,
            ),
            Table(
                caption=f"Change of information and of the benchmark, by {many}",
                columns=(many.removesuffix("s"), what, across),
                rows=rows,
                sorts=True,
                folded=True,
            ),
        ),
    )


def changed(audit: Audit, bits: bool) -> Section:
    """What became of the rows, and what such a test set could have seen."""
    change = audit.change
    kinds = {
        "kept unchanged": change["unchanged"],
        "kept, changed": change["kept"] - change["unchanged"],
        "removed": change["removed"],
        "new": change["new"],
        "repeated": change["repeated"],
    }
    blocks: list[Block] = [
        Bar(
            caption=f"What became of the rows: {changed_rows(audit)}.",
            unit="rows",
            parts=[(k, n) for k, n in kinds.items() if n],
        ),
    ]
    curation = audit.details.curation
    facts: list[tuple[str, Words]] = [] if curation is None else [("Curation", str(curation["name"]))]
    facts += [] if (twins := change.get("twins")) is None else [("Twins", twins_text(twins))]
    measured = ("Measured on", f"{audit.details.test_rows} test rows, {draws(audit.details)}")
    blocks.append(Facts([*facts, measured, *could_see(audit, bits)]))
    return Section(title="What changed, and what could have been seen", blocks=blocks)


def twins_text(twins: dict[str, Any]) -> str:
    """Which of rows with the same features and several labels stayed.

    >>> twins_text({"sets": 9, "thinned": 2, "stayed": {"yes": 2}, "gone": {"no": 2, "yes": 1}})
    '9 sets of rows have the same features and several labels; 2 lost some: yes 2 stayed, no 2, yes 1 went'
    """
    told = f"{counted(twins['sets'], 'set')} of rows have the same features and several labels"
    if not twins["thinned"]:
        return f"{told}; none lost only some"
    stayed, went = (", ".join(f"{label} {n}" for label, n in twins[k].items()) for k in ("stayed", "gone"))
    return f"{told}; {twins['thinned']} lost some: {stayed} stayed, {went} went"


def _cell(value: float) -> Cell:
    return Cell(number(value, 3, sign=True), value)
