"""Which labels are wrong: log p(label | all other rows), and the probability that it is another.

Every row of the data has its given label with probability 1 − ε and any of the others with ε/(K − 1); labels
of the test set are taken as they are. Expectation–maximisation over the true labels:

    r_ic ∝ p(c | x_i, all others) · (1 − ε if c = y_i else ε/(K − 1)),   p_mislabeled = 1 − r_{i,y_i},

with the others' labels as soft as their own r says, and ε the mean of p_mislabeled (with ten rows, one
of them wrong, in front). The test set's rows count as often as the data's: on seven sets (`docs/values.md`)
that found more wrong labels than test rows that count once.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit, logsumexp

from ...arrays import Array
from ...errors import DataworthError
from ...inference.logistic import Counts
from ...inference.removal import see, see_gaussian, toggle_each
from ...inference.sites import Sites
from ...measure import Estimate, over_blocks, select
from ...models import Linear, MultiLinear
from ...yardstick.yardstick import Yardstick
from ..blocks import DATA, Blocks
from ..result import nats
from .rows import RIGHT, ROUNDS, WRONG, Table, Trust, class_count
from .vectors import trust_vectors


def trust_classes(table: Table, classes: int) -> Trust:
    """Two classes by one logistic regression; more by one each, their probabilities divided by their sum."""
    data, test = table.data, table.test
    given = np.eye(classes)[data.y.astype(np.intp)]
    known = np.eye(classes)[test.y.astype(np.intp)]
    problems = [1] if classes == 2 else list(range(classes))
    starts: dict[int, Sites] = {}
    soft, rate, loo_log_likelihood = given, WRONG / (WRONG + RIGHT), np.zeros(len(data.y))
    wrong = np.zeros(len(data.y))
    for turn in range(ROUNDS):
        found = np.empty((len(data.y), classes))
        for c in problems:
            own = data.labelled(soft[:, c])
            counts = own.counted(len(table.X))
            fixed = test._replace(weights=table.tempering * test.weights).labelled(known[:, c])
            beside = fixed.counted(len(table.X))
            counts = Counts(counts.ones + beside.ones, counts.zeros + beside.zeros)
            seen = see(table.X, table.prior_variance, counts, starts.get(c))
            starts[c] = seen.sites
            asked = own._replace(label=np.ones(len(data.y)))
            found[:, c] = toggle_each(seen, counts, asked, np.inf).loo_log_likelihood
        if classes == 2:
            found[:, 0] = np.log(np.maximum(-np.expm1(found[:, 1]), np.finfo(float).tiny))
        found -= logsumexp(found, axis=1, keepdims=True)
        loo_log_likelihood = found[given > 0] if turn == 0 else loo_log_likelihood
        said = np.where(given > 0, np.log1p(-rate), np.log(rate / (classes - 1)))
        soft = np.exp(found + said - logsumexp(found + said, axis=1, keepdims=True))
        wrong = 1.0 - soft[given > 0]
        rate = (wrong.sum() + WRONG) / (len(wrong) + WRONG + RIGHT)
    other = np.where(given > 0, -np.inf, found).argmax(axis=1)
    right = np.exp(found[given > 0])
    return Trust(loo_log_likelihood, wrong, right, (1.0 - right) / (classes - 1), other.astype(float))


def trust_numbers(table: Table, noise: float) -> Trust:
    """Numeric labels: a wrong one is any number, N(0, 1) in the test set's units, and counts for nothing.

    How far right labels lie from their predictions is told by the test set's own, each predicted without it.
    """
    data, test = table.data, table.test
    n, y = len(data.y), np.concatenate([data.y, test.y])
    X = table.X[np.concatenate([data.place, test.place])]
    full = np.concatenate([data.weights, table.tempering * test.weights]) / noise
    anything = -0.5 * (np.log(2.0 * np.pi) + data.y**2)
    wrong, rate, loo_log_likelihood = np.zeros(n), WRONG / (WRONG + RIGHT), np.zeros(n)
    for turn in range(ROUNDS):
        tau = full * np.concatenate([1.0 - wrong, np.ones(len(test.y))])
        mean, variance = see_gaussian(X, table.prior_variance, Sites(tau, tau * y)).cavity(np.arange(len(y)))
        square, spread = (y - mean) ** 2, variance + noise
        spread *= float(np.average(square[n:] / spread[n:], weights=test.weights))
        found = -0.5 * (np.log(2.0 * np.pi * spread) + square / spread)[:n]
        loo_log_likelihood = found if turn == 0 else loo_log_likelihood
        wrong = expit(anything - found + np.log(rate) - np.log1p(-rate))
        rate = (wrong.sum() + WRONG) / (n + WRONG + RIGHT)
    return Trust(loo_log_likelihood, wrong, np.exp(found), np.exp(anything), mean[:n])


def trust(yardstick: Yardstick, table: Table) -> Trust:
    """The trust in every label."""
    if isinstance(yardstick.model, MultiLinear):
        return trust_vectors(table, yardstick.model)
    if isinstance(yardstick.model, Linear):
        return trust_numbers(table, float(yardstick.model.noise_variance))  # type: ignore[arg-type]
    return trust_classes(table, class_count(yardstick))


CELLS = 1000
RATES = (np.arange(CELLS) + 0.5) / CELLS


def error_rate(if_right: Array, if_wrong: Array, level: float) -> Estimate:
    """The proportion ε of wrong labels among some rows: mean, s.d. and shortest interval of its posterior

        p(ε | labels) ∝ Beta(ε; WRONG, RIGHT) · Π_i [(1 − ε) · if_right_i + ε · if_wrong_i].

    >>> sure = np.repeat([0.99, 0.01], [70, 30])
    >>> found = error_rate(sure, 1.0 - sure, 0.95)
    >>> round(found.value, 2), found.interval[0] < 0.3 < found.interval[1]
    (0.28, True)
    """
    prior = (WRONG - 1.0) * np.log(RATES) + (RIGHT - 1.0) * np.log1p(-RATES)
    likelihood = np.log(np.outer(1.0 - RATES, if_right) + np.outer(RATES, if_wrong)).sum(axis=1)
    chance = np.exp(prior + likelihood - (prior + likelihood).max())
    chance /= chance.sum()
    value = float(chance @ RATES)
    spread = float(np.sqrt(chance @ (RATES - value) ** 2))
    below = np.append(0.0, chance.cumsum())
    ends = np.searchsorted(below, below + level)
    starts = np.flatnonzero(ends <= CELLS)
    first = starts[(ends[starts] - starts).argmin()] if len(starts) else 0
    return Estimate(value, spread, (float(first / CELLS), float(min(ends[first], CELLS) / CELLS)))


DOUBTED = 0.5
"""Labels more likely wrong than right are left out."""


@dataclass(frozen=True, kw_only=True)
class CrossFit:
    """What leaving out doubted labels changes, nats per block, where parts of the test set had no say in it.

    left_out: rows, on average over the parts.
    """

    parts: int
    left_out: float
    change: Estimate = nats()


def cross_fitted(blocks: Blocks, table: Table, parts: int) -> CrossFit:
    """Blocks of the test set are dealt out to the parts; every part is judged on its own blocks."""
    whole, test, plan = blocks.samples[DATA], blocks.test, blocks.plan({})
    if plan.count < 2 * parts:
        raise DataworthError(
            f"cross_fit is {parts}, but the test set has {plan.count} blocks: give at most {plan.count // 2}."
        )
    part = np.arange(plan.count) % parts
    samples, left_out = {"all": whole}, []
    for k in range(parts):
        own = np.concatenate([plan.design.draw(int(j)).test.rows for j in np.flatnonzero(part == k)])
        chosen = table.tested_on(~np.isin(test.rows, own))
        doubted = trust(blocks.prepared.yardstick, chosen).p_mislabeled > DOUBTED
        left_out.append(int(doubted.sum()))
        samples[f"without {k}"] = select(whole, np.flatnonzero(~doubted))
    pmi = blocks.table(samples).pmi  # of blocks, in the order of the samples
    change = pmi[np.arange(plan.count), 1 + part] - pmi[:, 0]
    return CrossFit(parts=parts, left_out=float(np.mean(left_out)), change=over_blocks(change))
