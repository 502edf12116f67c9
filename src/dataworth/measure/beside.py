"""What a table says of balanced accuracy, AUC and log loss, as plain data with intervals."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ..arrays import Array
from .designs import Arm
from .intervals import Estimate
from .metrics import METRICS
from .table import PairTable


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
