"""Values: labels to look at again, rows on the list, sources. Reports name rows by their numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from dataworth.measure import Estimate
from dataworth.valuation.supplementary import Further
from dataworth.valuation.values.values import Labels, Values
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
    Tone,
    names,
)
from ..numbers import Unit, digits_for, number
from . import shared

SHOWN = 10
"""Rows of each table that a terminal shows; files have them all."""
MAX_ROWS = 100
"""Rows of a table in a report; `-o` writes them all."""
MAX_DOTS = 1000
"""Dots of rows that are neither on the list nor doubted."""
PRIVATE = ("id", *Labels._fields)
"""Columns of single rows that a terminal shows, and no report."""
COPIES = ("Duplicates", "are not seen by values: a copy stands in for its original")
BEWARE = (
    "a value below zero says that these test rows were predicted worse with the row, not that it is wrong; "
    "judge a change by other test rows (--sample-splitting)"
)


def document(values: Values, further: Further, unit: Unit) -> Document:
    """The least trusted labels, the list, the sources."""
    rows = values.rows
    worse = [one.name for one in values.groups if one.below_random]
    doubted = [row for row in values.ranked_label_issues if rows.p_mislabeled[row] > 0.5]
    listed = [int(row) for row in np.argsort(rows.value, kind="stable") if rows.harmful[row]]
    first = doubted or values.ranked_label_issues[:SHOWN]
    tables = [row_table(values, first, "The least trusted labels", unit)]
    if more := [row for row in listed if row not in first[:SHOWN]]:
        caption = f"Further rows on the list; expected proportion of false entries {values.fdr:g}"
        tables.append(row_table(values, more, caption, unit))
    sources = _sources(values, unit) if values.groups else ()
    also = f"; worse than rows at random: {', '.join(worse)}" if worse else ""
    return Document(
        kind="Values",
        line=f"about {counted(round(values.expected_wrong), 'label')} of {counted(len(rows), 'row')} wrong, "
        f"{counted(len(doubted), 'label')} more likely wrong than right, "
        f"{counted(len(listed), 'row')} with a value shown below zero{also}",
        answer=_answer(values, len(doubted), worse),
        charts=(against_trust(values, unit), *sources[:1]),
        sections=[
            Section("Labels to look at again, and rows with a value below zero", tables),
            *([Section("Sources", sources)] if sources else []),
            Section("How to read the values", (_facts(values, unit),)),
            shared.yardstick_section(values, COPIES),
            shared.replay_section(values),
        ],
    )


def _answer(values: Values, doubted: int, worse: list[str]) -> Answer:
    rows, wrong = len(values.rows), round(values.expected_wrong)
    meaning = f"Labels on this page are for a person to look at. {BEWARE[0].upper()}{BEWARE[1:]}."
    are = "is" if doubted == 1 else "are"
    about = f"About {counted(wrong, 'label')} of {rows:,} {'is' if wrong == 1 else 'are'} wrong"
    said = f"{about}: {doubted} {are} more likely wrong than right, the others are among the least trusted"
    said = said if doubted < wrong else f"{about}; {doubted} {are} more likely wrong than right"
    if worse:
        sentence = ["Worse than rows at random: ", *names(worse), f". {said}."]
        return Answer("a source is worse than the rest", "bad", sentence, meaning)
    if doubted or wrong:
        return Answer("labels to look at again", "neutral", f"{said}.", meaning)
    none = f"None of {rows:,} labels is more likely wrong than right."
    return Answer("no label is doubted", "good", none, meaning)


def _facts(values: Values, unit: Unit) -> Facts:
    block = f"{unit.name} per {shared.per_block(values.test_rows, values.blocks)}"
    order = "the least trusted labels first, then the lowest values of other rows on the list"
    told = [
        ("Total", f"all rows together: {unit.show(values.total, unit=block)}"),
        (
            "Values",
            f"{unit.name} that all {values.test_rows} test rows gain by the row, given all other rows",
        ),
        ("Rows", f"{order}; row 1 is the first row of data, in files too; -o FILE has all of them"),
        ("Trust", "p wrong: probability that the label is wrong, by all other rows and the test set"),
        ("Review", "dataworth review shows the rows one by one, the least trusted first, to be corrected"),
        ("List", f"rows with a value below zero, expected proportion of false entries {values.fdr:g}"),
        ("Beware", BEWARE),
    ]
    if values.groups:
        told.append(("Sources", f"{block}; 95 % intervals hold for all sources at once"))
        again = "what its rows would add if they were labelled as well as those of the others, about"
        told.append(("Re-labelling", again))
    if (tried := values.cross_fit) is not None:
        change = unit.show(tried.change, sign=True, unit=f"{unit.name} per block")
        out = f"leaving out the labels that other parts doubt ({tried.left_out:g} rows on average)"
        told.append(("Cross-fit", f"{out}: {change}, over {tried.parts} parts of the test set"))
    return Facts(told, "brief")


def row_table(values: Values, places: Sequence[int], caption: str, unit: Unit) -> Table:
    """Some rows, by number; ids are for the terminal."""
    rows, told = values.rows, []
    for row in places[:MAX_ROWS]:
        value, stderr = rows.value[row] * unit.factor, rows.stderr[row] * unit.factor
        digits = digits_for(value, (value - stderr, value + stderr))
        name = [] if values.ids is None else [Cell([Name(values.ids[row])])]
        name += [Cell(label_of(known[row])) for known in values.labels if known is not None]
        doubt = Cell(number(rows.p_mislabeled[row], 3), rows.p_mislabeled[row])
        shown = Cell(f"{number(value, digits, sign=True)} ± {number(stderr, digits)}", value)
        told.append((Cell(str(row + 1), row), *name, doubt, shown, "yes" if rows.harmful[row] else ""))
    if len(places) > len(told):
        caption += f": the first {len(told)} of {len(places):,} (dataworth values -o has them all)"
    own = [] if values.ids is None else ["id"]
    own += [name for name, known in values.labels._asdict().items() if known is not None]
    columns = ("row", *own, "p wrong", f"value, {unit.name}", "on the list")
    return Table(caption, columns, told, "brief", first=SHOWN, private=PRIVATE, sorts=True)


def label_of(label: object) -> list[str | Name]:
    """A label or a source in a table: a number as it is, or a name."""
    return [f"{label:.4g}" if isinstance(label, float) else Name(str(label))]


def percent(rate: Estimate) -> str:
    """A proportion with its interval."""
    low, high = rate.interval or (rate.value, rate.value)
    return f"{100 * rate.value:.0f} % [{100 * low:.0f}, {100 * high:.0f}]"


def against_trust(values: Values, unit: Unit) -> Plane:
    """Every row, or as many as there is room for."""
    rows = values.rows
    known = np.isfinite(rows.value) & np.isfinite(rows.loo_log_likelihood)
    listed, doubted = known & rows.harmful, known & (rows.p_mislabeled > 0.5) & ~rows.harmful
    rest = np.flatnonzero(known & ~listed & ~doubted)
    more = len(rest) - MAX_DOTS
    rest = np.random.default_rng(0).permutation(rest)[:MAX_DOTS]

    def series(name: str, some: Any, tone: Tone, faint: bool = False) -> Series:
        places = zip(rows.loo_log_likelihood[some] * unit.factor, rows.value[some] * unit.factor, strict=True)
        points = [Point(float(x), float(y)) for x, y in places]
        return Series(f"{name} ({len(points):,})", points, tone, faint=faint)

    left_out = f" {more:,} other rows are not drawn." if more > 0 else ""
    return Plane(
        f"Value against trust, one dot a row.{left_out}",
        f"value, {unit.name}",
        f"trust: log-probability of the label, {unit.name}",
        [
            series("other rows", rest, "plain", faint=True),
            series("label more likely wrong than right, not on the list", doubted, "better"),
            series("on the list: value shown below zero", listed, "bad"),
        ],
    )


def _sources(values: Values, unit: Unit) -> tuple[Forest, Table]:
    """What each source contributes, as a chart and as a table."""
    marks, rows = [], []
    for one in values.groups:
        marks.append(unit.mark(Name(one.name), one.share, "bad" if one.below_random else "plain"))
        relabelled = replace(one.against_random, value=-one.against_random.value, interval=None)
        if one.against_random.interval is not None:
            low, high = one.against_random.interval
            relabelled = replace(relabelled, interval=(-high, -low))
        cells = [unit.cell(known, sign=True) for known in (one.share, one.value, relabelled)]
        wrong = Cell(percent(one.error_rate), one.error_rate.value)
        rows.append(
            (Cell([Name(one.name)]), str(one.rows), wrong, *cells, "worse" if one.below_random else "")
        )
    numbers = ("labels wrong", f"share, {unit.name}", "adds to the others", "re-labelling would add")
    columns = ("source", "rows", *numbers, "shown")
    caption = "What each source contributes to what all are worth (Shapley); 95 % intervals for all."
    chart = Forest(caption, f"share, {unit.name} per block", marks)
    return chart, Table("Sources; intervals hold for all at once", columns, rows, "brief", sorts=True)
