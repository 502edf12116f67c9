"""The design *whole*: each arm at the tempering that suits it, against every row of the test set.

An arm is fitted once; its posterior predicts each test row, by the mixture over temperings of
`evidence.tempering`. All that is asked of an arm is its posterior, so rows in memory, files that are read in
passes and sealed data are scored alike. A model whose posterior is no Gaussian is fitted at every tempering;
one that cannot predict a row by itself is asked for its evidence of blocks.

Rows are added up by block, the unit in which people are told, and by what the test set was drawn in (rows, or
groups of them), over which intervals are taken. With K of the latter, weights w_i that sum to W, and V the
mean of v_i by weights,

    z_g = V + K Σ_{i ∈ g} w_i (v_i − V) / W

has the mean V and, over g, the spread of its sampling: a ratio of two sums where units differ in size.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from ..arrays import Array, Rows
from ..evidence.tempering import Tempered, climb, pulls, repeats
from ..models import Fit, Fitter
from ..models.base import mean_square
from ..models.gaussian import GaussianPrior
from ..parallel import Engine, Local
from ..parallel.runs import Run, map_resumable, refusing_foreign
from .designs import Arm, Sample, reweighed, same_sample, weights_of
from .evaluate import IMPOSSIBLE, fit_both, settled, targets_of
from .metrics import METRICS, by_row
from .prepare import Pool
from .table import PairTable


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


def predicts_rows(fitter: Fitter) -> bool:
    """Whether a model's posterior predicts rows one by one."""
    return any(hasattr(fitter, name) for name in ("row_scores", "row_predictives"))


class Task(NamedTuple):
    """What every worker shares: arms and blocks, and how often data rows count.

    near: where another arm fared best, if that is known. given: arms that come as posteriors. ids: which rows
    of the pool are the same. Of the rows of all blocks, one block after the other: units, what each was drawn
    with, and known, its log p by labels alone. Where rows are not predicted one by one, neither, but each
    block's own fit.
    """

    fitter: Fitter
    arms: Mapping[Arm, Sample]
    tests: tuple[Sample, ...]
    tempering: float
    bounded: bool
    given: Mapping[Arm, Callable[[], ArmPosterior]]
    ids: Rows | None = None
    units: Rows | None = None
    known: Array | None = None
    fits: tuple[Fit, ...] = ()
    near: int | None = None

    @classmethod
    def of(cls, design: Any, pool: Pool, k: int, **more: Any) -> Task:
        """Arms and the first k blocks of a design."""
        drawn = [design.draw(j) for j in range(k)]
        tests, fitter = tuple(draw.test for draw in drawn), pool.fitter
        task = cls(fitter, drawn[0].arms, tests, pool.tempering, ids=pool.ids, **more)
        if not predicts_rows(fitter):
            return task._replace(fits=tuple(fitter(test.rows, weights=test.weights) for test in tests))
        rows = np.concatenate([test.rows for test in tests])
        weights = np.concatenate([weights_of(test) for test in tests])
        units = design.units()[rows - rows.min()]
        return task._replace(units=units, known=pool.labels.log_p(pool.y[rows], weights, units))

    @property
    def start(self) -> int | None:
        """Where the walk over temperings starts: at the yardstick's. None without weights."""
        return round(np.log2(self.tempering)) if getattr(self.fitter, "takes_weights", True) else None

    def alone(self) -> Array:
        """Log p of every block without data: by labels alone, or by the prior."""
        if self.known is None:
            return np.array([fit.log_z for fit in self.fits])
        ends = np.cumsum([0, *(len(test.rows) for test in self.tests[:-1])])
        return np.add.reduceat(self.known, ends)

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
    gaussians = tuple(getattr(fitter, "gaussians", lambda fit: ())(fit))
    return ArmPosterior(fitter, fit, len(sample.rows), fitter.information_gain(fit), gaussians, counted)


def score_first(task: Task, run: Run | None) -> tuple[dict[str, Any], float]:
    """The first arm's numbers, and the seconds they take: the others look for their tempering from its."""
    arm, seconds = next(iter(task.arms)), list[float]()

    def timed(task: Task, arm: Arm) -> dict[str, Any]:
        started = time.perf_counter()
        found = score_arm(task, arm)
        seconds.append(time.perf_counter() - started)
        return found

    (found,) = map_resumable(Local(1), timed, [arm], shared=task, run=run)
    with refusing_foreign(run):
        found = {**found, "best": int(found["best"])}
    if not seconds:  # the run directory held it
        timed(task, arm)
    return found, seconds[0]


