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
from scipy.linalg.lapack import dpotri

from ..errors import DataworthError
from .geometry import (
    GRAM_LIMIT,
    Factor,
    cholesky_factor,
    graded_features,
    largest_square,
    root_factor,
)
from .line_search import best_step
from .logistic import Array
from .settings import (
    MAX_ITERATIONS,
    NEAR,
    RELATIVE_TOLERANCE,
    REPEATS,
    SLOW,
    TOLERANCE,
)

SCALED = 512
"""Rows that are weighted at a time."""
MEMORY_LIMIT = 4e9
"""Bytes that the matrices of one fit may take."""
POLISHED = 1e-9
"""Nats that ½ log det may still move at the last step: if it may by more, one further factor is made."""


class Terms(NamedTuple):
    """Log-likelihood, its gradient m − n·p, and n·p, each n×K but the first."""

    value: float
    gradient: Array
    mass: Array

    @property
    def totals(self) -> Array:
        """n of each row."""
        return np.asarray(self.mass.sum(axis=1))


def terms(f: Array, counts: Array) -> Terms:
    """Likelihood terms at f, exact in the tails: 1 − p is summed, never subtracted, where p is near 1.

    >>> t = terms(np.array([[0.0, 800.0]]), np.array([[1.0, 2.0]]))
    >>> t.value, t.gradient.tolist()
    (-800.0, [[1.0, -1.0]])
    """
    n = counts.sum(axis=1, keepdims=True)
    rows, top = np.arange(len(f)), f.argmax(axis=1)
    below = f - f[rows, top][:, None]
    e = np.exp(below)
    e[rows, top] = 0.0
    others = e.sum(axis=1)
    value = float((counts * below).sum() - n[:, 0] @ np.log1p(others))
    p = e / (1.0 + others)[:, None]
    rest = 1.0 - p
    p[rows, top] = 1.0 / (1.0 + others)
    rest[rows, top] = others / (1.0 + others)
    return Terms(value, counts * rest - (n - counts) * p, n * p)


def probabilities(f: Array) -> Array:
    """Softmax of each row."""
    e = np.exp(f - f.max(axis=-1, keepdims=True))
    e /= e.sum(axis=-1, keepdims=True)
    return np.asarray(e)


def row_curvature(mass: Array, f: Array) -> Array:
    """W f of each row: n p (f − Σ p f), by differences within the row."""
    mean = (mass * f).sum(axis=1, keepdims=True) / mass.sum(axis=1, keepdims=True)
    return np.asarray(mass * (f - mean))


def curvature_root(mass: Array, noise: Array) -> Array:
    """S z of each row with S Sᵀ = W, z of K−1 numbers: the multinomial, class after class.

    W = Σ_j w_j v_j v_jᵀ with v_j = e_j − Σ_{k>j} e_k p_k/s_j, w_j = n p_j s_j/(p_j + s_j), s_j = Σ_{k>j} p_k.

    >>> W = [curvature_root(np.array([[1.0, 2.0, 3.0]]), z[None])[0] for z in np.eye(2)]
    >>> (np.transpose(W) @ np.array(W)).round(4).tolist()  # 6 (diag p − ppᵀ)
    [[0.8333, -0.3333, -0.5], [-0.3333, 1.3333, -1.0], [-0.5, -1.0, 1.5]]
    """
    weights, vectors = _conditional(mass)
    return np.asarray(np.einsum("ij,ijk->ik", np.sqrt(weights) * noise, vectors))


def _conditional(mass: Array) -> tuple[Array, Array]:
    """The weights w_j (n×K−1) and vectors v_j (n×K−1×K) of `curvature_root`; no term cancels."""
    classes = mass.shape[1]
    after = np.cumsum(mass[:, ::-1], axis=1)[:, ::-1]  # Σ_{k≥j}
    left, both = after[:, 1:], after[:, :-1]
    share = np.divide(mass[:, :-1], both, out=np.zeros_like(left), where=both > 0)
    vectors = np.zeros((len(mass), classes - 1, classes))
    for j in range(classes - 1):
        vectors[:, j, j] = 1.0
        later = vectors[:, j, j + 1 :]
        np.divide(-mass[:, j + 1 :], left[:, j, None], out=later, where=left[:, j, None] > 0)
    return share * left, vectors


def contrasts(classes: int) -> Array:
    """K×(K−1): orthonormal columns, each of sum zero.

    >>> contrasts(2).round(3).tolist()
    [[-0.707], [0.707]]
    """
    Q = np.zeros((classes, classes - 1))
    for j in range(1, classes):
        Q[:j, j - 1] = -1.0 / np.sqrt(j * (j + 1))
        Q[j, j - 1] = j / np.sqrt(j * (j + 1))
    return Q


class Step(NamedTuple):
    """A Newton step of coefficients and predictor, and the slope of Ψ along it."""

    coef: Array
    f: Array
    decrement: float


