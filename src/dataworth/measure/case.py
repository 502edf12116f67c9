"""A measurement carried out: what was measured, what came out, and the means to measure it again otherwise.

Checks, parts of a score and its sensitivity all ask "and if …?": another inference, form or prior, on some of
the same pairs and arms. `again` answers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from functools import cache, partial
from typing import Any

from ..arrays import Array
from ..data.labels import Classes
from ..evidence.forms import Form
from ..models import Model
from ..models.base import bind
from ..parallel import Local, get_engine
from ..parallel.runs import Run
from .designs import Arm, Design, SomeArms, Weighed, fingerprint
from .evaluate import Scores, Visitor, evaluate, rehearse
from .intervals import Estimate, over_blocks, over_pairs
from .options import Options
from .prepare import Measurement, Pool
from .slices import Column, attribute_of
from .table import PairTable
from .tempered import ArmPosterior, Task, evaluate_whole, score_first, seconds_of_all

UNTEMPERED = (
    "the model's fit takes no weights or ignores them, so that tempering stays at 1: an under-confident "
    "model then rewards repeated rows (DW001)"
)
PARALLEL_AFTER = 8.0
"""Seconds of work from which starting processes pays."""


@dataclass(frozen=True, kw_only=True)
class Plan:
    """A design and how many of its pairs or blocks; of pairs also how many disjoint ones the data hold, their
    size (rows of the data and of the test set), and what must be said of their number. metric: the benchmark
    beside the information (`metrics.BENCHMARKS`). attribute: of the test set, if one was declared.
    """

    design: Design
    count: int
    metric: str = "accuracy"
    attribute: Column | None = None
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
        plan = replace(plan, metric=base.metric, attribute=attribute_of(base))
        if "table" not in own:
            own["table"] = measure(base, pool, plan)
        if not getattr(pool.fitter, "takes_weights", True):
            notes += (UNTEMPERED,)
        return cls(**{**vars(base), "notes": base.notes + notes + plan.notes}, pool=pool, plan=plan, **own)

    @property
    def design(self) -> Design:
        """Which rows are measured against which."""
        return self.plan.design

    def estimate(self, values: Array) -> Estimate:
        """From one number a pair to a mean with its interval."""
        return self.plan.estimate(values)

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
        """The first `pairs` pairs with some arms (default: all), by another model, form or visitor.

        Another model finds the tempering of each arm anew, from all blocks; a form or a visitor that asks for
        pairs sees each arm at the tempering that was found.
        """
        plan = self.plan if arms is None else replace(self.plan, design=SomeArms(self.design, arms))
        pool, options = self.pool, replace(self.options, run_dir=None, progress=None)
        if model is not None:
            pool = replace(pool, fitter=bind(model, pool.X, pool.y))
        if pairs is not None:  # a few, which need no processes and no estimate of their time
            options = replace(options, engine=Local(1))
        if form is not None:
            options = replace(options, form=form, eta=eta)
        bounded = isinstance(self.yardstick.labels, Classes)
        return Work(plan, pool, options, bounded, visit, self.table.tempering).first(pairs)

    @property
    def weighed(self) -> Design:
        """The design with rows that count as often as they did where each arm fared best."""
        return Weighed(self.design, self.pool.tempering, self.table.tempering)

    def work(self) -> float:
        """Rough number of multiplications that all pairs and arms take: Σ rows · features²."""
        features = self.pool.X.shape[1] + 1
        rows = self.table.data_rows + self.table.test_rows[:, None]
        return float(rows.sum()) * features**2


def measure(
    measurement: Measurement,
    pool: Pool,
    plan: Plan,
    given: Mapping[Arm, Callable[[], ArmPosterior]] | None = None,
    identity: Mapping[str, str] | None = None,
) -> PairTable:
    """Evaluate a plan's pairs where and how the options say, resumed from a run directory if there is one."""

    def config() -> dict[str, Any]:
        drawn = fingerprint(plan.design.draw(i) for i in range(plan.count))
        return measurement.config(count=plan.count, drawn=drawn, own=dict(identity or {}))

    bounded = isinstance(measurement.yardstick.labels, Classes)
    return Work(plan, pool, measurement.options, bounded, given=given).through(config)


@dataclass(frozen=True)
class Work:
    """A plan to be carried out: arms at their best tempering where that can be, else pair by pair.

    bounded: whether labels are classes, whose probability is at most 1. tempering: of arms, where known.
    """

    plan: Plan
    pool: Pool
    options: Options
    bounded: bool
    visit: Visitor | None = None
    tempering: Mapping[Arm, float] = field(default_factory=dict)
    given: Mapping[Arm, Callable[[], ArmPosterior]] | None = None

    @property
    def tempers(self) -> bool:
        """Whether arms are scored by a mixture over temperings: those that are the same for every block."""
        return self.plan.design.arms_fixed and self.visit is None and self.options.pmi_form == Form()

    def first(self, pairs: int | None) -> PairTable:
        """The first pairs of the plan; all if none are given."""
        if pairs is None or self.tempers:  # a mixture needs all blocks
            table = self.through()
            return table if pairs is None else table.first(pairs)
        return replace(self, plan=replace(self.plan, count=min(pairs, self.plan.count))).through()

    def through(self, config: Callable[[], dict[str, Any]] = dict) -> PairTable:
        """The plan, on the engine and in the run directory of the options; rows are worth what they tell
        beyond proportions."""
        design, count, fitter = self.plan.design, self.plan.count, self.pool.fitter
        if not self.tempers:
            weighed = Weighed(design, self.pool.tempering, self.tempering)
            visit = self.visit or Scores(self.options.pmi_form, self.bounded)
            table = self.carry_out(
                lambda run: rehearse(weighed, fitter, count, visit),
                partial(evaluate, weighed, fitter, count, visit=visit),
                config,
            )
            return replace(table, tempering=dict(self.tempering))
        task = Task.of(design, self.pool, count, bounded=self.bounded, given=self.given or {})
        first = cache(partial(score_first, task))
        return self.carry_out(
            lambda run: seconds_of_all(task, first(run)[1]),
            partial(evaluate_whole, task, first),
            config,
        )

    def carry_out(
        self,
        rehearsal: Callable[[Run | None], float],
        evaluation: Callable[..., PairTable],
        config: Callable[[], dict[str, Any]],
    ) -> PairTable:
        """An evaluation, with as many processes as it is worth."""
        engine, options, run = self.options.engine, self.options, self.options.run_dir
        report = None if options.progress is None else options.progress.update
        with nullcontext(run) if run is None or isinstance(run, Run) else Run.open(run, config()) as kept:
            if engine is None or isinstance(engine, str):
                seconds = rehearsal(kept)
                enough = -1 if seconds > PARALLEL_AFTER else 1
                engine = get_engine(engine, options.jobs, options.address, enough=enough)
                if options.progress is not None:
                    options.progress.expect(seconds / engine.workers)
            return evaluation(engine=engine, run=kept, progress=report)
