"""What a table of before, after and blind controls says: from intervals to one word.

A rise is compared with what the data's own models could have done, a fall with as many rows removed at
random. Where an attribute is declared (what should not matter: a site, a scanner), a curation that holds or
raises what the data tell of the test set, and lowers what they tell of a test set in which the attribute does
not tell the label (`measure.slices`), is *strategic*; one that lowers only the former, as new rows in which
the attribute tells nothing do, is not harmful. The paper calls "strategic" every curation with θ → D → f(D);
that covers strategic, costly and harmful here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ...evidence.tempering import mixture
from ...measure import (
    AFTER,
    BEFORE,
    Case,
    Estimate,
    PairTable,
    Plan,
    against_controls,
    negligible,
    rewarded,
)
from ...measure.slices import Balanced, balanced
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
MATERIAL = 0.2
"""Proportion of a rise from which what lies beyond blind baselines is material. A rise is informative if that
part is shown above 0 and is material, recycled if it is shown not to be material: never both, and more test
rows tell them apart."""
FALLS = 0.25
"""Proportion of a rise (nats a row) by which the balanced change must fall before a curation is strategic."""


@dataclass(frozen=True, kw_only=True)
class Control:
    """The blind control of a fall: its value, and how far `after` stands above it.

    `replicates` random removals of as many rows, with the same weights; if neither changed, `before` itself.
    """

    value: float = nats()
    excess_over_random: float = nats()
    excess_interval: tuple[float, float] | None = nats()
    replicates: int


@dataclass(frozen=True, kw_only=True)
class Attribution:
    """What a rise is made of: ΔPMI = blind gain + external gain.

    best_baseline: the strongest blind baseline; blind_gain: what it reaches with as many rows. external_gain:
    what lies beyond every blind baseline.
    """

    best_baseline: str
    blind_gain: Estimate = nats()
    external_gain: Estimate = nats()


@dataclass(frozen=True, kw_only=True)
class Calibration:
    """Log loss of a test row in nats, before and after curation: rows counted as given (`raw`), and with the
    one tempering that suits each (`tempered`). A rise with a worse raw loss asks for recalibration."""

    raw_before: float = nats()
    raw_after: float = nats()
    tempered_before: float = nats()
    tempered_after: float = nats()

    @classmethod
    def of(cls, case: Case) -> Calibration | None:
        """Where test rows are predicted one by one (design *whole*) and rows can be tempered."""
        table, weights = case.table, case.test.weights
        if not {BEFORE, AFTER} <= table.by_row.keys() or not np.isfinite(table.plain.get(AFTER, np.nan)):
            return None
        rows = float(len(case.test) if weights is None else weights.sum())
        tempered = {arm: -float(table.by_row[arm][:, 0].sum()) / rows for arm in (BEFORE, AFTER)}
        return cls(
            raw_before=-table.plain[BEFORE],
            raw_after=-table.plain[AFTER],
            tempered_before=tempered[BEFORE],
            tempered_after=tempered[AFTER],
        )


class Judged(NamedTuple):
    """What a table says; `benchmark` is the change of the chosen metric, upwards if that is better."""

    delta: Estimate
    accuracy: Estimate
    benchmark: Estimate
    control: Control | None = None
    attribution: Attribution | None = None
    verdict: str | None = None
    reason: str = "equal sizes compare rows, not datasets: there is no verdict"
    balanced: Balanced | None = None


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
        excess_over_random=selection.value,
        excess_interval=selection.interval,
        replicates=removals.shape[1] or 1,
    )
    free = None if plan.attribute is None or not table.by_row else balanced(plan.attribute, table.by_row)
    rows = float(table.test_rows.mean())
    made, material = attributed(plan, table)
    outside = None if made is None else Beyond(made.external_gain, material)
    fewer = bool(removals.size)  # else neither rows nor weights changed their number
    verdict, reason = decide(delta, selection, benchmark, outside, rows, free, fewer)
    return Judged(
        delta, accuracy, benchmark, control, made if delta.positive else None, verdict, reason, free
    )


class Beyond(NamedTuple):
    """What lies beyond every blind baseline, and how far that is above a material part of the rise."""

    value: Estimate
    material: Estimate


def attributed(plan: Plan, table: PairTable) -> tuple[Attribution | None, Estimate]:
    """What a change is made of, and what lies beyond blind baselines less a material part of the change.

    The opponent is the mixture of all baselines (doing nothing is one) by what they are worth on all *other*
    rows, as of temperings: the best of many on the very rows it is compared on would be lucky, the less so
    the more rows there are, and one that other rows choose is another one at every near tie.
    """
    arms = [BEFORE, *(arm for arm in table.arms if arm.role == "own")]
    delta = table.change("pmi", AFTER, BEFORE)
    if len(arms) == 1:
        return None, plan.estimate(delta)
    values, after = np.column_stack([table.column("pmi", arm) for arm in arms]), table.column("pmi", AFTER)
    same = np.abs(values - after[:, None]).max(axis=0) < ROUNDING  # a baseline that did the very same
    strongest = arms[int((same if same.any() else values.sum(axis=0)).argmax())]
    of_block = len(values) / len(table)  # units of the test set are on the scale of blocks
    best = values[:, same.argmax()] if same.any() else of_block * mixture(values.T / of_block)
    made = Attribution(
        best_baseline="nothing" if strongest == BEFORE else str(strongest),
        blind_gain=plan.estimate(best - table.column("pmi", BEFORE)),
        external_gain=plan.estimate(after - best),
    )
    return made, plan.estimate(after - best - MATERIAL * delta)


def verdict_of(plan: Plan, table: PairTable) -> str | None:
    """The verdict alone."""
    return judge(plan, table).verdict


def decide(
    delta: Estimate,
    selection: Estimate,
    benchmark: Estimate,
    outside: Beyond | None,
    rows: float,
    free: Balanced | None = None,
    fewer: bool = True,
) -> tuple[str, str]:
    """Verdict and reason from ΔPMI (after − before) over blocks of so many test rows, and the benchmark's.

    `outside` says how far `after` stands above the strongest blind baseline (None if none was evaluated),
    `selection` above as many rows removed at random (where `fewer` rows or weights are left; else above the
    data before), `free` what changed where a declared attribute does not tell the label.

    >>> up = Estimate(2.0, 0.5, (1.0, 3.0))  # at 99 %: 0.7 to 3.3
    >>> none, unsure = Estimate(0.0, 0.1, (-0.2, 0.2)), Estimate(1.0, 1.0, (-1.0, 3.0))
    >>> down, holds = Estimate(-2.0, 0.5, (-3.0, -1.0)), Estimate(0.01, 0.005, (0.0, 0.02))
    >>> parts = Beyond(up, up), Beyond(unsure, unsure), Beyond(none, down)
    >>> [decide(up, up, none, part, 20)[0] for part in parts]
    ['informative', 'improved', 'recycled']
    >>> [decide(down, part, holds, None, 20)[0] for part in (up, down, none)]
    ['strategic', 'harmful', 'costly']
    """
    if abs(delta.value) + (delta.stderr or 0.0) < ROUNDING:
        return "unchanged", "every test row is predicted as before: repeated rows count once"
    holds = benchmark.interval is not None and benchmark.interval[0] > BENCHMARK_HOLDS
    if free is not None and falls_where_free(free, delta, rows) and (holds or not delta.negative):
        held = "raises" if delta.positive else "holds"
        told = f"it {held} what is known of this test set, and lowers what is known where the {free.column} "
        return "strategic", f"{told}does not tell the label"
    if abs(delta.value) < negligible(rows):
        return "inconclusive", "nothing changed that could be measured"
    if delta.positive:
        more = "it raises the information; whether beyond every blind baseline is not "
        if outside is None:
            return "improved", f"{more}told: they were not asked (the design whole asks them)"
        material = outside.material.value > 0 and outside.value.value > negligible(rows)
        if selection.positive and outside.value.positive and material:
            if free is not None and not free.change.positive:
                where = f"where the {free.column} does not tell the label"
                return "improved", f"it raises the information; {where}, that is not shown"
            told = "it raises the information beyond every blind baseline"
            return "informative", told
        if outside.material.negative:
            return "recycled", "it raises the information no further than the best blind baseline"
        return "improved", f"{more}yet told: more test rows would tell"
    if delta.negative:
        surely, spared = selection.at(ACCUSED), free is not None and not free.change.negative
        if spared and free is not None and free.change.value >= 0:
            told = f"it lowers what is known of this test set, but not where the {free.column} does not tell "
            return "inconclusive", f"{told}the label"
        if surely.positive and holds:
            return "strategic", "it keeps what the test rewards, and the data carry less information"
        if surely.negative and not spared:
            more = "significantly more than random removal of as many rows"
            return (
                "harmful",
                f"it lowers the information, {more if fewer else 'and no loss of rows explains it'}",
            )
        if surely.negative and free is not None:
            where = f"where the {free.column} does not tell the label"
            return "costly", f"it lowers the information; {where}, that is not shown"
        than = "not significantly more than random removal of as many rows"
        return "costly", f"it lowers the information, {than if fewer else 'not beyond doubt (99 %)'}"
    if delta.interval is None:
        return "inconclusive", "there is no interval: the data hold too few disjoint blocks of this size"
    drawing = delta.stderr is not None and delta.monte_carlo > 0.5 * delta.stderr  # none of it over blocks
    what = "more pairs" if drawing else "only more rows"
    return "inconclusive", f"the change may be zero; {what} would decide"


def falls_where_free(free: Balanced, delta: Estimate, rows: float) -> bool:
    """Whether the balanced change is shown to fall, at 99 %, and by a material size.

    Rows removed at random may lower it too: where no rise is shown beside it, it must fall by more than that.
    """
    size = max(FALLS * delta.value / rows, negligible(rows) / rows)
    beyond = delta.positive or free.beyond_random.at(ACCUSED).negative
    return free.change.at(ACCUSED).negative and -free.change.value > size and beyond


MOST_ROWS = 1000
"""Test rows that are probed at most; blocks have as many rows as the audit's all the same."""


