"""Newton's method for a log-likelihood minus a quadratic penalty, with an exact line search.

The mode of a Gaussian-prior logistic model is the maximum of Ψ = log p(y|f) − ½ ⟨coef, coef⟩. How coef, f and
the penalty are represented (n×n or d×d) is the business of a `Geometry`, and the likelihood of two classes or
of several that of `Counts` or `ClassCounts`; this file only iterates.
"""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np

from ..arrays import Array
from .geometry import DEAR, Factor, Step

TOLERANCE = 3e-7  # nats, for each of the two stopping bounds: PMI is a sum of three such fits
RELATIVE_TOLERANCE = 1e-9  # of the log-likelihood, which a large dataset's evidence is made of
MAX_ITERATIONS = 200
LONGEST_STEP = 64.0  # in Newton steps
NEAR = 0.5  # how far any row's predictor may move for a step to need no search along it
REPEATS = 8  # steps with one factor, at most
LEFT = 0.3  # of the tolerance, for the last step with a new factor to find
ROUNDING = 1e-5  # of the tolerance: where less is left to gain, rounding would decide a line search
FLAT = 0.02
"""Share of the slope at 0 at which to stop: the next step finds the rest."""
TRIALS = 40


class Mode(NamedTuple):
    """The mode, Ψ there, the prior's share of it, and the factor of Σ⁻¹Σ0."""

    coef: Array
    f: Array
    objective: float
    penalty: float
    factor: Factor
    iterations: int
    converged: bool

    @property
    def log_z(self) -> float:
        """Laplace's approximation of the log evidence, Ψ − ½ log det(Σ⁻¹Σ0)."""
        return self.objective - 0.5 * self.factor.log_det()

    def information_gain(self) -> float:
        """KL(N(μ, Σ) ‖ prior) = ½ (tr(ΣΣ0⁻¹) − d + μᵀΣ0⁻¹μ + log det(Σ⁻¹Σ0))."""
        return 0.5 * (self.factor.trace_defect() + self.penalty + self.factor.log_det())


def line_search(
    counts: Any, f: Array, step_f: Array, gradient: Array, decrement: float, square: float
) -> float:
    """The maximiser over s ≥ 0 of log p(y|f + s·Δf) minus the penalty, which is quadratic in s.

    f and coef are linear in s, so each trial costs O(n), next to nothing beside a factorisation.
    `gradient` is the likelihood's at s = 0, `decrement` the whole slope there and `square` the penalty's
    curvature; slopes are taken as differences from s = 0, since at wide priors likelihood and penalty nearly
    cancel. A safeguarded Newton iteration: the bracket [low, high] only shrinks. Steps beyond 1 are allowed:
    on separable classes the mode runs away, and full steps alone need twice as many.
    """
    along = counts.along(f, step_f, gradient)
    low, high, s = 0.0, np.inf, 1.0
    for _ in range(TRIALS):
        change, bend = along(s)
        slope, bend = decrement + change - s * square, bend - square
        if abs(slope) <= FLAT * decrement:
            break
        low, high = (s, high) if slope > 0 else (low, s)
        if low == LONGEST_STEP:
            break
        s = s - slope / bend if bend < 0 else 2.0 * s
        if not low < s < high:
            s = 0.5 * (low + high) if np.isfinite(high) else 2.0 * low
        s = min(s, 8.0 * max(low, 1.0), LONGEST_STEP)
    return s


class _Point(NamedTuple):
    """Coefficients, their predictor, and the likelihood there."""

    coef: Array
    f: Array
    at: Any

    def moved(self, counts: Any, step: Step, size: float) -> _Point:
        f = self.f + size * step.f
        return _Point(self.coef + size * step.coef, f, counts.terms(f))


