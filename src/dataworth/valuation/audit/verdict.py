"""What a table of before, after and blind controls says: from three intervals to one word.

The paper calls "strategic" every curation with θ → D → f(D); that covers strategic, costly and harmful here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ...measure.case import Plan
from ...measure.designs import AFTER, BEFORE
from ...measure.intervals import Estimate, against_controls, over_blocks
from ...measure.table import PairTable
from ..result import nats

VERDICTS = ("informative", "improved", "recycled", "inconclusive", "strategic", "harmful", "costly")
BENCHMARK_HOLDS = -0.005
"""The benchmark is shown to hold if the lower bound of its change is above −0.5 points."""
ACCUSED = 0.99
"""Level at which selection must be shown before a curation is called strategic or harmful."""
NEGLIGIBLE = 1e-3
"""Nats per block or pair below which a change is none, however sure: solvers leave less than that."""
SLIGHT = 0.02
"""Nats per block below which what came from outside is nothing: a control that repeats an edit to the last
digits leaves rounding, of any t."""
SMALL_SELECTION = 0.5
"""What came from outside is shown small if its upper bound is below this proportion of the rise."""
AT_RANDOM = "rows at random"
MORE = "and more than a blind change of the same size does"


@dataclass(frozen=True, kw_only=True)
class Control:
    """The blind control's value, and how far `after` stands above it."""

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
    """What a table says."""

    delta: Estimate
    accuracy: Estimate
    control: Control | None
    made_of: MadeOf | None
    verdict: str | None
    reason: str


def judge(plan: Plan, table: PairTable) -> Judged:
    """Estimates and a verdict."""
    delta = plan.estimate(table.change("pmi", AFTER, BEFORE))
    accuracy = plan.estimate(table.change("accuracy", AFTER, BEFORE))
    blind = table.of_role("pmi", "control", "taught")
    if not blind.shape[1]:
        reason = "equal sizes compare rows, not datasets: there is no verdict"
        return Judged(delta, accuracy, None, None, None, reason)
    after, whole = table.column("pmi", AFTER), plan.blocks is None
    selection = against_controls(after, blind) if whole else plan.estimate(after - blind[:, 0])
    control = Control(
        value=float(blind.mean()),
        selection=selection.value,
        selection_interval=selection.interval,
        replicates=blind.shape[1],
    )
    parts = outside_parts(table, selection)
    verdict, reason = decide(delta, selection, accuracy, not whole, list(parts.values()))
    return Judged(delta, accuracy, control, made_of(table, parts), verdict, reason)


def outside_parts(table: PairTable, selection: Estimate) -> dict[str, Estimate]:
    """How far `after` stands above each of the data's own controls, doing nothing and chance among them.

    None, if its models were not asked.
    """
    own = [arm for arm in table.arms if arm.role == "own"]
    if not own:
        return {}
    parts = {str(arm): over_blocks(table.change("pmi", AFTER, arm)) for arm in (BEFORE, *own)}
    return parts | ({AT_RANDOM: selection} if table.of_role("pmi", "control").shape[1] else {})


def made_of(table: PairTable, parts: Mapping[str, Estimate]) -> MadeOf | None:
    """The rise, split at the strongest control."""
    if not parts:
        return None
    strongest = min(parts, key=lambda name: parts[name].value)
    at_random = strongest == AT_RANDOM
    control = table.of_role("pmi", "control").mean(axis=1) if at_random else table.column("pmi", strongest)
    return MadeOf(
        strongest="nothing" if strongest == str(BEFORE) else strongest,
        own=over_blocks(control - table.column("pmi", BEFORE)),
        outside=parts[strongest],
    )


def verdict_of(plan: Plan, table: PairTable) -> str | None:
    """The verdict alone."""
    return judge(plan, table).verdict


def decide(
    delta: Estimate,
    selection: Estimate,
    accuracy: Estimate,
    by_pairs: bool = False,
    outside: Sequence[Estimate] = (),
) -> tuple[str, str]:
    """Verdict and reason from ΔPMI (after − before), selection (after − control) and Δaccuracy.

    `outside` says how far `after` stands above each of the data's own controls: a rise is informative if all
    of them are beaten, so that nothing is chosen on the test set. Without any, selection decides.

    >>> up = Estimate(2.0, 0.5, (1.0, 3.0))  # at 99 %: 0.7 to 3.3
    >>> none = Estimate(0.0, 0.1, (-0.2, 0.2))
    >>> decide(up, up, none)[0], decide(up, none, none)[0], decide(none, up, none)[0]
    ('informative', 'recycled', 'inconclusive')
    >>> down = Estimate(-2.0, 0.5, (-3.0, -1.0))
    >>> holds = Estimate(0.01, 0.005, (0.0, 0.02))
    >>> decide(down, up, holds)[0], decide(down, down, holds)[0], decide(down, none, holds)[0]
    ('strategic', 'harmful', 'costly')
    """
    if abs(delta.value) < NEGLIGIBLE:
        return "inconclusive", "nothing changed that could be measured"
    if delta.positive:
        parts = list(outside) or [selection]
        least = min(parts, key=lambda part: part.value)
        if all(part.positive for part in parts) and (not outside or least.value > SLIGHT):
            own = "than the data's own models could have done" if outside else "than a blind change does"
            return "informative", f"it raises the information, and by more {own}"
        small = least.interval is not None and least.interval[1] < SMALL_SELECTION * delta.value
        if small or (outside and abs(least.value) <= SLIGHT):
            return "recycled", "the rise is no more than re-using the same data gives"
        reason = "it raises the information; whether more than the data's own models could have done is not "
        return "improved", f"{reason}yet told: more test rows would tell"
    if delta.negative:
        surely = selection.at(ACCUSED)
        holds = accuracy.interval is not None and accuracy.interval[0] > BENCHMARK_HOLDS
        if surely.positive and holds:
            return "strategic", "it keeps what the test rewards, and the data carry less information"
        if surely.negative:
            return "harmful", f"it lowers the information, {MORE}"
        reason = "it lowers the information, but not shown to do so more than a blind change of the same size"
        return "costly", reason
    if delta.interval is None:
        return "inconclusive", "there is no interval: the data hold too few disjoint blocks of this size"
    more_pairs = by_pairs and delta.stderr is not None and delta.monte_carlo > 0.5 * delta.stderr
    what = "more pairs" if more_pairs else "only more rows"
    return "inconclusive", f"the change may be zero; {what} would decide"
