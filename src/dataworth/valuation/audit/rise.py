"""What a rise is made of: the data's own models try the same, and `after` must beat them all.

They are asked only where a rise is shown; elsewhere there is nothing to explain. Where the data have groups,
they are cross-fitted both by groups and row by row: groups that somebody chose (all rows one, or one a class)
would leave models by groups nothing to learn from.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from ...data.dataset import Dataset
from ...measure.case import Case, measure
from ...measure.designs import AFTER, BEFORE, Whole
from ...measure.prepare import Pool
from ...measure.summary import count
from .arms import Arms
from .blind import BlindModels
from .controls import own_controls
from .edits import edited_rows


def with_own_controls(case: Case, arms: Arms, parts: Mapping[str, Dataset], after: Dataset) -> Case:
    """The case with the data's own controls beside it, if a rise is shown; `parts` made its pool."""
    design, options = case.design, case.options
    tables = case.table, count(case.table, options, case.plan.unit).table
    shown = any(case.estimate(table.change("pmi", AFTER, BEFORE)).positive for table in tables)
    if not isinstance(design, Whole) or not shown:
        return case
    before, progress = parts["before"], options.progress
    if progress is not None:
        progress.expect(0.0)
    heard = None if progress is None else progress.update
    models = [BlindModels(before, case.yardstick, options.seed, heard)]
    if before.groups is not None:
        models.append(replace(models[0], row_by_row=True))
    first = models[0]
    edits = edited_rows(arms.change, before, after, first.targets, first.classes, options.seed)
    # edited rows stand below the others, whose places stay
    pool = Pool.build(case.yardstick, {**parts, **edits}, options.own_model) if edits else case.pool
    places = {name: pool.samples[name].rows for name in edits}
    own = {arm: sample for one in models for arm, sample in own_controls(arms, one, after, places).items()}
    alone = replace(case, options=replace(options, run_dir=None))
    plan = replace(case.plan, design=replace(design, arms={BEFORE: arms.before, **own}))
    table = measure(alone, pool, plan).only(tuple(own))
    return replace(
        case,
        pool=pool,
        plan=replace(case.plan, design=replace(design, arms={**design.arms, **own})),
        table=case.table.beside(table),
    )
