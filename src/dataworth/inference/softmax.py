"""Multiclass logistic regression: the mode of its posterior and Laplace's evidence, K·n×n or K·d×K·d.

Rows with repeats are one row with a count mᵢc of each class, nᵢ in all. With F = XΘ, θ_c ~ N(0, C·I) and
pᵢ = softmax(fᵢ),

    Ψ(Θ) = Σᵢ (Σ_c mᵢc fᵢc − nᵢ log Σ_c exp fᵢc) − ½ Σ_c θ_cᵀθ_c/C,   Wᵢ = nᵢ (diag pᵢ − pᵢpᵢᵀ),
    log Z = max Ψ − ½ log det(I + C XᵀWX).

What all classes have in common, Σ_c θ_c, no likelihood sees: the d×d side works in K−1 contrasts of classes,
which are N(0, C·I) too. The n×n side is Rasmussen & Williams 2006, Algorithm 3.3, with weights and in
residual form: one n×n factor a class, and one of their sum.
"""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import solve_triangular

from ..arrays import Array
from .geometry import Factor
from .newton import MAX_ITERATIONS, NEAR, RELATIVE_TOLERANCE, REPEATS, SLOW, TOLERANCE, best_step
from .softmax_geometry import (
    Blocks,
    Stacked,
    Step,
    Terms,
    contrast_curvature,
    contrasts,
    probabilities,
    row_curvature,
    terms,
)

POLISHED = 1e-9
"""Nats that ½ log det may still move at the last step: if it may by more, one further factor is made."""


class Mode(NamedTuple):
    """The mode, its predictor, Ψ there, the prior's share of it, and log det(Σ⁻¹Σ0)."""

    coef: Array
    f: Array
    objective: float
    penalty: float
    log_det: float
    iterations: int
    converged: bool

    @property
    def log_z(self) -> float:
        """Laplace's approximation of the log evidence."""
        return self.objective - 0.5 * self.log_det


def line_search(f: Array, step_f: Array, counts: Array, decrement: float, square: float) -> float:
    """The maximiser over s ≥ 0 of Ψ along a step whose slope at 0 is `decrement`; steps beyond 1 are allowed.

    Slopes are differences from s = 0, as in `newton.line_search`, where more is said.
    """
    n = counts.sum(axis=1, keepdims=True)
    pull = n * step_f
    here = float((pull * probabilities(f)).sum())

    def slope_and_bend(s: float) -> tuple[float, float]:
        p = probabilities(f + s * step_f)
        mean = (p * step_f).sum(axis=1, keepdims=True)
        bend = -float((n * p * (step_f - mean) ** 2).sum()) - square
        return decrement + here - float((pull * p).sum()) - s * square, bend

    return best_step(slope_and_bend, decrement)


def find_mode(geometry: Stacked | Blocks, counts: Array, start: Array | None = None) -> Mode:
    """Newton with an exact line search, until neither Ψ nor log det can move by more than the tolerance.

    `start` is a direction: coefficients are first scaled to where Ψ is largest along it, since those of two
    parts overshoot together. The sum over classes of coefficients is zero, at the start and at the mode.

    With leverages tr(ΣᵢWᵢ) of at most K−1 a row and at most (K−1)·d in all, a step ΔF moves ½ log det by
    at most ½ Σᵢ tr(ΣᵢWᵢ) max_c |Δfᵢc − Σ_c pᵢc Δfᵢc|.
    """
    if not len(counts):
        return Mode(np.zeros(geometry.shape), np.zeros(counts.shape), 0.0, 0.0, 0.0, 0, True)
    point = _Point.of(np.zeros(geometry.shape), np.zeros(counts.shape), counts)
    if start is not None:
        point = _scale_start(geometry, point, counts, start)
    near, iterations = False, 0
    while True:
        iterations += 1
        at = point.at
        factor = geometry.factorise(at)
        step = geometry.step(factor, at, point.coef, at.gradient)
        # a square, but in floating point it can come out below zero, where nothing is left to gain
        decrement = max(step.decrement, 0.0)
        tolerance = TOLERANCE + RELATIVE_TOLERANCE * abs(at.value)
        move = _log_det_move(geometry, step, at)
        converged = decrement < tolerance and move < tolerance
        size = 1.0
        if decrement > 0 and not converged and np.abs(step.f).max() > NEAR:
            square = max(geometry.penalty(step.coef, step.coef, step.f), 0.0)
            size = line_search(point.f, step.f, counts, decrement, square)
        origin, point = point, point.moved(step, size, counts)
        if (converged and (near or move < POLISHED)) or iterations == MAX_ITERATIONS:
            break
        near = converged
        point = _refine(geometry, counts, factor, origin, point)
    if not (converged or near):
        message = f"Newton's method did not converge in {iterations} steps"
        warnings.warn(message, RuntimeWarning, stacklevel=2)
    coef, f, at = point
    penalty = geometry.penalty(coef, coef, f)
    log_det = factor.log_det()
    return Mode(coef, f, at.value - 0.5 * penalty, penalty, log_det, iterations, converged or near)


class _Point(NamedTuple):
    """Coefficients, their predictor, and the likelihood there."""

    coef: Array
    f: Array
    at: Terms

    @classmethod
    def of(cls, coef: Array, f: Array, counts: Array) -> _Point:
        return cls(coef, f, terms(f, counts))

    def moved(self, step: Step, size: float, counts: Array) -> _Point:
        return _Point.of(self.coef + size * step.coef, self.f + size * step.f, counts)


