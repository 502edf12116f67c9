"""DW011: do pairs lack a class?

Data without a class cannot teach it: the score of such a pair says what one class alone is worth, and a mean
over some pairs with and some without is the worth of nothing in particular. A class missing in a test block
is another matter: the log evidence of a block of one class is a fair log score, and over blocks of one
partition every class has its say, so test blocks count only where pairs are drawn and most draws lack a class
(a size below the number of classes), which the mean then hardly sees.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from ..arrays import Array
from ..data.labels import Classes
from ..measure import Case, Sample, weights_of
from .base import Check, Seen, not_run

MOST_DATA = 0.05
"""Share of pairs whose data may lack a class: what an interval of 95 % leaves out."""
MOST_TEST = 0.5
"""Share of pairs whose test rows may: as long as most have all classes, the mean speaks of all."""
PAIRS = 50
"""Pairs looked at: enough to tell 5 % from half; all of them under `thorough`."""


def look(case: Case) -> Seen:
    """Draw the pairs again, and count classes."""
    labels = case.yardstick.labels
    if not isinstance(labels, Classes):
        return not_run("the labels are numeric")
    fixed = case.design.arms_fixed
    count = 1 if fixed else len(case.table) if case.options.thorough else min(PAIRS, len(case.table))
    draws = [case.design.draw(i) for i in range(count)]
    shares = {
        arm: float(np.mean([bool(missing(case.pool.y, d.arms[arm], labels.names)) for d in draws]))
        for arm in case.arms
        if arm in draws[0].arms
    }
    if not shares:
        return not_run("sealed data have no rows")
    worst = max(shares, key=lambda arm: shares[arm])
    share, of = shares[worst], f"{count} pairs looked at"
    tests = float(np.mean([bool(missing(case.pool.y, d.test, labels.names)) for d in draws]))
    if share > MOST_DATA:
        names = listed(missing(case.pool.y, d.arms[worst], labels.names) for d in draws)
        where = "all rows" if fixed else f"{share:.0%} of {of}, allowed in {MOST_DATA:.0%}"
        return Seen(True, share, f"{worst}: no row with the label {names} in {where}")
    if tests > MOST_TEST and not fixed:
        names = listed(missing(case.pool.y, d.test, labels.names) for d in draws)
        return Seen(
            True,
            tests,
            f"test rows: none with the label {names} in {tests:.0%} of {of}, allowed in {MOST_TEST:.0%}",
        )
    told = f"of {of}, {share:.0%} lack a class in the data, allowed up to {MOST_DATA:.0%}"
    return Seen(False, share, "every class is there" if fixed else told)


def missing(y: Array, sample: Sample, names: tuple[str, ...]) -> list[str]:
    """Classes of which a sample has no row of any weight."""
    rows = sample.rows[weights_of(sample) > 0]
    there = np.bincount(y[rows].astype(np.intp), minlength=len(names)) > 0
    return [name for name, has in zip(names, there, strict=False) if not has]


def listed(lacking: Iterable[list[str]]) -> str:
    """The class that is missing most often, and how many others are too."""
    counts: dict[str, int] = {}
    for name in (name for names in lacking for name in names):
        counts[name] = counts.get(name, 0) + 1
    most = max(counts, key=lambda name: counts[name])
    return repr(most) + (f" (nor of {len(counts) - 1} others)" if len(counts) > 1 else "")


CHECK = Check(
    "DW011",
    "classes",
    "pairs lack a class: their data cannot teach it, and the mean is over different questions",
    "give the data rows of every class, or draw larger pairs (size=, --size)",
    look,
    needs="rows",
)
