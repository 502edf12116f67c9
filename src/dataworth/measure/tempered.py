"""The design *whole*: each arm at the tempering that suits it, against every block of the test set.

An arm's rows do not change from block to block, so it is fitted once a tempering, and its posterior is the
prior of each block: S[r, j] = log p_r(T_j | D) (`evidence.tempering`). Its PMI with a block is the mixture's
score of the block less log p(T_j). Sealed data come as posteriors, which are tempered without a fit.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple, Protocol

import numpy as np

from ..arrays import Array, Rows
from ..evidence.tempering import Place, climb, repeats
from ..models import Fit, Fitter
from ..parallel import Engine
from ..parallel.runs import Run, map_resumable, refusing_foreign
from .designs import Arm, Design, Sample, Weighed, reweighed, same_sample, weights_of
from .evaluate import IMPOSSIBLE, fit_both, fit_sample, settled
from .metrics import METRICS, of_blocks
from .table import PairTable

NOTHING = [float("nan")] * len(METRICS)
VISITED = 4
"""Temperings that a walk tries, mostly: for an estimate of the time."""


class Posteriors(Protocol):
    """Sealed data: a fitter of the pool whose prior is their posterior, at each tempering."""

    @property
    def directions(self) -> int:
        """Of the grid of temperings."""
        ...

    @property
    def repeated(self) -> int:
        """By how many doublings their rows count more than once, by what their file says."""
        ...

    def __call__(self, place: Place) -> Fitter:
        """The fitter at one tempering."""
        ...


class Task(NamedTuple):
    """What every worker shares: arms and blocks, each block's own fit, and how often data rows count."""

    fitter: Fitter
    arms: Mapping[Arm, Sample]
    own: Mapping[Arm, Posteriors]
    tests: tuple[Sample, ...]
    fits: tuple[Fit, ...]
    tempering: float
    bounded: bool
    ids: Rows | None = None
    first: Fit | None = None

    @classmethod
    def of(
        cls,
        design: Design,
        fitter: Fitter,
        k: int,
        tempering: float,
        bounded: bool,
        own: Mapping[Arm, Posteriors] | None = None,
        ids: Rows | None = None,
    ) -> Task:
        """Arms and the first k blocks of a design, the first arm fitted: others begin there.

        `ids` tell which rows of the pool are the same; without them, all differ.
        """
        drawn = [Weighed(design, tempering).draw(j) for j in range(k)]
        tests = tuple(draw.test for draw in drawn)
        fits = tuple(fitter(test.rows, weights=test.weights) for test in tests)
        task = cls(fitter, drawn[0].arms, own or {}, tests, fits, tempering, bounded, ids)
        first = next(iter(task.arms))
        if first in task.own:
            return task
        return task._replace(first=fit_sample(fitter, task.arms[first], None)[0])

    @property
    def directions(self) -> int:
        """Of the grid of temperings of rows; a model without weights has none."""
        return int(getattr(self.fitter, "takes_weights", True))

    def repeated(self, arm: Arm) -> int:
        """By how many doublings an arm's rows count more than once."""
        if arm in self.own:
            return self.own[arm].repeated
        sample = self.arms[arm]
        rows = sample.rows if self.ids is None else self.ids[sample.rows]
        return repeats(rows, weights_of(sample))


class Scored(NamedTuple):
    """One arm at one tempering: its fit, and log p(T_j | D) of every block."""

    fitter: Fitter
    fit: Fit
    log_predictives: Array


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
    """Estimated seconds of `evaluate_whole` on one core: the largest arm is timed at one tempering.

    Not the first, at whose fit the others begin: it is there already. Others take as long as they have rows.
    """
    tested = sum(len(test.rows) for test in task.tests)
    rows = {arm: len(sample.rows) + tested for arm, sample in task.arms.items()}
    timed = max(list(rows)[1:] or rows, key=lambda arm: rows[arm])
    started = time.perf_counter()
    _scorer(task, timed)((0, 0))
    return (time.perf_counter() - started) * VISITED * sum(rows.values()) / rows[timed]


def _first_alike(task: Task, arm: Arm) -> Arm:
    """The first arm with the same rows: a change of nothing is to be nothing, to the last digit."""
    others = task.arms if arm not in task.own else ()
    alike = (one for one in others if one not in task.own and same_sample(task.arms[one], task.arms[arm]))
    return next(alike, arm)


def score_arm(task: Task, arm: Arm) -> dict[str, Any]:
    """The numbers of `table.COLUMNS` for every block, and the tempering at which they are best."""
    seen: dict[Place, Scored] = {}
    score = _scorer(task, arm)

    def at(place: Place) -> Array:
        seen[place] = score(place)
        found = seen[place].log_predictives
        return np.minimum(found, 0.0) if task.bounded else found

    directions = task.own[arm].directions if arm in task.own else task.directions
    best, scores = climb(at, directions, task.repeated(arm))
    fitter, fit, found = seen[best]
    plain = seen[(0,) * len(best)]  # information gain grows with tempering, so that all arms have the same
    gain, rows = plain.fitter.information_gain(plain.fit), len(task.arms[arm].rows)
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


def _scorer(task: Task, arm: Arm) -> Callable[[Place], Scored]:
    if arm in task.own:
        return partial(_score_posterior, task, task.own[arm])
    return partial(_score_rows, task, task.arms[arm], [])


def _score_rows(task: Task, sample: Sample, near: list[Fit], place: Place) -> Scored:
    """Fit the rows, counted 2^k times as often, and take their posterior to every block."""
    sample = reweighed(sample, 2.0 ** place[0])
    fit, targets = fit_sample(task.fitter, sample, task.first, near[-1] if near else None)
    near.append(fit)  # the next tempering begins where this one ended
    if hasattr(task.fitter, "log_predictives"):
        found = task.fitter.log_predictives(fit, [(test.rows, test.weights) for test in task.tests])
    else:
        pairs = zip(task.tests, task.fits, strict=True)
        joint: list[Fit] = []
        both = (fit_both(task.fitter, sample, test, (fit, alone), targets, joint) for test, alone in pairs)
        found = [one.log_z - fit.log_z for one in both]
    return Scored(task.fitter, fit, np.array(found))


def _score_posterior(task: Task, posteriors: Posteriors, place: Place) -> Scored:
    """Blocks under a sealed posterior; its own fit is that of no rows."""
    fitter = posteriors(place)
    found = [fitter(test.rows, weights=test.weights).log_z for test in task.tests]
    return Scored(fitter, fitter(np.zeros(0, dtype=np.intp)), np.array(found))
