"""DW010: are datasets too small to train on, or pairs so large that they overlap?

Too small: the value is not shown to differ from zero, and there are fewer rows than coefficients, or the size
curve (what n = N/8, N/4, N/2, N rows are worth) still rises at its end, by more than two standard errors,
paired over blocks. A zero then speaks of the size, not of the data.

Too large: an interval over pairs rests on m = min(N_D/n_D, N_T/n_T) disjoint blocks, and eight are wanted.
The size proposed is the largest that leaves them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from ..arrays import Array
from ..measure import MIN_BLOCKS, Arm, Case, Design, Draw, Sample, Scores, over_blocks, select
from ..measure.evaluate import evaluate
from ..measure.tempered import Predictions, Task, fit_arm
from ..models import Fitter, Logistic, bind
from ..parallel import Local
from .base import CHEAP, CheckOutcome, not_run

FRACTIONS = (1 / 8, 1 / 4, 1 / 2, 1.0)
BLOCKS = 8
"""Blocks or pairs of the curve: enough for a t of 2.4; all of them under `slow_checks`."""
SURE = 2.0
"""Standard errors from which a rise, or a value, is taken to be one."""
Curve = list[tuple[int, float, float]]


@dataclass(frozen=True)
class Sizes:
    """A design with random parts of one arm in place of its arms, the smaller inside the larger."""

    design: Design
    arm: Arm
    sizes: tuple[int, ...]
    seed: int
    arms_fixed: ClassVar[bool] = False  # other rows for every block, so that no single part decides

    def draw(self, i: int) -> Draw:
        """The i-th pair of the design."""
        drawn = self.design.draw(i)
        whole = drawn.arms[self.arm]
        order = np.random.default_rng([self.seed, 0x512E, i]).permutation(len(whole.rows))
        parts = {Arm("part", str(n)): select(whole, order[: min(n, len(order))]) for n in self.sizes}
        return Draw(parts, drawn.test)


def size(case: Case) -> CheckOutcome:
    """DW010: blocks first, then every dataset whose value may be zero."""
    if case.plan.blocks is not None and case.plan.blocks < MIN_BLOCKS:
        return overlapping(case, case.plan.blocks)
    arms = case.table.arms if case.what == "rank" else case.arms
    samples = case.design.draw(0).arms
    seen = [too_small(case, arm, samples[arm]) for arm in arms if arm in samples]
    if not seen:
        return not_run("sealed data have no rows")
    return max(seen, key=lambda one: bool(one.failed))


def overlapping(case: Case, blocks: float) -> CheckOutcome:
    """Pairs too large for the data."""
    first = case.design.draw(0)
    size = int(min(len(first.arms[case.arms[0]].rows), len(first.test.rows)) * blocks / MIN_BLOCKS)
    told = f"the data hold {blocks:.1f} disjoint blocks of this size, and {MIN_BLOCKS} are wanted"
    more = f": a size of {size} leaves them" if size > 1 else "; no size leaves them, so more rows are needed"
    return CheckOutcome(True, blocks, told + more)


def too_small(case: Case, arm: Arm, sample: Sample) -> CheckOutcome:
    """Whether one arm's value is lost in its error for want of rows; its rows by coefficients."""
    value = case.estimate(case.table.column("pmi", arm))
    rows, wanted = len(sample.rows), case.pool.X.shape[1] + 1
    few, share = rows < wanted, rows / wanted
    if value.positive or value.negative:
        why = f" for {wanted} coefficients" if few else ""
        return CheckOutcome(False, share, f"{arm}: {rows} rows{why} show a value that is not zero, as asked")
    told = f"{arm}: {rows} rows for {wanted} coefficients, and its value may be zero"
    if not affordable(case, arm):
        return CheckOutcome(few, share, told)
    curve, values = size_curve(case, arm)
    step = over_blocks(values[:, -1] - values[:, -2]) if len(curve) > 1 else None
    rises = step is not None and step.stderr is not None and step.value > SURE * step.stderr
    shown = "value by rows: " + ", ".join(f"{n}: {v:+.2f} ± {stderr:.2f}" for n, v, stderr in curve)
    if not (few or rises):
        return CheckOutcome(False, share, f"{told}; more rows do not raise it ({shown})")
    n, height, stderr = curve[-1]
    told = f"{told} ({shown})"
    if height > 0 and stderr > 0:  # if it goes on as n does, which it does while there are few
        told += f"; about {int(np.ceil(n * max(2.0, SURE * stderr / height)))} rows would show one"
    return CheckOutcome(True, share, told)


def size_curve(case: Case, arm: Arm) -> tuple[Curve, Array]:
    """Rows n, mean value and its standard error over a few blocks, for random parts of an arm; and what is
    behind it, blocks × sizes, counted from where the result is."""
    rows = len(case.design.draw(0).arms[arm].rows)
    sizes = tuple(sorted({max(1, round(rows * fraction)) for fraction in FRACTIONS}))
    fitter, model = case.pool.fitter, case.yardstick.model
    blocks = len(case.table) if case.options.slow_checks else min(BLOCKS, len(case.table))
    if case.options.own_model is None and isinstance(model, Logistic):
        # a curve's shape, not its height: Laplace's method will do
        fitter = bind(replace(model, inference="laplace"), case.pool.X, case.pool.y)
    if len(case.table.reference):
        values = by_row(case, arm, Sizes(case.design, arm, sizes, case.options.seed), fitter, blocks)
    else:
        design, visit = Sizes(case.weighed, arm, sizes, case.options.seed), Scores(case.options.pmi_form)
        values = evaluate(design, fitter, blocks, Local(1), visit=visit).pmi
    means = [over_blocks(column) for column in values.T]
    return [(n, e.value, e.stderr or 0.0) for n, e in zip(sizes, means, strict=True)], values


def by_row(case: Case, arm: Arm, design: Design, fitter: Fitter, blocks: int) -> Array:
    """Every part predicts the rows of its block at the tempering at which the arm fared best."""
    arms, pool = case.design.draw(0).arms, case.pool
    task = Task(fitter, arms, (), pool.tempering, bounded=True, given={}, ids=pool.ids)
    k = round(np.log2(case.table.tempering[arm] / fit_arm(task, arms[arm]).counted))

    def scores(drawn: Draw) -> list[float]:
        block = task._replace(arms=drawn.arms, tests=(drawn.test,))
        parts = ((part, fit_arm(block, sample)) for part, sample in drawn.arms.items())
        return [float(Predictions.of(block, part, fit).scores(k).sum()) for part, fit in parts]

    told = np.array([scores(design.draw(i)) for i in range(blocks)])
    return np.asarray(told - case.table.reference[:blocks, None])


def affordable(case: Case, arm: Arm) -> bool:
    """Whether the curve is no matter: all its parts are less than twice the arm's rows, fitted twice."""
    rows = 4 * float(case.table.column("data_rows", arm).mean()) + float(case.table.test_rows.mean())
    work = min(BLOCKS, len(case.table)) * rows * (case.pool.X.shape[1] + 1) ** 2
    return case.options.slow_checks or work < CHEAP
