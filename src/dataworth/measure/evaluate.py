"""The one loop: every pair or block of a design, with all its arms, shown to a visitor.

The visitor says what is asked of an arm (`Scores`: its PMI and what stands beside it; `measure.parts`: what a
PMI is made of). Arms that do not change from block to block are scored by `measure.tempered` instead, unless
a form or a visitor asks for the pairs.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np

from ..arrays import Array
from ..evidence.forms import Form, Pair
from ..evidence.pair import fit_joint
from ..models import Fit, Fitter
from ..parallel import Engine, Local
from ..parallel.runs import Run, map_resumable, refusing_foreign
from .designs import Arm, Design, Draw, Prepared, Sample, same_sample, weights_of
from .metrics import of_pair
from .table import PairTable

CHUNKS = 64
"""Chunks a run is cut into at most: what an interruption can lose, and how often progress is shown."""
IMPOSSIBLE = 2.0
"""Nats by which a PMI of class labels may exceed −log Z(T) before its fits count as not converged: Laplace's
method exceeds it by up to 1.7 on a handful of separable rows, solvers that failed by many times that."""


Visitor = Callable[[Pair, Arm, Sample, int], list[float]]
"""What is asked of an arm of the i-th pair; what it returns is kept, so it must be plain numbers."""


@dataclass(frozen=True)
class Scores:
    """PMI in a form, test accuracy, information gain, data rows, and fits that did not converge.

    The probability of labels is at most 1, so that log p(T|D) − log p(T) ≤ −log p(T): `bounded` enforces it.
    """

    form: Form = field(default_factory=Form)
    bounded: bool = False

    def __call__(self, pair: Pair, arm: Arm, sample: Sample, i: int) -> list[float]:
        """The numbers of one arm, in the order of `table.COLUMNS`."""
        value = self.form.of(pair).value
        fits = (pair.data, pair.test, *((pair.joint(),) if self.form == Form() else ()))
        unsettled = sum(not settled(one) for one in fits)
        if self.bounded and value > -pair.test.log_z:
            unsettled += value > -pair.test.log_z + IMPOSSIBLE
            value = -pair.test.log_z
        accuracy = pair.fitter.accuracy(pair.data, pair.test_rows, pair.test_weights)
        gain = pair.fitter.information_gain(pair.data)
        beside = of_pair(pair.fitter, pair.data, Sample(pair.test_rows, pair.test_weights))
        return [value, accuracy, gain, len(sample.rows), *beside, unsettled]


class Work(NamedTuple):
    """What every worker shares."""

    design: Design
    fitter: Fitter
    visit: Visitor
    fits: Mapping[Arm, Fit]


def evaluate(
    design: Design,
    fitter: Fitter,
    k: int,
    engine: Engine,
    *,
    visit: Visitor | None = None,
    run: Run | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> PairTable:
    """Show pairs 0 … k−1 to a visitor. The unit of work is one pair with all its arms; nothing is cached."""
    work = Work(design, fitter, Scores() if visit is None else visit, {})
    work = work._replace(fits=_fixed_fits(work, engine))
    size = max(1, -(-k // CHUNKS))
    chunks = [list(range(i, min(i + size, k))) for i in range(0, k, size)]
    found = map_resumable(engine, _evaluate_chunk, chunks, shared=work, run=run, on_chunk=progress)
    with refusing_foreign(run):
        return PairTable.of(tuple(design.draw(0).arms), [row for rows in found for row in rows]).of_size(k)


def rehearse(design: Design, fitter: Fitter, k: int, visit: Visitor) -> float:
    """Estimated seconds of `evaluate` on one core: one arm of one pair is timed and thrown away."""
    draw = design.draw(0)
    first = dict(list(draw.arms.items())[:1])
    alone = Work(Prepared((Draw(first, draw.test),)), fitter, visit, {})
    seconds = []
    for _ in range(2):  # the first time is cold
        begun = time.perf_counter()
        list(Local(1).map(_evaluate_pair, [0], shared=alone))
        seconds.append(time.perf_counter() - begun)
    return k * len(draw.arms) * min(seconds)


def _fixed_fits(work: Work, engine: Engine) -> dict[Arm, Fit]:
    """In the design *whole* the arms do not change from block to block: fit each of them once."""
    if not work.design.arms_fixed:
        return {}
    first, *others = work.design.draw(0).arms
    fits = {first: next(iter(engine.map(_fit_fixed, [first], shared=(work, None))))}
    shared = (work, fits[first])
    return fits | dict(zip(others, engine.map(_fit_fixed, others, shared=shared), strict=True))


def _fit_fixed(shared: tuple[Work, Fit | None], arm: Arm) -> Fit:
    return fit_sample(shared[0].fitter, shared[0].design.draw(0).arms[arm], shared[1])


def fit_sample(fitter: Fitter, sample: Sample, first: Fit | None) -> Fit:
    """Fit an arm of a pair, starting at the first arm's fit."""
    start = () if first is None else (first,)
    return fitter(sample.rows, start, weights=sample.weights, targets=sample.targets)


def targets_of(fitter: Fitter, sample: Sample) -> Array:
    """Targets of a sample: the pool's, unless it has its own."""
    return np.array(fitter.y[sample.rows], dtype=float) if sample.targets is None else sample.targets


def _evaluate_chunk(work: Work, chunk: list[int]) -> list[dict[str, Any]]:
    return [_evaluate_pair(work, i) for i in chunk]


def _evaluate_pair(work: Work, i: int) -> dict[str, Any]:
    """One pair: the test set's fit is shared by all arms and dropped with the pair."""
    draw = work.design.draw(i)
    test = draw.test
    test_fit = fit_sample(work.fitter, test, None)
    first: Fit | None = None
    near: list[Fit] = []  # the first arm's joint fit, where those of the others begin
    found: dict[Arm, list[float]] = {}
    for arm, sample in draw.arms.items():
        # fits of the same rows differ by what the solver leaves; a change of nothing is to be nothing
        if twins := [found[other] for other in found if same_sample(draw.arms[other], sample)]:
            found[arm] = twins[0]
            continue
        fit = work.fits[arm] if arm in work.fits else fit_sample(work.fitter, sample, first)
        first = fit if first is None else first
        joint = cache(partial(fit_both, work.fitter, sample, test, (fit, test_fit), near))
        pair = Pair(work.fitter, fit, test_fit, joint, test.rows, test.weights)
        found[arm] = work.visit(pair, arm, sample, i)
    rows = float(weights_of(test).sum())
    return {"arms": list(found.values()), "log_z_test": test_fit.log_z, "test_rows": rows}


def fit_both(fitter: Fitter, data: Sample, test: Sample, fits: tuple[Fit, Fit], near: list[Fit]) -> Fit:
    """The fit of D∪T from those of D and T, which is kept in `near` if it is the first."""
    weights = targets = None
    if data.weights is not None or test.weights is not None:
        weights = np.concatenate([weights_of(data), weights_of(test)])
    if data.targets is not None:
        targets = np.concatenate([data.targets, targets_of(fitter, test)])
    rows = data.rows, test.rows
    joint = fit_joint(fitter, *rows, *fits, near=tuple(near), weights=weights, targets=targets)
    if not near:
        near.append(joint)
    return joint


def settled(fit: Fit) -> bool:
    """Whether a fit's solver says that it has converged; a closed form says nothing, and has."""
    return bool(getattr(getattr(fit.state, "solution", fit.state), "converged", True))
