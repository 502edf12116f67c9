"""From a design to a table: every pair or block, with all its arms."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np

from ..arrays import Array
from ..evidence.forms import Form, Pair
from ..evidence.pair import fit_joint
from ..models import Fit, Fitter
from .designs import Design, Draw, Prepared, Sample, same_sample, weights_of
from .engines import Engine, Local
from .runs import Run, map_resumable

EVIDENCE = Form()
CHUNKS = 64
"""Chunks a run is cut into at most: what an interruption can lose, and how often progress is shown."""


@dataclass(frozen=True)
class PairTable:
    """One row a pair (or block): PMI, test accuracy and information gain of each arm (k × arms).

    `unsettled` counts the fits of a pair and arm whose solver did not converge.
    """

    arms: tuple[str, ...]
    pmi: Array
    accuracy: Array
    information_gain: Array
    data_rows: Array
    log_z_test: Array
    test_rows: Array
    unsettled: Array = field(default_factory=lambda: np.zeros((0, 0)))

    def __len__(self) -> int:
        return len(self.pmi)

    def column(self, name: str, arm: str) -> Array:
        """One column of one arm."""
        values: Array = getattr(self, name)[:, self.arms.index(arm)]
        return values

    def change(self, name: str, arm: str, reference: str) -> Array:
        """A column of one arm minus that of another, pair by pair."""
        return self.column(name, arm) - self.column(name, reference)

    def rows(self) -> list[dict[str, float | int | str]]:
        """Long form, for CSV: one record a pair and arm."""
        return [
            {
                "pair": i,
                "arm": arm,
                "pmi": float(self.pmi[i, a]),
                "accuracy": float(self.accuracy[i, a]),
                "information_gain": float(self.information_gain[i, a]),
                "data_rows": int(self.data_rows[i, a]),
                "test_rows": int(self.test_rows[i]),
                "log_z_test": float(self.log_z_test[i]),
            }
            for i in range(len(self))
            for a, arm in enumerate(self.arms)
        ]


class Work(NamedTuple):
    """What every worker shares."""

    design: Design
    fitter: Fitter
    fits: dict[str, tuple[Fit, Array | None]]
    form: Form


def evaluate(
    design: Design,
    fitter: Fitter,
    k: int,
    engine: Engine,
    run: Run | None = None,
    progress: Callable[[int, int], None] | None = None,
    form: Form = EVIDENCE,
) -> PairTable:
    """Evaluate pairs 0 … k−1. The unit of work is one pair with all its arms; nothing is cached between."""
    fits: dict[str, tuple[Fit, Array | None]] = {}
    if design.arms_fixed:
        # in the design *whole* the arms do not change from block to block: fit each of them once
        arms = design.draw(0).arms
        first, *others = arms
        fits[first] = next(iter(engine.map(_fit_first, [arms[first]], shared=fitter)))
        shared = (fitter, fits[first][0])
        fits |= zip(others, engine.map(_fit_other, [arms[o] for o in others], shared=shared), strict=True)
    size = max(1, -(-k // CHUNKS))
    chunks = [list(range(i, min(i + size, k))) for i in range(0, k, size)]
    payloads = map_resumable(
        engine, _evaluate_chunk, chunks, shared=Work(design, fitter, fits, form), run=run, on_chunk=progress
    )
    return _table([row for payload in payloads for row in payload])


def rehearse(design: Design, fitter: Fitter, k: int, form: Form = EVIDENCE) -> float:
    """Estimated seconds of `evaluate` on one core: one arm of one pair is timed and thrown away."""
    draw = design.draw(0)
    name, sample = next(iter(draw.arms.items()))
    started = time.perf_counter()
    fits = {name: next(iter(Local(1).map(_fit_first, [sample], shared=fitter)))}
    fitted = time.perf_counter()
    alone = Work(Prepared((Draw({name: sample}, draw.test),)), fitter, fits, form)
    seconds = []
    for _ in range(2):  # the first time is cold
        begun = time.perf_counter()
        list(Local(1).map(_evaluate_chunk, [[0]], shared=alone))
        seconds.append(time.perf_counter() - begun)
    fit, pair = (fitted - started) * len(draw.arms), min(seconds) * len(draw.arms)
    return fit + k * pair if design.arms_fixed else k * (fit + pair)


def _fit_first(fitter: Fitter, sample: Sample) -> tuple[Fit, Array | None]:
    return fit_sample(fitter, sample, None)


def _fit_other(shared: tuple[Fitter, Fit], sample: Sample) -> tuple[Fit, Array | None]:
    fitter, first = shared
    return fit_sample(fitter, sample, first)


def fit_sample(fitter: Fitter, sample: Sample, first: Fit | None) -> tuple[Fit, Array | None]:
    """Fit an arm, starting at the first arm's fit; self-labelled rows get labels from it or their teacher."""
    targets = None
    if sample.self_labelled is not None and first is not None and sample.self_labelled.any():
        targets = pool_targets(fitter, sample)
        mask = sample.self_labelled
        teacher = first if sample.teacher is None else fit_sample(fitter, sample.teacher, first)[0]
        targets[mask] = fitter.predict(teacher, sample.rows[mask])
    start = () if first is None else (first,)
    return fitter(sample.rows, start, weights=sample.weights, targets=targets), targets