@dataclass(frozen=True, kw_only=True)
class Power:
    """What is shown 4 times in 5 with this test set, from probes on the test set alone (`yardstick.probes`).

    minimum_detectable_effect: nats a block, shown with 80 % power. detectable_label_noise: the proportion of
    wrong labels whose removal has that effect. detectable_new_rows: how many rows of the same kind, added to
    as many, have it. n_reference_rows: rows that stood in for the data. required_test_rows: how many would
    decide a change that was not. What cannot be detected at all is None.
    """

    minimum_detectable_effect: float | None = nats()
    detectable_label_noise: float | None
    detectable_new_rows: int | None
    n_reference_rows: int
    required_test_rows: int | None


def power(case: Case) -> Power | None:
    """Probes of the test set, cut as the audit cuts it; None where the audit is not one of blocks."""
    if case.plan.blocks is not None:
        return None
    rng = np.random.default_rng([case.options.seed, 0x5EE])
    some = case.test.take(np.sort(rng.permutation(len(case.test))[:MOST_ROWS]))
    yardstick, change = case.yardstick, case.estimate(case.table.change("pmi", AFTER, BEFORE))
    seen = sight(
        yardstick.model,
        yardstick.tempering,
        yardstick.features(some),
        yardstick.targets(some),
        rows_a_block=max(1, round(len(case.test) / len(case.table))),
        blocks=len(case.table),
        size=min(len(some) // 2, len(case.data[next(iter(case.data))])),
        seed=case.options.seed,
        groups=some.groups,
    )
    return Power(
        minimum_detectable_effect=seen.rise,
        detectable_label_noise=seen.proportion,
        detectable_new_rows=seen.rows,
        n_reference_rows=seen.size,
        required_test_rows=undecided(
            seen, change.value, (change.stderr or 0.0) * float(np.sqrt(len(case.table)))
        ),
    )


def undecided(seen: Sight, change: float, spread: float) -> int | None:
    """Test rows that would show the change 4 times in 5, if these do not; of a change that is none, none."""
    needed = seen.needed(change, spread) if abs(change) > negligible(seen.rows_a_block) else None
    return needed if needed is not None and needed > seen.blocks * seen.rows_a_block else None