class Stacked:
    """Coefficients Θ (d×K) with F = XΘ: one matrix of (K−1)·d. Built in O(K² n d²), factored in O(K³ d³)."""

    def __init__(self, X: Array, prior_variance: float, classes: int, *, root: bool = False) -> None:
        self.X, self.prior_variance, self.root = X, prior_variance, root
        self.Q = contrasts(classes)

    def shape(self) -> tuple[int, int]:
        """That of coefficients."""
        return self.X.shape[1], len(self.Q)

    def predictor(self, coef: Array) -> Array:
        """F = XΘ."""
        return np.asarray(self.X @ coef)

    def penalty(self, coef: Array, other_coef: Array, other_f: Array) -> float:
        """⟨Θ, Θ′⟩ / C."""
        return float((coef * other_coef).sum()) / self.prior_variance

    def degrees(self) -> int:
        """One parameter a feature and contrast."""
        return self.X.shape[1] * self.Q.shape[1]

    def factorise(self, at: Terms) -> Factor:
        """The factor of I + C Σᵢ QᵀWᵢQ ⊗ xᵢxᵢᵀ; by QR, without forming it, where C‖x‖² is enormous."""
        d, k = self.X.shape[1], self.Q.shape[1]
        if self.root:
            weights, vectors = _conditional(at.mass)
            rows = np.einsum("ijk,kq,id->ijqd", vectors, self.Q, self.X).reshape(-1, k * d)
            return root_factor(rows, self.prior_variance * weights.ravel())
        normal = np.zeros((k * d, k * d))
        space = np.empty((min(len(self.X), SCALED), k * d))
        for i in range(0, len(self.X), SCALED):
            X = self.X[i : i + SCALED]
            W = self.prior_variance * self._curvature(at.mass[i : i + SCALED])
            for j in range(k):  # one triangle of blocks, a row of them at a time
                scaled = space[: len(X), j * d :]
                np.multiply(W[:, j, j:, None], X[:, None, :], out=scaled.reshape(len(X), k - j, d))
                normal[j * d : (j + 1) * d, j * d :] += X.T @ scaled
        normal.flat[:: len(normal) + 1] += 1.0
        return cholesky_factor(normal)

    def _curvature(self, mass: Array) -> Array:
        """QᵀWᵢQ: the covariance of contrasts, taken about the row's likeliest class, so that where that one
        is nearly certain nothing cancels."""
        totals, top = mass.sum(axis=1), mass.argmax(axis=1)
        k = self.Q.shape[1]
        W = np.empty((len(mass), k, k))
        for c in range(len(self.Q)):
            rows = np.flatnonzero(top == c)
            away = self.Q - self.Q[c]
            squares = (away[:, :, None] * away[:, None, :]).reshape(len(away), -1)
            mean = mass[rows] @ away
            W[rows] = (mass[rows] @ squares).reshape(-1, k, k)
            W[rows] -= mean[:, :, None] * (mean / totals[rows, None])[:, None, :]
        return W

    def step(self, factor: Any, at: Terms, coef: Array, gradient: Array) -> Step:
        """ΔΘ = (I + C XᵀWX)⁻¹ (C Xᵀ∇ − Θ)."""
        ascent = self.prior_variance * (self.X.T @ gradient) - coef
        reduced = np.ascontiguousarray((ascent @ self.Q).T)
        step = factor.solve(reduced.ravel()).reshape(reduced.shape).T @ self.Q.T
        return Step(step, self.X @ step, float((ascent * step).sum()) / self.prior_variance)


class BlockFactor(NamedTuple):
    """Factors of B_c = I + D_c^½ K D_c^½, D_c = n p_c, and of M = Σ_c √p_c B_c⁻¹ √p_c."""

    blocks: tuple[Factor, ...]
    total: Factor

    def log_det(self) -> float:
        """Log det(I + KW) = Σ_c log det B_c + log det M."""
        return sum(block.log_det() for block in (*self.blocks, self.total))


