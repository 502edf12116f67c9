"""DW012: is the model at chance on the test set?

Where no arm predicts the test labels better than somebody who has seen no features, there is nothing that
data could be better or worse for: differences of scores then are differences in how loudly the model guesses.
Per block or pair j, with the test set's most common class c,

    accuracy_j − (share of class c in the test rows of j)     (numeric labels: R²_j, whose chance level is 0)

is averaged like every other result; the check fires unless the best arm's mean is shown above zero.
"""

from __future__ import annotations

import numpy as np

from ..arrays import Array
from ..data.labels import Classes
from ..measure.case import Case
from ..measure.designs import Sample, weights_of
from .base import Check, Seen, not_run

LEVEL = 0.05
"""One-sided: a model that is at chance passes one time in twenty."""
PAIRS = 50
"""Pairs whose test rows are drawn again; they are stratified by class, so all of them are alike."""


def look(case: Case) -> Seen:
    """The arm with the best accuracy, against chance."""
    level = chance(case)
    usable = np.isfinite(level) & np.isfinite(case.table.column("accuracy", case.arms[0]))
    if not usable.any():
        return not_run("no test rows of any weight")
    arm = max(case.arms, key=lambda arm: float(case.table.column("accuracy", arm)[usable].mean()))
    reached = case.table.column("accuracy", arm)
    gain = case.estimate((reached - level)[usable])
    fires = gain.value <= 0 if gain.stderr is None else gain.p_above() > LEVEL
    if isinstance(case.yardstick.labels, Classes):
        at, always = float(reached[usable].mean()), float(level[usable].mean())
        told = f"{arm}: accuracy {at:.1%}, by the most common class {always:.1%}"
    else:
        told = f"{arm}: R² {gain.value:.3f}"
    return Seen(bool(fires), gain.value, told, gain.stderr)


def chance(case: Case) -> Array:
    """What is reached without features, block by block (in pairs, on average)."""
    count = len(case.table)
    if not isinstance(case.yardstick.labels, Classes):
        return np.zeros(count)
    y = case.yardstick.targets(case.test)
    weights = np.ones(len(y)) if case.test.weights is None else case.test.weights
    common = float(np.argmax(np.bincount(y.astype(np.intp), weights)))
    draws = range(count if case.design.arms_fixed else min(PAIRS, count))
    shares = np.array([share(case.pool.y, case.design.draw(i).test, common) for i in draws])
    if case.design.arms_fixed:
        return shares
    known = shares[np.isfinite(shares)]
    return np.full(count, known.mean() if len(known) else np.nan)


def share(y: Array, test: Sample, common: float) -> float:
    """Weighted share of a class among test rows."""
    weights = weights_of(test)
    return float(np.average(y[test.rows] == common, weights=weights)) if weights.sum() > 0 else float("nan")


CHECK = Check(
    "DW012",
    "chance",
    "the model predicts the test labels no better than without features: scores compare guesses",
    "give features that tell the label, more or better data, or check that labels belong to their rows",
    look,
    needs="test",
)
