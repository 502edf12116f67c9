"""Three ways to hold a linear model under the prior N(0, C·I): n×n, d×d, and square-root.

All three give the same mode and the same determinant,
log det(I + C XᵀWX) = log det(I + W^½ K W^½) with K = C·X Xᵀ; they differ in cost and in how many digits
survive (Rasmussen & Williams 2006, Algorithm 3.1, for the n×n form).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import qr, solve_triangular
from scipy.linalg.lapack import dpotrf, dpotri, dpotrs, dtrtri

from ..arrays import Array

GRAM_LIMIT = 1e9
"""Largest C·‖x‖² for which Gram matrices keep enough digits: their rounding error, about 1e-16·C·‖x‖²,
enters log Z directly. Beyond it the square-root geometry never squares the condition number."""

SCALED = 64
SLAB = 4096
GATHERED = 4 * SLAB
"""Rows up to which a selection is copied out at once."""


class Factor(NamedTuple):
    """A triangular factor of I + C XᵀWX or of I + W^½ K W^½ (equal determinants and trace defects)."""

    matrix: Array
    lower: bool

    def solve(self, target: Array) -> Array:
        """The factored matrix's inverse times `target`."""
        if not self.matrix.size:
            return target  # LAPACK refuses empty matrices
        solution, _ = dpotrs(self.matrix, target, lower=int(self.lower))  # cho_solve costs 30 µs more
        return solution

    def half_solve(self, target: Array, *, transposed: bool = False) -> Array:
        """L⁻¹ b, or L⁻ᵀ b, of the factored matrix L Lᵀ, which is held as L or as its transpose."""
        trans = "N" if self.lower != transposed else "T"
        solution: Array = solve_triangular(
            self.matrix, target, lower=self.lower, trans=trans, check_finite=False
        )
        return solution

    def inverse(self) -> Array:
        """The lower triangle of the factored matrix's inverse."""
        if self.lower:
            return np.asarray(dpotri(self.matrix, lower=1)[0])
        return np.asarray(dpotri(self.matrix, lower=0)[0].T)

    def log_det(self) -> float:
        """Log determinant of the factored matrix."""
        return 2.0 * float(np.log(np.abs(np.diagonal(self.matrix))).sum())

    def trace_defect(self) -> float:
        """trace of the inverse minus its size, ≤ 0: what the data take from the prior's variance."""
        if not self.matrix.size:
            return 0.0
        inverse, _ = dtrtri(self.matrix, lower=int(self.lower))
        return float(np.einsum("ij,ij->", inverse, inverse)) - len(self.matrix)


def cholesky_factor(symmetric: Array) -> Factor:
    """Cholesky of a matrix whose upper triangle is given; a failure is never returned as a factor."""
    # the transpose is in LAPACK's order: no copy, and its lower triangle is the one that is given
    factor, info = dpotrf(symmetric.T, lower=1, clean=1, overwrite_a=1)
    if info != 0:
        raise np.linalg.LinAlgError(f"Cholesky failed at pivot {info}")
    return Factor(factor, True)


def gram_factor(X: Array, weights: Array) -> Factor:
    """Factor of I + Xᵀ diag(weights) X through the product."""
    scaled = X * np.sqrt(weights)[:, None]
    normal = scaled.T @ scaled
    normal.flat[:: len(normal) + 1] += 1.0
    return cholesky_factor(normal)


def root_factor(X: Array, weights: Array) -> Factor:
    """The same by QR of [√weights·X; I], without forming the product: half the digits are not lost."""
    stacked = np.vstack([X * np.sqrt(weights)[:, None], np.eye(X.shape[1])])
    # large rows first: only then is QR stable row by row (Cox & Higham 1998)
    stacked = stacked[np.argsort(-np.abs(stacked).max(axis=1, initial=0.0), kind="stable")]
    triangle = qr(stacked, mode="r", overwrite_a=True, check_finite=False)[0]
    return Factor(np.asfortranarray(triangle[: X.shape[1]]), False)


