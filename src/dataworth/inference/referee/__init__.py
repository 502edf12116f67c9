"""The referee: log evidence of binary logistic regression by sampling, with its own standard error.

    Z = ∫ Π σ(fᵢ)^onesᵢ σ(−fᵢ)^zerosᵢ N(θ; 0, C·I) dθ,    f = offset + Xθ

It judges Laplace and EP and trusts neither: Laplace's Gaussian is a place to start, but what is returned is
an average of importance weights whose expectation is Z whatever the start was. Two estimators, in this order:

- *importance*: a Student t fitted to the posterior's moments, then fresh draws from it. The prior's tails are
  Gaussian and the likelihood is bounded, so p/t is bounded, every weight is, and their variance is finite.
- *annealed*: independent chains from that t to the posterior p through t^(1−β) p^β (Neal 2001), so that these
  weights are bounded too (from a Gaussian, one chain in 10⁵ was seen to weigh as much as 500 others). Moves
  are Hamiltonian and accepted or not (Metropolis), so that each of these distributions is exactly invariant.
  Elliptical slice sampling, which has no step size, was measured too: with 50 features at C = 100 its chains
  fall behind (variance of log w near 6 however fine the steps; here 0.5).

Everything that is tuned (moments, schedule, step sizes, number of draws) is tuned on draws that are then
thrown away. The posterior is log-concave, so there are no modes to miss; what can go wrong is too few draws
for weights too uneven, and that the weights show: then the referee refuses. Draws are made in blocks, which
bounds memory.
"""

from __future__ import annotations

import numpy as np

from ...arrays import Array
from ..logistic import Counts
from .annealing import adapt_by_chains, annealed
from .importance import adapt_by_weights, importance, laplace_start
from .problem import Meter, RefereeRefuses, log_likelihood, whiten
from .weights import FEWEST, Refereed, Weights

__all__ = ["BUDGET", "RefereeRefuses", "Refereed", "referee_log_z"]

BUDGET = 5_000_000
"""Likelihoods or gradients of one θ that may be computed for one log Z; 2 to 8 µs each at 30 to 400 rows."""
WORTHWHILE = 0.05
"""Effective draws per draw below which importance sampling is not tried: annealing is cheaper and safer."""


def referee_log_z(
    X: Array,
    counts: Counts,
    prior_variance: float,
    rng: np.random.Generator,
    *,
    offset: Array | float = 0.0,
    target: float = 0.02,
    budget: int = BUDGET,
) -> Refereed:
    """Log evidence with a standard error of at most `target`, or `RefereeRefuses`.

    `budget` bounds the work, in likelihoods or gradients of one θ; the same generator gives the same answer.

    >>> one = Counts(np.ones(1), np.zeros(1))  # a single row: Z = 1/2 by symmetry
    >>> found = referee_log_z(np.array([[1.0, -2.0]]), one, 9.0, np.random.default_rng(0))
    >>> found.method, bool(abs(found.log_z - np.log(0.5)) < 5 * found.error <= 5 * 0.02)
    ('importance', True)
    """
    problem = whiten(X, counts, prior_variance, offset)
    if not problem.rows.size:
        # nothing depends on θ: the integral is over the prior alone
        constant, _ = log_likelihood(problem.shift[None], problem.weights)
        return Refereed(float(constant[0]), 0.0, np.inf, 0, "exact")
    meter = Meter(budget)
    proposal, efficiency = adapt_by_weights(problem, laplace_start(problem), rng, meter)
    best = None
    if efficiency > WORTHWHILE:
        best = importance(problem, proposal, efficiency, target, rng, meter)
        if not best.doubts(target):
            return best.answer("importance")
    try:
        last = annealed(problem, adapt_by_chains(problem, proposal, rng, meter), target, rng, meter)
    except RefereeRefuses:
        if best is None:
            raise
        last = best  # the budget ended: what importance sampling reached says more
    if not last.doubts(target):
        return last.answer("annealed")
    raise RefereeRefuses(refusal(last if best is None or last.error < best.error else best, target, budget))


def refusal(tally: Weights, target: float, budget: int) -> str:
    """What was reached, what was needed, what to do: one sentence."""
    return (
        f"the evidence could not be established: {tally.doubts(target)} "
        f"(reached: standard error {tally.error:.2g}, effective sample size {tally.ess:.0f} of {tally.draws} "
        f"draws; needed: {target:g} and {FEWEST:.0f}, within a budget of {budget:,} likelihoods); "
        "take fewer rows or features, a narrower prior, a larger target or a larger budget."
    )
