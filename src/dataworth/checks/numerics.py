"""DW004 to DW007: do other ways of computing give the same number?

It matters when the other way's number lies outside the 95 % interval that the result states:

    shift = mean of (other − own) over the first few pairs or blocks;    material if |shift| > half its width.

The pairs are the same on both sides, so their own spread cancels.

DW004 compares the joint evidence, log Z(D∪T) − log Z(D) − log Z(T), with log Z(T) under the prior p(θ|D) less
log Z(T) under p(θ), which takes D's posterior for a Gaussian; both by EP. A result in another form is
compared with the evidence. DW005 compares Laplace's method with EP (docs/models.md). DW006 samples every
log Z that the result's number is made of, and fires if |shift| − 2 standard errors is material. DW007 counts
fits that did not meet their tolerance.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..data.labels import Classes
from ..inference.logistic import Counts
from ..inference.referee import Refereed, RefereeRefuses, referee_log_z
from ..measure import Case, PairTable, Sample, Scores, Visitor, targets_of, weights_of
from ..models import Logistic, Model
from ..models.logistic import LogisticFitter
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
TARGETS = 0.02, 0.1
"""Least and largest standard error asked of the referee's log Z: an eighth of what matters, within these."""
OPERATIONS = 2e10
"""Rows · features · likelihoods that the referee may spend on one log Z: twenty seconds or so."""
FEWEST_LIKELIHOODS = 20_000
"""Below so many the referee's own tuning would not fit in."""
BY_ROW = "test rows are predicted one by one, by one posterior; pairs (size=, --size) can be compared"


def limit_of(case: Case) -> float:
    """Half the width of the result's own interval."""
    interval = case.found.interval
    half = UNSTATED if interval is None else (interval[1] - interval[0]) / 2
    return max(half, LEFT_BY_SOLVERS)


def mean_of(case: Case, table: PairTable, pairs: int | None = None) -> float:
    """The mean of the result's quantity over the first pairs of a table."""
    return float(case.quantity(table if pairs is None else table.first(pairs)).mean())


def compared(
    case: Case, own: tuple[str, float], other: tuple[str, float], pairs: int, stderr: float | None = None
) -> CheckOutcome:
    """What a check says of two means over the same pairs; `stderr` is that of the second."""
    shift, limit = other[1] - own[1], limit_of(case)
    if not np.isfinite(shift):
        return not_run(f"{other[0]} gives no number here")
    told = f"{own[0]} {own[1]:+.2f}, {other[0]} {other[1]:+.2f} nats over {pairs} pairs or blocks: "
    told += f"{abs(shift):.2g} apart, allowed up to {limit:.2g}"
    told += "" if stderr is None else f" ({other[0]}'s standard error: {stderr:.2g})"
    return CheckOutcome(abs(shift) - SURE * (stderr or 0.0) > limit, shift, told, stderr)


def compared_tables(
    case: Case, own: tuple[str, PairTable | None], other: tuple[str, PairTable | None]
) -> CheckOutcome:
    """The same of two tables; none is one that would take too long."""
    if own[1] is None or other[1] is None:
        return too_costly("too many rows and features to do again by EP")
    pairs = len(other[1])
    return compared(case, (own[0], mean_of(case, own[1], pairs)), (other[0], mean_of(case, other[1])), pairs)


def again_by(
    case: Case, model: Model | None = None, form: str | None = None, visit: Visitor | None = None
) -> PairTable | None:
    """The first few pairs by another model, form or visitor, as many as are affordable; None if none is."""
    features = min(case.pool.X.shape[1] + 1, int(case.table.data_rows.max()))
    places = [case.table.arms.index(arm) for arm in case.arms]
    rows = float((case.table.data_rows[:, places] + case.table.test_rows[:, None]).sum(axis=1).max())
    affordable = (
        PAIRS if case.options.slow_checks else int(AFFORDABLE / max(rows * (features**2 + SITES), 1.0))
    )
    if affordable < 1:
        return None
    with quietly():
        return case.again(model=model, form=form, pairs=min(PAIRS, affordable), arms=case.arms, visit=visit)


