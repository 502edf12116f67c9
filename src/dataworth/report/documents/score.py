"""A score: what a dataset is worth to somebody who faces this test set."""

from __future__ import annotations

from dataworth.valuation.score import Score
from dataworth.valuation.supplementary import Further
from dataworth.wording import counted

from ..document import Document, Facts, Section, Table, Tone
from ..numbers import (
    Known,
    Plain,
    Unit,
    against_nothing,
    benchmark,
    counted_pmi,
    draws,
    per_what,
    unit_of,
)
from . import shared

ANSWERS: dict[str, tuple[Tone, str, str, str]] = {
    "yes": (
        "good",
        "worth something",
        "These data help: with them the test labels are predicted better than without any.",
        "They carry information about this test set. Compare candidates with 'dataworth rank'.",
    ),
    "no": (
        "worst",
        "worth less than nothing",
        "These data mislead: with them the test labels are predicted worse than without any.",
        "Look at labels, columns and where the rows come from before using them.",
    ),
    "cannot tell": (
        "neutral",
        "cannot tell",
        "This test set cannot tell whether these data are worth anything.",
        "Decide on other grounds, or come back with more rows: of data, of the test set, or of both.",
    ),
}
"""Tone, word, sentence and meaning of an answer."""


def document(score: Score, further: Further, bits: bool = False) -> Document:
    """The value, how it spreads, and what it rests on."""
    unit, details = unit_of(bits), score.details
    tone, word, sentence, meaning = ANSWERS[score.answer.partition(":")[0]]
    worth, per = unit.named(score), per_what(details, score.table)
    many = "pairs" if details.blocks is None else "blocks"
    values = (counted_pmi(score)[:, 0] * unit.factor).tolist()
    mean = unit.point(len(values) + 1, score, worth)
    given = shared.of_given(details.data_rows or 0, score.replay.data["data"]["rows"])
    rows = f"{counted(details.data_rows or 0, 'data row')}{given}, {counted(details.test_rows, 'test row')}"
    facts = [
        ("In words", against_nothing(score, score.per_row, bits)),
        ("Measured on", f"{rows}, {draws(details)}"),
    ]
    return Document(
        kind="Score",
        line=worth,
        headline=f"worth {worth} per {per}.",
        question=f"{score.question} {score.answer[0].upper()}{score.answer[1:]}.",
        word=word,
        tone=tone,
        sentence=sentence,
        meaning=meaning,
        charts=(shared.by_place(values, mean, tone, f"PMI, {unit.name} per {per}", many),),
        sections=[
            Section("What was measured", (measures(score, bits), Facts(facts, "brief"))),
            *shared.last_sections(score, further, bits),
        ],
    )


def measures(score: Score, bits: bool) -> Table:
    """Value and benchmarks."""
    unit, bench = unit_of(bits), benchmark(score.yardstick)
    per_row = Unit(unit.name, unit.factor / float(score.table.test_rows.mean()))
    lines: list[tuple[str, Unit, Known]] = [
        (f"PMI, {unit.name} per {per_what(score.details, score.table)}", unit, score),
        (f"PMI, {unit.name} per test row", per_row, score),
        (bench.name, bench.unit, score.accuracy),
    ]
    for metric, found in score.metrics.items():
        bench = benchmark(score.yardstick, metric, bits)
        lines.append((bench.name, bench.unit, Plain(found["value"], found["interval"])))
    return Table(
        "The value and benchmarks",
        ("measure", "value, 95 % interval"),
        [(name, unit.show(known)) for name, unit, known in lines],
        level="brief",
    )
