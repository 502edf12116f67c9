"""A result over prior variances as text: whether the prior decides."""

from __future__ import annotations

from dataworth.valuation.sensitivity import QUANTITIES, Sensitivity

from ..numbers import number, scaled, with_interval
from ..quantities import unit_of
from . import layout


def line(sensitivity: Sensitivity, bits: bool = False) -> str:
    """Whether the prior decides, in one line."""
    return f"{'steady' if sensitivity.steady else 'depends on the prior'}: {sensitivity.summary}"


def full(sensitivity: Sensitivity, bits: bool = False, verbose: bool = False) -> layout.Rendered:
    """One row a prior variance."""
    unit, factor = unit_of(bits)
    value = f"{QUANTITIES[sensitivity.what]}, {unit}, 95 % interval"
    rows = [
        (
            f"{point.prior_variance:g}" + (" *" if point.prior_variance == sensitivity.chosen else ""),
            with_interval(point.value.value * factor, scaled(point.value.interval, factor), sign=True),
            point.conclusion or "no verdict",
            number(point.held_out * factor, 2),
            number(point.accuracy, 4),
            "yes" if point.plausible else "",
        )
        for point in sensitivity.points
    ]
    half = "mean log-likelihood of half the test set"
    allowed = "not excluded by the test set"
    folds = f"{sensitivity.folds}-fold cross-validation on the test set (R² for numeric labels)"
    return layout.report(
        f"{line(sensitivity)}.",
        layout.table(("C", value, "conclusion", f"held out, {unit}", "accuracy, CV", "plausible"), rows),
        [
            ("*", "the yardstick's own prior variance"),
            ("Held out", f"{half}; best at C = {sensitivity.by_held_out:g}"),
            ("Accuracy", f"{folds}; best at C = {sensitivity.by_accuracy:g}"),
            ("Plausible", f"{allowed} (DW009)"),
        ],
    )
