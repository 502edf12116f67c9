"""What a table of before, after and blind controls says: from intervals to one word.

A rise is compared with what the data's own models could have done, a fall with as many rows removed at
random. The paper calls "strategic" every curation with θ → D → f(D); that covers strategic, costly and
harmful here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ...measure import (
    AFTER,
    BEFORE,
    Arm,
    Case,
    Estimate,
    PairTable,
    Plan,
    against_controls,
    negligible,
    rewarded,
)
from ...yardstick.probes import Sight, sight
from ..result import nats

UP, SAME = ("informative", "improved", "recycled"), ("inconclusive", "unchanged")
VERDICTS = (*UP, *SAME, "strategic", "harmful", "costly")
BENCHMARK_HOLDS = -0.005
"""The benchmark is shown to hold if the lower bound of its change is above −0.5 points."""
ACCUSED = 0.99
"""Level at which selection must be shown before a curation is called strategic or harmful."""
ROUNDING = 1e-9
"""Nats a block that two ways to the same posterior may differ by."""
SMALL = 0.5
"""What came from outside is shown small if its upper bound is below this proportion of the rise."""


@dataclass(frozen=True, kw_only=True)
class Control:
    """The blind control of a fall: its value, and how far `after` stands above it.

    `replicates` random removals of as many rows, with the same weights; if neither changed, `before` itself.
    """

    value: float = nats()
    selection: float = nats()
    selection_interval: tuple[float, float] | None = nats()
    replicates: int


@dataclass(frozen=True, kw_only=True)
class MadeOf:
    """What a rise is made of: ΔPMI = own + outside.

    own: what the strongest of the data's own controls gains, i.e. what its own models could have done with as
    many rows. outside: what only somebody from outside could know.
    """

    strongest: str
    own: Estimate = nats()
    outside: Estimate = nats()


class Judged(NamedTuple):
    """What a table says; `benchmark` is the change of the chosen metric, upwards if that is better."""

    delta: Estimate
    accuracy: Estimate
    benchmark: Estimate
    control: Control | None = None
    made_of: MadeOf | None = None
    verdict: str | None = None
    reason: str = "equal sizes compare rows, not datasets: there is no verdict"


def judge(plan: Plan, table: PairTable) -> Judged:
    """Estimates and a verdict."""
    delta = plan.estimate(table.change("pmi", AFTER, BEFORE))
    accuracy = plan.estimate(table.change("accuracy", AFTER, BEFORE))
    benchmark = plan.estimate(rewarded(plan.metric) * table.change(plan.metric, AFTER, BEFORE))
    whole, removals = plan.blocks is None, table.of_role("pmi", "control")
    if not whole and not removals.size:
        return Judged(delta, accuracy, benchmark)
    selection, after = delta, table.column("pmi", AFTER)
    if removals.size:
        selection = against_controls(after, removals) if whole else plan.estimate(after - removals[:, 0])
    control = Control(
        value=float(after.mean()) - selection.value,
        selection=selection.value,
        selection_interval=selection.interval,
        replicates=removals.shape[1] or 1,
    )
    outside = above_baselines(plan, table)
    rows = float(table.test_rows.mean())
    verdict, reason = decide(delta, selection, benchmark, list(outside.values()), rows)
    made = None
    if delta.positive and outside:
        strongest = next(iter(outside))
        name = "nothing" if strongest == BEFORE else str(strongest)
        own = plan.estimate(table.change("pmi", strongest, BEFORE))
        made = MadeOf(strongest=name, own=own, outside=outside[strongest])
    return Judged(delta, accuracy, benchmark, control, made, verdict, reason)


def above_baselines(plan: Plan, table: PairTable) -> dict[Arm, Estimate]:
    """How far `after` stands above each blind baseline, the strongest first; doing nothing is one of them.

    This is where the strongest is chosen, the same for every block. Empty if none was evaluated.
    """
    own = [arm for arm in table.arms if arm.role == "own"]
    parts = {arm: plan.estimate(table.change("pmi", AFTER, arm)) for arm in (BEFORE, *own) if own}
    return dict(sorted(parts.items(), key=lambda part: part[1].value))


def verdict_of(plan: Plan, table: PairTable) -> str | None:
    """The verdict alone."""
    return judge(plan, table).verdict


def decide(
    delta: Estimate, selection: Estimate, benchmark: Estimate, outside: Sequence[Estimate], rows: float
) -> tuple[str, str]:
    """Verdict and reason from ΔPMI (after − before) over blocks of so many test rows, and the benchmark's.

    `outside` says how far `after` stands above each blind baseline, the strongest first (empty if none was
    evaluated), `selection` above as many rows removed at random. A rise is informative if all of them are
    beaten, so that nothing is chosen on the test set.

    >>> up = Estimate(2.0, 0.5, (1.0, 3.0))  # at 99 %: 0.7 to 3.3
    >>> none, unsure = Estimate(0.0, 0.1, (-0.2, 0.2)), Estimate(1.0, 1.0, (-1.0, 3.0))
    >>> [decide(up, up, none, [part, up], 20)[0] for part in (up, unsure, none)]
    ['informative', 'improved', 'recycled']
    >>> down, holds = Estimate(-2.0, 0.5, (-3.0, -1.0)), Estimate(0.01, 0.005, (0.0, 0.02))
    >>> [decide(down, part, holds, [], 20)[0] for part in (up, down, none)]
    ['strategic', 'harmful', 'costly']
    """
    if abs(delta.value) + (delta.stderr or 0.0) < ROUNDING:
        return "unchanged", "every test row is predicted as before: repeated rows count once"
    if abs(delta.value) < negligible(rows):
        return "inconclusive", "nothing changed that could be measured"
    if delta.positive:
        more = "it raises the information; whether by more than the data's own models could have done is not "
        if not outside:
            return "improved", f"{more}told: they were not asked (the design whole asks them)"
        strongest, beaten = outside[0], all(part.positive for part in (selection, *outside))
        if beaten and strongest.value > negligible(rows):
            told = "it raises the information, and by more than the data's own models could have done"
            return "informative", told
        if strongest.interval is not None and strongest.interval[1] < SMALL * delta.value:
            return "recycled", "it raises the information as the data's own models could have done"
        return "improved", f"{more}yet told: more test rows would tell"
    if delta.negative:
        surely = selection.at(ACCUSED)
        holds = benchmark.interval is not None and benchmark.interval[0] > BENCHMARK_HOLDS
        if surely.positive and holds:
            return "strategic", "it keeps what the test rewards, and the data carry less information"
        if surely.negative:
            return "harmful", "it lowers the information, and more than a blind change of the same size does"
        told = "it lowers the information, but not shown to do so more than a blind change of the same size"
        return "costly", told
    if delta.interval is None:
        return "inconclusive", "there is no interval: the data hold too few disjoint blocks of this size"
    drawing = delta.stderr is not None and delta.monte_carlo > 0.5 * delta.stderr  # none of it over blocks
    what = "more pairs" if drawing else "only more rows"
    return "inconclusive", f"the change may be zero; {what} would decide"


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
