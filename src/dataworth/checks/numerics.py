"""DW004 to DW007: do other ways of computing give the same number?

It matters when the other way's number lies outside the 95 % interval that the result states:

    shift = mean of (other − own) over the first few pairs or blocks;    material if |shift| > half its width.

The pairs are the same on both sides, so their own spread cancels.

DW004 compares the joint evidence, log Z(D∪T) − log Z(D) − log Z(T), with log Z(T) under the prior p(θ|D) less
log Z(T) under p(θ), which takes D's posterior for a Gaussian; both by EP. A result in another form is
compared with the evidence.

DW005 compares Laplace's method with EP (docs/exactness.md). Softmax has Laplace alone, so that of a score
U = log p(T_j | D) − log Z(T_j) the last term, where a Gaussian fits worst, is drawn from the prior instead.

DW006 samples every log Z that the result's number is made of, and fires if |shift| − 2 standard errors is
material. DW007 counts fits that did not meet their tolerance.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import NamedTuple

import numpy as np

from ..data.labels import Classes
from ..inference.importance import LARGEST_SHARE, Weights, softmax_from_prior
from ..inference.logistic import Counts
from ..inference.referee import Refereed, RefereeRefuses, referee_log_z
from ..measure import Arm, Case, PairTable, Scores, SomeArms, Visitor, targets_of, weights_of
from ..models import Linear, Logistic, Model, OneVsRest
from ..models.logistic import LogisticFitter
from ..models.softmax import SoftmaxFitter
from .base import CheckOutcome, not_run, quietly, too_costly

PAIRS, REFEREED = 4, 2
"""Pairs or blocks that are computed twice; that are sampled: for two arms, eight log Z at most."""
UNSTATED = 1.0
"""Nats that matter where the result has no interval: odds of e to 1."""
SURE = 2.0
"""Standard errors that the error of a sampled number may explain."""
LEFT_BY_SOLVERS = 1e-3
"""Nats that never matter, however narrow the interval."""
AFFORDABLE = 1e8
"""Rows · (features² + SITES) that may be fitted again by EP without being asked: about half a second."""
SITES = 1000
"""What EP's sites cost a row, in multiplications: 64 nodes, with their exponentials."""
DRAWS, DRAWING, EXPONENTIAL = 50_000, 1e8, 20
"""Draws from the prior for one block (ten times as many under `thorough`), and multiplications that they may
take, counting an exponential as 20: half a second a block."""
LARGEST_ERROR = 0.1
"""Standard error of a log Z, in nats, above which the draws are not believed."""
TARGETS = 0.02, 0.1
"""Least and largest standard error asked of the referee's log Z: an eighth of what matters, within these."""
OPERATIONS = 2e10
"""Rows · features · likelihoods that the referee may spend on one log Z: twenty seconds or so."""
FEWEST_LIKELIHOODS = 20_000
"""Below so many the referee's own tuning would not fit in."""
BY_ROW = "test rows are predicted one by one, by one posterior; pairs (size=, --size) can be compared"
AGAIN_BY_EP = "too many rows and features to do again by EP"


class Shift(NamedTuple):
    """What the result and the other way give over the same pairs, and from where on that matters (nats)."""

    own: float
    other: float
    limit: float
    pairs: int

    @property
    def value(self) -> float:
        """Other − own."""
        return self.other - self.own

    @property
    def material(self) -> bool:
        """Whether it matters."""
        return abs(self.value) > self.limit

    def outcome(self, own: str, other: str, stderr: float | None = None, whose: str = "") -> CheckOutcome:
        """What a check says of it; `own` and `other` name the two ways, `whose` what has that error."""
        if not np.isfinite(self.value):
            return not_run(f"{other} gives no number here")
        told = f"{own} {self.own:+.2f}, {other} {self.other:+.2f} nats over {self.pairs} pairs or blocks"
        told = f"{told}: {abs(self.value):.2g} apart, allowed up to {self.limit:.2g}"
        if stderr is None:
            return CheckOutcome(self.material, self.value, told)
        sure = abs(self.value) - SURE * stderr > self.limit
        return CheckOutcome(sure, self.value, f"{told} ({whose} standard error: {stderr:.2g})", stderr)


def limit_of(case: Case) -> float:
    """Half the width of the result's own interval."""
    interval = case.found.interval
    half = UNSTATED if interval is None else (interval[1] - interval[0]) / 2
    return max(half, LEFT_BY_SOLVERS)


