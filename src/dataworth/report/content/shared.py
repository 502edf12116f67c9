"""Sections that all reports have: parts, priors, sizes, groups, checks, the yardstick, how to replay it."""

from __future__ import annotations

from collections.abc import Sequence

from dataworth.checks import CHECKS
from dataworth.valuation.audit.audit import Audit
from dataworth.valuation.further import Further
from dataworth.valuation.outlook import Outlook
from dataworth.valuation.rank import Ranking
from dataworth.valuation.score import Score
from dataworth.valuation.sensitivity import QUANTITIES
from dataworth.valuation.split import Split
from dataworth.valuation.values.values import Values
from dataworth.wording import counted

from ..document import (
    Block,
    Cell,
    Code,
    Facts,
    Figure,
    Forest,
    Lines,
    Mark,
    Name,
    Paragraph,
    Point,
    Section,
    Table,
    Words,
)
from ..numbers import number, scaled, with_interval
from ..quantities import unit_of
from ..text import common, parts, yardstick

Measured = Score | Audit | Ranking
"""What has checks."""
Reported = Measured | Values | Split | Outlook
STATES = {True: "fires", False: "passed", None: "not run"}
PAGES = "docs/checks"


def subject(result: Reported) -> Words:
    """What was measured on what, by the names of files, or of datasets."""
    data = [Name(one.get("file", name)) for name, one in result.replay.data.items()]
    joined = [piece for name in data for piece in (" → " if isinstance(result, Audit) else ", ", name)][1:]
    return [*joined, ", on ", Name(result.replay.test.get("file", "the test set"))]


def alarm(result: Measured) -> Words | None:
    """Which checks must be dealt with before the result stands."""
    fatal = [one for one in result.checks if one.fires and not one.stands]
    if not fatal:
        return None
    what = common.WORDS[type(result).__name__]
    told = "; ".join(f"{one.code} {one.name}: {one.meaning}" for one in fatal)
    return f"This {what} does not stand yet. {told}."


def checks_figure(result: Measured) -> Figure:
    """How many checks fired."""
    fired = [one.code for one in result.checks if one.fires]
    passed = sum(one.fires is False for one in result.checks)
    if not result.checks:
        return Figure("Checks", "none", "all were ignored")
    return Figure("Checks", f"{len(fired)} fired" if fired else "none fired", f"{passed} passed")


def parts_section(result: Measured, further: Further, bits: bool) -> list[Section]:
    """Why: what the value, or its change, is made of."""
    if further.parts is None:
        return []
    told, columns, rows = parts.lines(result, bits)
    names = Table(caption=f"Parts of the score: {told}", columns=("part", *map(Name, columns)), rows=rows)
    why = (
        "The score is the confidence that data and test set give together, less how far each disagrees "
        "with what both say. PI(data) is how sure the data are of what they say, right or wrong: wrong "
        "labels can raise it."
    )
    return [Section(title="Why: parts of the score", blocks=(Paragraph(why), names))]


def priors_section(further: Further, bits: bool) -> list[Section]:
    """The same over priors and over sizes: does a choice decide?"""
    blocks: list[Block] = []
    if (found := further.priors) is not None:
        unit, factor = unit_of(bits)
        points = [
            Point(
                p.prior_variance, p.value.value * factor, scaled(p.value.interval, factor), p.conclusion or ""
            )
            for p in found.points
        ]
        what = f"{QUANTITIES[found.what]}, {unit}"
        said = f"{found.summary[0].upper()}{found.summary[1:]}."
        caption = f"Against the prior. {said}"
        lines = [("", points)]
        blocks.append(
            Lines(caption=caption, unit=what, lines=lines, across="prior variance", chosen=found.chosen)
        )
        rows = [
            (
                Cell(f"{p.prior_variance:g}", p.prior_variance),
                Cell(
                    with_interval(p.value.value * factor, scaled(p.value.interval, factor), sign=True),
                    p.value.value,
                ),
                p.conclusion or "no verdict",
                "yes" if p.plausible else "no",
            )
            for p in found.points
        ]
        columns = ("prior variance", f"{what}, 95 % interval", "conclusion", "plausible")
        texts = ("conclusion", "plausible")
        caption = "The result at other priors; plausible are those that the test set does not exclude"
        blocks.append(Table(caption=caption, columns=columns, rows=rows, texts=texts, folded=True))
    blocks += sizes_blocks(further, bits)
    return [Section(title="Does the prior, or the size, decide?", blocks=blocks)] if blocks else []


