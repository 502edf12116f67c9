"""DW005: does Laplace's method give the number that a better one does?

Two classes: EP. Both approximate the same posterior, one at its mode and one by its moments. Where they agree
the posterior is near Gaussian, and either will do; where they do not, EP is nearly always the closer one
(docs/exactness.md), and decides: the result is computed again by EP, and says so.

Softmax has Laplace alone, so that of a score

    U = log p(T_j | D) − log Z(T_j),    log p(T_j | D) ≤ 0,

the last term, where few rows meet the bare prior and a Gaussian fits worst, is drawn from the prior instead
(inference/importance.py). In differences between datasets it cancels.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from ..inference.importance import LARGEST_SHARE, Weights, softmax_from_prior
from ..measure.case import Case
from ..measure.table import PairTable
from ..models import Logistic, OneVsRest
from ..models.base import bind
from ..models.logistic import INFERENCES
from ..models.softmax import SoftmaxFitter
from .base import Check, Seen, not_run
from .material import PAIRS, again_by, mean_of, shift_of, shift_to

NAMES = {"laplace": "Laplace", "ep": "EP"}
DRAWS = 50_000
"""Draws from the prior for one block; ten times as many under `thorough`."""
OPERATIONS = 1e8
"""Multiplications that they may take, at ROUND for the exponential of a predictor: half a second a block."""
ROUND = 20
LARGEST_ERROR = 0.1
"""Standard error of a log Z, in nats, above which the draws are not believed."""


def look(case: Case) -> Seen:
    """The first few pairs by the other inference, or their test blocks by sampling."""
    model, fitter = case.yardstick.model, case.pool.fitter
    if isinstance(fitter, SoftmaxFitter):
        return look_at_softmax(case, fitter)
    if not isinstance(model, (Logistic, OneVsRest)):
        return not_run("posteriors of numeric labels are exact")
    other = next(name for name in INFERENCES if name != model.inference)
    table = again_by(case, replace(model, inference=other))
    if table is None:
        return not_run("too many rows and features to do again by EP: --thorough (thorough=True) does")
    seen = shift_of(case, table).seen(NAMES[model.inference], NAMES[other])
    return seen._replace(fires=False) if model.inference == "ep" else seen


def by_ep(case: Case) -> Case:
    """The case by EP, with a note, where Laplace's method differs by more than the interval allows."""
    model = case.yardstick.model
    if (
        case.options.own_model is not None
        or case.sealed
        or case.passes
        or not isinstance(model, (Logistic, OneVsRest))
        or model.inference == "ep"
    ):
        return case
    better = replace(model, inference="ep")
    return decided(case, better, look(case), lambda: case.again(model=better))


def decided(case: Case, better: Logistic | OneVsRest, seen: Seen, table: Callable[[], PairTable]) -> Case:
    """The case by a better model, where it was seen to differ; `table` is what that one finds."""
    if not seen.fires:
        return replace(case, seen={**case.seen, CHECK.code: seen})
    told = f"EP decides where Laplace's method differs from it: {seen.detail}"
    return replace(
        case,
        yardstick=replace(case.yardstick, model=better),
        pool=replace(case.pool, fitter=bind(better, case.pool.X, case.pool.y)),
        table=table(),
        notes=(*case.notes, told),
        seen={**case.seen, CHECK.code: seen._replace(fires=False, detail=told)},
    )


def look_at_softmax(case: Case, fitter: SoftmaxFitter) -> Seen:
    """Log Z(T_j) of the first few blocks, drawn from the prior."""
    if case.what != "score":
        return not_run("softmax knows Laplace alone; what is sampled here, log Z of the test, cancels")
    if case.options.form != "evidence":
        return not_run("softmax knows Laplace alone, and this form has no log Z of the test to sample")
    pairs = min(PAIRS, len(case.table))
    found = []
    for i in range(pairs):
        weights = sampled(case, fitter, i)
        if weights.error > LARGEST_ERROR or weights.largest_share > LARGEST_SHARE:
            rows = len(case.design.draw(i).test.rows)
            return not_run(f"too few draws from the prior fit the labels of {rows} test rows at once")
        found.append(weights)
    moved = np.array([weights.log_z for weights in found]) - case.table.log_z_test[:pairs]
    stderr = float(np.sqrt(sum(weights.error**2 for weights in found))) / pairs
    shift = shift_to(case, mean_of(case, pairs) - float(moved.mean()), pairs)
    return shift.seen("Laplace", "with log Z of the test sampled", stderr, "the sampling's")


def sampled(case: Case, fitter: SoftmaxFitter, i: int) -> Weights:
    """Likelihoods of the i-th test block at draws from the prior."""
    test = case.design.draw(i).test
    ids, counts = fitter.seen(test.rows, test.weights)
    X = fitter.X[ids]
    times = 10 if case.options.thorough else 1
    price = counts.size * (min(X.shape) + ROUND)
    draws = int(times * min(DRAWS, max(OPERATIONS / max(price, 1), 100)))
    rng = np.random.default_rng([case.options.seed, 0x50F7, i])
    return softmax_from_prior(X, counts, float(fitter.model.prior_variance), rng, draws)


CHECK = Check(
    "DW005",
    "inference",
    "Laplace and a better method differ by more than the interval allows for: "
    "the number is that of an approximation",
    "two classes: prefer EP (--inference ep), mostly the closer one, and --thorough samples a few pairs; "
    "more classes: a narrower prior, or more test rows",
    look,
    prior=True,
)
