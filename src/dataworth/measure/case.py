"""A measurement carried out: what was measured, what came out, and the means to measure it again otherwise.

Checks, parts of a score and its sensitivity all ask "and if …?": another inference, form or prior, on some of
the same pairs and arms. `again` answers.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import Any

from ..arrays import Array
from ..data.labels import Classes
from ..models import Fitter, Model
from ..models.base import bind
from .designs import Arm, Design, SomeArms, fingerprint
from .engines import Local, get_engine
from .evaluate import Scores, Visitor, evaluate, rehearse
from .intervals import Estimate, over_blocks, over_pairs
from .options import Options
from .prepare import Measurement, Pool
from .runs import Run
from .table import PairTable

PARALLEL_AFTER = 8.0
"""Seconds of work from which starting processes pays."""


@dataclass(frozen=True, kw_only=True)
class Plan:
    """A design and how many of its pairs or blocks; of pairs also how many disjoint ones the data hold, their
    size (rows of the data and of the test set), and what must be said of their number.
    """

    design: Design
    count: int
    blocks: float | None = None
    size: tuple[int, int] | None = None
    notes: tuple[str, ...] = ()

    def estimate(self, values: Array) -> Estimate:
        """From one number a pair or block to their mean, with its interval."""
        return over_blocks(values) if self.blocks is None else over_pairs(values, self.blocks)

    @property
    def unit(self) -> str:
        """What the numbers are counted over."""
        return "blocks" if self.blocks is None else "pairs"


@dataclass(frozen=True, kw_only=True)
class Case(Measurement):
    """One score, audit or ranking.

    arms: the arms whose difference (or whose value, if there is one) is the result. conclude: what a table
    says, in a word.
    """

    pool: Pool
    plan: Plan
    table: PairTable
    arms: tuple[Arm, ...]
    conclude: Callable[[Plan, PairTable], str | None]

    @classmethod
    def of(cls, base: Measurement, pool: Pool, plan: Plan, notes: tuple[str, ...] = (), **own: Any) -> Case:
        """Measure a plan, unless its `table` is given; `notes` are added to the others."""
        if "table" not in own:
            own["table"] = measure(base, pool, plan)
        return cls(**{**vars(base), "notes": base.notes + notes + plan.notes}, pool=pool, plan=plan, **own)

    @property
    def design(self) -> Design:
        """Which rows are measured against which."""
        return self.plan.design

    @property
    def blocks(self) -> float | None:
        """Disjoint blocks in the data, for designs that draw pairs."""
        return self.plan.blocks

    @property
    def estimate(self) -> Callable[[Array], Estimate]:
        """From one number a pair to a mean with its interval."""
        return self.plan.estimate

    def quantity(self, table: PairTable) -> Array:
        """The number that the result is about, pair by pair: a value, or the last arm less the first."""
        if len(self.arms) == 1:
            return table.column("pmi", self.arms[0])
        return table.change("pmi", self.arms[-1], self.arms[0])

    @property
    def found(self) -> Estimate:
        """The result's own estimate of it."""
        return self.estimate(self.quantity(self.table))

    def again(
        self,
        *,
        model: Model | None = None,
        form: str | None = None,
        eta: object = 0,
        pairs: int | None = None,
        arms: tuple[Arm, ...] | None = None,
        visit: Visitor | None = None,
    ) -> PairTable:
        """The first `pairs` pairs with some arms (default: all), by another model, form or visitor."""
        design = self.design if arms is None else SomeArms(self.design, arms)
        fitter = self.pool.fitter if model is None else bind(model, self.pool.X, self.pool.y)
        options = replace(self.options, run_dir=None, progress=None)
        count = len(self.table)
        if pairs is not None:  # a few, which need no processes and no estimate of their time
            count, options = min(pairs, count), replace(options, engine=Local(1))
        if form is not None:
            options = replace(options, form=form, eta=eta)
        scores = Scores(options.pmi_form, isinstance(self.yardstick.labels, Classes))
        return work_through(design, fitter, count, options, visit or scores)

    def work(self) -> float:
        """Rough number of multiplications that all pairs and arms take: Σ rows · features²."""
        features = self.pool.X.shape[1] + 1
        rows = self.table.data_rows + self.table.test_rows[:, None]
        return float(rows.sum()) * features**2


def measure(
    measurement: Measurement,
    pool: Pool,
    plan: Plan,
    own: Mapping[Arm, Fitter] | None = None,
    identity: Mapping[str, str] | None = None,
) -> PairTable:
    """Evaluate a plan's pairs where and how the options say, resumed from a run directory if there is one."""
    options = measurement.options
    scores = Scores(options.pmi_form, isinstance(measurement.yardstick.labels, Classes))

    def config() -> dict[str, Any]:
        drawn = fingerprint(plan.design.draw(i) for i in range(plan.count))
        return measurement.config(count=plan.count, drawn=drawn, own=dict(identity or {}))

    return work_through(plan.design, pool.fitter, plan.count, options, scores, own, config)


def work_through(
    design: Design,
    fitter: Fitter,
    k: int,
    options: Options,
    visit: Visitor,
    own: Mapping[Arm, Fitter] | None = None,
    config: Callable[[], dict[str, Any]] = dict,
) -> PairTable:
    """The loop, on the engine and in the run directory of the options."""
    engine = options.engine
    if isinstance(engine, str):
        seconds = rehearse(design, fitter, k, visit, own or {})
        jobs = options.jobs
        if jobs is None:
            jobs = -1 if seconds > PARALLEL_AFTER else 1
        engine = get_engine(engine, jobs)
        if options.progress is not None:
            options.progress.expect(seconds / (jobs if jobs > 0 else os.cpu_count() or 1))
    report = None if options.progress is None else options.progress.update
    run = options.run_dir
    with nullcontext(run) if run is None or isinstance(run, Run) else Run.open(run, config()) as kept:
        return evaluate(design, fitter, k, engine, visit=visit, own=own, run=kept, progress=report)