def _refine(geometry: Stacked | Blocks, counts: Array, factor: Any, origin: _Point, point: _Point) -> _Point:
    """Further steps with the factor made at `origin`, while it is nearly as good as a new one.

    A row that moved by δ has its curvature changed by a factor of at most e^2δ; a step with the old factor
    costs a tenth, and leaves a fraction of the way (`newton._refine` says more).
    """
    last = np.inf
    for _ in range(REPEATS):
        if np.abs(point.f - origin.f).max() > NEAR:
            break
        again = geometry.step(factor, origin.at, point.coef, point.at.gradient)
        if not again.decrement > 0:
            break
        bend = geometry.penalty(again.coef, again.coef, again.f)
        bend += float((again.f * row_curvature(point.at.mass, again.f)).sum())
        point = point.moved(again, again.decrement / bend, counts)
        move = _log_det_move(geometry, again, point.at)
        if move < POLISHED or move > SLOW * last:
            break
        last = move
    return point


def _scale_start(geometry: Stacked | Blocks, zero: _Point, counts: Array, start: Array) -> _Point:
    """The multiple of `start` that is best, or zero if it leads down."""
    step = Step(start, geometry.predictor(start), 0.0)
    slope = float((zero.at.gradient * step.f).sum())
    if not slope > 0:
        return zero
    square = max(geometry.penalty(start, start, step.f), 0.0)
    return zero.moved(step, line_search(zero.f, step.f, counts, slope, square), counts)


def _log_det_move(geometry: Stacked | Blocks, step: Step, at: Terms) -> float:
    """A bound on the change of ½ log det along a step."""
    mean = (at.mass * step.f).sum(axis=1, keepdims=True) / at.totals[:, None]
    # a class that a row cannot have takes no part in its curvature, however far it moves
    moves = np.where(at.mass > 0, np.abs(step.f - mean), 0.0).max(axis=1)
    ranks = at.mass.shape[1] - 1
    return 0.5 * min(ranks * float(moves.sum()), geometry.degrees * float(moves.max()))


def trace_defect(geometry: Stacked | Blocks, at: Terms) -> float:
    """tr((I + C XᵀWX)⁻¹) − K·d, ≤ 0: what the data take from the prior's variance.

    n×n: Σ_c tr B_c⁻¹ + n − Σ_c tr(M⁻¹ √p_c B_c⁻² √p_c) − nK.
    """
    if not len(at.mass):
        return 0.0
    factor = geometry.factorise(at)
    if isinstance(factor, Factor):
        return factor.trace_defect()
    assert isinstance(geometry, Blocks)
    defect, totals = float(len(at.mass)), at.totals
    for block, mass in zip(factor.blocks, at.mass.T, strict=True):
        defect += block.trace_defect()
        scaled = solve_triangular(factor.total.matrix, np.diag(np.sqrt(mass / totals)), lower=True)
        defect -= float(np.square(block.solve(np.asfortranarray(scaled.T))).sum())
    return defect


PREDICTIVE_STEPS, PREDICTIVE_HALVINGS = 50, 30
PREDICTIVE_TOLERANCE = 1e-9


def log_evidence(mean: Array, covariance: Array, counts: Array) -> float:
    """Log evidence of class counts (m×K) whose contrasts have this mean (m×K−1) and covariance.

    Laplace's method under any Gaussian of the predictors, g ~ N(g₀, S), S of m(K−1) squared. With ∇ and W of
    the likelihood at g and b = W(g − g₀) + ∇, Newton's step is g ← g₀ + S a, a = b − W (I + S W)⁻¹ S b, and

        log Z = log p(y|g) − ½ aᵀ S a − ½ log det(I + S W)   at its end.

    >>> likely = log_evidence(np.array([[2.0]]), np.eye(1), np.array([[0.0, 1.0]]))
    >>> -0.2 < likely < log_evidence(np.array([[9.0]]), np.eye(1), np.array([[0.0, 1.0]])) < 0.0
    True
    """
    rows, k = mean.shape
    Q = contrasts(k + 1)
    a, g = np.zeros(rows * k), mean.ravel()
    at = terms(mean @ Q.T, counts)
    value = at.value
    for _ in range(PREDICTIVE_STEPS):
        W = _block_diagonal(contrast_curvature(Q, at.mass))
        b = W @ (g - mean.ravel()) + (at.gradient @ Q).ravel()
        bent = covariance @ W
        bent.flat[:: len(bent) + 1] += 1.0
        step = b - W @ np.linalg.solve(bent, covariance @ b) - a
        step_g, size, before = covariance @ step, 1.0, value
        for _ in range(PREDICTIVE_HALVINGS):
            moved_a, moved = a + size * step, g + size * step_g
            at = terms(moved.reshape(rows, k) @ Q.T, counts)
            value = at.value - 0.5 * float(moved_a @ (moved - mean.ravel()))
            if value >= before - PREDICTIVE_TOLERANCE:
                break
            size *= 0.5
        a, g = moved_a, moved
        if value - before < PREDICTIVE_TOLERANCE:
            break
    bent = covariance @ _block_diagonal(contrast_curvature(Q, at.mass))
    bent.flat[:: len(bent) + 1] += 1.0
    return value - 0.5 * float(np.linalg.slogdet(bent)[1])


def _block_diagonal(parts: Array) -> Array:
    """Square blocks (m×k×k) along the diagonal."""
    rows, k, _ = parts.shape
    whole = np.zeros((rows, k, rows, k))
    whole[np.arange(rows), :, np.arange(rows), :] = parts
    return whole.reshape(rows * k, rows * k)
