"""What an audit with this test set could have seen, and how many test rows would decide what it did not."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...measure.case import Case
from ...measure.designs import AFTER, BEFORE
from ...measure.intervals import negligible
from ...yardstick.probes import Sight, sight
from ..result import nats

MOST_ROWS = 1000
"""Test rows that are probed at most; blocks have as many rows as the audit's all the same."""


@dataclass(frozen=True, kw_only=True)
class CouldSee:
    """What is shown 4 times in 5 with this test set, from probes on the test set alone (`yardstick.probes`).

    rise: nats a block. labels: the proportion of wrong labels whose removal gives it. more_rows: how many
    rows of the same kind, added to as many. of_rows: rows that stood in for the data. test_rows: how many
    would decide a change that was not. What cannot be seen at all is None.
    """

    rise: float | None = nats()
    labels: float | None
    more_rows: int | None
    of_rows: int
    test_rows: int | None


def could_see(case: Case) -> CouldSee | None:
    """Probes of the test set, cut as the audit cuts it; None where the audit is not one of blocks."""
    if case.plan.blocks is not None:
        return None
    rng = np.random.default_rng([case.options.seed, 0x5EE])
    some = case.test.take(np.sort(rng.permutation(len(case.test))[:MOST_ROWS]))
    yardstick, change = case.yardstick, case.table.change("pmi", AFTER, BEFORE)
    seen = sight(
        yardstick.model,
        yardstick.tempering,
        yardstick.features(some),
        yardstick.targets(some),
        rows_a_block=max(1, round(float(case.table.test_rows.mean()))),
        blocks=len(case.table),
        size=min(len(some) // 2, len(case.data[next(iter(case.data))])),
        seed=case.options.seed,
        groups=some.groups,
    )
    return CouldSee(
        rise=seen.rise,
        labels=seen.proportion,
        more_rows=seen.rows,
        of_rows=seen.size,
        test_rows=undecided(
            seen, float(change.mean()), float(change.std(ddof=1)) if len(change) > 1 else 0.0
        ),
    )


def undecided(seen: Sight, change: float, spread: float) -> int | None:
    """Test rows that would show the change 4 times in 5, if these do not; of a change that is none, none."""
    needed = seen.needed(change, spread) if abs(change) > negligible(seen.rows_a_block) else None
    return needed if needed is not None and needed > seen.blocks * seen.rows_a_block else None
