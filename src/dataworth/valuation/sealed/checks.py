"""Trust checks of sealed scores: those that the test set and open data can answer; why not the others."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from ...checks import CHECKS, Finding, check_codes
from ...checks.base import Check, not_run
from ...data.dataset import Dataset
from ...measure.case import Case
from ...measure.designs import Whole
from ...measure.evaluate import PairTable
from ...measure.intervals import over_blocks
from ...measure.options import Options
from ...measure.prepare import Pool
from ...yardstick.yardstick import Yardstick

WITHOUT_DATA = ("doubling", "prior-edge", "chance", "attribute")
"""Checks that look at test rows and at what came out, or say themselves why they do not."""
OPEN_DATA = ("duplicates", "leaks", "classes", "shift")
"""Checks that look at the rows of one dataset after the other."""
WHY_NOT = {
    **dict.fromkeys(OPEN_DATA, "sealed data have no rows to look at"),
    "forms": "sealed data have one form of the score",
    "converged": "a sealed file does not say how its posterior was found",
}


def case_of(
    opened: Mapping[str, Dataset],
    test: Dataset,
    leaked: int,
    yardstick: Yardstick,
    table: PairTable,
    opts: Options,
    what: str,
) -> Case:
    """The case as far as there are rows: those of the test set and of open data."""
    # the test set stands under a name that no candidate can have
    pool = Pool.build(yardstick, {**{f"{n!r}": d for n, d in opened.items()}, "test": test})
    arms = {name: pool.samples[f"{name!r}"] for name in opened}
    design = Whole(arms, pool.samples["test"], len(table), opts.seed)
    return Case(
        what,
        opened,
        test,
        leaked,
        yardstick,
        pool,
        design,
        table,
        table.arms,
        opts,
        over_blocks,
        lambda table: None,
    )


def sealed_checks(case: Case) -> tuple[Finding, ...]:
    """What the yardstick, the test set and open data say; all other checks need rows of every dataset."""
    ignored = check_codes(case.options.ignore)
    with np.errstate(all="ignore"):
        return tuple(_sealed_check(check, case) for check in CHECKS if check.code not in ignored)


def _sealed_check(check: Check, case: Case) -> Finding:
    if check.name in WITHOUT_DATA:
        return check(case)
    if check.name in OPEN_DATA and case.data:
        found = check(case)
        return replace(found, detail=f"{found.detail} (open data only)")
    return check.finding(not_run(WHY_NOT.get(check.name, "sealed data have no rows to measure again")))
