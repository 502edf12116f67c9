"""Gaussian approximations as one site per row: p(θ|S) ∝ p(θ) Πᵢ exp(νᵢ gᵢ − ½ τᵢ gᵢ²), g = Xθ, θ ~ N(0, C·I).

Laplace's method, EP and exact Gaussian regression all give posteriors of this kind, and every form of the
score is made of their normalisers

    G(S) = log ∫ p(θ) Πᵢ exp(νᵢ gᵢ − ½ τᵢ gᵢ²) dθ = −½ log det(I + Kτ) + ½ νᵀΣν,   K = C·X Xᵀ,

without ever forming a d×d covariance where rows are fewer than features.

Expectation propagation (`find_moments`) sets each site so that its *cavity*, the posterior without it, times
the site has the mean and variance of cavity times factor (Minka 2001; Rasmussen & Williams 2006, §3.6). All
sites at once, damped as needed. At the fixed point

    log Z = Σᵢ (log Ẑᵢ − log ∫ cavityᵢ · siteᵢ) + G,

which is stationary in the sites: an error ε of theirs leaves one of order ε² in log Z.
"""

from __future__ import annotations

import warnings
from typing import NamedTuple

import numpy as np
from scipy.linalg.lapack import dtrtri

from ..arrays import Array
from .geometry import Dual, Factor, Primal
from .logistic import Counts, terms
from .newton import find_mode
from .tilted import LEAST_VARIANCE, tilted_moments

MANY = 100
"""Distinct rows a coefficient from which Laplace's posterior is EP's for all that a score can tell: scores of
blocks of ten test rows then differ by less than 0.02 nats on average (tests/inference/test_ep.py)."""
LEAST_LEVERAGE = 1e-6
"""Leverages τv below this are not taken as 1 − (1 − τv): fewer digits than needed would be left of v."""


class Sites(NamedTuple):
    """Precision τ ≥ 0 and shift ν of each row's Gaussian factor."""

    tau: Array
    nu: Array


class Conditioned(NamedTuple):
    """The Gaussian that sites make of the prior: coefficients and mean of g, and the factor of I + Kτ."""

    coef: Array
    mean: Array
    factor: Factor

    def log_norm(self, sites: Sites) -> float:
        """G = −½ log det(I + Kτ) + ½ νᵀΣν."""
        return 0.5 * (float(sites.nu @ self.mean) - self.factor.log_det())


class Marginals(NamedTuple):
    """Variance v of each g, and what its own site leaves of the cavity's: kept = 1 − τv = v / v_cavity."""

    variance: Array
    kept: Array


def expand(f: Array, offset: Array | float, counts: Counts) -> Sites:
    """The likelihood's second-order expansion at f as sites on g = f − offset."""
    at = terms(f, counts)
    return Sites(at.curvature, at.gradient + at.curvature * (f - offset))


def condition(geometry: Dual | Primal, sites: Sites) -> Conditioned:
    """Condition the prior on sites: mean and factor."""
    factor = geometry.factorise(sites.tau)
    coef, mean, *_ = geometry.step(factor, sites.tau, np.zeros(geometry.shape), sites.nu)
    return Conditioned(coef, mean, factor)


def marginals(geometry: Dual | Primal, sites: Sites, factor: Factor) -> Marginals:
    """Variances of g under the conditioned Gaussian, each to nearly full precision.

    n×n: I − τ^½ Σ τ^½ = B⁻¹, so 1 − τv is the diagonal of B⁻¹ and does not cancel; v follows from it, or
    directly where the row's own site hardly matters.
    """
    if isinstance(geometry, Dual):
        if not len(geometry.gram):
            return Marginals(np.zeros(0), np.zeros(0))
        half, _ = dtrtri(factor.matrix, lower=1)
        kept = np.einsum("ij,ij->j", half, half)
        leverage = 1.0 - kept
        faint = np.flatnonzero(leverage < LEAST_LEVERAGE)
        variance = leverage / np.where(sites.tau > 0, sites.tau, 1.0)
        if len(faint):
            spread = half @ (np.sqrt(sites.tau)[:, None] * geometry.gram[:, faint])
            variance[faint] = geometry.gram[faint, faint] - np.einsum("ij,ij->j", spread, spread)
        return Marginals(variance, kept)
    variance = np.empty(len(geometry))
    # a product is several times as fast as a triangular solve, and I + C XᵀWX is no worse than its rows
    inverse = None if geometry.root else dtrtri(factor.matrix, lower=int(factor.lower))[0]
    inverse = inverse.T if inverse is not None and factor.lower else inverse
    for part, X in geometry.slabs():
        half = factor.half_solve(X.T).T if inverse is None else X @ inverse
        variance[part] = geometry.prior_variance * np.einsum("ij,ij->i", half, half)
    return Marginals(variance, np.maximum(1.0 - sites.tau * variance, np.finfo(float).tiny))


FIRST_STEP, LEAST_STEP = 0.8, 0.1
"""Share of the way that sites go towards their new values; never more than all of it."""
TOLERANCE = 1e-7
"""Sum of squares of what is left of the way, at which to stop: log Z is then within some 2e-6 nats."""
AIM, SETTLED = 1e-12, 1e-20
"""The same for sites that predict rows, which depend on them to first order (some 1e-6 nats a block); and for
sites in their last digits, for other forms of the score."""
PATIENCE = 8
"""Rounds without coming closer, after which to go back: steps that follow the last rounds may lead astray."""
MAX_ITERATIONS = 1000


