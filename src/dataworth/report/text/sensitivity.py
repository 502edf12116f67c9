"""A result over prior variances as text: whether the prior decides."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import RenderableType
from rich.text import Text

from dataworth.valuation.sensitivity import QUANTITIES

from ..numbers import number, scaled, with_interval
from ..quantities import unit_of
from . import layout

if TYPE_CHECKING:
    from dataworth.valuation.sensitivity import Sensitivity


def sensitivity_line(sensitivity: Sensitivity, bits: bool = False) -> str:
    """Whether the prior decides, in one line."""
    return f"{'steady' if sensitivity.steady else 'depends on the prior'}: {sensitivity.summary}"


def sensitivity_report(sensitivity: Sensitivity, bits: bool = False, verbose: bool = False) -> RenderableType:
    """One row a prior variance."""
    unit, factor = unit_of(bits)
    value, held_out = f"{QUANTITIES[sensitivity.what]}, {unit}, 95 % interval", f"held out, {unit}"
    table = layout.table("C", value, "conclusion", held_out, "accuracy, CV", "plausible")
    for point in sensitivity.points:
        layout.add_row(
            table,
            f"{point.prior_variance:g}" + (" *" if point.prior_variance == sensitivity.chosen else ""),
            with_interval(point.value.value * factor, scaled(point.value.interval, factor), sign=True),
            point.conclusion or "no verdict",
            number(point.held_out * factor, 2),
            number(point.accuracy, 4),
            "yes" if point.plausible else "",
        )
    facts = [
        ("*", "the yardstick's own prior variance"),
        ("Held out", f"mean log-likelihood of half the test set; best at C = {sensitivity.by_held_out:g}"),
        (
            "Accuracy",
            f"{sensitivity.folds}-fold cross-validation on the test set (R² for numeric labels); best at C = "
            f"{sensitivity.by_accuracy:g}",
        ),
        ("Plausible", "not excluded by the test set, and doubling rows does not look informative (DW009)"),
    ]
    return layout.report(Text(f"{sensitivity_line(sensitivity)}.", style="bold"), None, table, facts, [])
