"""Newton's method for a log-likelihood minus a quadratic penalty, with an exact line search.

The mode of a Gaussian-prior logistic model is the maximum of Ψ = log p(y|f) − ½ ⟨coef, coef⟩. How coef,
f and the penalty are represented (n×n or d×d) is the business of a `Geometry`; this file only iterates.
"""

from __future__ import annotations

import warnings
from typing import NamedTuple, Protocol

import numpy as np

from .geometry import Factor, Step
from .logistic import Array, Counts, terms

TOLERANCE = 3e-7  # nats, for each of the two stopping bounds: PMI is a sum of three such fits
RELATIVE_TOLERANCE = 1e-9  # of the log-likelihood, which a large dataset's evidence is made of
MAX_ITERATIONS = 200
LONGEST_STEP = 64.0  # in Newton steps


class Geometry(Protocol):
    """A parametrisation of f by coefficients under the Gaussian prior."""

    def predictor(self, coef: Array) -> Array:
        """The linear predictor f of the coefficients."""
        ...

    def penalty(self, coef: Array, other_coef: Array, other_f: Array) -> float:
        """The prior's inner product ⟨coef, other⟩, so that −log prior = ½⟨coef, coef⟩ + constant."""
        ...

    def step(self, coef: Array, gradient: Array, curvature: Array) -> Step:
        """The full Newton step from coef."""
        ...

    def degrees(self) -> int:
        """An upper bound on the effective number of parameters (the sum of leverages)."""
        ...


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

    f and coef are linear in s, so each trial costs O(n), next to nothing beside a factorisation. Steps
    beyond 1 are allowed: on separable classes the mode runs away and full steps alone need twice as many.
    `gradient` is the likelihood's at s = 0, `decrement` the whole slope there and `square` the penalty's
    curvature; slopes are taken as differences from s = 0, since at wide priors likelihood and penalty nearly
    cancel. A safeguarded Newton iteration; the function is concave, so the bracket [low, high] only shrinks.
    """
    low, high, s = 0.0, np.inf, 1.0
    for _ in range(40):
        at = terms(f + s * step_f, counts)
        slope = decrement + float((at.gradient - gradient) @ step_f) - s * square
        bend = -float(at.curvature @ step_f**2) - square
        if abs(slope) <= 0.02 * decrement:
            break
        low, high = (s, high) if slope > 0 else (low, s)
        s = s - slope / bend if bend < 0 else 2.0 * s
        if not low < s < high:
            s = 0.5 * (low + high) if np.isfinite(high) else 2.0 * low
        s = min(s, 8.0 * max(low, 1.0))
        if s > LONGEST_STEP:
            return LONGEST_STEP
    return s


def find_mode(geometry: Geometry, counts: Counts, coef: Array, offset: Array | float = 0.0) -> Mode:
    """Newton from `coef` until neither Ψ nor log det can move by more than the tolerance.

    `offset` is added to the predictor: what a prior with a mean other than zero says of each row.

    Stops when the Newton decrement and a bound on the change of ½ log det are both below the tolerance. With
    leverages hᵢ = Wᵢ var(fᵢ) ∈ [0, 1), d(½ log det) = −½ Σ hᵢ tanh(fᵢ/2) Δfᵢ, and Σ hᵢ is at most the
    number of parameters; so the last factorisation can be kept without refactorising at the last step.
    """
    f = geometry.predictor(coef) + offset
    degrees = geometry.degrees()
    iterations = 0
    while True:
        iterations += 1
        at = terms(f, counts)
        step = geometry.step(coef, at.gradient, at.curvature)
        # both are squares, but in floating point they can come out below zero, where nothing is left to gain
        decrement = max(step.decrement, 0.0)
        square = max(geometry.penalty(step.coef, step.coef, step.f), 0.0)
        moves = np.abs(step.f * at.tanh_half) * (at.curvature > 0)
        log_det_move = 0.5 * min(float(moves.sum()), degrees * float(moves.max(initial=0.0)))
        tolerance = TOLERANCE + RELATIVE_TOLERANCE * abs(at.value)
        converged = decrement < tolerance and log_det_move < tolerance
        size = 1.0
        if decrement > 0 and not converged:
            size = line_search(f, step.f, counts, at.gradient, decrement, square)
        coef = coef + size * step.coef
        f = f + size * step.f
        if converged or iterations == MAX_ITERATIONS:
            break
    if not converged:
        warnings.warn(f"Newton's method did not converge in {iterations} steps", RuntimeWarning, stacklevel=2)
    penalty = geometry.penalty(coef, coef, f - offset)
    return Mode(coef, f, terms(f, counts).value - 0.5 * penalty, penalty, step.factor, iterations, converged)
