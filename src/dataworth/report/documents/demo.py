"""The demo: a row for each of its chapters, then what each of them did."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from dataworth.valuation.supplementary import Further

from ..document import VERDICT_TONES, Answer, Block, Cell, Document, Facts, Forest, Section, Table
from ..numbers import Unit, benchmark, number, per_what
from . import audit, shared

QUESTION = "Did these curations add information?"


def document(demo: Any, further: Further, unit: Unit) -> Document:
    """One row a chapter, what each of them did, and all audits."""
    first, rows, moved, rewarded = demo.audits[0].audit, [], [], []
    bench = benchmark(first.yardstick, unit)
    digits = min(2, max(unit.digits(audit.delta(c.audit)) for c in demo.audits))  # of equal data, many
    for name, one in ((chapter.name, chapter.audit) for chapter in demo.audits):
        verdict, tone = one.verdict or "no verdict", VERDICT_TONES.get(one.verdict)
        change = unit.cell(audit.delta(one), sign=True, digits=digits)
        points = number(one.accuracy_delta * 100, 1, sign=True)
        rows.append((name, change, points, Cell(verdict, None, tone)))
        moved.append(unit.mark(name, audit.delta(one), tone or "plain", verdict))
        rewarded.append(bench.unit.mark(name, audit.accuracy(one), tone or "plain"))
    columns = ("curation", f"ΔPMI, {unit.name}, 95 % interval", "accuracy, points", "verdict")
    per = per_what(first.details, first.table)
    charts = (
        Forest(
            "The change of information, with its verdict; bars are 95 % intervals.",
            f"change of PMI, {unit.name} per {per}",
            moved,
        ),
        Forest(
            "The change of the benchmark; bars are 95 % intervals.", f"change of {bench.change}", rewarded
        ),
    )
    findings = [finding for chapter in demo.audits for finding in chapter.audit.checks]
    stories = [(chapter.name, chapter.told) for chapter in demo.audits]
    facts = Facts([*stories, ("checks of all", shared.check_counts(findings))], "brief")
    return Document(
        kind="Demo",
        line=", ".join(f"{chapter.name}: {chapter.audit.verdict}" for chapter in demo.audits),
        headline=f"{_worth(demo.raw, unit)}{QUESTION}",
        answer=Answer(f"{len(demo.audits)} curations", "plain", QUESTION),
        sections=[
            Section("The curations", (Table(QUESTION, columns, rows, "brief"), facts, charts[1])),
            *(Section(one.name, _chapter(one, unit)) for one in demo.audits),
        ],
        charts=charts,
        source="scikit-learn's digits, odd or even; 95 % intervals",
    )


def _worth(raw: Any, unit: Unit) -> str:
    """What the raw digits are worth, beside class proportions and the ceiling."""
    if raw is None or raw.of_ceiling is None:
        return ""
    value, share = unit.named(raw), Unit("%", 100.0).named(raw.of_ceiling)
    told = f"The raw digits are worth {value} per {per_what(raw.details, raw.table)} beyond class proportions"
    return f"{told}, {share} of the ceiling.\n"


def _chapter(chapter: Any, unit: Unit) -> list[Block]:
    """The audit of a chapter, for those who ask for details."""
    made = audit.document(chapter.audit, Further(), unit)
    caption = f"{chapter.name}: before and after"
    tables, facts = made.brief()
    shown = [replace(table, level="verbose", caption=caption) for table in tables]
    return [*shown, Facts([("Verdict", made.headline), *facts], "verbose")]