def evaluate_whole(
    task: Task,
    first: Callable[[Run | None], tuple[dict[str, Any], float]],
    engine: Engine,
    *,
    run: Run | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> PairTable:
    """Every arm against every block; the unit of work is an arm. Equal arms are scored once.

    first: `score_first`, which is done already where its time was asked for.
    """
    twins = {arm: _first_alike(task, arm) for arm in task.arms}
    arms = list(dict.fromkeys(twins.values()))
    heard = None if progress is None else lambda done, total: progress(done + 1, total + 1)
    one, _ = first(run)
    near = task._replace(near=one["best"])
    found = [one, *map_resumable(engine, score_arm, arms[1:], shared=near, run=run, on_chunk=heard)]
    scored = {arm: found[arms.index(twin)] for arm, twin in twins.items()}
    with refusing_foreign(run):
        parts = ("blocks",) if task.units is None else ("blocks", "units")
        values, *units = (
            np.array([one[part] for one in scored.values()], dtype=float).transpose(1, 0, 2) for part in parts
        )
        prior = task.alone()
        return PairTable(
            arms=tuple(task.arms),
            by_row={arm: np.array(one["rows"]) for arm, one in scored.items() if one["rows"]},
            values=values,
            units=units[0] if units else None,
            log_z_test=prior,
            reference=np.zeros(0) if task.known is None else prior,
            test_rows=np.array([weights_of(test).sum() for test in task.tests], dtype=float),
            tempering={arm: float(one["tempering"]) for arm, one in scored.items()},
            plain={arm: float(one["plain"]) for arm, one in scored.items()},
        ).of_size(len(task.tests))


def seconds_of_all(task: Task, first: float) -> float:
    """Estimated seconds of all arms on one core, from those of the first."""
    tested = sum(len(test.rows) for test in task.tests)
    rows = [len(sample.rows) + tested for sample in task.arms.values()]
    return first * sum(rows) / rows[0]


def _first_alike(task: Task, arm: Arm) -> Arm:
    """The first arm with the same rows: a change of nothing is to be nothing, to the last digit."""
    alike = (
        one for one in task.arms if one not in task.given and same_sample(task.arms[one], task.arms[arm])
    )
    return arm if arm in task.given else next(alike)


def score_arm(task: Task, arm: Arm) -> dict[str, Any]:
    """The numbers of `table.COLUMNS` for every block, and the tempering at which they are best."""
    posterior = task.posterior(arm)
    rows = Predictions.of(task, arm, posterior)
    at = cache(rows.scores)
    best, scores = climb(at, task.start, rows.unit, task.near)
    predicted = rows.predicted(best)
    # nobody asks for the benchmark of controls, or of parts of the data
    beside = rows.benchmarks(predicted, blind=arm.role in ("control", "own", "part"))
    own = [posterior.gain, posterior.n_rows], [not settled(posterior.fit)]
    blocks = rows.in_blocks(scores, beside, own)
    units = None if task.units is None else rows.in_units(scores, beside, own)
    for j, alone in enumerate(task.fits):
        blocks[j, -1] += (not settled(alone)) + bool(task.bounded and scores[j] > IMPOSSIBLE)
    kept = np.zeros((0, 4))
    if rows.each and arm.role not in ("own", "part"):
        window = [at(best + step) for step in ((-1, 0, 1) if task.start is not None else (0, 0, 0))]
        kept = np.column_stack([scores, beside[:, 0], *pulls(np.array(window))])[np.argsort(rows.rows)]
    plain = float("nan")
    if len(kept) and task.start is not None:
        plain = float(at(-np.log2(posterior.counted)).sum() / rows.weights.sum())
    told = {"blocks": blocks.tolist(), "units": None if units is None else units.tolist()}
    told |= {"rows": kept.tolist(), "tempering": posterior.counted * 2.0**best, "plain": plain}
    return {**told, "best": best}


def _columns(nats: Array, beside: Array, own: tuple[list[Any], list[Any]]) -> Array:
    """Numbers in the order of `table.COLUMNS`."""
    first, last = (np.tile(np.array(part, dtype=float), (len(nats), 1)) for part in own)
    return np.column_stack([nats, beside[:, :1], first, beside[:, 1:], last])


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
        known = (fitter.prior_variance, fitter.features(rows)) if posterior.gaussians else ()
        tempered = tuple(Tempered.of(*one, *known) for one in posterior.gaussians)

        fits = {0.0: posterior.fit}

        def refitted(k: float) -> tuple[Sample, Fit]:
            some = reweighed(task.arms[arm], posterior.counted * 2.0**k)
            if k not in fits:
                near = fits[min(fits, key=lambda other: abs(other - k))]
                fits[k] = fitter(some.rows, (near,), weights=some.weights, targets=some.targets)
            return some, fits[k]

        return cls(task, fitter, rows, weights, block, tempered, refitted)

    @property
    def each(self) -> bool:
        """Whether rows are predicted one by one."""
        return predicts_rows(self.fitter)

    @property
    def unit(self) -> Rows:
        """What every score was drawn with."""
        return np.arange(len(self.task.tests)) if self.task.units is None else self.task.units

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

    def in_blocks(self, scores: Array, beside: Array, own: tuple[list[Any], list[Any]]) -> Array:
        """The numbers of `table.COLUMNS`, of every block: nats beyond what is known without data, …"""
        count = len(self.task.tests)
        nats = np.minimum(scores, 0.0) if self.task.bounded else scores
        if self.each:
            nats = np.bincount(self.block, nats, count).astype(float)
        nats = nats - self.task.alone()
        weight = np.bincount(self.block, self.weights, count)
        sums = [np.bincount(self.block, self.weights * column, count) for column in beside.T]
        means = [column / np.where(weight > 0, weight, np.nan) for column in sums]
        return _columns(nats, np.column_stack(means), own)

    def in_units(self, scores: Array, beside: Array, own: tuple[list[Any], list[Any]]) -> Array:
        """The same of every unit, on the scale of blocks."""
        return _columns(self.values(scores), self.spread(beside), own)

    def values(self, scores: Array) -> Array:
        """What scores say beyond what is known without data, nats a block, of every unit."""
        assert self.task.known is not None
        each = (scores - self.task.known) / np.where(self.weights > 0, self.weights, 1.0)
        return self.spread(each[:, None])[:, 0] * (self.weights.sum() / len(self.task.tests))

    def spread(self, values: Array) -> Array:
        """z of every unit, of columns of numbers of rows."""
        weights, units = self.weights[:, None], self.unit
        count, total = int(units.max()) + 1, float(self.weights.sum())
        if not total:
            return np.full((count, values.shape[1]), np.nan)
        mean = (weights * values).sum(axis=0) / total
        left = np.zeros((count, values.shape[1]))
        np.add.at(left, units, weights * (values - mean))
        return np.asarray(mean + count * left / total)

    def predicted(self, k: int) -> Array:
        """Probabilities of the classes (or the most probable one, or a number) of every row."""
        if self.tempered:
            return np.asarray(self.fitter.predicted([one.at(2.0**k)[0] for one in self.tempered]))
        fit = self.refitted(k)[1]
        chances = hasattr(self.fitter, "probabilities") and not getattr(self.fitter, "numbers", False)
        return np.asarray((self.fitter.probabilities if chances else self.fitter.predict)(fit, self.rows))

    def benchmarks(self, predicted: Array, blind: bool) -> Array:
        """Of every row, what accuracy (R² of numbers) and the scores of `metrics` are means of.

        Only accuracy where there are no chances, or nobody asks.
        """
        y, found = self.fitter.y[self.rows], np.full((len(self.rows), 1 + len(METRICS)), np.nan)
        if getattr(self.fitter, "numbers", False):
            around = y - np.average(y, axis=0, weights=self.weights) if self.weights.any() else y
            spread = np.average(mean_square(around), weights=self.weights) if around.any() else 0.0
            found[:, 0] = 1.0 - mean_square(y - predicted) / (spread or np.nan)
            return found
        told = predicted.argmax(axis=1) if predicted.ndim > 1 else predicted
        found[:, 0] = told == y
        if predicted.ndim > 1 and not blind:
            found[:, 1:] = by_row(predicted, y.astype(np.intp), self.weights)
        return found