def shift_of(case: Case, other: PairTable) -> Shift:
    """How far another table of the first few pairs is from the result's own."""
    return shift_to(case, float(case.quantity(other).mean()), len(other))


def shift_to(case: Case, other: float, pairs: int) -> Shift:
    """How far another mean over the first few pairs is from the result's own."""
    return Shift(float(case.quantity(case.table)[:pairs].mean()), other, limit_of(case), pairs)


def again_by(
    case: Case, model: Model | None = None, form: str | None = None, visit: Visitor | None = None
) -> PairTable | None:
    """The first few pairs by another model, form or visitor, as many as are affordable; None if none is."""
    pairs = PAIRS
    if not case.options.thorough:
        features = min(case.pool.X.shape[1] + 1, int(case.table.data_rows.max()))
        places = [case.table.arms.index(arm) for arm in case.arms]
        rows = float((case.table.data_rows[:, places] + case.table.test_rows[:, None]).sum(axis=1).max())
        pairs = min(PAIRS, int(AFFORDABLE / max(rows * (features**2 + SITES), 1.0)))
    if pairs < 1:
        return None
    with quietly():
        return case.again(model=model, form=form, pairs=pairs, arms=case.arms, visit=visit)


def forms(case: Case) -> CheckOutcome:
    """DW004: the first few pairs in another form."""
    model, form = case.yardstick.model, case.options.form
    if isinstance(model, Linear):
        return not_run("posteriors of numeric labels are exact: all forms are one number")
    if len(case.table.reference):
        return not_run(BY_ROW)
    if form != "evidence":
        # of whole blocks, as the form is: not row by row
        evidence = again_by(case, visit=Scores(bounded=isinstance(case.yardstick.labels, Classes)))
        if evidence is None:
            return too_costly(AGAIN_BY_EP)
        return shift_of(case, evidence).outcome(form, "evidence")
    if not isinstance(model, Logistic):
        return not_run("this model has no other form that is good enough to compare with")
    by_laplace, own = model.inference == "laplace", "joint evidence"
    ep = replace(model, inference="ep") if by_laplace else model
    table = again_by(case, ep, "sealed")
    if table is None:
        return too_costly(AGAIN_BY_EP)
    shift = shift_of(case, table)
    if shift.material and by_laplace:
        # whether the form or the inference did it; the latter is DW005's
        again = again_by(case, ep)
        assert again is not None
        shift = shift._replace(own=float(case.quantity(again).mean()))
        own = f"{own} (EP)"
    return shift.outcome(own, "by D's posterior (EP)")


def inference(case: Case) -> CheckOutcome:
    """DW005: the first few pairs by the other inference, or their test blocks by sampling."""
    model, fitter = case.yardstick.model, case.pool.fitter
    if isinstance(fitter, SoftmaxFitter):
        return sampled_blocks(case, fitter)
    if not isinstance(model, (Logistic, OneVsRest)):
        return not_run("posteriors of numeric labels are exact")
    if model.inference != "laplace":
        told = "posteriors by EP, or of so many rows that Laplace's method gives the same"
        return CheckOutcome(False, None, told)
    table = again_by(case, replace(model, inference="ep"))
    return too_costly(AGAIN_BY_EP) if table is None else shift_of(case, table).outcome("Laplace", "EP")


def sampled_blocks(case: Case, fitter: SoftmaxFitter) -> CheckOutcome:
    """Log Z(T_j) of the first few blocks, drawn from the prior."""
    if case.what != "score" or len(case.table.reference):
        return not_run("softmax knows Laplace alone; what is sampled here, log Z of the test, cancels")
    if case.options.form != "evidence":
        return not_run("softmax knows Laplace alone, and this form has no log Z of the test to sample")
    pairs = min(PAIRS, len(case.table))
    found = []
    for i in range(pairs):
        weights = from_prior(case, fitter, i)
        if weights.error > LARGEST_ERROR or weights.largest_share > LARGEST_SHARE:
            rows = len(case.design.draw(i).test.rows)
            return not_run(f"too few draws from the prior fit the labels of {rows} test rows at once")
        found.append(weights)
    moved = np.array([weights.log_z for weights in found]) - case.table.log_z_test[:pairs]
    stderr = float(np.sqrt(sum(weights.error**2 for weights in found))) / pairs
    shift = shift_to(case, 0.0, pairs)
    shift = shift._replace(other=shift.own - float(moved.mean()))
    return shift.outcome("Laplace", "with log Z of the test sampled", stderr, "the sampling's")


