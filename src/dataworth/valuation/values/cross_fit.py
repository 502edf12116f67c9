"""Choosing rows by parts of the test set, and judging the choice by the part that had no say in it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...errors import DataworthError
from ...measure.designs import select
from ...measure.intervals import Estimate, over_blocks
from ...measure.plans import whole_plan
from ...measure.prepare import Measurement, Pool
from ..coalitions import measure_arms
from ..result import nats
from .by_model import trust
from .table import Table

DOUBTED = 0.5
"""Labels more likely wrong than right are left out."""


@dataclass(frozen=True, kw_only=True)
class CrossFit:
    """What leaving out doubted labels changes, nats per block, where parts of the test set had no say in it.

    left_out: rows, on average over the parts.
    """

    parts: int
    left_out: float
    change: Estimate = nats()


def cross_fitted(prepared: Measurement, pool: Pool, table: Table, parts: int) -> CrossFit:
    """Blocks of the test set are dealt out to the parts; every part is judged on its own blocks."""
    whole, test = pool.samples["the data"], pool.samples["the test set"]
    plan = whole_plan(prepared, {}, test)
    if plan.count < 2 * parts:
        raise DataworthError(
            f"cross_fit is {parts}, but the test set has {plan.count} blocks: give at most {plan.count // 2}."
        )
    part = np.arange(plan.count) % parts
    samples, left_out = {"all": whole}, []
    for k in range(parts):
        own = np.concatenate([plan.design.draw(int(j)).test.rows for j in np.flatnonzero(part == k)])
        doubted = trust(prepared.yardstick, table.tested_on(~np.isin(test.rows, own))).p_wrong > DOUBTED
        left_out.append(int(doubted.sum()))
        samples[f"without {k}"] = select(whole, np.flatnonzero(~doubted))
    _, pmi = measure_arms(prepared, pool, samples, test)
    change = np.array([pmi(f"without {k}")[j] - pmi("all")[j] for j, k in enumerate(part)])
    return CrossFit(parts=parts, left_out=float(np.mean(left_out)), change=over_blocks(change))
