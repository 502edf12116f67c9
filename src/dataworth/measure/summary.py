"""From a table to what is told of it: what clipping did, what was measured on, what of the error is whose."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..arrays import Array
from .case import Case
from .clipping import check_clipping, clip, signed
from .designs import AFTER, BEFORE, Arm
from .intervals import Estimate
from .metrics import METRICS
from .options import Options
from .table import PairTable


@dataclass(frozen=True)
class Counted:
    """The table to summarise: PMI clipped as the options say, what that did, and a note of it.

    It is for estimates alone; the raw table stays in the result.
    """

    table: PairTable
    clipping: dict[str, Any] | None = None
    notes: tuple[str, ...] = ()


def count(table: PairTable, options: Options, unit: str) -> Counted:
    """Clip, if that is asked for.

    The note is of Δ, the change from `before` to `after`, where there is one, else of what moved most.
    """
    if check_clipping(options.truncate, options.winsorise) is None:
        return Counted(table)
    clipped = clip(table.pmi, options.truncate, options.winsorise)
    counted = table.with_column("pmi", clipped.values)
    if AFTER in table.arms:
        what, value = "Δ", float(counted.change("pmi", AFTER, BEFORE).mean())
        moved = clipped.moved[table.arms.index(AFTER)] - clipped.moved[table.arms.index(BEFORE)]
    else:
        most = int(np.argmax(np.abs(clipped.moved)))
        what = "score" if len(table.arms) == 1 else f"most moved: score of {table.arms[most]}"
        value, moved = float(counted.pmi[:, most].mean()), clipped.moved[most]
    arms = zip(table.arms, clipped.changed, clipped.moved, strict=True)
    told = {
        **{"rule": clipped.rule, "bound": clipped.bound, "unit": "nats", "share": clipped.share},
        "arms": {str(arm): {"changed": n, "mean_moved": shift} for arm, n, shift in arms},
    }
    beyond = f"{sum(clipped.changed)} of {table.pmi.size} values in {len(table)} {unit}"
    note = f"{clipped.rule}d at ±{clipped.bound:g} nats: {beyond}; "
    note += f"{what} {signed(value)} nats, unclipped {signed(value - moved)} (moved by {signed(moved)})"
    return Counted(counted, told, (note,))


@dataclass(frozen=True, kw_only=True)
class Details:
    """What a result was measured on, and how; what does not apply is None, and not told."""

    test_rows: int
    data_rows: int | None = None
    before_rows: int | None = None
    after_rows: int | None = None
    rows_after: float | None = None
    rows_per_test: float | None = None
    blocks: int | None = None
    pairs: int | None = None
    size: tuple[int, int] | None = None
    monte_carlo_stderr: float | None = field(default=None, metadata={"nats": True})
    form: str = "evidence"
    eta: Any = None
    clipping: dict[str, Any] | None = None
    curation: dict[str, Any] | None = None
    passes: int | None = None

    @classmethod
    def of(cls, case: Case, counted: Counted, **more: Any) -> Details:
        """Of a case, whatever it measured."""
        options = case.options
        return cls(
            test_rows=len(case.test),
            rows_per_test=float(case.table.test_rows.mean()),
            form=options.form,
            eta=options.eta if options.form == "eta" else None,
            clipping=counted.clipping,
            size=drawn_size(case),
            passes=case.passes,
            **{case.plan.unit: len(case.table), **more},
        )


def drawn_size(case: Case) -> tuple[int, int] | None:
    """Rows of a pair as they were drawn: whole groups hold more than what was asked for."""
    grouped = any(data.groups is not None for data in (case.test, *case.data.values()))
    if case.plan.size is None or not grouped:
        return case.plan.size
    return round(float(case.table.data_rows[:, 0].mean())), round(float(case.table.test_rows.mean()))


def pair_notes(value: Estimate, case: Case) -> tuple[str, ...]:
    """What of the error of pairs more pairs would remove, and what only more rows would."""
    blocks, precision = case.plan.blocks, case.options.precision
    if blocks is None:
        return ()
    if value.stderr is None:
        told = f"no interval: the data hold only {blocks:.1f} disjoint blocks of this size"
        return (f"{told}; use a smaller size",)
    floor = float(np.sqrt(max(value.stderr**2 - value.monte_carlo**2, 0.0)))
    text = f"of the standard error {value.stderr:.3g} nats, {value.monte_carlo:.2g} is Monte-Carlo error "
    text += f"(more pairs help) and {floor:.3g} comes from finite data (only more rows help)"
    if precision is not None and floor > precision:
        text += f"; the precision asked for, {precision:g}, is that of the first"
    return (text,)


def values(estimate: Callable[[Array], Estimate], table: PairTable, arm: Arm) -> dict[str, dict[str, Any]]:
    """Balanced accuracy, AUC and log loss of an arm with their intervals, as plain data; none of numbers."""
    return _told({name: (table.column(name, arm),) for name in METRICS}, estimate)


def changes(
    estimate: Callable[[Array], Estimate], table: PairTable, arm: Arm, reference: Arm
) -> dict[str, dict[str, Any]]:
    """The same of two arms, with their change and its interval."""
    columns = {name: (table.column(name, reference), table.column(name, arm)) for name in METRICS}
    return _told(columns, estimate)


def _told(columns: Mapping[str, tuple[Array, ...]], estimate: Callable[[Array], Estimate]) -> dict[str, Any]:
    told: dict[str, Any] = {}
    for name, arms in columns.items():
        whole = np.isfinite(arms).all(axis=0)  # pairs may lack a class
        if not whole.any():
            continue
        means = [float(values[whole].mean()) for values in arms]
        known = estimate(arms[-1][whole] - (arms[0][whole] if len(arms) == 2 else 0.0)).to_dict()
        if len(arms) == 2:
            known = {"before": means[0], "after": means[1], "change": known.pop("value"), **known}
        told[name] = {**known, "unit": "nats"} if name == "log_loss" else known
    return told
