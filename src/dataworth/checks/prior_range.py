"""DW009: would another plausible prior have led to another conclusion?

Plausible is a prior variance on the yardstick's half-decade grid, the features as they are, that the test set
does not exclude (checks/plausible.py). Everything is measured again at the two ends of that range.

It fires if the conclusion there is another one: a verdict against another verdict, yes against no, another
best dataset whose lead is shown. That a conclusion is no longer (or only there) shown is told, but does not
fire: near a border one of two plausible priors always says "inconclusive", and the two do not contradict.

Which other priors the test set would have allowed.

The yardstick's search compares candidates by held-out log-likelihood, and so does this: Σ log p(row | T_a)
over the rows of T_b, for halves T_a and T_b of the test set. Twice a difference of log-likelihoods is χ² with
one degree of freedom if one number is varied, so

    {C : held-out(C) ≥ held-out(chosen) − 1.92 nats}

is what a likelihood-ratio test at 5 % does not exclude.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..arrays import Array, Rows
from ..data.dataset import Dataset
from ..measure import Case, PairTable
from ..models import OneVsRest, Softmax
from ..yardstick.kinds import YardstickModel
from ..yardstick.predictive import half_given_half
from ..yardstick.search import PRIORS, ROWS, searched, splits_of
from .base import Check, Seen, not_run, quietly

PLAUSIBLE = 1.92
"""Held-out nats: half the 95 % quantile of χ² with one degree of freedom."""
HALF_DECADE = float(np.sqrt(10.0))
"""The step of the yardstick's own grid of priors."""


@dataclass(frozen=True)
class Halves:
    """Rows of the test set and their splits: the yardstick's own, if it was fitted to this test set."""

    sample: Dataset
    targets: Array
    splits: list[tuple[Rows, Rows]]
    tempering: float

    @classmethod
    def of(cls, case: Case) -> Halves:
        """As in `Yardstick.fit`."""
        sample, splits = searched(case.test, case.yardstick.seed, case.yardstick.kind)
        return cls(sample, case.yardstick.targets(sample), splits, case.yardstick.tempering)

    def held_out(self, model: YardstickModel, features: Array) -> float:
        """Mean over halves, both ways round, nats a half."""
        with quietly():
            return half_given_half(
                model, self.tempering, features, self.targets, self.splits, self.sample.weights
            )


def fits_of(case: Case) -> int:
    """Fits for one held-out likelihood."""
    return 2 * splits_of(case.yardstick.kind, min(len(case.test), ROWS))


def fit_work(case: Case, rows: int, features: int) -> float:
    """Rough number of multiplications of one fit: several classes have several coefficients a feature."""
    model, names = case.yardstick.model, getattr(case.yardstick.labels, "names", ())
    power = 2 if isinstance(model, Softmax) else 1 if isinstance(model, OneVsRest) else 0
    return float(rows) * (features + 1) ** 2 * len(names) ** power


STEPS = 4
"""Half-decades that the range may reach to either side: a factor of ten in the coefficients."""
UNDECIDED = ("inconclusive", "improved", "cannot tell", "a tie")
ROUNDED = 0.01
"""Relative difference that the grid's three digits make."""
SEARCH, AFFORDABLE = 1e9, 1e8
"""Multiplications, by one step of each fit, that may be spent without being asked on finding the range and on
measuring again: half a second each, since the latter are many small fits."""


def look(case: Case) -> Seen:
    """Measure again at both ends."""
    here = conclusion(case, case.table)
    if here is None:
        return not_run("there is no conclusion that could change")
    rows, thorough = min(len(case.test), ROWS), case.options.thorough
    search = (2 * STEPS + 1) * fits_of(case) * fit_work(case, rows, case.pool.X.shape[1])
    if search > SEARCH and not thorough:
        return not_run("finding the plausible priors is costly here: --thorough (thorough=True) does")
    ends = plausible_range(case)
    if not ends:
        return Seen(False, None, "no other prior on the grid is plausible")
    if len(ends) * case.work() * fit_work(case, 1, 0) > AFFORDABLE and not thorough:
        also = " and ".join(map(in_full, ends))
        why = f"a prior variance of {also} would do as well, but measuring again is costly"
        return not_run(f"{why}: --thorough (thorough=True) does")
    told, other = [], None
    for variance in ends:
        table = measured_at(case, variance)
        there = conclusion(case, table)
        told.append(f"{there!r} with {in_full(variance)}")
        if there != here and not {there, here} & set(UNDECIDED):
            other = variance
    chosen = f"{here!r} with the chosen prior variance, {in_full(case.yardstick.model.prior_variance)}"
    allows = f"{' and '.join(told)}, which the test set allows as well"
    return Seen(other is not None, other, f"{chosen}; {allows}; no other conclusion is allowed")


def in_full(variance: float) -> str:
    """A prior variance to three digits, without powers of ten.

    >>> in_full(31600.0), in_full(0.00316)
    ('31,600', '0.00316')
    """
    return f"{float(f'{variance:.3g}'):,.10g}"


def plausible_range(case: Case) -> list[float]:
    """The lower and the upper end, where there is one beside the chosen prior."""
    model = case.yardstick.model
    parts = Halves.of(case)
    X = case.yardstick.features(parts.sample)
    least = parts.held_out(model, X) - PLAUSIBLE
    ends = []
    for way in (1 / HALF_DECADE, HALF_DECADE):
        steps = 0
        while steps < STEPS and parts.held_out(at(case, way ** (steps + 1)), X) >= least:
            steps += 1
        if steps:
            ends.append(at(case, way**steps).prior_variance)
    return ends


def at(case: Case, factor: float) -> YardstickModel:
    """The yardstick's model with so many times its prior variance."""
    model = case.yardstick.model
    wanted = model.prior_variance * factor
    on_grid = min(PRIORS, key=lambda c: abs(np.log(c / wanted)))
    near = abs(np.log(on_grid / wanted)) < ROUNDED
    return replace(model, prior_variance=on_grid if near else float(f"{wanted:.3g}"))


def measured_at(case: Case, variance: float) -> PairTable:
    """All pairs and arms once more; in this process unless it was asked for and may be long."""
    with quietly():
        pairs = None if case.options.thorough else len(case.table)
        return case.again(model=replace(case.yardstick.model, prior_variance=variance), pairs=pairs)


def conclusion(case: Case, table: PairTable) -> str | None:
    """What a table says, in a word; the best of several datasets only if its lead over the next is shown."""
    word = case.conclude(case.plan, table)
    if case.what != "rank" or len(table.arms) < 2:
        return word
    first, second = np.argsort(-table.pmi.mean(axis=0), kind="stable")[:2]
    lead = case.estimate(table.pmi[:, first] - table.pmi[:, second])
    return word if lead.positive else "a tie"


CHECK = Check(
    "DW009",
    "prior-range",
    "another prior, which the test set allows as well, leads to another conclusion",
    "read the conclusion as undecided; more test rows would settle the prior",
    look,
    stands=False,
    prior=True,
)