class Blocks:
    """Coefficients A (n×K) with F = K A, K = C·XXᵀ: K + 1 matrices of n×n. O(K n³)."""

    def __init__(self, gram: Array, classes: int) -> None:
        self.gram, self.classes = gram, classes

    def shape(self) -> tuple[int, int]:
        """That of coefficients."""
        return len(self.gram), self.classes

    def predictor(self, coef: Array) -> Array:
        """F = K A."""
        return np.asarray(self.gram @ coef)

    def penalty(self, coef: Array, other_coef: Array, other_f: Array) -> float:
        """⟨A, F′⟩."""
        return float((coef * other_f).sum())

    def degrees(self) -> int:
        """At most one parameter a row and contrast."""
        return len(self.gram) * (self.classes - 1)

    def factorise(self, at: Terms) -> BlockFactor:
        """Each class's factor, and that of their sum."""
        totals, n = at.totals, len(self.gram)
        total, factors = np.zeros((n, n)), []
        for mass in at.mass.T:
            factors.append(cholesky_factor(_scaled(self.gram, np.sqrt(mass))))
            inverse = _inverse(factors[-1])
            share = np.sqrt(mass / totals)
            inverse *= share
            inverse *= share[:, None]
            total += inverse
        return BlockFactor(tuple(factors), cholesky_factor(total))

    def step(self, factor: Any, at: Terms, coef: Array, gradient: Array) -> Step:
        """R = A − ∇, ΔA_c = E_c (K R_c − s) − R_c, s = (Σ E_c)⁻¹ Σ E_c K R_c, E_c = D_c^½ B_c⁻¹ D_c^½."""
        residual = coef - gradient
        pull = self.gram @ residual
        root, total = np.sqrt(at.mass), np.sqrt(at.totals)
        seen = sum(self._respond(factor, root, c, pull[:, c]) for c in range(self.classes))
        common = factor.total.solve(seen / total) / total
        step = np.column_stack(
            [self._respond(factor, root, c, pull[:, c] - common) for c in range(self.classes)]
        )
        step -= residual
        step_f = self.gram @ step
        return Step(step, step_f, -float((residual * step_f).sum()))

    @staticmethod
    def _respond(factor: BlockFactor, root: Array, c: int, target: Array) -> Array:
        """E_c times a vector."""
        return np.asarray(root[:, c] * factor.blocks[c].solve(root[:, c] * target))


def _scaled(gram: Array, root: Array) -> Array:
    """I + D^½ K D^½."""
    b = gram * root
    b *= root[:, None]
    b.flat[:: len(b) + 1] += 1.0
    return b


def _inverse(factor: Factor) -> Array:
    """Of the factored matrix: its upper triangle, which is what `cholesky_factor` reads."""
    inverse, _ = dpotri(factor.matrix, lower=1)
    return np.asarray(inverse.T)


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
        return Mode(np.zeros(geometry.shape()), np.zeros(counts.shape), 0.0, 0.0, 0.0, 0, True)
    point = _Point.of(np.zeros(geometry.shape()), np.zeros(counts.shape), counts)
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
    return 0.5 * min(ranks * float(moves.sum()), geometry.degrees() * float(moves.max()))


def bytes_needed(n: int, d: int, classes: int) -> dict[str, int]:
    """Memory of a fit: K + 4 matrices of n×n, or 2 of (K−1)d × (K−1)d and a slab of rows; by QR, all rows.

    >>> {kind: round(size / 1e9, 1) for kind, size in bytes_needed(20_000, 500, 10).items()}  # GB
    {'dual': 44.8, 'primal': 0.3, 'root': 19.9}
    """
    k = classes - 1
    narrow = k * min(n, d)
    return {
        "dual": 8 * (classes + 4) * n * n,
        "primal": 8 * (2 * (k * d) ** 2 + min(n, SCALED) * k * (d + k)),
        "root": 8 * 3 * (n * k + narrow) * narrow,
    }


def side(n: int, d: int, classes: int) -> str:
    """The side with fewer operations a Newton step (measured: about as many a second on both); the smaller
    one if the other exceeds the limit of memory.

    >>> [side(n, 65, 10) for n in (50, 1000)], side(1000, 5000, 10)
    (['dual', 'primal'], 'dual')
    """
    k, needed = classes - 1, bytes_needed(n, d, classes)
    if max(needed["dual"], needed["primal"]) > MEMORY_LIMIT:
        return "dual" if needed["dual"] < needed["primal"] else "primal"
    products = n * d * d * k * classes + (k * d) ** 3 / 3.0
    return "dual" if (classes + 1) * float(n) ** 3 < products else "primal"


def choose_geometry(X: Array, counts: Array, prior_variance: float) -> tuple[Stacked | Blocks, str]:
    """The cheapest geometry that keeps its digits, and what its coefficients are: primal (Θ), dual (A), or
    other; a sentence before anything is allocated if it would not fit into memory."""
    (n, d), classes = X.shape, counts.shape[1]
    heaviest = max(1.0, float(counts.sum(axis=1).max(initial=0.0)))
    root = n > 0 and prior_variance * heaviest * largest_square(X) > GRAM_LIMIT
    kind = "primal" if n == 0 else "root" if root else side(n, d, classes)
    needed = bytes_needed(n, d, classes)[kind]
    if n and needed > MEMORY_LIMIT:
        raise DataworthError(
            f"Softmax on {n} distinct rows with {d} coefficients for each of {classes} classes needs "
            f"{needed / 1e9:.1f} GB, more than {MEMORY_LIMIT / 1e9:.0f} GB: take fewer rows or features, or "
            "dw.OneVsRest, which is cheaper."
        )
    if root:
        # columns as given are columns kept apart; only more columns than rows need other coordinates
        own = X if n >= d else graded_features(X)
        return Stacked(own, prior_variance, classes, root=True), "primal" if n >= d else "other"
    if kind == "primal":
        return Stacked(X, prior_variance, classes), kind
    gram = X @ X.T
    gram *= prior_variance
    return Blocks(gram, classes), kind
