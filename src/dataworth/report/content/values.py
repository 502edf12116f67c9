"""A report of values: labels to look at again, rows on the list, sources. Rows are told by their numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from dataworth.valuation.further import Further
from dataworth.valuation.values.values import KINDS, Values
from dataworth.wording import counted

from ..document import (
    Block,
    Cell,
    Document,
    Dots,
    Facts,
    Figure,
    Forest,
    Mark,
    Name,
    Paragraph,
    Scatter,
    Section,
    Table,
    Tone,
    Words,
)
from ..numbers import digits_for, number, scaled, with_interval
from ..quantities import unit_of
from ..text.values import BEWARE
from . import shared

MOST_ROWS = 100
"""Rows of a table; `-o` writes them all."""
MOST_DOTS = 1500
"""Dots of rows that are neither on the list nor doubted; a page of a megabyte has no room for all."""


def document(values: Values, further: Further, bits: bool = False) -> Document:
    """The least trusted labels, the list, the sources."""
    unit, factor = unit_of(bits)
    rows, worse = values.rows, [one.name for one in values.groups if one.worse]
    doubted = [row for row in values.least_trusted if rows.p_wrong[row] > 0.5]
    listed = [int(row) for row in np.argsort(rows.value, kind="stable") if rows.harmful[row]]
    word, tone, sentence = answer(len(doubted), len(rows), worse)
    block = f"block of {values.test_rows / values.blocks:.3g} test rows"
    total, interval = values.total.value * factor, scaled(values.total.interval, factor)
    by_source = sources(values, bits)
    return Document(
        kind="Values",
        subject=shared.subject(values),
        word=word,
        tone=tone,
        sentence=sentence,
        interval=(
            f"All {len(rows):,} rows together are worth {with_interval(total, interval, unit)} "
            f"(95 % interval) per {block}, against no data at all."
        ),
        meaning=f"Labels on this page are for a person to look at. {BEWARE[0].upper()}{BEWARE[1:]}.",
        alarm=None,
        checked=False,
        figures=[
            Figure("Labels to look at again", f"{len(doubted):,}", "more likely wrong than right"),
            Figure("Value shown below zero", f"{len(listed):,}", f"false entries expected: {values.fdr:.0%}"),
            Figure("Together", f"{number(total, digits_for(total, interval))} {unit}", f"per {block}"),
            Figure("Rows", f"{len(rows):,}", f"{values.test_rows:,} test rows"),
        ],
        chart=by_source[0] if by_source else against_trust(values, bits),
        sections=[
            Section(
                title="Which labels to look at again",
                blocks=(
                    Paragraph(
                        "Row 1 is the first row of the data; ids are not on this page, but in the file of "
                        "--output, which counts rows from 0. p wrong is the probability that the label is "
                        "wrong, by all other rows and the test set. On the list are rows whose value is "
                        "shown to be below zero."
                    ),
                    row_table(values, doubted or values.least_trusted[:10], "The least trusted labels", bits),
                ),
            ),
            Section(title="Which rows have a value below zero", blocks=below_zero(values, listed, bits)),
            *([Section(title="Sources", blocks=by_source)] if by_source else []),
            *cross_fit(values, bits),
            shared.yardstick_section(values),
            shared.replay_section(values, ()),
        ],
    )


def answer(doubted: int, rows: int, worse: list[str]) -> tuple[str, Tone, Words]:
    """Word, tone, sentence."""
    labels = f"{counted(doubted, 'label')} of {rows:,}"
    said = f"{labels} {'is' if doubted == 1 else 'are'} more likely wrong than right"
    if worse:
        joined: list[str] = [piece for name in worse for piece in (", ", Name(name))][1:]
        return (
            "a source is worse than the rest",
            "bad",
            ["Worse than rows at random: ", *joined, f". {said}."],
        )
    if doubted:
        return "labels to look at again", "neutral", f"{said}."
    return "no label is doubted", "good", f"None of {rows:,} labels is more likely wrong than right."


def row_table(values: Values, places: list[int], caption: str, bits: bool) -> Table:
    """Some rows, by number."""
    unit, factor = unit_of(bits)
    rows, told = values.rows, []
    for row in places[:MOST_ROWS]:
        value, stderr = rows.value[row] * factor, rows.stderr[row] * factor
        digits = digits_for(value, (value - stderr, value + stderr))
        told.append(
            (
                Cell(str(row + 1), row),
                Cell(number(rows.p_wrong[row], 3), rows.p_wrong[row]),
                Cell(f"{number(value, digits, sign=True)} ± {number(stderr, digits)}", value),
                "yes" if rows.harmful[row] else "–",
            )
        )
    if len(places) > len(told):
        caption += f": the first {len(told)} of {len(places):,} (dataworth values -o has them all)"
    columns = ("row", "p wrong", f"value, {unit}", "on the list")
    return Table(caption=caption, columns=columns, rows=told, texts=("on the list",), sorts=True)


def below_zero(values: Values, listed: list[int], bits: bool) -> list[Block]:
    """The list, and value against trust."""
    unit, _ = unit_of(bits)
    blocks: list[Block] = [
        Paragraph(
            f"A value is what the {values.test_rows:,} test rows gain by the row, in {unit}, "
            f"{KINDS[values.kind]}. Copies are not seen by values: a copy stands in for its original."
        )
    ]
    if listed:
        caption = f"Rows on the list; expected proportion of false entries {values.fdr:g}"
        blocks.append(row_table(values, listed, caption, bits))
    else:
        blocks.append(Paragraph("No row is on the list."))
    return [*blocks, against_trust(values, bits)]


def against_trust(values: Values, bits: bool) -> Scatter:
    """Every row, or as many as there is room for."""
    unit, factor = unit_of(bits)
    rows = values.rows
    known = np.isfinite(rows.value) & np.isfinite(rows.log_label)
    listed, doubted = known & rows.harmful, known & (rows.p_wrong > 0.5) & ~rows.harmful
    rest = np.flatnonzero(known & ~listed & ~doubted)
    more = len(rest) - MOST_DOTS
    rest = np.random.default_rng(0).permutation(rest)[:MOST_DOTS]

    def dots(name: str, some: Any, tone: Tone) -> Dots:
        points = zip(
            (rows.log_label[some] * factor).tolist(), (rows.value[some] * factor).tolist(), strict=True
        )
        return Dots(name, [*points], tone)

    left_out = f" {more:,} other rows are not drawn." if more > 0 else ""
    return Scatter(
        caption=f"Value against trust, one dot a row.{left_out}",
        unit=f"value, {unit}",
        across=f"trust: log-probability of the label, {unit}",
        series=[
            dots("other rows", rest, "plain"),
            dots("label more likely wrong than right, not on the list", doubted, "better"),
            dots("on the list: value shown below zero", listed, "bad"),
        ],
    )


def sources(values: Values, bits: bool) -> list[Any]:
    """Sources as intervals, and as a table."""
    if not values.groups:
        return []
    unit, factor = unit_of(bits)
    marks = [
        Mark(
            Name(one.name),
            one.share.value * factor,
            scaled(one.share.interval, factor),
            "bad" if one.worse else "plain",
        )
        for one in values.groups
    ]
    told = []
    for one in values.groups:
        numbers = [
            Cell(with_interval(known.value * factor, scaled(known.interval, factor), sign=True), known.value)
            for known in (one.share, one.value, one.against_random)
        ]
        told.append((Cell([Name(one.name)]), str(one.rows), *numbers, "worse" if one.worse else "–"))
    columns = ("source", "rows", f"share, {unit}", "adds to the others", "against rows at random", "shown")
    return [
        Forest(
            caption="What each source contributes to what all are worth (Shapley); 95 % intervals for all.",
            unit=f"share, {unit} per block",
            marks=marks,
        ),
        Table(
            caption="Sources; intervals hold for all at once",
            columns=columns,
            rows=told,
            texts=("shown",),
            sorts=True,
        ),
    ]


def cross_fit(values: Values, bits: bool) -> list[Section]:
    """What leaving out doubted labels changes."""
    if (tried := values.cross_fit) is None:
        return []
    unit, factor = unit_of(bits)
    change = with_interval(
        tried.change.value * factor, scaled(tried.change.interval, factor), f"{unit} per block", sign=True
    )
    said = (
        f"Each of {tried.parts} parts of the test set judged labels that the other parts doubt "
        f"({tried.left_out:g} rows on average): leaving them out changes the value by {change}."
    )
    return [Section(title="Would leaving them out help?", blocks=(Facts([("Measured", said)]),))]
