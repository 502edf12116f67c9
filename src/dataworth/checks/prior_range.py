"""DW009: would another plausible prior have led to another conclusion?

Plausible is a prior variance on the yardstick's half-decade grid, the features as they are, that the test set
does not exclude (checks/plausible.py). Everything is measured again at the two ends of that range.

It fires if the conclusion there is another one: a verdict against another verdict, yes against no, another
best dataset whose lead is shown. That a conclusion is no longer (or only there) shown is told, but does not
fire: near a border one of two plausible priors always says "inconclusive", and the two do not contradict.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..measure.case import Case
from ..measure.table import PairTable
from ..yardstick.kinds import YardstickModel
from ..yardstick.search import PRIORS, ROWS
from .base import Check, Seen, not_run, quietly
from .plausible import HALF_DECADE, PLAUSIBLE, Halves, fit_work, fits_of

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
