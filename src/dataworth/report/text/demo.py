"""The demo as text: a row for each of its chapters, then what each of them did."""

from __future__ import annotations

from typing import Any

from rich.console import Group
from rich.text import Text

from ..numbers import digits_for, number, scaled, with_interval
from ..quantities import unit_of
from . import audit, layout
from .common import check_counts


def line(demo: Any, bits: bool = False) -> str:
    """Chapters and verdicts in one line."""
    return ", ".join(f"{chapter.name}: {chapter.audit.verdict}" for chapter in demo.audits)


def full(demo: Any, bits: bool = False, verbose: bool = False) -> layout.Rendered:
    """One row a chapter, then what each of them did."""
    unit, factor = unit_of(bits)
    changes = [(c.audit.delta * factor, scaled(c.audit.interval, factor)) for c in demo.audits]
    digits = min(2, max(digits_for(*change) for change in changes))  # nothing is known to a great many
    rows = [
        (
            chapter.name,
            with_interval(*change, sign=True, digits=digits),
            number(chapter.audit.accuracy_delta * 100, 1, sign=True),
            audit.verdict_word(chapter.audit),
        )
        for chapter, change in zip(demo.audits, changes, strict=True)
    ]
    findings = [finding for chapter in demo.audits for finding in chapter.audit.checks]
    stories = [(chapter.name, chapter.told) for chapter in demo.audits]
    return layout.report(
        "Did these curations add information?",
        layout.table(("curation", f"ΔPMI, {unit}, 95 % interval", "accuracy, points", "verdict"), rows),
        [*stories, ("checks of all", check_counts(findings))],
        [
            Group(Text(f"\n{chapter.name}", style="bold"), audit.full(chapter.audit, bits))
            for chapter in demo.audits
            if verbose
        ],
    )
