"""Parts of a score over its pairs or blocks, and of a change: why it moved.

Every part (`evidence.interpretation`) is averaged over the same pairs as the score and has the same kind of
interval; of a change, over the differences pair by pair. Where all pairs would take long, the first few are
used, and `pairs` says how many.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ..arrays import Array
from ..errors import DataworthError
from ..evidence.forms import Pair
from ..evidence.interpretation import SHOWN, parts_given, parts_of
from ..models.gaussian import GaussianRows
from ..models.linear import LinearFitter
from ..models.logistic import LogisticFitter
from .case import Case
from .designs import Arm, Sample
from .intervals import Estimate
from .table import PairTable

WORK = 2e9
"""Rough number of multiplications, by one step of each fit, that parts may take: some seconds."""
LEAST, STEP = 4, 4e6
"""Pairs at least; and what the parts of one pair and arm take, however small, in multiplications."""
DRAWS = 400
"""Draws of a posterior that is not Gaussian; what they leave to chance shows in the spread over pairs."""


@dataclass(frozen=True, kw_only=True)
class MeanDecomposition:
    """Means of parts, or of their changes, over `pairs` of `all_pairs` pairs or blocks."""

    value: Estimate
    confidence: Estimate
    against_data: Estimate
    against_test: Estimate
    unexplained: Estimate
    information_data: Estimate
    information_test: Estimate
    divergence: Estimate
    pairs: int
    all_pairs: int

    def to_dict(self, unit: float = 1.0) -> dict[str, Any]:
        """Plain data for JSON."""
        told = {name: getattr(self, name).to_dict(unit) for name in SHOWN}
        return told | {"pairs": self.pairs, "all_pairs": self.all_pairs}


class AuditParts(NamedTuple):
    """Parts before and after, and of the change."""

    before: MeanDecomposition
    after: MeanDecomposition
    change: MeanDecomposition

    def to_dict(self, unit: float = 1.0) -> dict[str, Any]:
        """Plain data for JSON."""
        return {name: part.to_dict(unit) for name, part in self._asdict().items()}


def visit(table: PairTable | None, pair: Pair, arm: Arm, sample: Sample, i: int) -> list[float]:
    """What the PMI of a table is made of, in the order of `SHOWN`; without one, the PMI of whole blocks."""
    parts = parts_of(pair, None if table is None else float(table.column("pmi", arm)[i]), DRAWS, seed=i)
    return [float(getattr(parts, name)) for name in SHOWN]


def kept(case: Case | None) -> Case:
    """A result's case, or a sentence: without its rows nothing can be measured again."""
    if case is None:
        raise DataworthError(
            "the result did not keep its rows: measure with keep_data=True (sealed data have none)."
        )
    return case


def score_parts(case: Case) -> MeanDecomposition:
    """Of the one dataset that was scored."""
    (arm,) = case.arms
    return _means(case, columns(case, (arm,))[arm])


def audit_parts(case: Case) -> AuditParts:
    """Of the data before and after, and of the difference pair by pair."""
    before, after = columns(case, case.arms).values()
    change = {name: after[name] - before[name] for name in SHOWN}
    return AuditParts(*(_means(case, part) for part in (before, after, change)))


def rank_parts(case: Case) -> dict[str, MeanDecomposition]:
    """Of every dataset."""
    return {str(arm): _means(case, part) for arm, part in columns(case, case.table.arms).items()}


def columns(case: Case, arms: tuple[Arm, ...]) -> dict[Arm, dict[str, Array]]:
    """Every part of every arm, pair by pair."""
    if case.table.tempering and isinstance(case.pool.fitter, LogisticFitter | LinearFitter):
        found = np.stack([_of_blocks(case, arm) for arm in arms], axis=1)
    else:
        of = partial(visit, None if len(case.table.reference) else case.table)
        found = case.again(pairs=affordable(case, arms), arms=arms, visit=of).values
    return {arm: dict(zip(SHOWN, found[:, a].T, strict=True)) for a, arm in enumerate(arms)}


def _of_blocks(case: Case, arm: Arm) -> Array:
    """Of the PMI with every block as a whole, at the tempering that the arm was scored at (blocks × parts).

    Its posterior is the block's prior, whose rows say something of each other, too: this is U(D, T_j), from
    the yardstick's prior, and not the score, which counts rows one by one from class proportions.
    """
    pool = case.pool
    fitter: Any = pool.fitter
    draws = [case.weighed.draw(j) for j in range(len(case.table))]
    sample = draws[0].arms[arm]
    model: Any = case.options.own_model or case.yardstick.model
    prior = fitter.as_prior(fitter(sample.rows, weights=sample.weights, targets=sample.targets))
    tests = (draw.test for draw in draws)
    found = (parts_given(model, prior, (pool.X[t.rows], pool.y[t.rows], t.weights)) for t in tests)
    return np.array([[getattr(parts, name) for name in SHOWN] for parts in found])


def affordable(case: Case, arms: Sequence[Arm]) -> int:
    """How many pairs can be looked at without a long wait."""
    places = [case.table.arms.index(arm) for arm in arms]
    rows = float((case.table.data_rows[:, places] + case.table.test_rows[:, None]).sum(axis=1).mean())
    features = case.pool.X.shape[1] + 1
    each = rows * features * (features if isinstance(case.pool.fitter, GaussianRows) else 8 * DRAWS)
    return int(min(len(case.table), max(LEAST, WORK // max(each, STEP * len(arms)))))


def _means(case: Case, parts: Mapping[str, Array]) -> MeanDecomposition:
    estimates = {name: case.estimate(values) for name, values in parts.items()}
    return MeanDecomposition(**estimates, pairs=len(parts["value"]), all_pairs=len(case.table))
