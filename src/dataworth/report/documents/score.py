"""A score: what a dataset is worth to somebody who faces this test set."""

from __future__ import annotations

from dataworth.valuation.further import Further
from dataworth.valuation.score import Score
from dataworth.wording import counted

from ..document import Cell, Document, Facts, Section, Table, Tile, Tone
from ..numbers import (
    Known,
    Plain,
    Unit,
    against_nothing,
    benchmark,
    counted_pmi,
    draws,
    number,
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
    bench = benchmark(score.yardstick)
    accuracy = number(score.accuracy.value * bench.unit.factor, 1 if bench.unit.name else 3)
    means, what = against_nothing(score, score.per_row, bits), f"PMI, {unit.name} per {per}"
    values = (counted_pmi(score)[:, 0] * unit.factor).tolist()
    by_block = Table(
        caption=f"The value by {many}",
        columns=(many.removesuffix("s"), f"PMI, {unit.name}"),
        rows=[(Cell(str(i + 1), i), Cell(number(one, 3), one)) for i, one in enumerate(values)],
        sorts=True,
        folded=True,
    )
    given = shared.of_given(details.data_rows or 0, score.replay.data["data"]["rows"])
    rows = f"{counted(details.data_rows or 0, 'data row')}{given}, {counted(details.test_rows, 'test row')}"
    facts = [("In words", means), ("Measured on", f"{rows}, {draws(details)}")]
    spread = shared.spread(values, unit.mark("value", score, tone), what, many)
    told = shared.about(score)
    told["question"] += f" {score.answer[0].upper()}{score.answer[1:]}."
    return Document(
        kind="Score",
        line=worth,
        headline=f"worth {worth} per {per}.",
        word=word,
        tone=tone,
        sentence=sentence,
        interval=f"They are worth {worth} (95 % interval) per {per}: {means}.",
        meaning=meaning,
        tiles=[
            Tile("Worth", f"{unit.value(score)} {unit.name}", f"per {per}"),
            Tile(bench.short.capitalize(), f"{accuracy} %" if bench.unit.name else accuracy),
            Tile("Rows", f"{details.data_rows or 0:,}", f"{details.test_rows:,} test rows"),
            shared.checks_tile(score.checks),
        ],
        charts=(spread,),
        sections=[
            Section(
                title="What was measured", blocks=(measures(score, bits), Facts(facts, "brief"), by_block)
            ),
            *shared.last_sections(score, further, bits),
        ],
        **told,
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
        caption="The value and benchmarks",
        columns=("measure", "value, 95 % interval"),
        rows=[(name, unit.show(known)) for name, unit, known in lines],
        texts=("measure",),
        level="brief",
    )
