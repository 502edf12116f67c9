"""The two ways to measure: all rows against blocks of the test set, or pairs of draws."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from ..arrays import Rows
from ..data.dataset import Dataset
from .case import Plan, measure
from .designs import AFTER, BEFORE, Arm, Pairs, Pile, Sample, Whole, group_codes
from .planner import pairs_for_error
from .prepare import Measurement, Pool, strata
from .sizes import PairSizes, block_count
from .summary import count

PILOT = 50
"""Pairs from which the number that a precision takes is estimated; the least that is drawn."""
MOST_PAIRS = 20_000
CAUTION = 1.1
"""The pilot's spread is itself uncertain by a tenth: ask for that much more."""


def whole_plan(measurement: Measurement, arms: dict[Arm, Sample], test: Sample) -> Plan:
    """Design *whole*: each arm as it is, against disjoint blocks of the test set."""
    groups = group_codes(measurement.test.groups)
    blocks = block_count(len(measurement.test), None if groups is None else int(groups.max()) + 1)
    return Plan(design=Whole(arms, test, blocks, measurement.options.seed, groups), count=blocks)


def pile(measurement: Measurement, data: Dataset, sample: Sample) -> Pile:
    """Rows to draw from, by class or by group."""
    return Pile(sample, strata(measurement.yardstick, data), group_codes(data.groups))


def pairs_plan(
    measurement: Measurement,
    pool: Pool,
    data: Pile,
    test: Pile,
    sizes: PairSizes,
    arms: Callable[[Rows, np.random.Generator], dict[Arm, Sample]],
) -> tuple[Plan, tuple[str, ...]]:
    """Design *pairs*: draws of both sets, as many as the precision asked for takes; and a note."""
    design = Pairs(data, test, sizes.data, sizes.test, measurement.options.seed, arms)
    plan = Plan(
        design=design, count=sizes.pairs, blocks=min(data.blocks(sizes.data), test.blocks(sizes.test))
    )
    needed, notes = pairs_for_precision(measurement, pool, plan)
    return replace(plan, count=needed), notes


def pairs_for_precision(measurement: Measurement, pool: Pool, plan: Plan) -> tuple[int, tuple[str, ...]]:
    """Pairs that bring the Monte-Carlo error to the wanted precision, by a pilot; and a note."""
    options = measurement.options
    if options.precision is None:
        return plan.count, ()
    alone = replace(measurement, options=replace(options, run_dir=None, progress=None))
    pilot = count(measure(alone, pool, replace(plan, count=PILOT)), options, plan.unit).table
    values = pilot.change("pmi", AFTER, BEFORE) if AFTER in pilot.arms else pilot.pmi[:, 0]
    needed = pairs_for_error(options.precision, spread=CAUTION * float(values.std(ddof=1)))
    notes: tuple[str, ...] = ()
    if needed > MOST_PAIRS:
        notes = (f"precision {options.precision:g} would take {needed} pairs; {MOST_PAIRS} were drawn",)
    return min(max(needed, PILOT), MOST_PAIRS), notes
