"""The design *whole*: each arm at the tempering that suits it, against every block of the test set.

An arm's rows do not change from block to block, so it is fitted once a tempering, and its posterior is the
prior of each block: S[r, j] = log p_r(T_j | D) (`evidence.tempering`). Its PMI with a block is the mixture's
score of the block less log p(T_j). All that is asked of an arm is its posterior at a tempering, so rows in
memory, files that are read in passes and sealed data are scored alike.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

from ..arrays import Array, Rows
from ..evidence.tempering import Place, climb, repeats
from ..models import Fit, Fitter
from ..parallel import Engine
from ..parallel.runs import Run, map_resumable, refusing_foreign
from .designs import Arm, Design, Sample, Weighed, reweighed, same_sample, weights_of
from .evaluate import IMPOSSIBLE, fit_both, settled
from .metrics import METRICS, of_blocks
from .table import PairTable

NOTHING = [float("nan")] * len(METRICS)
VISITED = 4
"""Temperings that a walk tries, mostly: for an estimate of the time."""


class Scored(NamedTuple):
    """An arm at one tempering: its fit, and log p(T_j | D) of every block."""

    fitter: Fitter
    fit: Fit
    log_predictives: Array


class ArmPosterior(Protocol):
    """What an arm is to the evaluation: of rows in memory, of a file read in passes, or sealed."""

    @property
    def n_rows(self) -> int:
        """Rows that stand behind it."""
        ...

    @property
    def n_repeats(self) -> int:
        """By how many doublings its rows count more than once (`evidence.tempering.repeats`)."""
        ...

    @property
    def directions(self) -> int:
        """Of its grid of temperings."""
        ...

    def scored(self, place: Place, tests: Sequence[Sample]) -> Scored:
        """Its posterior at one tempering, as the prior of each block."""
        ...

    def information_gain(self, plain: Scored) -> float:
        """KL(posterior ‖ prior) where rows count as the yardstick says; `plain` is the arm there."""
        ...


class Task(NamedTuple):
    """What every worker shares: arms and blocks, each block's own fit, and how often data rows count."""

    fitter: Fitter
    arms: Mapping[Arm, Sample]
    given: Mapping[Arm, ArmPosterior]
    tests: tuple[Sample, ...]
    fits: tuple[Fit, ...]
    tempering: float
    bounded: bool
    ids: Rows | None = None

    @classmethod
    def of(
        cls,
        design: Design,
        fitter: Fitter,
        k: int,
        tempering: float,
        bounded: bool,
        given: Mapping[Arm, ArmPosterior] | None = None,
        ids: Rows | None = None,
    ) -> Task:
        """Arms and the first k blocks of a design.

        `given` arms come as posteriors. `ids` tell which rows of the pool are the same (default: none).
        """
        drawn = [Weighed(design, tempering).draw(j) for j in range(k)]
        tests = tuple(draw.test for draw in drawn)
        fits = tuple(fitter(test.rows, weights=test.weights) for test in tests)
        return cls(fitter, drawn[0].arms, given or {}, tests, fits, tempering, bounded, ids)

    def posterior(self, arm: Arm) -> ArmPosterior:
        """The arm's posterior, from its rows if it was not given."""
        return self.given[arm] if arm in self.given else InMemory(self, self.arms[arm], [])


