"""What data are worth: a score, a ranking, what each vendor adds, what more rows would add."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dataworth.measure.intervals import Estimate
from dataworth.measure.ladder import Ladder
from dataworth.valuation.disclosure import round_blocks
from dataworth.valuation.supplementary import Further
from dataworth.wording import counted

from ..document import (
    Answer,
    Cell,
    Document,
    Facts,
    Forest,
    Name,
    Plane,
    Point,
    Section,
    Series,
    Table,
    Words,
    names,
)
from ..numbers import Unit, against_nothing, benchmark, counted_pmi, digits_for, draws, number, per_what
from . import shared

if TYPE_CHECKING:  # each is imported by those who have one
    from dataworth.valuation.contributions import Contributions
    from dataworth.valuation.forecast import Forecast
    from dataworth.valuation.rank import Ranking
    from dataworth.valuation.score import Score

SCORES = {
    "yes": Answer(
        "worth something",
        "good",
        "These data help: with them test labels are predicted better than {zero}.",
        "They carry information about this test set. Compare candidates with 'dataworth rank'.",
    ),
    "no": Answer(
        "worth less than nothing",
        "worst",
        "These data mislead: with them test labels are predicted worse than {zero}.",
        "Look at labels, columns and where the rows come from before using them.",
    ),
    "cannot tell": Answer(
        "cannot tell",
        "neutral",
        "This test set cannot tell whether these data are worth anything.",
        "Decide on other grounds, or come back with more rows: of data, of the test set, or of both.",
    ),
}


def score_document(score: Score, further: Further, unit: Unit) -> Document:
    """The value, how it spreads, and what it rests on."""
    details, per = score.details, per_what(score.details, score.table)
    answer = SCORES[score.answer.partition(":")[0]]
    answer = answer._replace(sentence=str(answer.sentence).format(zero=score.zero))
    worth, bench = unit.named(score), benchmark(score.yardstick, unit)
    many = "pairs" if details.blocks is None else "blocks"
    values = (round_blocks(counted_pmi(score)[:, 0]) * unit.factor).tolist()
    points = [Point(i, value) for i, value in enumerate(values, 1)]
    mean = unit.point(len(values) + 1, score)
    given = shared.of_given(details.data_rows or 0, score.replay.data["data"]["rows"])
    rows = f"{counted(details.data_rows or 0, 'data row')}{given}, {counted(details.test_rows, 'test row')}"
    facts = [
        ("In words", against_nothing(score, score.per_row, unit)),
        ("Measured on", f"{rows}, {draws(details)}"),
    ]
    rungs = [] if score.ladder is None else [_against_what(score.ladder, score.zero, unit, per)]
    what = "value" if score.ladder else "PMI"
    measures = [
        (f"{what}, {unit.name} per {per}", unit.show(score)),
        (f"{what}, {unit.name} per test row", unit.per_row(score.table).show(score)),
        (bench.name, bench.unit.show(score.accuracy)),
    ]
    for metric, found in score.metrics.items():
        other = benchmark(score.yardstick, unit, metric)
        measures.append((other.name, other.unit.show(Estimate(found["value"], None, found["interval"]))))
    table = Table("The value and benchmarks", ("measure", "value, 95 % interval"), measures, "brief")
    chart = Plane(
        f"Each of {len(values)} {many}, then their mean with its 95 % interval.",
        f"{what}, {unit.name} per {per}",
        many,
        [Series(many, points, faint=True), Series("mean, 95 % interval", [mean], answer.tone)],
    )
    return Document(
        kind="Score",
        line=worth,
        headline=f"worth {worth} per {per}.",
        question=f"{score.question} {score.answer[0].upper()}{score.answer[1:]}.",
        answer=answer,
        charts=(chart,),
        sections=[
            Section("What was measured", (table, *rungs, Facts(facts, "brief"))),
            *shared.last_sections(score, further, unit),
        ],
    )


def _against_what(ladder: Ladder, zero: str, unit: Unit, per: str) -> Table:
    """The rungs of the ladder, and the share of the ceiling."""
    rows = [
        ("nothing known", unit.show(ladder.nothing)),
        (zero.removeprefix("by "), "0"),
        ("these data", unit.show(ladder.data)),
        ("ceiling: the other test rows", unit.show(ladder.ceiling)),
    ]
    if ladder.of_ceiling is not None:
        rows.append(("share of the ceiling, %", Unit("%", 100.0).show(ladder.of_ceiling)))
    return Table("Against what", ("what is known", f"{unit.name} per {per}, 95 % interval"), rows, "brief")


# --- a ranking ---------------------------------------------------------------------------------------------


def ranking_document(ranking: Ranking, further: Further, unit: Unit) -> Document:
    """The datasets, best first, and what the order rests on."""
    details, per = ranking.details, per_what(ranking.details, ranking.table)
    best, others = ranking[0], ranking.ranking[1:]
    tied = [one.name for one in others if one.tied]
    name, shown = Name(best.name), unit.named(best)
    also = f"; cannot be told from it: {', '.join(tied)}" if tied else ""
    answer = _is_there_a_best(name, tied, alone=not others)
    at_once = "; the 95 % intervals hold for all datasets at once" if others else ""
    facts: list[tuple[str, Words]] = [
        ("Values", f"per {per}{at_once}"),
        ("In words", [name, f" {against_nothing(ranking, best.per_row, unit)}"]),
        ("Measured on", f"{details.test_rows} test rows, {draws(details)}"),
    ]
    marks = [unit.mark(Name(one.name), one, "good" if one.tied else "neutral") for one in others]
    chart = Forest(
        "Best first, with what cannot be told from the best in its colour; bars are 95 % "
        "intervals that hold for all datasets at once.",
        f"PMI, {unit.name} per {per}",
        [unit.mark(name, best, "good"), *marks],
        zero=False,
    )
    return Document(
        kind="Ranking",
        line=f"best: {name}, {shown}{also}" if others else f"{name}: {shown}",
        answer=answer,
        charts=(chart,),
        sections=[
            Section("The datasets", (_datasets(ranking, unit), Facts(facts, "brief"))),
            *shared.last_sections(ranking, further, unit),
        ],
    )


def _is_there_a_best(best: Name, tied: list[str], alone: bool) -> Answer:
    if alone:
        meaning = "There was nothing to compare it with."
        return Answer("one dataset", "plain", [best, " was scored alone."], meaning)
    if tied:
        sentence = [best, " came out first, but this test set cannot tell it from ", *names(tied), "."]
        meaning = "Choose among the tied by price or other needs; more test rows would separate them."
        return Answer("a tie", "neutral", sentence, meaning)
    meaning = "For somebody who faces this test set it is the one to get."
    return Answer("a clear best", "good", [best, " is worth most, and the lead is shown."], meaning)


def _datasets(ranking: Ranking, unit: Unit) -> Table:
    bench, several = benchmark(ranking.yardstick, unit), len(ranking) > 1
    digits, rows = max(unit.digits(one) for one in ranking), []
    for place, one in enumerate(ranking):
        gap = unit.cell(one.to_best, sign=True, digits=digits) if place else Cell("", 0.0)
        accuracy = number(one.accuracy * bench.unit.factor, 1 if bench.unit.name else 3)
        values = unit.cell(one, digits=digits), Cell(number(one.per_row * unit.factor, 3), one.per_row)
        others = Cell(str(one.rows), one.rows), Cell(accuracy, one.accuracy)
        rows.append((Cell([Name(one.name)], place), *values, *([gap] if several else []), *others))
    caption = f"Datasets, best first, with 95 % intervals{' that hold for all at once' if several else ''}"
    columns = ("dataset", f"value, {unit.name}", "a test row", *(("to the best",) if several else ()))
    columns += ("rows", bench.name.removeprefix("test "))
    return Table(caption, columns, rows, "brief", sorts=True)


# --- contributions ------------------------------------------------------------------------------------------


def contributions_document(found: Contributions, further: Further, unit: Unit) -> Document:
    """The vendors, the one that adds most first."""
    block = shared.per_block(found.test_rows, found.blocks)
    adding = [one.name for one in found.vendors if one.marginal.positive]
    each = ", ".join(f"{one.name} adds {one.marginal.value * unit.factor:.2g}" for one in found.vendors)
    marks, rows = [], []
    for one in found.vendors:
        marks.append(unit.mark(Name(one.name), one.marginal, shared.tone_of(one.marginal, "neutral")))
        fraction = "–" if one.fraction is None else f"{one.fraction:.1%}".replace("-", "−")
        cells = (Cell(str(one.rows), one.rows), unit.cell(one.standalone), unit.cell(one.marginal, sign=True))
        rows.append((Cell([Name(one.name)]), *cells, Cell(fraction, one.fraction)))
    marks.append(unit.mark("redundant", found.redundant))
    facts = [
        ("Values", f"{unit.name} per {block}; the 95 % intervals hold for all vendors at once"),
        ("Redundant", f"{unit.named(found.redundant)}: what two or more of them have, needed from one only"),
        ("Pays", "what each adds: second names, copies, labels of one's own making add nothing on average"),
    ]
    vendors = len(found.vendors)
    meaning = (
        "A vendor is paid for what it adds to all others. Second names, copies and labels of one's own "
        "making add nothing on average."
    )
    none = f"None of {vendors} is shown to add anything to the others."
    answer = Answer("nobody adds anything that is seen", "neutral", none, meaning)
    if adding:
        count = f" ({len(adding)} of {vendors})."
        sentence = ["Shown to add something to the others: ", *names(adding), count]
        answer = Answer("what each adds", "good", sentence, meaning)
    columns = ("dataset", "rows", f"standalone, {unit.name}", "adds to the others", "fraction of the total")
    table = Table("Vendors, the one that adds most first", columns, rows, "brief", sorts=True)
    caption = "What each adds to all others, and what two or more have; 95 % intervals for all."
    chart = Forest(caption, f"PMI, {unit.name} per block", marks)
    return Document(
        kind="Contributions",
        line=f"{each} of {unit.named(found.total)}".replace("-", "−"),
        answer=answer,
        charts=(chart,),
        sections=[
            Section("The vendors", (table, Facts(facts, "brief"))),
            shared.yardstick_section(found),
            shared.replay_section(found),
        ],
    )


# --- a forecast ---------------------------------------------------------------------------------------------


def forecast_document(forecast: Forecast, further: Further, unit: Unit) -> Document:
    """The curve, and how far it can be trusted."""
    block = shared.per_block(forecast.test_rows, forecast.blocks)
    gain = number(forecast.gain * unit.factor, unit.digits(forecast), sign=True)
    value = unit.named(forecast)
    decreasing = "; the value decreases as rows are added" if forecast.decreasing else ""
    answer = _would_more_help(forecast)
    levels = forecast.gaussian
    facts = [
        ("Values", f"{unit.name} per {block}"),
        ("Range", "nine in ten of such forecasts; it holds for rows like these"),
        ("Curve models", f"{levels:.0%} one that levels off, {1 - levels:.0%} the logarithm"),
    ]
    if forecast.target is not None:
        rows_in_all, never = f"{forecast.rows_for_target} rows in all", "not with a hundred times the rows"
        needed = rows_in_all if forecast.rows_for_target else never
        facts.append(("Target", f"{number(forecast.target * unit.factor, 3)} {unit.name}: {needed}"))
    points, rows = [], []
    for one in forecast.curve:
        here, how = one.value * unit.factor, "measured" if one.measured else "extrapolated"
        points.append(unit.point(one.rows, one))
        shown = Cell(number(here, digits_for(here)), one.value) if one.measured else unit.cell(one)
        rows.append((Cell(str(one.rows), one.rows), shown, how))
    n = sum(one.measured for one in forecast.curve)
    table = Table("Value by size", ("rows", f"value, {unit.name}", "conclusion"), rows, "brief", sorts=True)
    chart = Plane(
        "Measured on random parts of the data, then extrapolated; bars are ranges of nine in ten.",
        f"PMI, {unit.name} per block",
        "rows of data",
        [
            Series("extrapolated, 90 %", points[n - 1 :], "bad", joined=True),
            Series("measured", points[:n], joined=True),
        ],
        log=True,
    )
    return Document(
        kind="Forecast",
        line=f"with {forecast.n_additional} more rows {value} per block, {gain} to what there is{decreasing}",
        answer=answer,
        charts=(chart,),
        sections=[
            Section("The curve", (table, Facts(facts, "brief"))),
            shared.yardstick_section(forecast),
            shared.replay_section(forecast),
        ],
    )


def _would_more_help(forecast: Forecast) -> Answer:
    if forecast.decreasing:
        todo = "Look at the labels first: 'dataworth values' says which."
        return Answer("more may hurt", "bad", "The value decreases as rows are added.", todo)
    if forecast.interval[0] > forecast.value - forecast.gain:
        said = "More rows like these would be worth more than what there is."
        todo = "Weigh the gain against what the rows cost; other rows may bring more than rows like these."
        return Answer("more would help", "good", said, todo)
    said = "Whether more rows like these would be worth more cannot be told."
    return Answer("cannot tell", "neutral", said, "More test rows, or a larger step, would tell.")
