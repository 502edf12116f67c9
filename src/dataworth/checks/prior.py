"""DW008 and DW009: other priors that the test set would have allowed, or preferred.

Plausible are prior variances that a likelihood-ratio test at 5 % does not exclude on halves of the test set,

    {C : held-out(C) ≥ held-out(chosen) − 1.92 nats},    held-out = Σ log p(row | T_a) over the rows of T_b.

DW008: where the chosen prior or noise variance is the last one that the search tries, a few beyond it are
tried. It fires if the best of them makes the chosen one implausible. (Noise as large as the labels' own
variance is no edge.)

DW009: everything is measured again at the two ends of the plausible range. It fires if the conclusion there
is another one; that a conclusion is no longer (or only there) shown is told, but does not fire.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import takewhile

import numpy as np

from ..arrays import Array, Rows
from ..data.dataset import Dataset
from ..measure import Case, PairTable
from ..models import Linear, Softmax
from ..yardstick.candidates import NOISES
from ..yardstick.kinds import YardstickModel
from ..yardstick.predictive import half_given_half
from ..yardstick.search import PRIORS, ROWS, searched, splits_of
from .base import CheckOutcome, not_run, quietly, too_costly

PLAUSIBLE = 1.92
"""Held-out nats: half the 95 % quantile of χ² with one degree of freedom."""
HALF_DECADE = float(np.sqrt(10.0))
"""The step of the yardstick's own grid of priors."""
STEPS = 4
"""Half-decades that are tried beyond an edge, and that the range may reach to either side: a factor of ten in
the coefficients."""
UNDECIDED = ("inconclusive", "unchanged", "improved", "cannot tell", "a tie")
ROUNDED = 0.01
"""Relative difference that the grid's three digits make."""
BEYOND, NEWTON = 3e9, 20
"""Multiplications that may be spent beyond an edge without being asked, at so many steps a fit."""
SEARCH, AFFORDABLE = 1e9, 1e8
"""Multiplications, by one step of each fit, that may be spent without being asked on finding the range and on
measuring again: half a second each, since the latter are many small fits."""


@dataclass(frozen=True)
class Halves:
    """Rows of the test set and their splits: the yardstick's own, if it was fitted to this test set."""

    sample: Dataset
    features: Array
    targets: Array
    splits: list[tuple[Rows, Rows]]
    tempering: float

    @classmethod
    def of(cls, case: Case) -> Halves:
        """As in `Yardstick.fit`."""
        yard = case.yardstick
        sample, splits = searched(case.test, yard.seed, yard.kind)
        return cls(sample, yard.features(sample), yard.targets(sample), splits, yard.tempering)

    def held_out(self, model: YardstickModel) -> float:
        """Mean over halves, both ways round, nats a half."""
        known = self.features, self.targets, self.splits, self.sample.weights
        with quietly():
            return half_given_half(model, self.tempering, *known)


def search_work(case: Case, features: int) -> float:
    """Rough number of multiplications of one held-out likelihood, at one step a fit."""
    rows = min(len(case.test), ROWS)
    return 2 * splits_of(case.yardstick.kind, rows) * rows * (features + 1) ** 2 * classes_factor(case)


def classes_factor(case: Case) -> float:
    """How many times the work of a fit grows, since several classes have several coefficients a feature."""
    model, names = case.yardstick.model, getattr(case.yardstick.labels, "names", ())
    return float(len(names) ** 2) if isinstance(model, Softmax) else 1.0


def prior_edge(case: Case) -> CheckOutcome:
    """DW008: candidates beyond every edge that the chosen yardstick stands at."""
    yard = case.yardstick
    if yard.chosen.held_out_stderr is None:
        return not_run("the yardstick was made by hand, not searched for")
    prior, edges = searched_prior(case), []
    at_edge = any(abs(prior / edge - 1.0) < 1e-9 for edge in (PRIORS[0], PRIORS[-1]))
    if case.options.prior_variance is None and at_edge:
        edges.append("prior")
    if yard.chosen.noise_variance == NOISES[0]:
        edges.append("noise")
    if not edges:
        return CheckOutcome(False, 0.0, "neither prior nor noise is the last one tried")
    spent = NEWTON * (1 + STEPS * len(edges)) * search_work(case, yard.chosen.size)
    if spent > BEYOND and not case.options.slow_checks:
        return too_costly(f"at the edge ({' and '.join(edges)}), but trying beyond is costly")
    parts = Halves.of(case)
    here = parts.held_out(yard.model)
    found = [(parts.held_out(model) - here, what) for what, model in beyond(case, edges)]
    gain, what = max(found, default=(0.0, ""))
    told = f"{', '.join(edges)} at the edge; the best beyond it gains {gain:.2g} nats"
    if gain > PLAUSIBLE:
        told = f"{what} is better by {gain:.1f} nats, held out on halves of the test set"
    return CheckOutcome(gain > PLAUSIBLE, gain, f"{told}, allowed up to {PLAUSIBLE}")