def safe_factor(X: Array, weights: Array, largest: float) -> Factor:
    """The cheaper of the two that keeps its digits, where the largest weighted ‖x‖² is as given."""
    return (root_factor if largest > GRAM_LIMIT else gram_factor)(X, weights)


class Step(NamedTuple):
    """A Newton step of coefficients and predictor, its decrement (the slope of Ψ along it), and the gradient
    of Ψ as its geometry has it.

    Slopes are taken from that gradient, not as differences of two sums that nearly cancel.
    """

    coef: Array
    f: Array
    decrement: float
    pull: Array


class Reuse(NamedTuple):
    """How long a factor serves for further steps: so many steps at most, while no row's predictor moved
    farther, and each step leaves no larger a share of the way."""

    steps: int
    reach: float
    left: float


FRUGAL = Reuse(8, 0.5, 0.5)
"""Where a factor costs as much as a few steps."""
DEAR = Reuse(24, np.inf, np.inf)
"""Where it costs as much as many."""


class Dual:
    """n×n: coefficients a with f = K a, for more features than rows."""

    kind, reuse = "dual", FRUGAL

    def __init__(self, gram: Array) -> None:
        self.gram = gram
        self.shape = (len(gram),)  # of coefficients
        self.degrees = len(gram)  # at most one parameter a row

    def predictor(self, coef: Array) -> Array:
        """f = K a."""
        return self.gram @ coef

    def penalty(self, coef: Array, other_coef: Array, other_f: Array) -> float:
        """aᵀ K b = aᵀ f_b."""
        return float(coef @ other_f)

    def factorise(self, curvature: Array) -> Factor:
        """The factor of B = I + √W K √W.

        One triangle is filled, a slab at a time: half the numbers, each scaled while it is in the cache.
        """
        root, b = np.sqrt(curvature), np.empty(self.gram.shape)
        for i in range(0, len(b), SCALED):
            slab = b[i : i + SCALED, i:]
            np.multiply(self.gram[i : i + SCALED, i:], root[i:], out=slab)
            slab *= root[i : i + SCALED, None]
        b.flat[:: len(b) + 1] += 1.0
        return cholesky_factor(b)

    def step(self, factor: Factor, curvature: Array, coef: Array, gradient: Array) -> Step:
        """Residual form: r = a − ∇, t = B⁻¹ √W K r, Δa = √W t − r, Δf = K Δa, B of the curvature given.

        The textbook form solves for the new a instead of Δa and loses digits at wide priors. W = 0 is an
        identity row of B: nothing is ever divided by W.
        """
        root, residual = np.sqrt(curvature), coef - gradient
        step = root * factor.solve(root * (self.gram @ residual)) - residual
        step_f = self.gram @ step
        return Step(step, step_f, -float(residual @ step_f), residual)

    def slope(self, pull: Array, step: Step) -> float:
        """Of Ψ along another step."""
        return -float(pull @ step.f)