def sizes_blocks(further: Further, bits: bool) -> list[Block]:
    """The value of random parts of the data."""
    if not further.sizes:
        return []
    unit, factor = unit_of(bits)
    lines = [
        (
            Name(name),
            [Point(n, v * factor, ((v - 2 * e) * factor, (v + 2 * e) * factor)) for n, v, e in curve],
        )
        for name, curve in further.sizes.items()
    ]
    caption = "Against size. Random parts of the data, on a few blocks of the test set; ± 2 standard errors."
    rows = [
        (Cell([Name(name), f", {n} rows"], n), Cell(f"{number(v * factor, 2)} ± {number(e * factor, 2)}", v))
        for name, curve in further.sizes.items()
        for n, v, e in curve
    ]
    columns = ("rows", f"PMI, {unit}, ± standard error")
    return [
        Lines(caption=caption, unit=f"PMI, {unit}", lines=lines, across="rows of data"),
        Table(caption="The value of random parts of the data", columns=columns, rows=rows, folded=True),
    ]


def groups_section(further: Further, bits: bool) -> list[Section]:
    """Every group of rows by itself."""
    if not further.groups:
        return []
    unit, factor = unit_of(bits)
    several = len({one.dataset for one in further.groups}) > 1
    rows, marks = [], []
    for one in further.groups:
        value, interval = one.value.value * factor, scaled(one.value.interval, factor)
        name = f"{one.group} ({one.dataset})" if several else one.group
        marks.append(Mark(Name(name), value, interval))
        rows.append((Cell([Name(name)]), str(one.rows), Cell(with_interval(value, interval), value)))
    what = f"PMI, {unit} per block"
    caption = "Each group or source alone"
    columns = ("group", "rows", f"{what}, 95 % interval")
    table = Table(caption=caption, columns=columns, rows=rows, sorts=True)
    return [
        Section(
            title="By group",
            blocks=(
                Forest(caption=f"{caption}, as if there were no other rows.", unit=what, marks=marks),
                table,
            ),
        )
    ]


def checks_section(result: Measured) -> Section:
    """Every check: what fired first, with what to do."""
    order = {True: 0, None: 1, False: 2}
    rows = [
        (
            one.code,
            one.name,
            STATES[one.fires],
            one.detail or "–",
            f"{one.meaning}: {one.advice}" if one.fires else "–",
        )
        for one in sorted(result.checks, key=lambda one: order[one.fires])
    ]
    counts = common.check_counts(result.checks, ignored=len(CHECKS) - len(result.checks))
    counts = counts.replace(" (-v says why)", "")
    told = f"{counts}{common.standing(result.checks, common.WORDS[type(result).__name__])}."
    columns = ("code", "check", "state", "what was seen", "what it means and what to do")
    table = Table(caption="Checks", columns=columns, rows=rows, texts=columns, sorts=True)
    blocks: list[Block] = [Paragraph(told[0].upper() + told[1:])]
    return Section(title="Can it be trusted?", blocks=[*blocks, table] if rows else blocks)


def yardstick_section(result: Reported) -> Section:
    """How it was measured."""
    notes = [("Note", note) for note in result.notes]
    return Section(title="How it was measured", blocks=(Facts([*yardstick.facts(result.yardstick), *notes]),))


def replay_section(result: Reported, left_out: Sequence[str]) -> Section:
    """How to get the same again."""
    told = result.replay
    given = [*told.data.items(), ("test set", told.test)]
    rows = [
        (Cell([Name(one.get("file", name))]), Cell([Name(name)]), f"{one['rows']:,}", one["sha256"])
        for name, one in given
    ]
    columns = ("file or name", "as", "rows", "SHA-256 of the content")
    texts = ("as", "SHA-256 of the content")
    facts: list[tuple[str, Words]] = [
        ("Seed", str(told.seed)),
        ("Versions", ", ".join(f"{name} {version}" for name, version in told.versions.items())),
        ("Not on this page", "; ".join(left_out)),
    ]
    table = Table(caption="What was given", columns=columns, rows=rows, texts=texts)
    blocks = (Code(told.command), table, Facts(facts if left_out else facts[:-1]))
    return Section(title="Replay", blocks=blocks)


def rows_of(n: float | None) -> str:
    """A number of rows."""
    return "–" if n is None else counted(round(n), "row")
