"""The demo as text: a row for each of its chapters, then what each of them did."""

from __future__ import annotations

from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from ..numbers import digits_for, number, scaled, with_interval
from ..quantities import unit_of
from . import layout
from .audit import VERDICT_STYLES, audit_report
from .checks import check_counts


def demo_line(demo: Any, bits: bool = False) -> str:
    """Chapters and verdicts in one line."""
    return ", ".join(f"{chapter.name}: {chapter.audit.verdict}" for chapter in demo.audits)


def demo_report(demo: Any, bits: bool = False, verbose: bool = False) -> RenderableType:
    """One row a chapter, then what each of them did."""
    unit, factor = unit_of(bits)
    table = layout.table("curation", f"ΔPMI, {unit}, 95 % interval", "accuracy, points", "verdict")
    changes = [(c.audit.delta * factor, scaled(c.audit.interval, factor)) for c in demo.audits]
    digits = max(digits_for(value, interval) for value, interval in changes)
    for chapter, (value, interval) in zip(demo.audits, changes, strict=True):
        audit = chapter.audit
        layout.add_row(
            table,
            chapter.name,
            with_interval(value, interval, sign=True, digits=digits),
            number(audit.accuracy_delta * 100, 1, sign=True),
            Text(audit.verdict or "no verdict", style=VERDICT_STYLES.get(audit.verdict or "", "bold")),
        )
    stories = [(chapter.name, chapter.story) for chapter in demo.audits]
    findings = [finding for chapter in demo.audits for finding in chapter.audit.checks]
    stories.append(("checks of all six", check_counts(findings)))
    chapters: list[RenderableType] = [
        Group(Text(f"\n{chapter.name}", style="bold"), audit_report(chapter.audit, bits))
        for chapter in demo.audits
    ]
    headline = Text("Did these curations add information?", style="bold")
    return layout.report(headline, None, table, stories, chapters if verbose else [])
