"""A yardstick as text: features, model, tempering, and how well halves of the test set predict each other."""

from __future__ import annotations

from dataworth.yardstick.yardstick import Yardstick

from ..numbers import number
from . import layout


def line(yardstick: Yardstick) -> str:
    """A yardstick in one line."""
    how = yardstick.kind + (f" ({yardstick.inference})" if yardstick.inference else "")
    counted = "" if yardstick.tempering == 1 else f", rows count {yardstick.tempering:g} times"
    return (
        f"{yardstick.chosen.features}, {how}, prior variance {yardstick.chosen.prior_variance:g}{counted}, "
        f"{yardstick.digest[:12]}"
    )


def full(yardstick: Yardstick, verbose: bool = False) -> layout.Rendered:
    """What was chosen, and how well it predicts."""
    held_out = number(yardstick.chosen.held_out, 2, sign=True)
    headline = f"half of the test set predicts a row of the other half with {held_out} nats."
    return layout.report(headline, None, facts(yardstick))


def facts(yardstick: Yardstick) -> list[tuple[str, str]]:
    """All there is to say of it."""
    chosen = yardstick.chosen
    error = "" if chosen.held_out_stderr is None else f" ± {number(chosen.held_out_stderr, 2)}"
    held_out = f"{number(chosen.held_out, 2)}{error} nats, mean log-likelihood of a test row"
    facts = [
        ("Features", f"{chosen.features} ({len(yardstick.recipe.center)})"),
        ("Model", repr(yardstick.model)),
        ("Tempering", f"rows of the data count {yardstick.tempering:g} times"),
        ("Held out", f"{held_out}, given an eighth to a half of the others"),
    ]
    if chosen.sight is not None:
        seen = f"t = {number(chosen.sight, 0)} for wrong labels removed from half of the test set"
        facts.append(("Sight", seen))
    hashed = f", keyed hash {yardstick.test_hash[:12]}" if yardstick.test_hash else ""
    return [
        *facts,
        ("Test set", f"{yardstick.rows} rows{hashed}"),
        ("Digest", yardstick.digest),
    ]
