"""The design *whole*: each arm at the tempering that suits it, against every row of the test set.

An arm is fitted once; its posterior predicts each test row, by the mixture over temperings of
`evidence.tempering`, and rows are added up by block. All that is asked of an arm is its posterior, so rows in
memory, files that are read in passes and sealed data are scored alike. A model whose posterior is no Gaussian
is fitted at every tempering; one that cannot predict a row by itself is asked for its evidence of blocks.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from ..arrays import Array, Rows
from ..evidence.tempering import Tempered, climb, repeats
from ..models import Fit, Fitter
from ..models.base import agreement
from ..models.gaussian import GaussianPrior
from ..parallel import Engine
from ..parallel.runs import Run, map_resumable, refusing_foreign
from .designs import Arm, Design, Sample, reweighed, same_sample, weights_of
from .evaluate import IMPOSSIBLE, fit_both, settled, targets_of
from .metrics import METRICS, of_blocks
from .table import PairTable

NOTHING = [float("nan")] * len(METRICS)


@dataclass(frozen=True)
class ArmPosterior:
    """What an arm is to the evaluation: of rows in memory, of a file read in passes, or sealed.

    fitter, fit: which predict rows of the pool. n_rows: that stand behind it. gain: KL(posterior ‖ prior).
    gaussians: N(μ, P⁻¹), one a class where each has its own; none if the posterior is not Gaussian. counted:
    how often its rows were counted.
    """

    fitter: Fitter
    fit: Fit
    n_rows: int
    gain: float
    gaussians: tuple[GaussianPrior, ...]
    counted: float = 1.0


class Task(NamedTuple):
    """What every worker shares: arms and blocks, each block's own fit, and how often data rows count.

    given: arms that come as posteriors. ids: which rows of the pool are the same.
    """

    fitter: Fitter
    arms: Mapping[Arm, Sample]
    tests: tuple[Sample, ...]
    fits: tuple[Fit, ...]
    tempering: float
    bounded: bool
    given: Mapping[Arm, Callable[[], ArmPosterior]]
    ids: Rows | None = None

    @classmethod
    def of(cls, design: Design, fitter: Fitter, k: int, tempering: float, **more: Any) -> Task:
        """Arms and the first k blocks of a design."""
        drawn = [design.draw(j) for j in range(k)]
        tests = tuple(draw.test for draw in drawn)
        fits = tuple(fitter(test.rows, weights=test.weights) for test in tests)
        return cls(fitter, drawn[0].arms, tests, fits, tempering, **more)

    @property
    def start(self) -> int | None:
        """Where the walk over temperings starts: at the yardstick's. None without weights."""
        return round(np.log2(self.tempering)) if getattr(self.fitter, "takes_weights", True) else None

    def posterior(self, arm: Arm) -> ArmPosterior:
        """The arm's posterior, from its rows if it was not given."""
        return self.given[arm]() if arm in self.given else fit_arm(self, self.arms[arm])


def fit_arm(task: Task, sample: Sample) -> ArmPosterior:
    """Fit rows of the pool as if the data stood there once, however often they are repeated.

    From nothing: what an arm is worth depends on its rows alone, not on what stands beside it.
    """
    fitter, counted = task.fitter, 1.0
    if getattr(fitter, "takes_weights", True):  # else there is no other way to count rows
        rows = sample.rows if task.ids is None else task.ids[sample.rows]
        counted = 1.0 / repeats(rows, targets_of(fitter, sample), weights_of(sample))
        sample = reweighed(sample, counted)
    fit = fitter(sample.rows, weights=sample.weights, targets=sample.targets)
    gaussians = getattr(fitter, "gaussians", lambda fit: ())(fit)
    return ArmPosterior(
        fitter, fit, len(sample.rows), fitter.information_gain(fit), tuple(gaussians), counted
    )


def evaluate_whole(
    task: Task, engine: Engine, *, run: Run | None = None, progress: Callable[[int, int], None] | None = None
) -> PairTable:
    """Every arm against every block; the unit of work is an arm. Equal arms are scored once."""
    twins = {arm: _first_alike(task, arm) for arm in task.arms}
    arms = list(dict.fromkeys(twins.values()))
    found = map_resumable(engine, score_arm, arms, shared=task, run=run, on_chunk=progress)
    scored = {arm: found[arms.index(twin)] for arm, twin in twins.items()}
    with refusing_foreign(run):
        return PairTable(
            arms=tuple(task.arms),
            by_row={arm: np.array(one["rows"]) for arm, one in scored.items() if one["rows"]},
            values=np.array([one["blocks"] for one in scored.values()], dtype=float).transpose(1, 0, 2),
            log_z_test=np.array([fit.log_z for fit in task.fits]),
            test_rows=np.array([len(test.rows) for test in task.tests], dtype=float),
            tempering={arm: float(one["tempering"]) for arm, one in scored.items()},
            plain={arm: float(one["plain"]) for arm, one in scored.items()},
        ).of_size(len(task.tests))


def rehearse_whole(task: Task) -> float:
    """Estimated seconds of `evaluate_whole` on one core: the largest arm is timed."""
    tested = sum(len(test.rows) for test in task.tests)
    rows = {arm: len(sample.rows) + tested for arm, sample in task.arms.items()}
    timed = max(rows, key=lambda arm: rows[arm])
    started = time.perf_counter()
    score_arm(task, timed)
    return (time.perf_counter() - started) * sum(rows.values()) / rows[timed]


def _first_alike(task: Task, arm: Arm) -> Arm:
    """The first arm with the same rows: a change of nothing is to be nothing, to the last digit."""
    if arm in task.given:
        return arm
    alike = (one for one in task.arms if one not in task.given)
    return next(one for one in alike if same_sample(task.arms[one], task.arms[arm]))


