"""A report of a ranking: which dataset is worth most, and which cannot be told from it."""

from __future__ import annotations

from dataworth.valuation.further import Further
from dataworth.valuation.rank import Ranking

from ..document import Cell, Document, Facts, Figure, Forest, Mark, Name, Section, Table, Tone, Words
from ..numbers import digits_for, number, scaled, with_interval
from ..quantities import against_nothing, benchmark, draws, per_what, unit_of
from . import shared


def document(ranking: Ranking, further: Further, bits: bool = False) -> Document:
    """The datasets, best first, and what the order rests on."""
    unit, factor = unit_of(bits)
    best, others = ranking[0], ranking.ranking[1:]
    tied = [one.name for one in others if one.tied]
    name, shown = Name(best.name), with_interval(best.value * factor, scaled(best.interval, factor), unit)
    per = per_what(ranking.details, ranking.table)
    word, tone, sentence, meaning = answer(name, tied, alone=not others)
    return Document(
        kind="Ranking",
        subject=shared.subject(ranking),
        word=word,
        tone=tone,
        sentence=sentence,
        interval=[
            name,
            f" is worth {shown} (95 % interval{', for all datasets at once' if others else ''}) per {per}: "
            f"{against_nothing(ranking, best.per_row, bits)}.",
        ],
        meaning=meaning,
        alarm=shared.alarm(ranking),
        figures=[
            Figure(
                "Best", f"{number(best.value * factor, digits_for(best.value * factor))} {unit}", "per block"
            ),
            Figure("Datasets", str(len(ranking)), f"{len(tied)} tied with the best" if others else ""),
            Figure("Test rows", f"{ranking.details.test_rows:,}", draws(ranking.details)),
            shared.checks_figure(ranking),
        ],
        chart=Forest(
            caption="Best first; bars are 95 % intervals that hold for all datasets at once.",
            unit=f"PMI, {unit} per {per}",
            zero=False,
            marks=[
                Mark(
                    Name(one.name),
                    one.value * factor,
                    scaled(one.interval, factor),
                    "good" if not place or one.tied else "neutral",
                )
                for place, one in enumerate(ranking)
            ],
        ),
        sections=[
            Section(title="The datasets", blocks=(table(ranking, bits), facts(ranking))),
            *shared.parts_section(ranking, further, bits),
            *shared.priors_section(further, bits),
            *shared.groups_section(further, bits),
            shared.checks_section(ranking),
            shared.yardstick_section(ranking),
            shared.replay_section(ranking, further.left_out),
        ],
    )


def answer(best: Name, tied: list[str], alone: bool) -> tuple[str, Tone, Words, str]:
    """In a word and a sentence: is there a best one? And what that means."""
    if alone:
        return "one dataset", "plain", [best, " was scored alone."], "There was nothing to compare it with."
    if tied:
        also = [piece for one in tied for piece in (", ", Name(one))][1:]
        sentence = [best, " came out first, but this test set cannot tell it from ", *also, "."]
        meaning = "Choose among the tied by price or other needs; more test rows would separate them."
        return "a tie", "neutral", sentence, meaning
    meaning = "For somebody who faces this test set it is the one to get."
    return "a clear best", "good", [best, " is worth most, and the lead is shown."], meaning


def facts(ranking: Ranking) -> Facts:
    """What values are counted over."""
    per, on = per_what(ranking.details, ranking.table), draws(ranking.details)
    return Facts([("Values", f"per {per}"), ("Measured on", f"{ranking.details.test_rows} test rows, {on}")])


def table(ranking: Ranking, bits: bool) -> Table:
    """One row a dataset."""
    unit, factor = unit_of(bits)
    name, points, _ = benchmark(ranking.yardstick)
    digits = max(digits_for(one.value * factor, scaled(one.interval, factor)) for one in ranking)
    rows = []
    for place, one in enumerate(ranking):
        worth, gap = (
            with_interval(known.value * factor, scaled(known.interval, factor), sign=sign, digits=digits)
            for known, sign in ((one, False), (one.to_best, True))
        )
        said = "best" if not place else "tied" if one.tied else "below"
        rows.append(
            (
                Cell([Name(one.name)], place),
                Cell(worth, one.value),
                Cell(number(one.per_row * factor, 3), one.per_row),
                Cell(gap if place else "–", one.to_best.value),
                said,
                Cell(f"{one.rows:,}", one.rows),
                Cell(number(one.accuracy * points, 1 if points > 1 else 3), one.accuracy),
            )
        )
    columns = (
        "dataset",
        f"value, {unit}",
        "a test row",
        "to the best",
        "standing",
        "rows",
        name.removeprefix("test "),
    )
    caption = "Datasets, best first, with 95 % intervals that hold for all at once"
    return Table(caption=caption, columns=columns, rows=rows, texts=("standing",), sorts=True)
