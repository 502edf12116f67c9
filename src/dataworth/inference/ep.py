"""Expectation propagation: the evidence of a logistic model from Gaussian sites that match moments.

Each row's factor is replaced by a site exp(ν g − ½ τ g²). Its *cavity* is the posterior without it; the site
is set so that cavity times site has the mean and variance of cavity times factor (Minka 2001; Rasmussen &
Williams 2006, §3.6). All sites at once, damped as needed. At the fixed point

    log Z = Σᵢ (log Ẑᵢ − log ∫ cavityᵢ · siteᵢ) + G,   G = −½ log det(I + Kτ) + ½ νᵀΣν,

which is stationary in the sites: an error ε of theirs leaves one of order ε² in log Z.
"""

from __future__ import annotations

import warnings
from typing import NamedTuple

import numpy as np

from ..arrays import Array
from .geometry import Dual, Factor, Primal
from .logistic import Counts
from .newton import find_mode
from .sites import Conditioned, Marginals, Sites, condition, expand, marginals
from .tilted import LEAST_VARIANCE, tilted_moments

FIRST_STEP, LEAST_STEP = 0.8, 0.1
"""Share of the way that sites go towards their new values; never more than all of it."""
TOLERANCE = 1e-7
"""Sum of squares of what is left of the way, at which to stop: log Z is then within some 2e-6 nats."""
SETTLED = 1e-20
"""The same for sites in their last digits, for forms of the score that depend on them to first order."""
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

    >>> both = Counts(np.array([1.0]), np.array([0.0]))
    >>> fit = find_moments(Dual(np.array([[4.0]])), both)
    >>> round(float(np.exp(fit.log_z)), 8), fit.converged  # one row: exact, and ½ by symmetry
    (0.5, True)
    """
    n = len(counts.ones)
    sites = _first_sites(geometry, counts, offset) if start is None else start
    step, longest, way = FIRST_STEP, 1.0, np.zeros(2 * n)
    iterations, stale = 0, 0
    best: _Round | None = None
    while True:
        iterations += 1
        given = condition(geometry, sites)
        spread = marginals(geometry, sites, given.factor)
        last_way = way
        updated, log_z = _update(sites, given, spread, counts, offset)
        way = _way(sites, updated, spread, given)
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


def _first_sites(geometry: Dual | Primal, counts: Counts, offset: Array | float) -> Sites:
    """None where features are many; where rows are many, the likelihood's expansion at the mode.

    From nothing, many rows would all at once claim what they share, and overshoot.
    """
    n = len(counts.ones)
    if isinstance(geometry, Dual) or n == 0:
        return Sites(np.zeros(n), np.zeros(n))
    mode = find_mode(geometry, counts, None, offset)
    return expand(mode.f, offset, counts)


def _update(
    sites: Sites, given: Conditioned, spread: Marginals, counts: Counts, offset: Array | float
) -> tuple[Sites, float]:
    """The sites that match moments, and log Z at the sites that are."""
    tau, nu = sites
    kept = spread.kept
    cavity_variance = spread.variance / kept
    cavity_mean = (given.mean - spread.variance * nu) / kept
    tilted = tilted_moments(cavity_mean + offset, cavity_variance, counts)
    mean = tilted.mean - offset
    # log ∫ cavity · site, with 1 + τ v_cavity = 1 / kept
    own = 0.5 * np.log(kept) + 0.5 * kept * (
        nu * nu * cavity_variance + 2.0 * nu * cavity_mean - tau * cavity_mean**2
    )
    log_z = float((tilted.log_z - own).sum()) + given.log_norm(sites)
    # precisions and shifts of the tilted less those of the cavity; log-concave factors only ever add
    cavity_variance = np.maximum(cavity_variance, LEAST_VARIANCE)
    new_tau = np.maximum((cavity_variance - tilted.variance) / (tilted.variance * cavity_variance), 0.0)
    new_nu = (mean - cavity_mean) / cavity_variance + new_tau * mean
    return Sites(new_tau, new_nu), log_z


def _way(old: Sites, new: Sites, spread: Marginals, given: Conditioned) -> Array:
    """How far each row's new site would move its own marginal: log variance, and mean in its s.d."""
    by_variance = (new.tau - old.tau) * spread.variance
    shift = (new.nu - old.nu) - (new.tau - old.tau) * given.mean
    return np.concatenate([by_variance, shift * np.sqrt(spread.variance)])


def _next_step(step: float, last: Array, way: Array) -> float:
    """The step that would have ended the last round where nothing is left to do (Barzilai & Borwein 1988).

    If all that is left shrinks by a factor of 1 − step·c in a round, 1/c is the step that leaves nothing.
    Rows that share what they claim swing (c > 1), most where many meet few features and a wide prior; a
    fixed step of 0.8 swings forever there, and wastes rounds elsewhere.
    """
    fall = float(last @ (last - way))
    best = step * float(last @ last) / fall if fall > 0 else 1.0
    return min(max(best, LEAST_STEP), 1.0)
