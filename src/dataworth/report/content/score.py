"""A report of a score: what a dataset is worth to somebody who faces this test set."""

from __future__ import annotations

from dataworth.valuation.further import Further
from dataworth.valuation.score import Score

from ..document import Cell, Document, Facts, Figure, Forest, Histogram, Mark, Section, Table, Tone
from ..numbers import digits_for, number, scaled, with_interval
from ..quantities import against_nothing, benchmark, counted_pmi, draws, per_what, unit_of
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


def document(score: Score, further: Further, bits: bool = False) -> Document:
    """The value, how it spreads, and what it rests on."""
    unit, factor = unit_of(bits)
    tone, word, sentence, meaning = ANSWERS[score.answer.partition(":")[0]]
    value, interval = score.value * factor, scaled(score.interval, factor)
    per, details = per_what(score.details, score.table), score.details
    counted = "pairs" if details.blocks is None else "blocks"
    name, points, _ = benchmark(score.yardstick)
    accuracy = number(score.accuracy.value * points, 1 if points > 1 else 3)
    values = (counted_pmi(score)[:, 0] * factor).tolist()
    what = f"PMI, {unit} per {per}"
    rows = [(Cell(str(i + 1), i), Cell(number(one, 3), one)) for i, one in enumerate(values)]
    return Document(
        kind="Score",
        subject=shared.subject(score),
        word=word,
        tone=tone,
        sentence=sentence,
        interval=(
            f"They are worth {with_interval(value, interval, unit)} (95 % interval) per {per}: "
            f"{against_nothing(score, score.per_row, bits)}."
        ),
        meaning=meaning,
        alarm=shared.alarm(score),
        figures=[
            Figure("Worth", f"{number(value, digits_for(value, interval))} {unit}", f"per {per}"),
            Figure(name.split(",")[0].capitalize(), f"{accuracy} %" if points > 1 else accuracy),
            Figure("Rows", f"{details.data_rows or 0:,}", f"{details.test_rows:,} test rows"),
            shared.checks_figure(score),
        ],
        chart=Forest(
            caption="What the data are worth; the bar is the 95 % interval, zero is no data at all.",
            unit=what,
            marks=[Mark("the data", value, interval, tone)],
        ),
        sections=[
            Section(
                title="What was measured",
                blocks=(
                    measures(score, bits),
                    Histogram(
                        caption=f"How the value spreads over {len(values)} {counted}; mean, 95 % interval.",
                        unit=what,
                        values=values,
                        mean=value,
                        interval=interval,
                        counted=counted,
                        tone=tone,
                    ),
                    Table(
                        caption=f"The value by {counted}",
                        columns=(counted.removesuffix("s"), f"PMI, {unit}"),
                        rows=rows,
                        sorts=True,
                        folded=True,
                    ),
                    Facts([("Measured on", f"{details.test_rows} test rows, {draws(details)}")]),
                ),
            ),
            *shared.parts_section(score, further, bits),
            *shared.priors_section(further, bits),
            *shared.groups_section(further, bits),
            shared.checks_section(score),
            shared.yardstick_section(score),
            shared.replay_section(score, further.left_out),
        ],
    )


def measures(score: Score, bits: bool) -> Table:
    """Value and benchmarks."""
    unit, factor = unit_of(bits)
    per_row = factor / float(score.table.test_rows.mean())
    name, points, _ = benchmark(score.yardstick)
    lines = [
        (
            f"PMI, {unit} per {per_what(score.details, score.table)}",
            score.value * factor,
            scaled(score.interval, factor),
        ),
        (f"PMI, {unit} per test row", score.per_row * factor, scaled(score.interval, per_row)),
        (name, score.accuracy.value * points, scaled(score.accuracy.interval, points)),
    ]
    for metric, told in score.metrics.items():
        name, points, _ = benchmark(score.yardstick, metric, bits)
        lines.append((name, told["value"] * points, scaled(told["interval"], points)))
    rows = [(name, with_interval(value, interval)) for name, value, interval in lines]
    return Table(caption="The value and benchmarks", columns=("measure", "value, 95 % interval"), rows=rows)