def score_arm(task: Task, arm: Arm) -> dict[str, Any]:
    """The numbers of `table.COLUMNS` for every block, and the tempering at which they are best."""
    posterior = task.posterior(arm)
    rows = Predictions.of(task, arm, posterior)
    best, by_row = climb(rows.scores, task.start, rows.unit)
    scores, predicted = rows.by_block(by_row), rows.predicted(best)
    # nobody asks for the benchmark of controls, or of parts of the data
    blind = arm.role in ("control", "own", "part")
    beside = [NOTHING] * len(task.tests) if blind else rows.metrics(predicted).tolist()
    kept = [] if arm.role in ("own", "part") else rows.in_order(by_row, predicted)
    blocks = []
    for j, alone in enumerate(task.fits):
        unsettled = (not settled(posterior.fit)) + (not settled(alone))
        unsettled += bool(task.bounded and scores[j] > IMPOSSIBLE)
        value = float(min(scores[j], 0.0) if task.bounded else scores[j]) - alone.log_z
        accuracy = rows.accuracy(predicted, j)
        blocks.append([value, accuracy, posterior.gain, posterior.n_rows, *beside[j], unsettled])
    plain = float("nan")
    if kept and task.start is not None:
        plain = float(rows.scores(-np.log2(posterior.counted)).sum() / rows.weights.sum())
    return {"blocks": blocks, "tempering": posterior.counted * 2.0**best, "rows": kept, "plain": plain}


@dataclass(frozen=True)
class Predictions:
    """Rows of all blocks, one block after the other, as an arm predicts them at a tempering 2^k.

    tempered: its Gaussians at these rows; without any, `refitted` is fitted at every tempering.
    """

    task: Task
    fitter: Any
    rows: Rows
    weights: Array
    block: Rows
    tempered: tuple[Tempered, ...]
    refitted: Callable[[float], tuple[Sample, Fit]]

    @classmethod
    def of(cls, task: Task, arm: Arm, posterior: ArmPosterior) -> Predictions:
        """Of an arm's posterior."""
        rows = np.concatenate([test.rows for test in task.tests])
        weights = np.concatenate([weights_of(test) for test in task.tests])
        block = np.repeat(np.arange(len(task.tests)), [len(test.rows) for test in task.tests])
        fitter: Any = task.fitter
        tempered: tuple[Tempered, ...] = ()
        if posterior.gaussians:
            known = fitter.prior_variance, fitter.features(rows)
            tempered = tuple(Tempered.of(*one, *known) for one in posterior.gaussians)

        @cache
        def refitted(k: float) -> tuple[Sample, Fit]:
            some = reweighed(task.arms[arm], posterior.counted * 2.0**k)
            return some, fitter(some.rows, (posterior.fit,), weights=some.weights, targets=some.targets)

        return cls(task, fitter, rows, weights, block, tempered, refitted)

    @property
    def each(self) -> bool:
        """Whether rows are predicted one by one."""
        return bool(self.tempered) or hasattr(self.fitter, "row_predictives")

    @property
    def unit(self) -> Rows:
        """The block of every score."""
        return self.block if self.each else np.arange(len(self.task.tests))

    def scores(self, k: float) -> Array:
        """S[2^k, ·], one number a row; a block, if rows are not predicted one by one."""
        if self.tempered:
            at = [one.at(2.0**k) for one in self.tempered]
            return np.asarray(self.fitter.row_scores(at, self.rows, self.weights))
        some, fit = self.refitted(k)
        if self.each:
            return np.asarray(self.fitter.row_predictives(fit, self.rows, self.weights))
        joint: list[Fit] = []
        pairs = zip(self.task.tests, self.task.fits, strict=True)
        both = (fit_both(self.fitter, some, test, (fit, alone), joint) for test, alone in pairs)
        return np.array([one.log_z - fit.log_z for one in both])

    def by_block(self, scores: Array) -> Array:
        """Sums over the rows of every block."""
        return np.bincount(self.unit, scores, len(self.task.tests)).astype(float)

    def in_order(self, scores: Array, predicted: Array) -> list[list[float]]:
        """Score, and whether the prediction is right, of every test row in the order of the pool."""
        if not self.each:
            return []
        told = predicted.argmax(axis=1) if predicted.ndim > 1 else predicted
        y = self.fitter.y[self.rows]
        right = 1.0 - (y - told) ** 2 if getattr(self.fitter, "numbers", False) else told == y
        found: list[list[float]] = np.column_stack([scores, right])[np.argsort(self.rows)].tolist()
        return found

    def predicted(self, k: int) -> Array:
        """Probabilities of the classes (or the most probable one, or a number) of every row."""
        if self.tempered:
            return np.asarray(self.fitter.predicted([one.at(2.0**k)[0] for one in self.tempered]))
        fit = self.refitted(k)[1]
        chances = hasattr(self.fitter, "probabilities") and not getattr(self.fitter, "numbers", False)
        return np.asarray((self.fitter.probabilities if chances else self.fitter.predict)(fit, self.rows))

    def accuracy(self, predicted: Array, j: int) -> float:
        """Of one block; R² of numbers."""
        own = self.block == j
        told = predicted[own].argmax(axis=1) if predicted.ndim > 1 else predicted[own]
        numbers = getattr(self.fitter, "numbers", False)
        return agreement(told, self.fitter.y[self.rows[own]], self.weights[own], numbers)

    def metrics(self, predicted: Array) -> Array:
        """Pseudo-values of the other benchmarks, block by block; not a number where there are no chances."""
        if predicted.ndim < 2:
            return np.full((len(self.task.tests), len(METRICS)), np.nan)
        return of_blocks((predicted, self.fitter.y[self.rows].astype(np.intp), self.weights), self.block)