class Primal:
    """d×d: coefficients θ with f = Xθ, for more rows than features.

    With `rows` (distinct, in order), the model has those rows of X only; where they are many they are read a
    slab at a time, so that a fit of 100,000 rows does not copy them. `root` takes the factor by QR (twice the
    cost) where C‖x‖² is enormous.
    """

    reuse = FRUGAL

    def __init__(
        self, X: Array, prior_variance: float, rows: NDArray[np.intp] | None = None, *, root: bool = False
    ) -> None:
        if rows is not None and len(rows) == len(X):
            rows = None
        elif rows is not None and len(rows) <= GATHERED:
            X, rows = X[rows], None
        self.X = X
        self.rows = rows
        self.prior_variance = prior_variance
        self.shape = (X.shape[1],)  # of coefficients
        self.degrees = X.shape[1]  # one parameter a feature
        self.root = root
        self.kind = "root" if root else "primal"

    def __len__(self) -> int:
        return len(self.X) if self.rows is None else len(self.rows)

    def slabs(self) -> Iterator[tuple[slice, Array]]:
        """The rows, a slab at a time, and where each slab stands among them."""
        for i in range(0, len(self), SLAB):
            part = slice(i, i + SLAB)
            yield part, self.X[part] if self.rows is None else self.X[self.rows[part]]

    def predictor(self, coef: Array) -> Array:
        """f = X θ."""
        f = np.empty(len(self))
        for part, X in self.slabs():
            f[part] = X @ coef
        return f

    def penalty(self, coef: Array, other_coef: Array, other_f: Array) -> float:
        """θᵀθ′ / C."""
        return float(coef @ other_coef) / self.prior_variance

    def factorise(self, curvature: Array) -> Factor:
        """The factor of I + C XᵀWX."""
        weights = self.prior_variance * curvature
        if self.root:
            return root_factor(self.X, weights)
        normal, root = np.zeros((self.degrees, self.degrees)), np.sqrt(weights)
        for part, X in self.slabs():
            scaled = X * root[part, None]
            normal += scaled.T @ scaled
        normal.flat[:: len(normal) + 1] += 1.0
        return cholesky_factor(normal)

    def step(self, factor: Factor, curvature: Array, coef: Array, gradient: Array) -> Step:
        """Δθ = (I + C XᵀWX)⁻¹ (C Xᵀ∇ − θ)."""
        ascent = -coef
        for part, X in self.slabs():
            ascent += self.prior_variance * (X.T @ gradient[part])
        step = factor.solve(ascent)
        return Step(step, self.predictor(step), float(ascent @ step) / self.prior_variance, ascent)

    def slope(self, pull: Array, step: Step) -> float:
        """Of Ψ along another step."""
        return float((pull * step.coef).sum()) / self.prior_variance


def graded_features(X: Array) -> tuple[Array, Array]:
    """n×min(n, d) features Z with Z Zᵀ = X Xᵀ, columns in order of decreasing size, and Q with X = Z Qᵀ.

    The same model in coordinates that keep strong and weak directions apart, so that rounding in the
    strong ones (1e8, say) cannot drown the weak ones (1). Column-pivoted QR is stable row by row, which
    a singular value decomposition is not.
    """
    columns = np.argsort(-np.abs(X).max(axis=0, initial=0.0), kind="stable")  # rows of Xᵀ, large ones first
    basis, triangle, order = qr(X[:, columns].T, mode="economic", pivoting=True, check_finite=False)
    Z, Q = np.empty((X.shape[0], min(X.shape))), np.empty_like(basis)
    Z[order], Q[columns] = triangle.T, basis
    return Z, Q


def largest_square(X: Array) -> float:
    """The largest ‖x‖²."""
    slabs = (X[i : i + SLAB] for i in range(0, len(X), SLAB))
    return max((float(np.einsum("ij,ij->i", slab, slab).max()) for slab in slabs), default=0.0)


def choose_geometry(
    X: Array,
    prior_variance: float,
    rows: NDArray[np.intp] | None = None,
    square: float | None = None,
    few: int = 0,
) -> Dual | Primal:
    """The cheapest geometry that keeps its digits: n×n below the measured crossover n ≈ 2d, else d×d.

    `rows` selects rows of X; `square` is their largest ‖x‖² (or that of all of X), if it is known. Up to
    `few` rows it is n×n whatever d is.
    """
    n, d = len(X) if rows is None else len(rows), X.shape[1]
    if n and prior_variance * (largest_square(X) if square is None else square) > GRAM_LIMIT:
        own = X if rows is None else X[rows]
        # columns as given are columns kept apart; only more columns than rows need other coordinates
        return Primal(own if n >= d else graded_features(own)[0], prior_variance, root=True)
    if n > max(2 * d, few) or n == 0:
        return Primal(X, prior_variance, rows)
    own = X if rows is None else X[rows]
    gram = own @ own.T
    gram *= prior_variance
    return Dual(gram)
