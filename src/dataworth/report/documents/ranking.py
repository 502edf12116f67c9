"""A ranking: which dataset is worth most, and which cannot be told from it."""

from __future__ import annotations

from dataworth.valuation.rank import Ranking
from dataworth.valuation.supplementary import Further

from ..document import Cell, Document, Facts, Forest, Name, Section, Table, Tone, Words, names
from ..numbers import against_nothing, benchmark, draws, number, per_what, unit_of
from . import shared


def document(ranking: Ranking, further: Further, bits: bool = False) -> Document:
    """The datasets, best first, and what the order rests on."""
    unit, details = unit_of(bits), ranking.details
    best, others = ranking[0], ranking.ranking[1:]
    tied = [one.name for one in others if one.tied]
    name, shown = Name(best.name), unit.named(best)
    per, means = per_what(details, ranking.table), against_nothing(ranking, best.per_row, bits)
    also = f"; cannot be told from it: {', '.join(tied)}" if tied else ""
    word, tone, sentence, meaning = answer(name, tied, alone=not others)
    at_once = "; the 95 % intervals hold for all datasets at once" if others else ""
    facts: list[tuple[str, Words]] = [
        ("Values", f"per {per}{at_once}"),
        ("In words", [name, f" {means}"]),
        ("Measured on", f"{details.test_rows} test rows, {draws(details)}"),
    ]
    return Document(
        kind="Ranking",
        line=f"best: {name}, {shown}{also}" if others else f"{name}: {shown}",
        word=word,
        tone=tone,
        sentence=sentence,
        meaning=meaning,
        charts=(
            Forest(
                "Best first, with what cannot be told from the best in its colour; bars are 95 % "
                "intervals that hold for all datasets at once.",
                f"PMI, {unit.name} per {per}",
                [
                    unit.mark(Name(one.name), one, "good" if not place or one.tied else "neutral")
                    for place, one in enumerate(ranking)
                ],
                zero=False,
            ),
        ),
        sections=[
            Section("The datasets", (table(ranking, bits), Facts(facts, "brief"))),
            *shared.last_sections(ranking, further, bits),
        ],
    )


def answer(best: Name, tied: list[str], alone: bool) -> tuple[str, Tone, Words, str]:
    """In a word and a sentence: is there a best one? And what that means."""
    if alone:
        return "one dataset", "plain", [best, " was scored alone."], "There was nothing to compare it with."
    if tied:
        sentence = [best, " came out first, but this test set cannot tell it from ", *names(tied), "."]
        meaning = "Choose among the tied by price or other needs; more test rows would separate them."
        return "a tie", "neutral", sentence, meaning
    meaning = "For somebody who faces this test set it is the one to get."
    return "a clear best", "good", [best, " is worth most, and the lead is shown."], meaning


def table(ranking: Ranking, bits: bool) -> Table:
    """One row a dataset."""
    unit, bench = unit_of(bits), benchmark(ranking.yardstick)
    digits = max(unit.digits(one) for one in ranking)
    several, rows = len(ranking) > 1, []
    for place, one in enumerate(ranking):
        gap = unit.cell(one.to_best, sign=True, digits=digits) if place else Cell("", 0.0)
        accuracy = number(one.accuracy * bench.unit.factor, 1 if bench.unit.name else 3)
        rows.append(
            (
                Cell([Name(one.name)], place),
                unit.cell(one, digits=digits),
                Cell(number(one.per_row * unit.factor, 3), one.per_row),
                *((gap,) if several else ()),
                Cell(str(one.rows), one.rows),
                Cell(accuracy, one.accuracy),
            )
        )
    to_best = ("to the best",) if several else ()
    at_once = " that hold for all at once" if several else ""
    return Table(
        f"Datasets, best first, with 95 % intervals{at_once}",
        (
            "dataset",
            f"value, {unit.name}",
            "a test row",
            *to_best,
            "rows",
            bench.name.removeprefix("test "),
        ),
        rows,
        level="brief",
        sorts=True,
    )
