"""What a vendor may see of an answer: a word, rounded numbers, and how much that tells at most."""

from __future__ import annotations

from math import ceil

from dataworth.valuation.disclosure import Public
from dataworth.valuation.supplementary import Further

from ..document import (
    VERDICT_TONES,
    Answer,
    Cell,
    Document,
    Facts,
    Forest,
    Name,
    Section,
    Table,
    Words,
    names,
)
from ..numbers import Unit

QUESTIONS = {
    "score": "Is this dataset worth anything to someone facing this test set?",
    "audit": "Is the data after curation worth more than before, to someone facing this test set?",
    "rank": "Which of these datasets is worth most to someone facing this test set?",
    "contributions": "What does each of these datasets add to the others?",
    "forecast": "What would more rows like these be worth?",
}
CHECKS = {True: "one failed: ask the owner", False: "none failed", None: "none were made"}
DOUBT = "A check of the owner's failed: ask the owner before you rely on the answer."


def document(found: Public, further: Further, unit: Unit) -> Document:
    """The answer, the numbers, and how they were rounded."""
    tone = VERDICT_TONES.get(found.answer, "plain")
    shown = [f"{one.name} {unit.named(one, sign=True)}" for one in found.numbers]
    line = f"{found.answer}: {', '.join(shown)}"
    rows = [(Cell([Name(one.name)]), unit.cell(one, sign=True)) for one in found.numbers]
    table = Table("Rounded numbers", ("of what", f"{unit.name} per block"), rows, "brief")
    ranks: list[tuple[str, Words]] = [
        (what, names(ranked)) for what, ranked in (("Tied", found.tied), ("Below", found.below)) if ranked
    ]
    facts = [
        *ranks,
        ("Measured on", f"{found.test_rows} test rows"),
        ("Checks", CHECKS[found.check_failed]),
        ("Rounded", "outwards: each interval holds the exact 95 % interval"),
        ("Tells", f"{ceil(found.bits)} bits of the test set at most, of {found.test_rows} labels"),
    ]
    marks = [unit.mark(Name(one.name), one) for one in found.numbers]
    chart = Forest("Rounded numbers with their intervals.", f"{unit.name} per block", marks)
    question = QUESTIONS[found.what]
    return Document(
        kind="Public answer",
        line=line,
        headline=f"{found.answer}.",
        question=question,
        alarm=DOUBT if found.check_failed else "",
        answer=Answer(found.answer, tone, question, DOUBT if found.check_failed else ""),
        charts=(chart,),
        source="numbers rounded for others than the owner of the test set",
        sections=[Section("The answer", (table, Facts(facts, "brief")))],
    )
