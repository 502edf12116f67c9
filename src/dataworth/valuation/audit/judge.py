"""What a table of before, after and blind controls says: estimates and a verdict."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from ...measure.case import Plan
from ...measure.designs import AFTER, BEFORE
from ...measure.intervals import Estimate, against_controls
from ...measure.table import PairTable
from ..result import nats
from .verdict import decide


@dataclass(frozen=True, kw_only=True)
class Control:
    """The blind control's value, and how far `after` stands above it."""

    value: float = nats()
    selection: float = nats()
    selection_interval: tuple[float, float] | None = nats()
    replicates: int


class Judged(NamedTuple):
    """What a table says."""

    delta: Estimate
    accuracy: Estimate
    control: Control | None
    verdict: str | None
    reason: str


def judge(plan: Plan, table: PairTable) -> Judged:
    """Estimates and a verdict."""
    delta = plan.estimate(table.change("pmi", AFTER, BEFORE))
    accuracy = plan.estimate(table.change("accuracy", AFTER, BEFORE))
    blind = table.of_role("pmi", "control")
    if not blind.shape[1]:
        reason = "equal sizes compare rows, not datasets: there is no verdict"
        return Judged(delta, accuracy, None, None, reason)
    after, whole = table.column("pmi", AFTER), plan.blocks is None
    selection = against_controls(after, blind) if whole else plan.estimate(after - blind[:, 0])
    control = Control(
        value=float(blind.mean()),
        selection=selection.value,
        selection_interval=selection.interval,
        replicates=blind.shape[1],
    )
    return Judged(delta, accuracy, control, *decide(delta, selection, accuracy, not whole))


def verdict_of(plan: Plan, table: PairTable) -> str | None:
    """The verdict alone."""
    return judge(plan, table).verdict
