"""The demo: a row for each of its chapters, then what each of them did."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from dataworth.valuation.supplementary import Further

from ..document import VERDICT_TONES, Block, Cell, Document, Facts, Forest, Section, Table
from ..numbers import Plain, benchmark, number, per_what, unit_of
from . import audit, shared


def document(demo: Any, further: Further, bits: bool = False) -> Document:
    """One row a chapter, what each of them did, and all audits."""
    line = ", ".join(f"{chapter.name}: {chapter.audit.verdict}" for chapter in demo.audits)
    findings = [finding for chapter in demo.audits for finding in chapter.audit.checks]
    stories = [(chapter.name, chapter.told) for chapter in demo.audits]
    facts = Facts([*stories, ("checks of all", shared.check_counts(findings))], "brief")
    question = "Did these curations add information?"
    return Document(
        kind="Demo",
        line=line,
        headline=question,
        word=f"{len(demo.audits)} curations",
        sentence=question,
        sections=[
            Section("The curations", (table(demo, bits), facts, *forests(demo, bits)[1:])),
            *(Section(one.name, chapter_blocks(one, bits)) for one in demo.audits),
        ],
        charts=forests(demo, bits),
        source="scikit-learn's digits, odd or even; 95 % intervals",
    )


def table(demo: Any, bits: bool) -> Table:
    """One row a chapter."""
    unit = unit_of(bits)
    digits = min(2, max(unit.digits(audit.delta(c.audit)) for c in demo.audits))  # of equal data, many
    rows = [
        (
            chapter.name,
            unit.cell(audit.delta(chapter.audit), sign=True, digits=digits),
            number(chapter.audit.accuracy_delta * 100, 1, sign=True),
            Cell(chapter.audit.verdict or "no verdict", None, VERDICT_TONES.get(chapter.audit.verdict)),
        )
        for chapter in demo.audits
    ]
    return Table(
        "Did these curations add information?",
        ("curation", f"ΔPMI, {unit.name}, 95 % interval", "accuracy, points", "verdict"),
        rows,
        level="brief",
    )


def forests(demo: Any, bits: bool) -> tuple[Forest, Forest]:
    """The change of PMI with its verdict, and the benchmark's."""
    unit, first = unit_of(bits), demo.audits[0].audit
    bench = benchmark(first.yardstick)
    moved, rewarded = [], []
    for name, one in ((chapter.name, chapter.audit) for chapter in demo.audits):
        tone = VERDICT_TONES.get(one.verdict, "plain")
        moved.append(unit.mark(name, audit.delta(one), tone, one.verdict or "no verdict"))
        accuracy = Plain(one.accuracy_delta, one.accuracy_interval)
        rewarded.append(bench.unit.mark(name, accuracy, tone))
    return (
        Forest(
            "The change of information, with its verdict; bars are 95 % intervals.",
            f"change of PMI, {unit.name} per {per_what(first.details, first.table)}",
            moved,
        ),
        Forest(
            "The change of the benchmark; bars are 95 % intervals.", f"change of {bench.change}", rewarded
        ),
    )


def chapter_blocks(chapter: Any, bits: bool) -> list[Block]:
    """The audit of a chapter, for those who ask for details."""
    made = audit.document(chapter.audit, Further(), bits)
    caption = f"{chapter.name}: before and after"
    tables = [replace(table, level="verbose", caption=caption) for table in made.tables("brief")]
    return [*tables, Facts([("Verdict", made.headline), *made.facts("brief")], "verbose")]
