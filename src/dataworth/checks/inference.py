"""DW005: does Laplace's method give the number that a better one does?

Two classes: EP is the default, and nothing is left to compare. Where Laplace's method was asked for, a few
pairs are done again by EP, which is nearly always the closer one (docs/exactness.md).

Softmax has Laplace alone, so that of a score

    U = log p(T_j | D) − log Z(T_j),    log p(T_j | D) ≤ 0,

the last term, where few rows meet the bare prior and a Gaussian fits worst, is drawn from the prior instead
(inference/importance.py). In differences between datasets it cancels.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..inference.importance import LARGEST_SHARE, Weights, softmax_from_prior
from ..measure import Case
from ..models import Logistic, OneVsRest
from ..models.softmax import SoftmaxFitter
from .base import PAIRS, Check, Seen, again_by, mean_of, not_run, shift_of, shift_to

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
    if model.inference != "laplace":
        return Seen(False, None, "posteriors by EP, or of so many rows that Laplace's method gives the same")
    table = again_by(case, replace(model, inference="ep"))
    if table is None:
        return not_run("too many rows and features to do again by EP: --thorough (thorough=True) does")
    return shift_of(case, table).seen("Laplace", "EP")


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