class Moments(NamedTuple):
    """EP's Gaussian: coefficients and mean of f, the sites that make it, and the log evidence."""

    coef: Array
    f: Array
    log_z: float
    penalty: float
    factor: Factor
    sites: Sites
    leverage: float
    iterations: int
    converged: bool

    def information_gain(self) -> float:
        """KL(N(μ, Σ) ‖ prior) = ½ (tr(ΣΣ0⁻¹) − d + μᵀΣ0⁻¹μ + log det(Σ⁻¹Σ0))."""
        return 0.5 * (self.penalty + self.factor.log_det() - self.leverage)


def find_moments(
    geometry: Dual | Primal,
    counts: Counts,
    start: Sites | None = None,
    offset: Array | float = 0.0,
    tolerance: float = TOLERANCE,
) -> Moments:
    """EP from the sites in `start` until log Z stands still; `offset` as in `find_mode`.

    A smaller `tolerance` asks for better sites than log Z needs; if rounding keeps them from it, that is no
    failure.
    """
    n = len(counts.ones)
    sites = Sites(np.zeros(n), np.zeros(n)) if start is None else start
    if start is None and isinstance(geometry, Primal) and n:
        # from nothing, many rows would all at once claim what they share, and overshoot
        sites = expand(find_mode(geometry, counts, None, offset).f, offset, counts)
    step, longest, way = FIRST_STEP, 1.0, np.zeros(2 * n)
    iterations, stale = 0, 0
    best: _Round | None = None
    while True:
        iterations += 1
        given = condition(geometry, sites)
        spread = marginals(geometry, sites, given.factor)
        last_way = way
        updated, own = match_moments(sites, given.mean, spread, counts, offset)
        way = way_between(sites, updated, spread.variance, given.mean)
        log_z = float(own.sum()) + given.log_norm(sites)
        now = _Round(sites, updated, given, spread, way, log_z, float(way @ way))
        stale = 0 if best is None or now.left < best.left else stale + 1
        best = now if stale == 0 or best is None else best
        converged = best.left < TOLERANCE
        if best.left < tolerance or iterations == MAX_ITERATIONS or (converged and stale == PATIENCE):
            break
        if stale == PATIENCE:  # back to where it was best, in shorter steps
            now, way, stale, longest = best, best.way, 0, 0.5 * longest
            step = longest
        elif iterations > 1:
            step = min(_next_step(step, last_way, way), longest)
        sites = Sites(*(old + step * (new - old) for old, new in zip(now.sites, now.updated, strict=True)))
    if not converged:
        warnings.warn(f"EP did not converge in {iterations} rounds", RuntimeWarning, stacklevel=2)
    mean, (tau, nu) = best.given.mean, best.sites
    penalty = float(nu @ mean) - float(tau @ mean**2)  # aᵀKa with a = ν − τ g
    leverage = float((1.0 - best.spread.kept).sum())
    coef, _, factor = best.given
    f, sites = mean + offset, best.sites
    return Moments(coef, f, best.log_z, penalty, factor, sites, leverage, iterations, converged)


class _Round(NamedTuple):
    """Sites, what they should be, the Gaussian that they make, and what is left of the way between."""

    sites: Sites
    updated: Sites
    given: Conditioned
    spread: Marginals
    way: Array
    log_z: float
    left: float


def match_moments(
    sites: Sites, given_mean: Array, spread: Marginals, counts: Counts, offset: Array | float
) -> tuple[Sites, Array]:
    """The sites that match moments, and of each row log Ẑ − log ∫ cavity · site with the sites that are."""
    tau, nu = sites
    kept = spread.kept
    cavity_variance = spread.variance / kept
    cavity_mean = (given_mean - spread.variance * nu) / kept
    tilted = tilted_moments(cavity_mean + offset, cavity_variance, counts)
    mean = tilted.mean - offset
    # log ∫ cavity · site, with 1 + τ v_cavity = 1 / kept
    own = 0.5 * np.log(kept) + 0.5 * kept * (
        nu * nu * cavity_variance + 2.0 * nu * cavity_mean - tau * cavity_mean**2
    )
    # precisions and shifts of the tilted less those of the cavity; log-concave factors only ever add
    cavity_variance = np.maximum(cavity_variance, LEAST_VARIANCE)
    new_tau = np.maximum((cavity_variance - tilted.variance) / (tilted.variance * cavity_variance), 0.0)
    new_nu = (mean - cavity_mean) / cavity_variance + new_tau * mean
    return Sites(new_tau, new_nu), tilted.log_z - own


def way_between(old: Sites, new: Sites, variance: Array, mean: Array) -> Array:
    """How far each row's new site would move its own marginal: log variance, and mean in its s.d."""
    more = new.tau - old.tau
    shift = (new.nu - old.nu) - more * mean
    return np.concatenate([more * variance, shift * np.sqrt(variance)], axis=-1)


def _next_step(step: float, last: Array, way: Array) -> float:
    """The step that would have ended the last round where nothing is left to do (Barzilai & Borwein 1988).

    If all that is left shrinks by a factor of 1 − step·c in a round, 1/c is the step that leaves nothing.
    Rows that share what they claim swing (c > 1), most where many meet few features and a wide prior; a
    fixed step of 0.8 swings forever there, and wastes rounds elsewhere.
    """
    fall = float(last @ (last - way))
    best = step * float(last @ last) / fall if fall > 0 else 1.0
    return min(max(best, LEAST_STEP), 1.0)
