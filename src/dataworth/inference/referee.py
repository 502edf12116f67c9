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

import warnings
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from scipy.special import gammaln, logsumexp

from ..errors import DataworthError
from .geometry import GRAM_LIMIT, Primal, graded_features, largest_square
from .logistic import Array, Counts
from .newton import find_mode

BUDGET = 5_000_000
"""Likelihoods or gradients of one θ that may be computed for one log Z; 2 to 8 µs each at 30 to 400 rows."""
BLOCK = 1 << 14
"""Numbers in one block of draws × rows: its handful of temporary arrays then stay in the cache."""
CHAINS = 512
"""Chains that run side by side."""
DEGREES = 8.0
"""Of freedom, of the Student t."""
FEWEST = 400.0
"""Smallest effective sample size that is believed: below it, the spread of the weights is itself unknown."""
LARGEST_SHARE = 0.2
"""Of the sum of squared weights, from one draw: above it, the error rests on that draw."""
DISAGREEMENT = 4.0
"""Standard errors between two independent halves; by chance alone, once in 16,000 answers."""
WORTHWHILE = 0.05
"""Effective draws per draw below which importance sampling is not tried: annealing is cheaper and safer."""
PILOT = 256
"""Chains of a pilot."""
STEP = 0.9
"""Effective share of the chains that a pilot's step of β leaves."""
ACCEPTED = 0.75
"""Share of moves accepted, below which a pilot takes shorter steps."""
EVEN = 0.5
"""Unevenness of the weights that annealing aims at: from there on more chains are as good as more steps."""


class RefereeRefuses(DataworthError):
    """The evidence could not be established: what was reached, what was needed, what to do."""


class Refereed(NamedTuple):
    """A log evidence, its standard error, effective sample size and draws, and how it was found.

    `method` is "importance" (draws are draws) or "annealed" (draws are chains); "exact" needs none, and its
    effective sample size is infinite.
    """

    log_z: float
    error: float
    ess: float
    draws: int
    method: str


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


# --- the problem --------------------------------------------------------------------------------------------


class Problem(NamedTuple):
    """log p(y|z) = −Σ w log(1 + exp(−(shift + rows·z))), z ~ N(0, I): every row signed by its label."""

    rows: Array
    shift: Array
    weights: Array

    def width(self) -> int:
        """Number of coordinates."""
        return self.rows.shape[1]


def whiten(X: Array, counts: Counts, prior_variance: float, offset: Array | float) -> Problem:
    """z = θ/√C in at most min(n, d) coordinates: the likelihood is constant on the complement of the rows.

    A row seen with both labels becomes two rows of opposite sign, so that no difference of large numbers is
    taken in either tail.
    """
    X = np.asarray(X, dtype=float)
    seen = counts.ones + counts.zeros > 0
    ones, zeros = counts.ones[seen], counts.zeros[seen]
    shift = np.broadcast_to(np.asarray(offset, dtype=float), len(X))[seen]
    rows = np.sqrt(prior_variance) * X[seen]
    if rows.shape[1] > rows.shape[0] > 0:
        rows = graded_features(rows)
    up, down = ones > 0, zeros > 0
    return Problem(
        np.vstack([rows[up], -rows[down]]),
        np.concatenate([shift[up], -shift[down]]),
        np.concatenate([ones[up], zeros[down]]),
    )


def log_likelihood(margins: Array, weights: Array) -> tuple[Array, Array]:
    """Σ w log σ(m) for each row of margins m, and its derivative w σ(−m) by each; exact in both tails.

    log σ(m) = min(m, 0) − log(1 + e^−|m|).
    """
    e = np.abs(margins)
    np.negative(e, out=e)
    np.exp(e, out=e)
    norm = 1.0 + e
    low = np.minimum(margins, 0.0)
    slope = np.where(margins >= 0.0, e, 1.0)
    slope /= norm
    if (weights == 1.0).all():
        # factors in (1, 2]: a thousand of them cannot overflow, and one logarithm is cheaper than a thousand
        value = low.sum(axis=1)
        for i in range(0, margins.shape[1], 1000):
            value -= np.log(np.multiply.reduce(norm[:, i : i + 1000], axis=1))
        return value, slope
    low -= np.log(norm, out=norm)
    return low @ weights, slope * weights