def pool_targets(fitter: Fitter, sample: Sample) -> Array:
    """The pool's own targets of a sample."""
    return np.array(fitter.y[sample.rows], dtype=float)


def _evaluate_chunk(work: Work, chunk: list[int]) -> list[dict[str, Any]]:
    return [_evaluate_pair(work, i) for i in chunk]


def _evaluate_pair(work: Work, i: int) -> dict[str, Any]:
    """One pair: the test set's fit is shared by all arms and dropped with the pair."""
    fitter = work.fitter
    draw = work.design.draw(i)
    test_fit, _ = fit_sample(fitter, draw.test, None)
    first: Fit | None = None
    near: list[Fit] = []  # the first arm's joint fit, where those of the others begin
    arms: dict[str, list[float]] = {}
    for name, sample in draw.arms.items():
        twin = next((n for n in arms if same_sample(draw.arms[n], sample)), None)
        if twin is not None:
            # fits of the same rows differ by what the solver leaves; a change of nothing is to be nothing
            arms[name] = arms[twin]
            continue
        fit, targets = work.fits[name] if name in work.fits else fit_sample(fitter, sample, first)
        first = fit if first is None else first
        joint = cache(partial(fit_both, fitter, sample, targets, fit, draw.test, test_fit, near))
        pair = Pair(fitter, fit, test_fit, joint, draw.test.rows, draw.test.weights)
        value = work.form.of(pair).value
        fits = (fit, test_fit, *((joint(),) if work.form == EVIDENCE else ()))
        arms[name] = [
            value,
            fitter.accuracy(fit, draw.test.rows, draw.test.weights),
            fitter.information_gain(fit),
            len(sample.rows),
            sum(not settled(one) for one in fits),
        ]
    return {"arms": arms, "log_z_test": test_fit.log_z, "test_rows": len(draw.test.rows)}


def fit_both(
    fitter: Fitter,
    data: Sample,
    targets: Array | None,
    data_fit: Fit,
    test: Sample,
    test_fit: Fit,
    near: list[Fit],
) -> Fit:
    """The fit of D∪T, which is kept in `near` if it is the first."""
    weights = None
    if data.weights is not None or test.weights is not None:
        weights = np.concatenate([weights_of(data), weights_of(test)])
    if targets is not None:
        targets = np.concatenate([targets, pool_targets(fitter, test)])
    joint = fit_joint(
        fitter, data.rows, test.rows, data_fit, test_fit, near=tuple(near), weights=weights, targets=targets
    )
    if not near:
        near.append(joint)
    return joint


def settled(fit: Fit) -> bool:
    """Whether a fit's solver says that it has converged; a closed form says nothing, and has."""
    return bool(getattr(getattr(fit.state, "solution", fit.state), "converged", True))


def _table(rows: list[dict[str, Any]]) -> PairTable:
    arms = tuple(rows[0]["arms"])
    # runs from before convergence was counted have no fifth number
    values = np.array([[(*row["arms"][a], 0.0)[:5] for a in arms] for row in rows], dtype=float)
    return PairTable(
        arms,
        values[:, :, 0],
        values[:, :, 1],
        values[:, :, 2],
        values[:, :, 3],
        np.array([row["log_z_test"] for row in rows], dtype=float),
        np.array([row["test_rows"] for row in rows], dtype=float),
        values[:, :, 4],
    )
