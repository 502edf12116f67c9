"""Design *method*: a callable applied to each draw of the data. It runs here, before any model does."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...arrays import Rows
from ...data.changes import Change, compare
from ...data.dataset import Dataset
from ...data.leaks import MOST_LEAKED, leaked
from ...errors import DataworthError
from ...measure.case import Plan
from ...measure.designs import AFTER, BEFORE, CONTROL, Draw, Pile, Prepared, Sample, group_codes, select
from ...measure.prepare import Measurement, Pool, strata
from ...measure.sizes import ONE_GROUP, pair_sizes
from .arms import Arms
from .methods import Curation, apply, curated_whole, wants_test

METHOD_PAIRS = 100


class Drawn(NamedTuple):
    """The draws with what the method made of them, as one pool and a plan."""

    pool: Pool
    plan: Plan
    change: Change
    size: tuple[int, int]
    rows_after: float
    notes: tuple[str, ...]


def apply_to_draws(prepared: Measurement, before: Dataset, curate: Curation) -> Drawn:
    """Draw, apply the method, and see what it did; rows it made stand below the others in the pool."""
    opts, yardstick, test = prepared.options, prepared.yardstick, prepared.test
    looks = wants_test(curate)
    # a method that looks at T gets one half of Tᵢ and is scored on the other: twice the rows are drawn
    times = 2 if looks else 1
    test_rows = len(test) // times
    sizes = pair_sizes(len(before), test_rows, METHOD_PAIRS if opts.pairs is None else opts.pairs, opts.size)
    piles = []
    for data, start in ((before, 0), (test, len(before))):
        cells = strata(yardstick, data)
        # what it may match in both are attributes: a small draw without one of them could not be matched
        cells = by_attribute(cells, data) if looks else cells
        rows = np.arange(start, start + len(data))
        piles.append(Pile(Sample(rows, data.weights), cells, group_codes(data.groups)))
    pile, held = piles
    blocks = min(pile.blocks(sizes.data), held.blocks(sizes.test * times, times), sizes.blocks)
    start, fresh = len(before) + len(test), []
    draws, changes = [], []
    copied = 0
    for i in range(sizes.pairs):
        rng = np.random.default_rng([opts.seed, 0xF00D, i])
        drawn = pile.some(sizes.data, rng)
        shown = held.some(sizes.test * times, rng, times)
        seen, scored = halved(shown, held.groups, sizes.test, rng) if looks else (shown[:0], shown)
        part = before.take(drawn)
        try:
            made = apply(curate, part, test.take(seen), rng).select(yardstick.recipe.columns)
        except DataworthError as error:
            # what the whole data have, a draw of a few of their rows may lack; else this raises by itself
            curated_whole(before, test, curate, opts.seed)
            hint = f"in a draw of {len(part)} of {len(before)} rows; --size or --design whole makes it larger"
            raise DataworthError(f"{str(error).removesuffix('.')} ({hint}).") from error
        change = compare(part, made)
        own = change.own
        rows = np.where(change.origin >= 0, drawn[change.origin], 0)
        rows[own] = np.arange(start, start + len(own))
        if len(own):
            fresh.append(made.take(own))
            start += len(own)
            # what the method made must not hold the very rows it is scored on
            found = leaked(test.take(scored), fresh[-1])
            copied += int(found.sum())
            scored = scored[~found]
        arms = Arms(change, select(pile.sample, drawn), Sample(rows, made.weights))
        all_arms = {BEFORE: arms.before, AFTER: arms.after, CONTROL: arms.control(rng)}
        draws.append(Draw(all_arms, select(held.sample, scored)))
        changes.append(change)
        if opts.progress is not None:
            opts.progress.update(i + 1, sizes.pairs)
    if copied > MOST_LEAKED * sizes.pairs * sizes.test:
        raise DataworthError(
            f"the method's output holds {copied / (sizes.pairs * sizes.test):.0%} of the test rows it is "
            "scored on: a method must not see those."
        )
    parts = {"before": before, "test": test} | ({"made": Dataset.concat(fresh)} if fresh else {})
    rows_after = float(np.mean([len(change.origin) for change in changes]))
    notes: tuple[str, ...] = ()
    if getattr(curate, "design", "method") == "whole":
        notes = (
            f"{rows_after - sizes.data:.0f} rows were added to each draw of {sizes.data}: "
            f"{rows_after / sizes.data - 1:.1f} for each row, where all data have "
            f"{(rows_after - sizes.data) / len(before):.1f}; the design whole adds them once, to all rows",
        )
    return Drawn(
        pool=Pool.build(yardstick, parts),
        plan=Plan(design=Prepared(tuple(draws)), count=sizes.pairs, blocks=blocks),
        change=changes[0],
        size=(sizes.data, sizes.test),
        rows_after=rows_after,
        notes=notes,
    )


def halved(shown: Rows, groups: Rows | None, scored: int, rng: np.random.Generator) -> tuple[Rows, Rows]:
    """Test rows to see and test rows to be scored on; rows that belong together stay together."""
    if groups is None:
        shown = rng.permutation(shown)
        return shown[: len(shown) - scored], shown[len(shown) - scored :]
    order = rng.permutation(np.unique(groups[shown]))
    if len(order) < 2:
        raise DataworthError(ONE_GROUP)
    first = np.isin(groups[shown], order[: len(order) // 2])
    return shown[first], shown[~first]


def by_attribute(cells: Rows, data: Dataset) -> Rows:
    """Strata split by attribute, where rows have one."""
    if data.attributes is None:
        return cells
    _, attributes = np.unique(data.attributes, return_inverse=True)
    _, split = np.unique(cells * len(data) + attributes, return_inverse=True)
    return split