def blocks(draws: int, rows: int) -> Iterator[slice]:
    """Slices of the draws whose margins are held at once.

    >>> list(blocks(20, BLOCK))
    [slice(0, 16, None), slice(16, 20, None)]
    """
    size = max(16, BLOCK // max(rows, 1))
    for start in range(0, draws, size):
        yield slice(start, min(start + size, draws))


class Meter:
    """Counts likelihoods, and stops where the budget ends."""

    def __init__(self, budget: int) -> None:
        self.budget = self.left = int(budget)

    def spend(self, likelihoods: int) -> None:
        """Take from what is left."""
        self.left -= likelihoods
        if self.left < 0:
            raise RefereeRefuses(
                f"the evidence could not be established: a budget of {self.budget:,} likelihoods ended "
                "before enough draws that count; take a larger budget, fewer rows or features, or a narrower "
                "prior."
            )


# --- weights ------------------------------------------------------------------------------------------------


class Weights(NamedTuple):
    """Independent importance weights of one fixed proposal, and what they are worth."""

    log_w: Array

    @property
    def draws(self) -> int:
        """How many."""
        return len(self.log_w)

    @property
    def log_z(self) -> float:
        """Log of the mean weight."""
        return float(logsumexp(self.log_w)) - float(np.log(self.draws))

    @property
    def ess(self) -> float:
        """(Σw)² / Σw²."""
        return float(np.exp(2.0 * logsumexp(self.log_w) - logsumexp(2.0 * self.log_w)))

    @property
    def unevenness(self) -> float:
        """log(draws / ess): the variance of log w if that were normal; small weights do not matter here."""
        return float(np.log(self.draws / self.ess))

    @property
    def error(self) -> float:
        """Standard error of log Z: that of the mean weight over the mean weight."""
        return float(np.sqrt(max(1.0 / self.ess - 1.0 / self.draws, 0.0) * self.draws / (self.draws - 1)))

    @property
    def largest_share(self) -> float:
        """What the largest weight contributes to Σw², which the error is made of."""
        return float(np.exp(2.0 * self.log_w.max() - logsumexp(2.0 * self.log_w)))

    def doubts(self, target: float) -> str:
        """Why not to believe this, or nothing."""
        half = self.draws // 2
        a, b = Weights(self.log_w[:half]), Weights(self.log_w[half:])
        if self.ess < FEWEST:
            return "too few effective draws"
        if self.error > target:
            return "the standard error is too large"
        if self.largest_share > LARGEST_SHARE:
            return f"one draw carries {self.largest_share:.0%} of the variance"
        if abs(a.log_z - b.log_z) > DISAGREEMENT * np.hypot(a.error, b.error):
            return f"two halves of the draws disagree ({a.log_z:.3f} and {b.log_z:.3f})"
        return ""

    def answer(self, method: str) -> Refereed:
        """As a result."""
        return Refereed(self.log_z, self.error, self.ess, self.draws, method)


# --- importance sampling ------------------------------------------------------------------------------------


class Proposal(NamedTuple):
    """z = mean + axes·u with orthogonal axes of lengths `scales`: moments of a Gaussian, or of a t's core."""

    mean: Array
    axes: Array
    scales: Array

    @classmethod
    def from_moments(cls, mean: Array, covariance: Array) -> Proposal:
        """Principal axes; a posterior under a log-concave likelihood is nowhere wider than the prior."""
        square, directions = np.linalg.eigh(covariance)
        scales = np.sqrt(np.clip(square, 1e-24, 1.0))
        return cls(mean, directions * scales, scales)

    def covariance(self) -> Array:
        """axes·axesᵀ."""
        return np.asarray(self.axes @ self.axes.T)


def laplace_start(problem: Problem) -> Proposal:
    """Laplace's Gaussian: only a place to start, so a mode found roughly is good enough."""
    size = max(1.0, float(problem.weights.max())) * largest_square(problem.rows)
    signed = Counts(problem.weights, np.zeros(len(problem.weights)))
    geometry = Primal(problem.rows, 1.0, root=size > GRAM_LIMIT)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        mode = find_mode(geometry, signed, np.zeros(problem.width()), problem.shift)
    return Proposal.from_moments(mode.coef, mode.factor.solve(np.asfortranarray(np.eye(problem.width()))))


def student(rng: np.random.Generator, draws: int, d: int) -> Array:
    """Draws of a standard t in d dimensions."""
    scale = np.sqrt(rng.chisquare(DEGREES, (draws, 1)) / DEGREES)
    return np.asarray(rng.standard_normal((draws, d)) / scale)


def log_student(square: Array, d: int) -> Array:
    """Its log density where ‖u‖² = square."""
    constant = gammaln((DEGREES + d) / 2) - gammaln(DEGREES / 2) - 0.5 * d * np.log(DEGREES * np.pi)
    return np.asarray(constant - 0.5 * (DEGREES + d) * np.log1p(square / DEGREES))


def student_draws(
    problem: Problem, proposal: Proposal, draws: int, rng: np.random.Generator, meter: Meter
) -> Iterator[tuple[Array, Array]]:
    """Blocks of draws z from the Student t, with their log weights log p(y|z) N(z; 0, I) / t(z)."""
    d = problem.width()
    rows, centre = problem.rows @ proposal.axes, problem.shift + problem.rows @ proposal.mean
    constant = float(np.log(proposal.scales).sum()) - 0.5 * d * float(np.log(2.0 * np.pi))
    for part in blocks(draws, len(problem.rows)):
        size = part.stop - part.start
        meter.spend(size)
        u = student(rng, size, d)
        z = proposal.mean + u @ proposal.axes.T
        log_w = log_likelihood(u @ rows.T + centre, problem.weights)[0]
        log_w += constant - 0.5 * np.einsum("ij,ij->i", z, z)
        log_w -= log_student(np.einsum("ij,ij->i", u, u), d)
        yield z, log_w


def adapt_by_weights(
    problem: Problem, proposal: Proposal, rng: np.random.Generator, meter: Meter, rounds: int = 4
) -> tuple[Proposal, float]:
    """Population Monte Carlo: moments of weighted draws, a few times; the proposal and its effective share.

    Weights too uneven to estimate a covariance are flattened (w^γ) until they can.
    """
    d = problem.width()
    draws = 1000 + 40 * d
    for last in (*[False] * (rounds - 1), True):
        parts = list(student_draws(problem, proposal, draws, rng, meter))
        z, log_w = np.concatenate([p[0] for p in parts]), np.concatenate([p[1] for p in parts])
        efficiency = Weights(log_w).ess / draws
        if last or efficiency > 0.6:
            break
        flat = log_w
        while Weights(flat).ess < 10.0 * d:
            flat = 0.8 * flat
        proposal = moments(z, flat, proposal)
    return proposal, efficiency


def moments(z: Array, log_w: Array, before: Proposal) -> Proposal:
    """Weighted mean and covariance, the latter shrunk towards the one before as if that were d draws."""
    w = np.exp(log_w - logsumexp(log_w))
    mean = w @ z
    apart = z - mean
    covariance = (apart * w[:, None]).T @ apart
    d, effective = len(mean), 1.0 / float(w @ w)
    share = d / (d + effective)
    return Proposal.from_moments(mean, (1.0 - share) * covariance + share * before.covariance())


def importance(
    problem: Problem,
    proposal: Proposal,
    efficiency: float,
    target: float,
    rng: np.random.Generator,
    meter: Meter,
) -> Weights:
    """Fresh draws from the fixed t, as many as the pilot says are needed."""

    def draw(size: int) -> Array:
        return np.concatenate([w for _, w in student_draws(problem, proposal, size, rng, meter)])

    draws = int(1.2 * max(1.0 / target**2, FEWEST) / efficiency)
    return until_believed(draw, draws, 1, target, meter, doublings=2)


def until_believed(
    draw: Callable[[int], Array], draws: int, price: int, target: float, meter: Meter, doublings: int = 10
) -> Weights:
    """Draws, then as many again while in doubt and within the budget; one costs `price` likelihoods."""
    weights = Weights(draw(max(2, min(draws, meter.left // price))))
    for _ in range(doublings):
        if not weights.doubts(target) or weights.draws * price > meter.left:
            break
        weights = Weights(np.concatenate([weights.log_w, draw(weights.draws)]))
    return weights


# --- annealing ----------------------------------------------------------------------------------------------


class Gap(NamedTuple):
    """The posterior and the t as functions of u, z = mean + axes·u, both relative to N(u; 0, I).

    g(u) = log p(y|z) N(z; 0, I) |axes| / N(u; 0, I), which besides the likelihood is
    constant − tilt·u − ½ Σ bend u², the axes being orthogonal; and a(u) = log t(u) / N(u; 0, I).
    """

    rows: Array
    centre: Array
    weights: Array
    constant: float
    tilt: Array
    bend: Array

    @classmethod
    def between(cls, problem: Problem, q: Proposal) -> Gap:
        """The gap from q to the posterior."""
        return cls(
            problem.rows @ q.axes,
            problem.shift + problem.rows @ q.mean,
            problem.weights,
            float(np.log(q.scales).sum() - 0.5 * q.mean @ q.mean),
            q.axes.T @ q.mean,
            q.scales**2 - 1.0,
        )

    def __call__(self, u: Array) -> tuple[Array, Array]:
        """g and its gradient at each row of u, a block at a time."""
        bent = u * self.bend
        value = self.constant - u @ self.tilt - 0.5 * np.einsum("ij,ij->i", u, bent)
        slopes = -self.tilt - bent
        for part in blocks(len(u), len(self.rows)):
            margins = u[part] @ self.rows.T
            margins += self.centre
            likelihood, slope = log_likelihood(margins, self.weights)
            value[part] += likelihood
            slopes[part] += slope @ self.rows
        return value, slopes

    def start(self, u: Array) -> tuple[Array, Array]:
        """a and its gradient at each row of u."""
        d = u.shape[1]
        square = np.einsum("ij,ij->i", u, u)
        value = log_student(square, d) + 0.5 * (square + d * np.log(2.0 * np.pi))
        return value, u * (1.0 - (DEGREES + d) / (DEGREES + square))[:, None]


class Chains:
    """Chains side by side: states u, with a, g and their gradients."""

    def __init__(self, gap: Gap, size: int, rng: np.random.Generator, meter: Meter) -> None:
        """Independent draws from the t."""
        self.gap, self.rng, self.meter = gap, rng, meter
        meter.spend(size)
        self.place(student(rng, size, len(gap.tilt)))

    def place(self, u: Array) -> None:
        """Put the chains at u."""
        self.u = u
        (self.a, self.a_slope), (self.g, self.g_slope) = self.gap.start(u), self.gap(u)

    def log_ratio(self) -> Array:
        """log p/t at every chain, p unnormalised."""
        return self.g - self.a

    def move(self, beta: float, leaps: int) -> float:
        """A Hamiltonian move of every chain, leaving t^(1−β) p^β invariant; the share accepted.

        With h = (1−β) a + β g, this is N(u; 0, I)·exp h. Half a kick by ∇h, a rotation of (u, v), half a
        kick, `leaps` times over, in all about a quarter turn: where h is flat, rotations alone are exact and
        the end is independent of the start. Shears and rotations preserve volume, and with v reversed the
        path runs back, so Metropolis' rule makes the move exact. Each chain has its own angle, lest some path
        close on itself.
        """
        angle = 0.5 * np.pi / leaps * self.rng.uniform(0.7, 1.1, (len(self.u), 1))
        cos, sin, kick = np.cos(angle), np.sin(angle), 0.5 * angle
        u, a, a_slope, g, g_slope = self.u, self.a, self.a_slope, self.g, self.g_slope
        v = self.rng.standard_normal(u.shape)

        def energy() -> Array:
            square = np.einsum("ij,ij->i", u, u) + np.einsum("ij,ij->i", v, v)
            return np.asarray(0.5 * square - (1.0 - beta) * a - beta * g)

        before = energy()
        self.meter.spend(leaps * len(u))
        for _ in range(leaps):
            v = v + kick * ((1.0 - beta) * a_slope + beta * g_slope)
            u, v = cos * u + sin * v, cos * v - sin * u
            (a, a_slope), (g, g_slope) = self.gap.start(u), self.gap(u)
            v += kick * ((1.0 - beta) * a_slope + beta * g_slope)
        taken = self.rng.standard_exponential(len(u)) > energy() - before
        for old, new in (
            (self.u, u),
            (self.a, a),
            (self.a_slope, a_slope),
            (self.g, g),
            (self.g_slope, g_slope),
        ):
            old[taken] = new[taken]
        return float(taken.mean())

    def tuned_move(self, beta: float, leaps: int) -> int:
        """Moves with ever shorter steps until enough are accepted, for pilots only; the leaps it took."""
        while self.move(beta, leaps) < ACCEPTED:
            leaps += max(1, leaps // 3)
        return leaps


def adapt_by_chains(problem: Problem, proposal: Proposal, rng: np.random.Generator, meter: Meter) -> Proposal:
    """Moments of chains that have run towards the posterior, three times; works where weights degenerate.

    Nothing here needs to have converged: a worse q only costs a longer annealing.
    """
    for moves in (5, 6, 8):
        chains = Chains(Gap.between(problem, proposal), 200 + 8 * problem.width(), rng, meter)
        leaps, states = 2, []
        for i in range(moves):
            leaps = chains.tuned_move(1.0, leaps)
            if i >= moves // 2:
                states.append(proposal.mean + chains.u @ proposal.axes.T)
        z = np.concatenate(states)
        proposal = moments(z, np.zeros(len(z)), proposal)
    return proposal


class Schedule(NamedTuple):
    """0 = β₀ < β₁ < … < 1, and the leaps of a move at each β."""

    betas: Array
    leaps: Array

    def subdivided(self, parts: int) -> Schedule:
        """Every interval in equal parts.

        >>> Schedule(np.array([0.0, 0.5, 1.0]), np.array([1.0, 1.0, 2.0])).subdivided(2).betas.tolist()
        [0.0, 0.25, 0.5, 0.75, 1.0]
        """
        knots = np.arange(len(self.betas))
        places = np.arange((len(knots) - 1) * parts + 1) / parts
        leaps = np.ceil(np.interp(places, knots, self.leaps))
        return Schedule(np.interp(places, knots, self.betas), leaps)

    def price(self) -> int:
        """Gradients that a chain costs: at its start, and for the moves in between."""
        return 1 + int(self.leaps[1:-1].sum())


def pilot_schedule(gap: Gap, size: int, rng: np.random.Generator, meter: Meter) -> tuple[Schedule, Array]:
    """Steps of β that each leave STEP of the effective sample size, and the pilot's log weights."""
    chains, log_w = Chains(gap, size, rng, meter), np.zeros(size)
    betas, leaps = [0.0], [1]
    while betas[-1] < 1.0:
        step = 1.0 - betas[-1]
        while Weights(step * chains.log_ratio()).ess < STEP * size:
            step *= 0.9
        log_w += step * chains.log_ratio()
        betas.append(min(betas[-1] + step, 1.0))
        leaps.append(chains.tuned_move(betas[-1], leaps[-1]))
    return Schedule(np.array(betas), np.array(leaps, dtype=float)), log_w


def annealed(
    problem: Problem, proposal: Proposal, target: float, rng: np.random.Generator, meter: Meter
) -> Weights:
    """Annealed importance sampling, on a schedule made finer until a pilot's weights are even enough."""
    gap = Gap.between(problem, proposal)
    coarse, log_w = pilot_schedule(gap, PILOT, rng, meter)
    schedule, parts = coarse, 1
    while schedule is coarse or Weights(log_w).unevenness > 2.0 * EVEN:
        # k times the steps cost k times as much and divide the variance of log w by about k
        parts = int(np.ceil(parts * max(1.0, Weights(log_w).unevenness / EVEN)))
        schedule = coarse.subdivided(parts)
        log_w = anneal(gap, schedule, PILOT, rng, meter)

    def draw(chains: int) -> Array:
        parts = [anneal(gap, schedule, min(CHAINS, chains - i), rng, meter) for i in range(0, chains, CHAINS)]
        return np.concatenate(parts)

    spread = PILOT / Weights(log_w).ess - 1.0
    chains = int(1.2 * max(spread / target**2, FEWEST * (1.0 + spread)))
    return until_believed(draw, chains, schedule.price(), target, meter)


def anneal(gap: Gap, schedule: Schedule, size: int, rng: np.random.Generator, meter: Meter) -> Array:
    """Log weights Σ (βₖ₊₁ − βₖ) log p/t(uₖ) of chains along the schedule."""
    chains, steps = Chains(gap, size, rng, meter), np.diff(schedule.betas)
    log_w = steps[0] * chains.log_ratio()
    for beta, leaps, step in zip(schedule.betas[1:-1], schedule.leaps[1:-1], steps[1:], strict=True):
        chains.move(float(beta), int(leaps))
        log_w += step * chains.log_ratio()
    return np.asarray(log_w)