def searched_prior(case: Case) -> float:
    """C′ of the search's grid: w·C, or C/s²."""
    chosen = case.yardstick.chosen
    return chosen.prior_variance * chosen.tempering / (chosen.noise_variance or 1.0)


def beyond(case: Case, edges: list[str]) -> Iterator[tuple[str, YardstickModel]]:
    """Names and models of what stands beyond the edges."""
    model = case.yardstick.model
    for step in range(1, STEPS + 1):
        if "prior" in edges:
            way = HALF_DECADE if searched_prior(case) > 1 else 1 / HALF_DECADE
            variance = model.prior_variance * way**step
            yield f"prior variance {variance:.3g}", replace(model, prior_variance=variance)
        if "noise" in edges and isinstance(model, Linear):
            noise = NOISES[0] / HALF_DECADE**step
            yield f"noise variance {noise:.2g}", replace(model, noise_variance=noise)


def prior_range(case: Case) -> CheckOutcome:
    """DW009: measure again at both ends."""
    here = conclusion(case, case.table)
    if here is None:
        return not_run("there is no conclusion that could change")
    slow_checks = case.options.slow_checks
    if (2 * STEPS + 1) * search_work(case, case.pool.X.shape[1]) > SEARCH and not slow_checks:
        return too_costly("finding the plausible priors is costly here")
    ends = plausible_range(case)
    if not ends:
        return CheckOutcome(False, None, "no other prior on the grid is plausible")
    if len(ends) * case.work() * classes_factor(case) > AFFORDABLE and not slow_checks:
        also = " and ".join(map(in_full, ends))
        return too_costly(f"a prior variance of {also} would do as well, but measuring again is costly")
    found = {variance: conclusion(case, measured_at(case, variance)) for variance in ends}
    told = [f"{there!r} with {in_full(variance)}" for variance, there in found.items()]
    changed = [v for v, there in found.items() if there != here and not {there, here} & set(UNDECIDED)]
    other = changed[-1] if changed else None
    chosen = f"{here!r} with the chosen prior variance, {in_full(case.yardstick.model.prior_variance)}"
    allows = f"{' and '.join(told)}, which the test set allows as well"
    return CheckOutcome(other is not None, other, f"{chosen}; {allows}; no other conclusion is allowed")


def in_full(variance: float) -> str:
    """A prior variance to three digits, without powers of ten: 31,600 or 0.00316."""
    return f"{float(f'{variance:.3g}'):,.10g}"


def plausible_range(case: Case) -> list[float]:
    """The lower and the upper end, where there is one beside the chosen prior."""
    parts = Halves.of(case)
    least = parts.held_out(case.yardstick.model) - PLAUSIBLE
    ends = []
    for way in (1 / HALF_DECADE, HALF_DECADE):
        models = (at(case, way**step) for step in range(1, STEPS + 1))
        ends += [*takewhile(lambda model: parts.held_out(model) >= least, models)][-1:]
    return [model.prior_variance for model in ends]


def on_grid(variance: float) -> float:
    """The prior variance to three digits, or what stands there on the yardstick's grid."""
    near = [c for c in PRIORS if abs(np.log(c / variance)) < ROUNDED]
    return near[0] if near else float(f"{variance:.3g}")


def at(case: Case, factor: float) -> YardstickModel:
    """The yardstick's model with so many times its prior variance."""
    model = case.yardstick.model
    return replace(model, prior_variance=on_grid(model.prior_variance * factor))


def measured_at(case: Case, variance: float) -> PairTable:
    """Once more, with the strongest of the blind baselines; in this process unless it may be long."""
    own = [arm for arm in case.table.arms if arm.role == "own"]
    weaker = sorted(own, key=lambda arm: -float(case.table.column("pmi", arm).mean()))[1:]
    arms = tuple(arm for arm in case.table.arms if arm not in weaker)
    with quietly():
        pairs = None if case.options.slow_checks else len(case.table)
        model = replace(case.yardstick.model, prior_variance=variance)
        return case.again(model=model, pairs=pairs, arms=arms)


def conclusion(case: Case, table: PairTable) -> str | None:
    """What a table says, in a word; the best of several datasets only if its lead over the next is shown."""
    word = case.conclude(case.plan, table)
    if case.what != "rank" or len(table.arms) < 2:
        return word
    first, second = sorted(table.arms, key=lambda arm: -float(table.column("pmi", arm).mean()))[:2]
    lead = case.estimate(table.change("pmi", first, second))
    return word if lead.positive else "a tie"
