"""DW011 and DW012: do pairs lack a class, and is the model at chance on the test set?

DW011: data without a class cannot teach it. Test blocks count only where pairs are drawn and most draws lack
a class: over blocks of one partition every class has its say.

DW012: the AUC of the best arm (mean over classes) must be shown above ½; of numeric labels its R² above 0.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import numpy as np

from ..arrays import Array
from ..data.labels import Classes
from ..measure import Arm, Case, Estimate, Sample, weights_of
from ..measure.ladder import beyond_chance
from .base import CheckOutcome, not_run

MOST_DATA = 0.05
"""Share of pairs whose data may lack a class: what an interval of 95 % leaves out."""
MOST_TEST = 0.5
"""Share of pairs whose test rows may: as long as most have all classes, the mean speaks of all."""
PAIRS = 50
"""Pairs looked at: enough to tell 5 % from half; all of them under `slow_checks`."""
LEVEL = 0.05
"""One-sided: a model that is at chance passes one time in twenty."""
CHANCE = 0.5
"""The AUC of guesses."""


def classes(case: Case) -> CheckOutcome:
    """DW011: draw the pairs again, and count classes."""
    labels = case.yardstick.labels
    if not isinstance(labels, Classes):
        return not_run("the labels are numeric")
    fixed = case.design.arms_fixed
    count = 1 if fixed else len(case.table) if case.options.slow_checks else min(PAIRS, len(case.table))
    draws = [case.design.draw(i) for i in range(count)]

    def lacking(samples: Iterable[Sample]) -> tuple[float, str]:
        """In which share of some samples a class is missing, and which."""
        found = [missing(case.pool.y, sample, labels.names) for sample in samples]
        return float(np.mean([bool(names) for names in found])), listed(found)

    arms = {arm: lacking(d.arms[arm] for d in draws) for arm in case.arms if arm in draws[0].arms}
    if not arms:
        return not_run("sealed data have no rows")
    worst = max(arms, key=lambda arm: arms[arm][0])
    (share, names), of = arms[worst], f"{count} pairs looked at"
    if share > MOST_DATA:
        where = "all rows" if fixed else f"{share:.0%} of {of}, allowed in {MOST_DATA:.0%}"
        return CheckOutcome(True, share, f"{worst}: no row with the label {names} in {where}")
    tests, names = lacking(d.test for d in draws)
    if tests > MOST_TEST and not fixed:
        where = f"{tests:.0%} of {of}, allowed in {MOST_TEST:.0%}"
        return CheckOutcome(True, tests, f"test rows: none with the label {names} in {where}")
    told = f"of {of}, {share:.0%} lack a class in the data, allowed up to {MOST_DATA:.0%}"
    return CheckOutcome(False, share, "every class is there" if fixed else told)


def missing(y: Array, sample: Sample, names: tuple[str, ...]) -> list[str]:
    """Classes of which a sample has no row of any weight."""
    rows = sample.rows[weights_of(sample) > 0]
    there = np.bincount(y[rows].astype(np.intp), minlength=len(names)) > 0
    return [name for name, has in zip(names, there, strict=False) if not has]


def listed(lacking: Iterable[list[str]]) -> str:
    """The class that is missing most often, and how many others are too."""
    found = Counter(name for names in lacking for name in names).most_common()
    others = f" (nor of {len(found) - 1} others)" if len(found) > 1 else ""
    return f"{found[0][0]!r}{others}" if found else ""


def against_permuted(case: Case) -> CheckOutcome:
    """Which datasets are not shown to be worth more than the same rows with their labels permuted.

    Of a ranking, all of them; else whether none is.
    """
    known: dict[Arm, Estimate] = {}
    for arm in case.table.arms if case.what == "rank" else case.arms:
        if (one := beyond_chance(case, arm)) is not None:
            known[arm] = one
            if case.what != "rank" and one.positive:
                break  # it fires only if none is shown to be more
    if not known:
        return not_run("there are no rows whose labels could be permuted")
    guesses = [str(arm) for arm, one in known.items() if not one.positive]
    fires = bool(guesses) if case.what == "rank" else len(guesses) == len(known)
    least = min(known.values(), key=lambda one: one.value)
    told = f"{least.value:+.2f} nats a block beyond permuted labels"
    if guesses and case.what == "rank":
        told = f"{', '.join(guesses)}: {told}"
    return CheckOutcome(fires, least.value, f"{told}, must be shown to be above 0", least.stderr)


def chance(case: Case) -> CheckOutcome:
    """DW012: every dataset against itself with labels permuted; of pairs the best AUC (or R²)."""
    if len(case.table.reference) and not case.sealed and case.passes is None:
        return against_permuted(case)
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
    told = f"R² {gain.value:.3f}, must be shown to be above 0"
    if classes:
        told = f"AUC {gain.value + chance:.2f}, must be shown to be above the {CHANCE:.2f} of guesses"
    return CheckOutcome(bool(fires), gain.value, f"{arm}: {told}", gain.stderr)