class InMemory(NamedTuple):
    """Rows of the pool; `near` is the fit at the last tempering, where the next one begins."""

    task: Task
    sample: Sample
    near: list[Fit]

    @property
    def n_rows(self) -> int:
        """Rows of the sample."""
        return len(self.sample.rows)

    @property
    def n_repeats(self) -> int:
        """Doublings, by distinct rows and weights."""
        rows = self.sample.rows if self.task.ids is None else self.task.ids[self.sample.rows]
        return repeats(rows, weights_of(self.sample))

    @property
    def directions(self) -> int:
        """How often rows count, and nothing else; a model without weights has no other way to count them."""
        return int(getattr(self.task.fitter, "takes_weights", True))

    def scored(self, place: Place, tests: Sequence[Sample]) -> Scored:
        """Fit the rows, counted 2^k times as often, and take their posterior to every block."""
        fitter, sample = self.task.fitter, reweighed(self.sample, 2.0 ** place[0])
        # at first from nothing: what an arm is worth depends on its rows alone, not on what stands beside it
        fit = fitter(sample.rows, tuple(self.near), weights=sample.weights, targets=sample.targets)
        self.near[:] = [fit]
        if hasattr(fitter, "log_predictives"):
            return scored_by(fitter, fit, tests)
        pairs = zip(tests, self.task.fits, strict=True)
        joint: list[Fit] = []
        both = (fit_both(fitter, sample, test, (fit, alone), joint) for test, alone in pairs)
        return Scored(fitter, fit, np.array([one.log_z - fit.log_z for one in both]))

    def information_gain(self, plain: Scored) -> float:
        """Of the fit."""
        return plain.fitter.information_gain(plain.fit)


def scored_by(fitter: Fitter, fit: Fit, tests: Sequence[Sample]) -> Scored:
    """Every block with the fit's Gaussian as its prior."""
    found = fitter.log_predictives(fit, [(test.rows, test.weights) for test in tests])  # type: ignore[attr-defined]
    return Scored(fitter, fit, np.array(found))


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
            values=np.array([one["blocks"] for one in scored.values()], dtype=float).transpose(1, 0, 2),
            log_z_test=np.array([fit.log_z for fit in task.fits]),
            test_rows=np.array([len(test.rows) for test in task.tests], dtype=float),
            tempering={arm: float(one["tempering"]) for arm, one in scored.items()},
        ).of_size(len(task.tests))


def rehearse_whole(task: Task) -> float:
    """Estimated seconds of `evaluate_whole` on one core: the largest arm is timed at one tempering."""
    tested = sum(len(test.rows) for test in task.tests)
    rows = {arm: len(sample.rows) + tested for arm, sample in task.arms.items()}
    timed = max(rows, key=lambda arm: rows[arm])
    started = time.perf_counter()
    task.posterior(timed).scored((0, 0), task.tests)
    return (time.perf_counter() - started) * VISITED * sum(rows.values()) / rows[timed]


def _first_alike(task: Task, arm: Arm) -> Arm:
    """The first arm with the same rows: a change of nothing is to be nothing, to the last digit."""
    if arm in task.given:
        return arm
    alike = (one for one in task.arms if one not in task.given)
    return next(one for one in alike if same_sample(task.arms[one], task.arms[arm]))


def score_arm(task: Task, arm: Arm) -> dict[str, Any]:
    """The numbers of `table.COLUMNS` for every block, and the tempering at which they are best."""
    seen: dict[Place, Scored] = {}
    posterior = task.posterior(arm)

    def at(place: Place) -> Array:
        seen[place] = posterior.scored(place, task.tests)
        found = seen[place].log_predictives
        return np.minimum(found, 0.0) if task.bounded else found

    best, scores = climb(at, posterior.directions, posterior.n_repeats)
    fitter, fit, found = seen[best]
    plain = seen[(0,) * len(best)]  # information gain grows with tempering, so that all arms have the same
    gain, rows = posterior.information_gain(plain), posterior.n_rows
    # nobody asks for the benchmark of controls, or of parts of the data
    blind = arm.role in ("control", "own", "part")
    beside = [NOTHING] * len(task.tests) if blind else of_blocks(fitter, fit, task.tests).tolist()
    blocks = []
    for j, (test, alone) in enumerate(zip(task.tests, task.fits, strict=True)):
        accuracy = fitter.accuracy(fit, test.rows, test.weights)
        unsettled = (not settled(fit)) + (not settled(alone))
        unsettled += bool(task.bounded and found[j] > IMPOSSIBLE)
        blocks.append([float(scores[j] - alone.log_z), accuracy, gain, rows, *beside[j], unsettled])
    return {"blocks": blocks, "tempering": task.tempering * 2.0 ** best[0]}
