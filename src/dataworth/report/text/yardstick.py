"""A yardstick as text: what was chosen, and the doubling probe."""

from __future__ import annotations

from dataworth.yardstick.yardstick import Yardstick

from ..numbers import number
from . import layout


def line(yardstick: Yardstick) -> str:
    """A yardstick in one line."""
    chosen = yardstick.chosen
    how = yardstick.kind + (f" ({yardstick.inference})" if yardstick.inference else "")
    probe = "none" if chosen.probe is None else number(chosen.probe, 2, sign=True)
    return (
        f"{_axes(chosen.size)}, variance exponent {chosen.exponent:g}, {how}, prior variance "
        f"{chosen.prior_variance:g}, doubling probe {probe} nats, {yardstick.digest[:12]}"
    )


def full(yardstick: Yardstick, verbose: bool = False) -> layout.Rendered:
    """What was chosen, and the doubling probe."""
    headline = "calibrated: repeating data does not look informative on it."
    if not yardstick.calibrated:
        headline = "not calibrated: repeating data can look informative on it."
    return layout.report(headline, None, facts(yardstick))


def facts(yardstick: Yardstick) -> list[tuple[str, str]]:
    """All there is to say of it."""
    chosen = yardstick.chosen
    probe = "not probed" if chosen.probe is None else number(chosen.probe, 3, sign=True)
    passed = "passed" if yardstick.calibrated else "failed"
    return [
        ("Features", f"{_axes(chosen.size)} of {len(yardstick.recipe.center)} standardised columns"),
        ("Exponent", f"{chosen.exponent:g} (1: variances as they are, 0: whitened)"),
        ("Model", repr(yardstick.model)),
        ("Held out", f"{number(chosen.held_out, 2)} nats, mean log-likelihood of half the test set"),
        ("Doubling", f"{probe} nats from doubling half the test set: {passed}"),
        ("Test set", f"{yardstick.rows} rows, {yardstick.test_hash[:12]}"),
        ("Digest", yardstick.digest),
    ]


def _axes(size: int) -> str:
    return f"{size} principal {'axis' if size == 1 else 'axes'}"
