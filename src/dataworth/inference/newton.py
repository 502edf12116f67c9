"""Newton's method for a log-likelihood minus a quadratic penalty, with an exact line search.

The mode of a Gaussian-prior logistic model is the maximum of Ψ = log p(y|f) − ½ ⟨coef, coef⟩. How coef,
f and the penalty are represented (n×n or d×d) is the business of a `Geometry`; this file only iterates.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ..arrays import Array
from .geometry import Dual, Factor, Primal, Step
from .logistic import Counts, Terms, terms

TOLERANCE = 3e-7  # nats, for each of the two stopping bounds: PMI is a sum of three such fits
RELATIVE_TOLERANCE = 1e-9  # of the log-likelihood, which a large dataset's evidence is made of
MAX_ITERATIONS = 200
LONGEST_STEP = 64.0  # in Newton steps
NEAR = 0.5  # how far any row's predictor may move for a curvature to be nearly the same
REPEATS = 8  # steps with one factor, at most
LEFT = 0.3  # of the tolerance, for the last step with a new factor to find
SLOW = 0.5  # of the way is left after a step: time for a new factor
FLAT = 0.02
"""Share of the slope at 0 at which to stop: the next step finds the rest."""
TRIALS = 40


def best_step(slope_and_bend: Callable[[float], tuple[float, float]], slope_at_zero: float) -> float:
    """Where the slope of a concave function is next to nothing, from its first and second derivative at s.

    By a safeguarded Newton iteration: the bracket [low, high] only shrinks. Steps beyond 1 are allowed: on
    separable classes the mode runs away, and full steps alone need twice as many.
    """
    low, high, s = 0.0, np.inf, 1.0
    for _ in range(TRIALS):
        slope, bend = slope_and_bend(s)
        if abs(slope) <= FLAT * slope_at_zero:
            break
        low, high = (s, high) if slope > 0 else (low, s)
        s = s - slope / bend if bend < 0 else 2.0 * s
        if not low < s < high:
            s = 0.5 * (low + high) if np.isfinite(high) else 2.0 * low
        s = min(s, 8.0 * max(low, 1.0))
        if s > LONGEST_STEP:
            return LONGEST_STEP
    return s


class Start(NamedTuple):
    """Where to begin: coefficients, or a predictor `guess` that no coefficients need have."""

    coef: Array | None = None
    guess: Array | None = None


Geometry = Dual | Primal
"""A parametrisation of f by coefficients under the Gaussian prior."""


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
    f: Array, step_f: Array, counts: Counts, gradient: Array, decrement: float, square: float
) -> float:
    """The maximiser over s ≥ 0 of log p(y|f + s·Δf) minus the penalty, which is quadratic in s.

    f and coef are linear in s, so each trial costs O(n), next to nothing beside a factorisation.
    `gradient` is the likelihood's at s = 0, `decrement` the whole slope there and `square` the penalty's
    curvature; slopes are taken as differences from s = 0, since at wide priors likelihood and penalty nearly
    cancel.
    """
    # ∇ = ½(ones − zeros) − ½(ones + zeros) tanh(f/2) has no digits in the tails, and a slope needs none there
    half = 0.5 * (counts.ones + counts.zeros)
    constant = decrement + float((0.5 * (counts.ones - counts.zeros) - gradient) @ step_f)
    pull = half * step_f
    pull_square = 0.5 * pull * step_f
    total = float(pull_square.sum())
    half_f, half_step = 0.5 * f, 0.5 * step_f

    def slope_and_bend(s: float) -> tuple[float, float]:
        bent = np.tanh(half_f + s * half_step)
        return constant - float(pull @ bent) - s * square, float(pull_square @ (bent * bent)) - total - square

    return best_step(slope_and_bend, decrement)


def find_mode(
    geometry: Geometry, counts: Counts, start: Start | None = None, offset: Array | float = 0.0
) -> Mode:
    """Newton from `start` (zero unless given) until neither Ψ nor log det can move by more than the
    tolerance.

    `offset` is added to the predictor: what a prior with a mean other than zero says of each row.

    Stops when the Newton decrement and a bound on the change of ½ log det are both below the tolerance. With
    leverages hᵢ = Wᵢ var(fᵢ) ∈ [0, 1), d(½ log det) = −½ Σ hᵢ tanh(fᵢ/2) Δfᵢ, and Σ hᵢ is at most the
    number of parameters; so the last factorisation can be kept without refactorising at the last step.
    """
    start = start or Start()
    coef = np.zeros(geometry.degrees) if start.coef is None else start.coef
    mode = _find(geometry, counts, start._replace(coef=coef), offset)
    if not mode.converged:
        message = f"Newton's method did not converge in {mode.iterations} steps"
        warnings.warn(message, RuntimeWarning, stacklevel=2)
    return mode


def _find(geometry: Geometry, counts: Counts, start: Start, offset: Array | float) -> Mode:
    point = _start(geometry, counts, start, offset)
    iterations = 0 if start.guess is None else 1
    while True:
        iterations += 1
        at = point.at
        step = geometry.step(point.coef, at.gradient, at.curvature)
        # it is a square, but in floating point can come out below zero, where nothing is left to gain
        decrement = max(step.decrement, 0.0)
        tolerance = _tolerance(at)
        converged = decrement < tolerance and _log_det_move(geometry, step, at) < tolerance
        size = 1.0
        if decrement > 0 and not converged and np.abs(step.f).max() > NEAR:
            square = max(geometry.penalty(step.coef, step.coef, step.f), 0.0)
            size = line_search(point.f, step.f, counts, at.gradient, decrement, square)
        if converged or iterations == MAX_ITERATIONS:
            break
        point = _refine(geometry, counts, step, point.f, _move(point, step, size, counts), tolerance)
    coef, f, at = _move(point, step, size, counts)
    penalty = geometry.penalty(coef, coef, f - offset)
    return Mode(coef, f, at.value - 0.5 * penalty, penalty, step.factor, iterations, converged)


class _Point(NamedTuple):
    """Coefficients, their predictor, and the likelihood there."""

    coef: Array
    f: Array
    at: Terms


def _move(point: _Point, step: Step, size: float, counts: Counts) -> _Point:
    f = point.f + size * step.f
    return _Point(point.coef + size * step.coef, f, terms(f, counts))


def _start(geometry: Geometry, counts: Counts, start: Start, offset: Array | float) -> _Point:
    """The point to start at: that of the coefficients, or a full Newton step from the guess if it leads up
    from 0."""
    coef, guess = start
    assert coef is not None
    f = geometry.predictor(coef) + offset
    point = _Point(coef, f, terms(f, counts))
    if guess is None:
        return point
    at = terms(guess, counts)
    # Newton from f, not from coefficients: θ = argmax of the quadratic that touches Ψ's likelihood at f
    pull = at.gradient + at.curvature * (guess - offset)
    step = geometry.step(np.zeros_like(coef), pull, at.curvature)
    reached = _Point(step.coef, step.f + offset, terms(step.f + offset, counts))
    penalty = geometry.penalty(step.coef, step.coef, step.f)
    if not reached.at.value - 0.5 * penalty > point.at.value - 0.5 * geometry.penalty(coef, coef, point.f):
        return point
    return _refine(geometry, counts, step, guess, reached, _tolerance(at))


def _tolerance(at: Terms) -> float:
    return TOLERANCE + RELATIVE_TOLERANCE * abs(at.value)


def _refine(
    geometry: Geometry, counts: Counts, step: Step, origin: Array, point: _Point, tolerance: float
) -> _Point:
    """Further steps with the factor made at `origin`, while it is nearly as good as a new one.

    W′/W = −tanh(f/2), so a row that moved by δ has its curvature changed by a factor of at most e^δ. While no
    row has moved by more than NEAR, a step with the old factor, at a tenth of the cost, leaves only a
    fraction of the way; it ends where a new factor would find nothing left to do.
    """
    last = _log_det_move(geometry, step, point.at)
    for _ in range(REPEATS):
        if np.abs(point.f - origin).max(initial=0.0) > NEAR:
            break
        again = geometry.repeat(point.coef, point.at.gradient, step.factor, step.root)
        if not again.decrement > 0:
            break
        bend = geometry.penalty(again.coef, again.coef, again.f) + float(point.at.curvature @ again.f**2)
        point = _move(point, again, again.decrement / bend, counts)
        move = _log_det_move(geometry, again, point.at)
        # if each step leaves the same share of the way, this is what is left to a new factor
        near = move * move < LEFT * tolerance * last
        if last and (near or move > SLOW * last):
            break
        last = move
    return point


def _log_det_move(geometry: Geometry, step: Step, at: Terms) -> float:
    """A bound on the change of ½ log det along a step."""
    moves = np.abs(step.f * at.tanh_half) * (at.curvature > 0)
    return 0.5 * min(float(moves.sum()), geometry.degrees * float(moves.max(initial=0.0)))
