"""DW012: is the model at chance on the test set?

Where no arm tells the test labels better than somebody who has seen no features, there is nothing that data
could be better or worse for: differences of scores then are differences in how loudly the model guesses.
Whether it does is told by the AUC: the mean over classes of how often a row of the class gets more
probability of it than a row of another. Without features that is ½, however unequal the classes are, while
accuracy need not rise above that of the most common class. It is of all test rows (`measure.metrics`), or of
those of each pair. Numeric labels: R², whose chance level is 0. The check fires unless the best arm is shown
above chance.
"""

from __future__ import annotations

import numpy as np

from ..data.labels import Classes
from ..measure import Case
from .base import Check, Seen, not_run

LEVEL = 0.05
"""One-sided: a model that is at chance passes one time in twenty."""
CHANCE = 0.5
"""The AUC of guesses."""


def look(case: Case) -> Seen:
    """The arm with the best AUC (or R²), against chance."""
    classes = isinstance(case.yardstick.labels, Classes)
    column, chance = ("auc", CHANCE) if classes else ("accuracy", 0.0)
    reached = {arm: case.table.column(column, arm) - chance for arm in case.arms}
    reached = {arm: values[np.isfinite(values)] for arm, values in reached.items()}
    reached = {arm: values for arm, values in reached.items() if len(values)}
    if not reached:
        return not_run("no test rows of two classes" if classes else "no test rows of any weight")
    arm = max(reached, key=lambda arm: float(reached[arm].mean()))
    gain = case.estimate(reached[arm])
    fires = gain.value <= 0 if gain.stderr is None else gain.p_above() > LEVEL
    told = (
        f"AUC {gain.value + chance:.2f}, must be shown to be above the {CHANCE:.2f} of guesses"
        if classes
        else f"R² {gain.value:.3f}, must be shown to be above 0"
    )
    return Seen(bool(fires), gain.value, f"{arm}: {told}", gain.stderr)


CHECK = Check(
    "DW012",
    "chance",
    "the model predicts the test labels no better than without features: scores compare guesses",
    "give features that tell the label, more or better data, or check that labels belong to their rows",
    look,
    needs="test",
    stands=False,
)