def forms(case: Case) -> CheckOutcome:
    """DW004: the first few pairs in another form."""
    model, form = case.yardstick.model, case.options.form
    if getattr(model, "exact", False):
        return not_run("posteriors of numbers are exact: all forms are one number")
    if len(case.table.reference):
        return not_run(BY_ROW)
    if form != "evidence":
        # of whole blocks, as the form is: not row by row
        own: PairTable | None = case.table
        other = again_by(case, visit=Scores(bounded=isinstance(case.yardstick.labels, Classes)))
        names = form, "evidence"
    elif isinstance(model, Logistic):
        ep = replace(model, inference="ep")  # whatever Laplace's method does to both is DW005's
        laplace = model.inference == "laplace"
        own = again_by(case, ep) if laplace else case.table
        other = again_by(case, ep, "sealed")
        names = "joint evidence (EP)" if laplace else "joint evidence", "by D's posterior (EP)"
    else:
        return not_run("this model has no other form that is good enough to compare with")
    return compared_tables(case, (names[0], own), (names[1], other))


def inference(case: Case) -> CheckOutcome:
    """DW005: the first few pairs by the other inference."""
    model = case.yardstick.model
    if getattr(model, "exact", False):
        return not_run("posteriors of numbers are exact")
    if not isinstance(model, Logistic):
        return not_run("softmax knows Laplace's method alone")
    if model.inference != "laplace":
        told = "posteriors by EP, or of so many rows that Laplace's method gives the same"
        return CheckOutcome(False, None, told)
    table = again_by(case, replace(model, inference="ep"))
    return compared_tables(case, ("Laplace", case.table), ("EP", table))


def referee(case: Case) -> CheckOutcome:
    """DW006: the first two pairs, sampled."""
    model, fitter = case.yardstick.model, case.pool.fitter
    if getattr(model, "exact", False):
        return not_run("posteriors of numbers are exact")
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
    own = mean_of(case, case.table, pairs)
    return compared(case, ("the result", own), ("the referee", value), pairs, stderr)


def refereed(case: Case, fitter: LogisticFitter, target: float, pairs: int) -> tuple[float, float]:
    """The result's quantity over the first pairs, sampled, and its standard error."""

    def log_z(place: tuple[int, int, int], *samples: Sample) -> Refereed:
        tallies = [fitter.seen(s.rows, weights_of(s), targets_of(fitter, s))[0] for s in samples]
        counts = Counts(*(np.sum(both, axis=0) for both in zip(*tallies, strict=True)))
        rows, features = int((counts.ones > 0).sum() + (counts.zeros > 0).sum()), fitter.X.shape[1]
        budget = int(OPERATIONS / (max(rows, 1) * min(max(rows, 1), features)))
        if budget < FEWEST_LIKELIHOODS:
            raise RefereeRefuses(f"{rows} rows of {features} features are too many to be sampled.")
        rng = np.random.default_rng([case.options.seed, 0x2EF, *place])
        return referee_log_z(fitter.X, counts, fitter.prior_variance, rng, target=target, budget=budget)

    found: list[tuple[float, Refereed]] = []
    for i in range(pairs):
        draw = case.weighed.draw(i)
        for a, arm in enumerate(case.arms):
            sign, data = 1.0 if arm == case.arms[-1] else -1.0, draw.arms[arm]
            found += [(sign, log_z((i, 0, a), data, draw.test)), (-sign, log_z((i, 1, a), data))]
        if len(case.arms) == 1:
            found.append((-1.0, log_z((i, 2, 1), draw.test)))
    value = sum(sign * one.log_z for sign, one in found) / pairs
    return value, float(np.sqrt(sum(one.error**2 for _, one in found))) / pairs


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