def find_mode(
    geometry: Any,
    counts: Any,
    start: Array | None = None,
    offset: Array | float = 0.0,
    polished: float = np.inf,
    known: Factor | None = None,
) -> Mode:
    """Newton until neither Ψ nor log det can move by more than the tolerance.

    `start` is a direction: coefficients are first scaled to where Ψ is largest along it, since those of two
    parts overshoot together. `offset` is added to the predictor: what a prior with a mean other than zero
    says of each row.

    Stops when the Newton decrement and a bound on the change of ½ log det are both below the tolerance; if
    the latter is above `polished`, one further factor is made. It begins with `known`, a factor of some
    curvature nearby, or with one that is `rough` and costs next to nothing, if its geometry has one.

    With leverages hᵢ = Wᵢ var(fᵢ) ∈ [0, 1), d(½ log det) = −½ Σ hᵢ tanh(fᵢ/2) Δfᵢ, and Σ hᵢ is at most the
    number of parameters; so the last factorisation can be kept without refactorising at the last step.
    """
    zero = np.zeros(geometry.shape)
    f = geometry.predictor(zero) + offset
    point = _Point(zero, f, counts.terms(f))
    if start is not None:
        step = Step(start, geometry.predictor(start), 0.0, start)
        slope = float((point.at.gradient * step.f).sum())
        if slope > 0:
            point = _searched(geometry, counts, point, step._replace(decrement=slope))
    iterations, near = 0, False
    if geometry.reuse is DEAR:
        curvature, enough = point.at.curvature, min(polished, TOLERANCE)
        factor = known or geometry.rough(curvature)
        point = _refine(geometry, counts, factor, curvature, point, point, enough)
    while True:
        iterations += 1
        at = point.at
        factor = geometry.factorise(at.curvature)
        step = geometry.step(factor, at.curvature, point.coef, at.gradient)
        tolerance = TOLERANCE + RELATIVE_TOLERANCE * abs(at.value)
        move = _log_det_move(geometry, step, at)
        converged = step.decrement < tolerance and move < tolerance
        origin = point
        if step.decrement > ROUNDING * tolerance and not converged and np.abs(step.f).max() > NEAR:
            point = _searched(geometry, counts, point, step)
        else:
            point = point.moved(counts, step, 1.0)
        if (converged and (near or move < polished)) or iterations == MAX_ITERATIONS:
            break
        near = converged
        point = _refine(geometry, counts, factor, at.curvature, origin, point, min(polished, tolerance))
    if not (converged or near):
        message = f"Newton's method did not converge in {iterations} steps"
        warnings.warn(message, RuntimeWarning, stacklevel=2)
    coef, f, at = point
    penalty = geometry.penalty(coef, coef, f - offset)
    return Mode(coef, f, at.value - 0.5 * penalty, penalty, factor, iterations, converged or near)


def _searched(geometry: Any, counts: Any, point: _Point, step: Step) -> _Point:
    """The best point along a step."""
    square = max(geometry.penalty(step.coef, step.coef, step.f), 0.0)
    size = line_search(counts, point.f, step.f, point.at.gradient, step.decrement, square)
    return point.moved(counts, step, size)


def _refine(
    geometry: Any, counts: Any, factor: Any, curvature: Array, origin: _Point, point: _Point, enough: float
) -> _Point:
    """Further steps with the factor of the curvature at `origin`, or of one like it, by conjugate gradients.

    Each costs a fraction of a new factor; they end where a new one would find nothing left to do, or is due:
    W′/W = −tanh(f/2), so a row that moved by δ has its curvature changed by a factor of at most e^δ (of
    several classes: e^2δ).
    """
    last, before, along = 0.0, None, None
    for _ in range(geometry.reuse.steps):
        if np.abs(point.f - origin.f).max(initial=0.0) > geometry.reuse.reach:
            break
        again = geometry.step(factor, curvature, point.coef, point.at.gradient)
        if not again.decrement > 0:
            break
        along, before = _conjugate(geometry, again, before, along), again
        square = geometry.penalty(along.coef, along.coef, along.f)
        size = along.decrement / (square + point.at.square(along.f))
        if size * np.abs(along.f).max(initial=0.0) > NEAR:
            size = line_search(counts, point.f, along.f, point.at.gradient, along.decrement, square)
        point = point.moved(counts, along, size)
        move = size * _log_det_move(geometry, along, point.at)
        # if each step leaves the same share of the way, this is what is left to a new factor
        near = move * min(move, last) < LEFT * enough * last or move < LEFT * enough
        if near or (last and move > geometry.reuse.left * last):
            break
        last = move
    return point


def _conjugate(geometry: Any, again: Step, before: Step | None, along: Step | None) -> Step:
    """A step turned by the direction taken before (Polak and Ribière), while that leads upwards."""
    if before is None or along is None:
        return again
    turn = (again.decrement - geometry.slope(before.pull, again)) / before.decrement
    slope = again.decrement + turn * geometry.slope(again.pull, along)
    if not (turn > 0 and slope > 0):
        return again
    return Step(again.coef + turn * along.coef, again.f + turn * along.f, slope, again.pull)


def _log_det_move(geometry: Any, step: Step, at: Any) -> float:
    """A bound on the change of ½ log det along a step."""
    moves = at.log_det_moves(step.f)
    return 0.5 * min(at.ranks * float(moves.sum()), geometry.degrees * float(moves.max(initial=0.0)))
