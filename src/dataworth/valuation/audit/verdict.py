"""What a table of before, after and blind controls says: from three intervals to one word.

The paper calls "strategic" every curation with θ → D → f(D); that covers strategic, costly and harmful here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from ...measure.case import Plan
from ...measure.designs import AFTER, BEFORE
from ...measure.intervals import Estimate, against_controls
from ...measure.metrics import rewarded
from ...measure.table import PairTable
from ..result import nats

VERDICTS = ("informative", "recycled", "inconclusive", "strategic", "harmful", "costly")
BENCHMARK_HOLDS = -0.005
"""The benchmark is shown to hold if the lower bound of its change is above −0.5 points."""
ACCUSED = 0.99
"""Level at which selection must be shown before a curation is called strategic or harmful."""
NEGLIGIBLE = 1e-3
"""Nats per block or pair below which a change is none, however sure: solvers leave less than that."""
SMALL_SELECTION = 0.5
"""Selection is shown small if its upper bound is below this share of the rise."""
ROSE = "it rose, but cannot yet be told from re-using the same data: more test rows would"
MORE = "and more than a blind change of the same size does"


@dataclass(frozen=True, kw_only=True)
class Control:
    """The blind control's value, and how far `after` stands above it."""

    value: float = nats()
    selection: float = nats()
    selection_interval: tuple[float, float] | None = nats()
    replicates: int


class Judged(NamedTuple):
    """What a table says; `benchmark` is the change of the chosen metric, upwards if that is better."""

    delta: Estimate
    accuracy: Estimate
    benchmark: Estimate
    control: Control | None
    verdict: str | None
    reason: str


def judge(plan: Plan, table: PairTable) -> Judged:
    """Estimates and a verdict."""
    delta = plan.estimate(table.change("pmi", AFTER, BEFORE))
    accuracy = plan.estimate(table.change("accuracy", AFTER, BEFORE))
    benchmark = plan.estimate(rewarded(plan.metric) * table.change(plan.metric, AFTER, BEFORE))
    blind = table.of_role("pmi", "control")
    if not blind.shape[1]:
        reason = "equal sizes compare rows, not datasets: there is no verdict"
        return Judged(delta, accuracy, benchmark, None, None, reason)
    after, whole = table.column("pmi", AFTER), plan.blocks is None
    selection = against_controls(after, blind) if whole else plan.estimate(after - blind[:, 0])
    control = Control(
        value=float(blind.mean()),
        selection=selection.value,
        selection_interval=selection.interval,
        replicates=blind.shape[1],
    )
    return Judged(delta, accuracy, benchmark, control, *decide(delta, selection, benchmark, not whole))


def verdict_of(plan: Plan, table: PairTable) -> str | None:
    """The verdict alone."""
    return judge(plan, table).verdict


def decide(
    delta: Estimate, selection: Estimate, benchmark: Estimate, by_pairs: bool = False
) -> tuple[str, str]:
    """Verdict and reason from ΔPMI (after − before), selection (after − control) and the benchmark's change.

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
        if selection.positive:
            return "informative", f"it raises the information, {MORE}"
        if selection.interval is not None and selection.interval[1] < SMALL_SELECTION * delta.value:
            return "recycled", "the rise is no more than re-using the same data gives"
        return "inconclusive", ROSE
    if delta.negative:
        surely = selection.at(ACCUSED)
        holds = benchmark.interval is not None and benchmark.interval[0] > BENCHMARK_HOLDS
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
