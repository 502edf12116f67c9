"""What text and figures show of a result: units, what a value is counted over, the benchmark beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dataworth.arrays import Array
from dataworth.evidence.pair import NATS_PER_BIT
from dataworth.measure.clipping import clip
from dataworth.models import Linear
from dataworth.wording import in_words

from .numbers import number

if TYPE_CHECKING:
    from dataworth.measure.summary import Details
    from dataworth.measure.table import PairTable
    from dataworth.valuation.audit.audit import Audit
    from dataworth.valuation.rank import Ranking
    from dataworth.valuation.score import Score
    from dataworth.yardstick.yardstick import Yardstick


def unit_of(bits: bool) -> tuple[str, float]:
    """Name of the unit, and the factor from nats to it."""
    return ("bits", 1.0 / NATS_PER_BIT) if bits else ("nats", 1.0)


def per_what(details: Details, table: PairTable) -> str:
    """What a value is counted over: a block of the test set, or a pair."""
    if details.size is None:
        rows = float(table.test_rows.mean())
        return f"block of {number(rows, 0 if rows.is_integer() else 1)} test rows"
    data, test = details.size
    return f"pair of {data} data and {test} test rows"


def told_in_words(per_row: float, yardstick: Yardstick, bits: bool) -> str:
    """What a value a test row means for the right answer."""
    unit, factor = unit_of(bits)
    return in_words(per_row, isinstance(yardstick.model, Linear), unit, factor)


def against_nothing(result: Score | Ranking, per_row: float, bits: bool) -> str:
    """What a value a test row means, and what it is counted from: the yardstick's guess without data.

    Without data a test row of a class has the probability exp(mean log Z(T_j) / rows): as good as a coin for
    two classes, or worse where the prior is wide. So values of one dataset on two yardsticks may differ.
    """
    told = f"{told_in_words(per_row, result.yardstick, bits)}, against no data at all"
    if isinstance(result.yardstick.model, Linear):
        return told
    without = float(result.table.log_z_test.mean() / result.table.test_rows.mean())
    return f"{told} ({np.exp(without):.2f} without them, {np.exp(without + per_row):.2f} with them)"


def draws(details: Details) -> str:
    """How many blocks or pairs there were."""
    return f"in {details.pairs} pairs" if details.blocks is None else f"in {details.blocks} blocks"


def counted_pmi(result: Score | Audit | Ranking) -> Array:
    """PMI as it was counted, clipped if it was (k × arms, in nats); the result's own table is raw."""
    clipping = result.details.clipping
    pmi = result.table.pmi
    return pmi if clipping is None else clip(pmi, **{clipping["rule"]: clipping["bound"]}).values


BENCHMARKS = {
    "accuracy": ("test accuracy, %", 100.0, "points"),
    "balanced_accuracy": ("balanced test accuracy, %", 100.0, "points"),
    "auc": ("test AUC, %", 100.0, "points"),
}


def benchmark(yardstick: Yardstick, metric: str = "accuracy", bits: bool = False) -> tuple[str, float, str]:
    """Name of a benchmark score, the factor it is shown with, and the unit of its changes."""
    if metric == "log_loss":
        unit, factor = unit_of(bits)
        return f"log loss, {unit} per test row", factor, unit
    return ("test R²", 1.0, "") if isinstance(yardstick.model, Linear) else BENCHMARKS[metric]