def from_prior(case: Case, fitter: SoftmaxFitter, i: int) -> Weights:
    """Likelihoods of the i-th test block at draws from the prior."""
    test = case.design.draw(i).test
    ids, counts = fitter.seen(test.rows, test.weights)
    X = fitter.X[ids]
    times = 10 if case.options.thorough else 1
    price = counts.size * (min(X.shape) + EXPONENTIAL)
    draws = int(times * min(DRAWS, max(DRAWING / max(price, 1), 100)))
    rng = np.random.default_rng([case.options.seed, 0x50F7, i])
    return softmax_from_prior(X, counts, float(fitter.model.prior_variance), rng, draws)


def referee(case: Case) -> CheckOutcome:
    """DW006: the first two pairs, sampled."""
    model, fitter = case.yardstick.model, case.pool.fitter
    if isinstance(model, Linear):
        return not_run("posteriors of numeric labels are exact")
    if not isinstance(model, Logistic) or not isinstance(fitter, LogisticFitter):
        return not_run("the referee knows two classes only")
    if len(case.table.reference):
        return not_run(BY_ROW)
    target, pairs = float(np.clip(limit_of(case) / 8, *TARGETS)), min(REFEREED, len(case.table))
    try:
        with quietly():
            value, stderr = refereed(case, fitter, target, pairs)
    except RefereeRefuses as refusal:
        return not_run(str(refusal))
    return shift_to(case, value, pairs).outcome("the result", "the referee", stderr, "the referee's")


def refereed(case: Case, fitter: LogisticFitter, target: float, pairs: int) -> tuple[float, float]:
    """The result's quantity over the first pairs, sampled, and its standard error.

    In the design *whole* an arm is sampled once for all blocks: it errs alike in all of them, so that its
    errors add up.
    """
    design = SomeArms(case.weighed, case.arms)
    first, last = case.arms[0], case.arms[-1]
    signs = {last: 1.0} if first == last else {first: -1.0, last: 1.0}

    def log_z(i: int, arm: Arm | None, what: str) -> Refereed:
        draw = design.draw(i)
        samples = [draw.test] if arm is None else [draw.arms[arm], draw.test][: 1 if what == "data" else 2]
        tallies = [fitter.seen(s.rows, weights_of(s), targets_of(fitter, s))[0] for s in samples]
        counts = Counts(*(np.sum(both, axis=0) for both in zip(*tallies, strict=True)))
        rows, features = (
            int(np.count_nonzero(counts.ones) + np.count_nonzero(counts.zeros)),
            fitter.X.shape[1],
        )
        budget = int(OPERATIONS / (max(rows, 1) * min(max(rows, 1), features)))
        if budget < FEWEST_LIKELIHOODS:
            raise RefereeRefuses(f"{rows} rows of {features} features are too many to be sampled.")
        own = ("joint", "data", "test").index(what), (*case.arms, None).index(arm)
        rng = np.random.default_rng([case.options.seed, 0x2EF, i, *own])
        return referee_log_z(fitter.X, counts, fitter.prior_variance, rng, target=target, budget=budget)

    alone = cache(lambda i, arm: log_z(i, arm, "data"))
    value, apart, together = 0.0, 0.0, dict.fromkeys(signs, 0.0)
    for i in range(pairs):
        for arm, sign in signs.items():
            joint = log_z(i, arm, "joint")
            data = alone(0 if design.arms_fixed else i, arm)
            value += sign * (joint.log_z - data.log_z)
            apart += joint.error**2 + (0.0 if design.arms_fixed else data.error**2)
            together[arm] += data.error if design.arms_fixed else 0.0
        if len(signs) == 1:
            test = log_z(i, None, "test")
            value -= test.log_z
            apart += test.error**2
    variance = apart + sum(error**2 for error in together.values())
    return value / pairs, float(np.sqrt(variance)) / pairs


def converged(case: Case) -> CheckOutcome:
    """DW007: fits that did not, counted when they were made; the test set's fit counts once an arm."""
    table = case.table
    unsettled = int(table.unsettled.sum())
    joint = case.options.form == "evidence" and not case.design.arms_fixed
    fits = table.unsettled.size * (3 if joint else 2)
    if not unsettled:
        return CheckOutcome(False, 0.0, f"all of {fits} fits converged")
    arms = ", ".join(str(arm) for arm, n in zip(table.arms, table.unsettled.sum(axis=0), strict=True) if n)
    told = f"{unsettled} of {fits} fits did not converge (arms: {arms})"
    return CheckOutcome(True, float(unsettled), told)
