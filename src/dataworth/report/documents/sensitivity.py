"""A result over prior variances: whether the prior decides."""

from __future__ import annotations

from collections import defaultdict

from dataworth.valuation.sensitivity import QUANTITIES, Sensitivity
from dataworth.valuation.supplementary import Further

from ..document import VERDICT_TONES, Answer, Cell, Document, Facts, Plane, Point, Section, Series, Table
from ..numbers import Unit, number


def document(sensitivity: Sensitivity, further: Further, unit: Unit) -> Document:
    """The value at every prior, and what the test set says of the priors."""
    word, tone = (
        ("steady", "good") if sensitivity.robust["conclusion"] else ("depends on the prior", "neutral")
    )
    sentence = f"{sensitivity.summary[0].upper()}{sensitivity.summary[1:]}."
    facts = [
        ("*", "the yardstick's own prior variance"),
        ("Held out", f"mean log-likelihood of half the test set; best at C = {sensitivity.by_held_out:g}"),
        ("Plausible", "not excluded by the test set (DW009)"),
    ]
    blocks = (table(sensitivity, unit), Facts(facts, "brief"))
    return Document(
        kind="Sensitivity",
        line=f"{word}: {sensitivity.summary}",
        answer=Answer(word, tone, sentence),  # type: ignore[arg-type]
        sections=[Section("Over prior variances", blocks)],
        charts=(value_chart(sensitivity, unit),),
    )


def value_chart(sensitivity: Sensitivity, unit: Unit) -> Plane:
    """The value over prior variances, with a mark for each conclusion; implausible priors are faint."""
    kinds: dict[tuple[str | None, bool], list[Point]] = defaultdict(list)
    for one in sensitivity.points:
        kinds[one.conclusion, one.plausible].append(unit.point(one.prior_variance, one.value))
    series = [
        Series(
            (kind or "no verdict") + ("" if plausible else ", not plausible"),
            points,
            VERDICT_TONES.get(kind, "plain"),
            joined=plausible,
            faint=not plausible,
        )
        for (kind, plausible), points in kinds.items()
    ]
    return Plane(
        f"Against the prior. {sensitivity.summary[0].upper()}{sensitivity.summary[1:]}.",
        f"{QUANTITIES[sensitivity.what]}, {unit.name}",
        "prior variance C",
        series,
        log=True,
        chosen=sensitivity.chosen,
    )


def table(sensitivity: Sensitivity, unit: Unit) -> Table:
    """One row a prior variance."""
    rows = [
        (
            Cell(f"{p.prior_variance:g}{' *' * (p.prior_variance == sensitivity.chosen)}", p.prior_variance),
            unit.cell(p.value, sign=True),
            p.conclusion or "no verdict",
            Cell(number(p.held_out * unit.factor, 2), p.held_out),
            "yes" if p.plausible else "",
        )
        for p in sensitivity.points
    ]
    value = f"{QUANTITIES[sensitivity.what]}, {unit.name}, 95 % interval"
    return Table(
        "The result at other priors; plausible are those that the test set does not exclude",
        ("C", value, "conclusion", f"held out, {unit.name}", "plausible"),
        rows,
        level="brief",
    )
