"""The demo: a row for each of its chapters, then what each of them did."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from dataworth.valuation.supplementary import Further

from ..document import VERDICT_TONES, Answer, Block, Cell, Document, Facts, Forest, Section, Table
from ..numbers import Unit, benchmark, number, per_what
from . import audit, shared


def document(demo: Any, further: Further, unit: Unit) -> Document:
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
        answer=Answer(f"{len(demo.audits)} curations", "plain", question),
        sections=[
            Section("The curations", (table(demo, unit), facts, *forests(demo, unit)[1:])),
            *(Section(one.name, chapter_blocks(one, unit)) for one in demo.audits),
        ],
        charts=forests(demo, unit),
        source="scikit-learn's digits, odd or even; 95 % intervals",
    )


def table(demo: Any, unit: Unit) -> Table:
    """One row a chapter."""
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


def forests(demo: Any, unit: Unit) -> tuple[Forest, Forest]:
    """The change of PMI with its verdict, and the benchmark's."""
    first = demo.audits[0].audit
    bench = benchmark(first.yardstick, unit)
    moved, rewarded = [], []
    for name, one in ((chapter.name, chapter.audit) for chapter in demo.audits):
        tone = VERDICT_TONES.get(one.verdict, "plain")
        moved.append(unit.mark(name, audit.delta(one), tone, one.verdict or "no verdict"))
        rewarded.append(bench.unit.mark(name, audit.accuracy(one), tone))
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


def chapter_blocks(chapter: Any, unit: Unit) -> list[Block]:
    """The audit of a chapter, for those who ask for details."""
    made = audit.document(chapter.audit, Further(), unit)
    caption = f"{chapter.name}: before and after"
    tables = [replace(table, level="verbose", caption=caption) for table in made.tables("brief")]
    return [*tables, Facts([("Verdict", made.headline), *made.facts("brief")], "verbose")]
