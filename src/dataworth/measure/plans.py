"""Two ways to measure: all rows against blocks of the test set, or pairs of draws; how many, how large."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from ..arrays import Rows
from ..data.dataset import Dataset
from ..errors import DataworthError
from ..wording import counted
from .case import Plan, measure
from .designs import AFTER, BEFORE, Arm, Design, Pairs, Pile, Sample, Whole, group_codes
from .options import Size, check_drawing
from .planner import pairs_for_error
from .prepare import Measurement, Pool, strata
from .summary import count

DEFAULT_PAIRS = 200
MOST_BLOCKS = 20
LEAST_TEST_ROWS = 8
MIN_BLOCKS = 8
"""The default size of a pair leaves this many disjoint blocks in the data and in the test set."""
ONE_GROUP = (
    "all test rows belong to one group, so that nothing shows how groups differ: give a test set of more "
    "groups, or no groups."
)
PILOT = 50
"""Pairs from which the number that a precision takes is estimated; the least that is drawn."""
MAX_PRECISION_PAIRS = 20_000
"""Pairs that a precision may take; more are not drawn, and a note says so."""
CAUTION = 1.1
"""The pilot's spread is itself uncertain by a tenth: ask for that much more."""


def whole_plan(measurement: Measurement, arms: dict[Arm, Sample], test: Sample) -> Plan:
    """Design *whole*: each arm as it is, against disjoint blocks of the test set."""
    groups = group_codes(measurement.test.groups)
    blocks = block_count(len(measurement.test), None if groups is None else int(groups.max()) + 1)
    return Plan(design=Whole(arms, test, blocks, measurement.options.seed, groups), count=blocks)


def pairs_plan(
    measurement: Measurement,
    pool: Pool,
    data: Dataset,
    samples: tuple[Sample, Sample],
    arms: Callable[[Rows, np.random.Generator], dict[Arm, Sample]],
) -> Plan:
    """Design *pairs*: draws of data and test set, as many as the precision asked for takes."""
    options, test = measurement.options, measurement.test
    sizes = pair_sizes(len(data), len(test), options.pairs, options.size)
    piles = pile(measurement, data, samples[0]), pile(measurement, test, samples[1])
    blocks = min(piles[0].blocks(sizes.data), piles[1].blocks(sizes.test))
    design = Pairs(*piles, sizes.data, sizes.test, options.seed, arms)
    return for_precision(measurement, pool, sizes.plan(design, blocks))


def pile(measurement: Measurement, data: Dataset, sample: Sample) -> Pile:
    """Rows to draw from, by class or by group."""
    return Pile(sample, strata(measurement.yardstick, data), group_codes(data.groups))


def for_precision(measurement: Measurement, pool: Pool, plan: Plan) -> Plan:
    """As many pairs as bring the Monte-Carlo error to the wanted precision, by a pilot; with a note."""
    options = measurement.options
    if options.precision is None:
        return plan
    alone = replace(measurement, options=replace(options, run_dir=None, progress=None))
    pilot = count(measure(alone, pool, replace(plan, count=PILOT)), options, plan.unit).table
    values = pilot.change("pmi", AFTER, BEFORE) if AFTER in pilot.arms else pilot.pmi[:, 0]
    needed = pairs_for_error(options.precision, spread=CAUTION * float(values.std(ddof=1)))
    note = f"precision {options.precision:g} would take {needed} pairs; {MAX_PRECISION_PAIRS} were drawn"
    notes = (note,) if needed > MAX_PRECISION_PAIRS else ()
    return replace(plan, count=min(max(needed, PILOT), MAX_PRECISION_PAIRS), notes=notes)


def block_count(test_rows: int, groups: int | None = None) -> int:
    """Disjoint test blocks of the design *whole*: 20 where rows allow, of 4 rows at least.

    More blocks would hardly narrow the interval (t is within 7 % of normal) and cost as much more. Rows that
    belong together are not split between blocks, so that there are no more blocks than groups.

    >>> [block_count(n) for n in (40, 229, 20_000)], block_count(400, groups=12)
    ([10, 20, 20], 12)
    """
    if test_rows < LEAST_TEST_ROWS:
        raise DataworthError(f"{test_rows} test rows are left; scoring needs at least {LEAST_TEST_ROWS}.")
    if groups is not None and groups < 2:
        raise DataworthError(ONE_GROUP)
    most = MOST_BLOCKS if groups is None else min(MOST_BLOCKS, groups)
    return min(most, max(2, test_rows // 4))


@dataclass(frozen=True)
class PairSizes:
    """Sizes of the pairs, how many, and how many disjoint blocks of that size the data hold."""

    data: int
    test: int
    pairs: int
    blocks: float

    def plan(self, design: Design, blocks: float) -> Plan:
        """So many pairs of a design; whole groups may make fewer disjoint blocks than rows do."""
        return Plan(design=design, count=self.pairs, blocks=blocks, size=(self.data, self.test))


def pair_sizes(data_rows: int, test_rows: int, pairs: int | None, size: Size | None) -> PairSizes:
    """Sizes asked for, or the largest that leave eight blocks in the data and in the test set.

    >>> pair_sizes(340, 229, None, None)
    PairSizes(data=28, test=28, pairs=200, blocks=8.178571428571429)
    """
    check_drawing(pairs, size)
    k = DEFAULT_PAIRS if pairs is None else int(pairs)
    if size is None:
        n = min(data_rows, test_rows) // MIN_BLOCKS
        if n < 2:
            raise DataworthError(
                f"{counted(data_rows, 'data row')} and {counted(test_rows, 'test row')} are too few for "
                f"pairs (at least {2 * MIN_BLOCKS} each): use the design whole, or give a size."
            )
        size = n
    data, test = (int(n) for n in (size if isinstance(size, (tuple, list)) else (size, size)))
    for name, n, rows in (("data", data, data_rows), ("test set", test, test_rows)):
        if n > rows:
            raise DataworthError(f"size is {n}, but the {name} has only {rows} rows: give a smaller size.")
    return PairSizes(data, test, k, min(data_rows / data, test_rows / test))
