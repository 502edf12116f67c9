"""What is possible but not to be expected of an honest vendor, and is told to the buyer."""

from __future__ import annotations

import numpy as np

from ...arrays import Array
from ...models import Logistic
from ...wording import counted
from ...yardstick.yardstick import Yardstick
from .limits import SLACK
from .model import most_precision, sealing_model
from .posterior import Sealed

UNLIKELY = 1e-3
"""Probability under the yardstick's model from which a claim is doubted."""


def gain_of(sealed: Sealed, spectrum: Array, prior_variance: float) -> float:
    """KL(N(μ, P⁻¹) ‖ N(0, C·I)) = ½ Σ (1/λ − 1 + log λ) + ½ ‖μ‖²/C with λ the eigenvalues of C·P."""
    shape = float((1.0 / spectrum - 1.0 + np.log(spectrum)).sum())
    return 0.5 * (shape + float(sealed.mean @ sealed.mean) / prior_variance)


def doubts(sealed: Sealed, yardstick: Yardstick, spectrum: Array, test: Array, name: str) -> list[str]:
    """What is possible but not to be expected, as notes.

    n labels of two classes hold n log 2 nats: under the yardstick's own model a posterior gains more than
    that plus log 1/δ with probability δ at most. Rows like the test set's add at most ¼ max‖x‖² each.
    """
    model = sealing_model(yardstick)
    notes = []
    labels = sealed.weight * np.log(2.0)
    gain = gain_of(sealed, spectrum, model.prior_variance)
    if isinstance(model, Logistic) and gain > labels - np.log(UNLIKELY):
        notes.append(
            f"{name} claims {gain:.0f} nats of information, its {counted(sealed.rows, 'label')} hold "
            f"{labels:.0f}: doubt it"
        )
    largest = float((test * test).sum(axis=1).max()) + float(model.intercept)
    added = float(spectrum.sum() - len(spectrum)) / model.prior_variance
    if added > most_precision(model) * largest * sealed.weight * (1.0 + 1e-6) + SLACK * float(spectrum[-1]):
        notes.append(
            f"{name} claims more precision than {counted(sealed.rows, 'row')} like the test set's give: "
            "its rows lie far out, or it is forged"
        )
    return notes
