"""Against what: a score between what is known without the data and the best that could be known.

    nothing      the yardstick's prior predicts each test row
    proportions  labels of the other test rows alone predict it: the zero of every score
    data         these data predict it
    ceiling      the other rows of the test set predict it: as much as data of T's own kind, of that number

The share of the ceiling, (data − proportions) / (ceiling − proportions), is the one number that compares
across test sets. Beside the ladder stands chance: what the same rows are worth with their labels permuted.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from ..arrays import Array
from ..evidence.tempering import climb
from .case import Case, measure
from .designs import Arm, Sample, Whole, weights_of
from .intervals import Estimate, against_controls, over_blocks
from .tempered import Predictions, Task, fit_arm

FOLDS = 5
"""Parts of the test set, each predicted by the others."""
PERMUTED = 3, 8
"""Permutations of the labels: enough for the spread of chance; a few where these leave no doubt."""
NO_DOUBT = 0.999
"""Confidence at which a few permutations are enough."""
OTHERS = Arm("part", "the other test rows")


@dataclass(frozen=True)
class Ladder:
    """Nats a block beyond class proportions, of three of the rungs, and the data's share of the ceiling.

    of_ceiling is None where the ceiling is not shown to lie above proportions: there is nothing to share.
    """

    nothing: Estimate = field(metadata={"nats": True})
    data: Estimate = field(metadata={"nats": True})
    ceiling: Estimate = field(metadata={"nats": True})
    of_ceiling: Estimate | None


def ladder(case: Case, arm: Arm) -> Ladder | None:
    """Of one arm of the design *whole*; None where blocks are not predicted row by row."""
    table, pool = case.table, case.pool
    if not len(table.reference):
        return None
    task = Task.of(case.design, pool, len(table), bounded=False, given={})
    task = task._replace(arms={OTHERS: Sample(np.zeros(0, dtype=np.intp))})
    assert task.units is not None
    known = Predictions.of(task, OTHERS, fit_arm(task, task.arms[OTHERS]))
    nothing, best = (known.values(scores) for scores in (known.scores(0), ceiling(task)))
    data = table.column("pmi", arm)
    reached = over_blocks(best)
    share = of_ceiling(data, best) if reached.positive else None
    return Ladder(over_blocks(nothing), over_blocks(data), reached, share)


def ceiling(task: Task) -> Array:
    """log p of every row given four fifths of the others; units, in canonical order, go round."""
    assert task.units is not None
    rows = np.concatenate([test.rows for test in task.tests])
    weights = np.concatenate([weights_of(test) for test in task.tests])
    folds = [task.units % FOLDS == f for f in range(min(FOLDS, int(task.units.max()) + 1))]
    known: list[Predictions] = []
    for own in folds:
        sample = Sample(np.sort(rows[~own]), weights[~own][np.argsort(rows[~own])])
        part = task._replace(arms={OTHERS: sample}, tests=(Sample(rows[own], weights[own]),))
        known.append(Predictions.of(part, OTHERS, fit_arm(part, sample)))

    def at(k: int) -> Array:
        found = np.empty(len(rows))
        for own, one in zip(folds, known, strict=True):
            found[own] = one.scores(k)
        return found

    return climb(at, task.start, task.units)[1]


def of_ceiling(data: Array, best: Array) -> Estimate:
    """The ratio of two means over blocks, its error to first order."""
    ratio = float(data.mean() / best.mean())
    left = (data - ratio * best) / best.mean()
    return replace(over_blocks(left + ratio), value=ratio)


def beyond_chance(case: Case, arm: Arm) -> Estimate | None:
    """What an arm is worth beyond the same rows with labels permuted; None where that cannot be asked."""
    design = case.design
    if not (isinstance(design, Whole) and arm in design.arms and len(case.table.reference)):
        return None
    sample, rng = design.arms[arm], np.random.default_rng([case.options.seed, 0xC4A])
    targets = case.pool.y[sample.rows] if sample.targets is None else sample.targets
    arms = [Arm("control", f"permuted {r + 1}") for r in range(PERMUTED[-1])]
    drawn = {arm: sample._replace(targets=rng.permutation(targets)) for arm in arms}
    alone = replace(case, options=replace(case.options, run_dir=None, progress=None))
    permuted: list[Array] = []
    for count in PERMUTED:
        more = {one: drawn[one] for one in arms[len(permuted) : count]}
        table = measure(alone, case.pool, replace(case.plan, design=replace(design, arms=more)))
        permuted += list(table.of_role("pmi", "control").T)
        found = against_controls(case.table.column("pmi", arm), np.array(permuted).T)
        if found.at(NO_DOUBT).positive:
            break
    return found
