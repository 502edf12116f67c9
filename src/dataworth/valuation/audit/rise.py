"""What a rise is made of: the data's own models try the same, and `after` must beat them all.

They are asked only where a rise is shown; elsewhere there is nothing to explain.
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
    models = BlindModels(before, case.yardstick, options.seed, None if progress is None else progress.update)
    edits = edited_rows(arms.change, before, after, models.targets, models.classes, options.seed)
    # edited rows stand below the others, whose places stay
    pool = Pool.build(case.yardstick, {**parts, **edits}, options.own_model) if edits else case.pool
    own = own_controls(arms, models, after, {name: pool.samples[name].rows for name in edits})
    alone = replace(case, options=replace(options, run_dir=None))
    plan = replace(case.plan, design=replace(design, arms={BEFORE: arms.before, **own}))
    table = measure(alone, pool, plan).only(tuple(own))
    return replace(
        case,
        pool=pool,
        plan=replace(case.plan, design=replace(design, arms={**design.arms, **own})),
        table=case.table.beside(table),
    )
