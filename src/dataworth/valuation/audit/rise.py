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
from .arms import Arms
from .blind import BlindModels
from .controls import edited_rows, own_controls


def with_own_controls(case: Case, arms: Arms, parts: Mapping[str, Dataset], after: Dataset) -> Case:
    """The case with the data's own controls beside it, if a rise is shown; `parts` made its pool."""
    design = case.design
    rise = case.estimate(case.table.change("pmi", AFTER, BEFORE))
    if not isinstance(design, Whole) or not rise.positive:
        return case
    before, seed = parts["before"], case.options.seed
    models = BlindModels(before, case.yardstick, seed)
    edits = edited_rows(arms, before, after, models.targets, seed)
    # edited rows stand below the others, whose places stay
    pool = Pool.build(case.yardstick, {**parts, **edits}) if edits else case.pool
    own = own_controls(arms, models, after, {name: pool.samples[name].rows for name in edits})
    alone = replace(case, options=replace(case.options, run_dir=None, progress=None))
    plan = replace(case.plan, design=replace(design, arms={BEFORE: arms.before, **own}))
    table = measure(alone, pool, plan).only(tuple(own))
    return replace(
        case,
        pool=pool,
        plan=replace(case.plan, design=replace(design, arms={**design.arms, **own})),
        table=case.table.beside(table),
    )
