"""What some rows say of others, row by row: log p(y | x, rows), for the models that a yardstick can have.

Rows counted w times under N(0, C·I) have the mode of rows counted once under C′ = w·C, and 1/w of its
covariance: Σ(C, w) = Σ(C′, 1)/w. So one fit at C′ serves every w. Numeric labels with noise s² are the same
with w = 1/s²: C = C′·s². `levels` are these w, or these s².

A row's predictor is Gaussian, N(m, v/w), and what is known of its label one integral: in closed form for
numeric labels, by Gauss–Hermite for two classes, by fixed draws for several.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..arrays import Array, Rows
from ..errors import DataworthError
from ..inference.gaussian import fit_gaussian
from ..inference.geometry import Factor
from ..inference.matrix_normal import fit_matrix_normal
from ..inference.newton import find_mode
from ..inference.rough_mode import rough_mode
from ..inference.softmax import POLISHED, ClassCounts, Stacked, contrast_roots, log_chances
from ..models import Linear, MultiLinear, with_intercept
from .kinds import KINDS, YardstickModel


def halves(
    n: int, rng: np.random.Generator, splits: int, groups: NDArray[np.str_] | None = None
) -> list[tuple[Rows, Rows]]:
    """Random halves of n rows; rows of one group stay together, and the halves are as even as that allows.

    Rows of a half stand in random order, group after group, so that its first rows are a smaller sample.

    >>> (a, b), = halves(5, np.random.default_rng(0), 1, groups=np.array(["p", "q", "p", "q", "q"]))
    >>> a.tolist(), b.tolist()
    ([0, 2], [1, 3, 4])
    """
    if groups is None:
        return [(p[: n // 2], p[n // 2 :]) for p in (rng.permutation(n) for _ in range(splits))]
    _, member, sizes = np.unique(groups, return_inverse=True, return_counts=True)
    if len(sizes) < 2:
        raise DataworthError(
            "all rows of the test set belong to one group, and halves keep groups whole: give two groups or "
            "more, or none."
        )
    made = []
    for order in (rng.permutation(len(sizes)) for _ in range(splits)):
        cut = 1 + np.argmin(np.abs(2 * np.cumsum(sizes[order])[:-1] - n))
        place = np.argsort(order)[member]  # of each row's group
        rows = np.argsort(place, kind="stable")
        made.append((rows[place[rows] < cut], rows[place[rows] >= cut]))
    return made


def both_ways(splits: list[tuple[Rows, Rows]]) -> list[tuple[Rows, Rows]]:
    """Each half predicts the other."""
    return [pair for a, b in splits for pair in ((a, b), (b, a))]


NODES = 20
"""Gauss–Hermite nodes of a row's integral: right to 0.001 nats for predictors of s.d. 3, to 0.03 for 5."""
X_NODES, W_NODES = np.polynomial.hermite_e.hermegauss(NODES)
SEED, DRAWS = 0x50B0, 256
"""Draws of a row's integral over several classes, the same for all rows: within 0.01 nats a row, on
average, of 4,000 at the temperings that ten classes want (16 and 64)."""
LEAST = 1e-300


class Told(NamedTuple):
    """Log-probability of each wanted row at each level, and where a fit of the same rows may start."""

    log_p: Array
    start: Any = None


class Span(NamedTuple):
    """Rows in coordinates of their own span if they are fewer than features: exact, and smaller.

    `beyond` is how much of each other row lies outside, where only the prior speaks: var = C · beyond there.
    """

    rows: Array
    others: Array
    beyond: Array | float

    @classmethod
    def of(cls, rows: Array, others: Array) -> Span:
        """d → n coordinates where n < d."""
        if rows.shape[0] >= rows.shape[1]:
            return cls(rows, others, 0.0)
        Q, R = np.linalg.qr(rows.T)
        inside = others @ Q
        rest = (others**2).sum(axis=1) - (inside**2).sum(axis=1)
        return cls(np.ascontiguousarray(R.T), inside, np.maximum(rest, 0.0))


@dataclass(frozen=True)
class Known:
    """Rows to learn from, and rows to predict: features with their column of ones, targets, weights.

    `classes` is how many there are in all: some rows need not have them all.
    """

    rows: Array
    targets: Array
    weights: Array
    others: Array
    wanted: Array
    classes: int

    @cached_property
    def span(self) -> Span:
        """Both in coordinates of the span of those that are known."""
        return Span.of(self.rows, self.others)


def two_classes(known: Known, variance: float, levels: Sequence[float], start: Any = None) -> Told:
    """Logistic regression: log E σ(±f)."""
    mean, var, coef = _logistic(known, known.targets, variance, start)
    sign = 2.0 * known.wanted - 1.0
    return Told(np.log(np.maximum(_sigmoid(sign * mean, var, levels), LEAST)), coef)


def one_of_classes(known: Known, variance: float, levels: Sequence[float], start: Any = None) -> Told:
    """A logistic regression a class, "is c or not": p_c / Σ_k p_k. A tenth of the cost of softmax."""
    found, starts = [], []
    for c in range(known.classes):
        own = (known.targets == c).astype(float)
        mean, var, coef = _logistic(known, own, variance, None if start is None else start[c])
        found.append(_sigmoid(mean, var, levels))
        starts.append(coef)
    each = np.stack(found, axis=2)  # levels × rows × classes
    share = each[:, np.arange(len(known.wanted)), known.wanted.astype(np.intp)] / each.sum(axis=2)
    return Told(np.log(np.maximum(share, LEAST)), starts)


def softmax(known: Known, variance: float, levels: Sequence[float], start: Any = None) -> Told:
    """Multiclass logistic regression: E exp(f_y) / Σ_k exp(f_k), over the contrasts' Gaussian."""
    span, classes = known.span, known.classes
    counts = np.zeros((len(known.rows), classes))
    counts[np.arange(len(counts)), known.targets.astype(np.intp)] = known.weights
    counted = known.weights > 0
    geometry = Stacked(span.rows[counted], variance, classes)
    seen = ClassCounts(counts[counted])
    mode = find_mode(geometry, seen, start, polished=POLISHED)
    root = contrast_roots(geometry, mode.factor, span.others, span.beyond)
    half = np.random.default_rng(SEED).standard_normal((DRAWS // 2, classes - 1))
    drawn, mean, wanted = np.vstack([half, -half]), span.others @ mode.coef, known.wanted.astype(np.intp)
    found = [log_chances(mean, root, drawn / np.sqrt(level), wanted) for level in levels]
    return Told(np.array(found), mode.coef)


def numeric(known: Known, variance: float, levels: Sequence[float], start: Any = None) -> Told:
    """Linear regression with noise variance s²: log N(y; m, s²(1 + v))."""
    span = known.span
    fit = fit_gaussian(span.rows, known.targets, known.weights, variance, 1.0)
    var = _variance(fit.factor, span, variance)
    error = (known.wanted - span.others @ fit.coef) ** 2
    found = [-0.5 * (np.log(2.0 * np.pi * s * (1.0 + var)) + error / (s * (1.0 + var))) for s in levels]
    return Told(np.array(found))


def vectors(known: Known, variance: float, levels: Sequence[float], start: Any = None) -> Told:
    """Regression of vectors: the Student t of each row, with rows counted w times and C = C′/w."""
    prior, span = MultiLinear(), known.span
    degrees = prior.freedom + known.targets.shape[1] - 1
    once = fit_matrix_normal(span.rows, known.targets, known.weights, variance, degrees, prior.scale)
    leverage = _variance(once.factor, span, variance)
    ones, error = np.ones(len(span.others)), known.wanted - span.others @ once.coef
    return Told(np.array([once.counted(w).log_densities(leverage / w, error, ones) for w in levels]))


PREDICT: dict[str, Callable[..., Told]] = {
    "logistic": two_classes,
    "linear": numeric,
    "softmax": softmax,
    "multilinear": vectors,
}
"""By the yardstick's kind."""


def _logistic(
    known: Known, targets: Array, variance: float, start: Array | None
) -> tuple[Array, Array, Array]:
    """Mean and variance of the predictor at the other rows, and the coefficients in the span."""
    span, ones = known.span, known.weights * targets
    coef, factor = rough_mode(span.rows, ones, known.weights - ones, variance, start)
    return span.others @ coef, _variance(factor, span, variance), coef


def _variance(factor: Factor, span: Span, variance: float) -> Array:
    """C (1/A) at the other rows, A = I + C XᵀWX = L Lᵀ, and the prior's own beyond the span."""
    half = factor.half_solve(span.others.T)
    return np.asarray(variance * (np.einsum("ij,ij->j", half, half) + span.beyond))


def _sigmoid(mean: Array, var: Array, levels: Sequence[float]) -> Array:
    """E σ(f), f ~ N(mean, var/level), for every level."""
    spread = np.sqrt(var)[:, None] * X_NODES
    shares = W_NODES / W_NODES.sum()
    with np.errstate(over="ignore"):  # a fifth of the time of scipy's expit
        odds = (np.exp(-mean[:, None] - spread / np.sqrt(level)) for level in levels)
        return np.array([(1.0 / (1.0 + one)) @ shares for one in odds])


def log_predictives(model: YardstickModel, tempering: float, known: Known) -> Array:
    """Log p of each other row by a yardstick's model, where known rows count `tempering` times."""
    kind = next(name for name, made in KINDS.items() if isinstance(model, made))
    level, ratio = (tempering, tempering)
    if isinstance(model, Linear):
        level = float(model.noise_variance)  # type: ignore[arg-type]  # a yardstick's noise is a number
        ratio = tempering / level
    return PREDICT[kind](known, model.prior_variance * ratio, (level,)).log_p[0]


def half_given_half(
    model: YardstickModel,
    tempering: float,
    X: Array,
    y: Array,
    splits: list[tuple[Rows, Rows]],
    weights: Array | None = None,
) -> float:
    """Mean of Σ log p(row | other half) over rows of a half, both ways round; rows count `tempering` times.

    >>> from dataworth.models import Logistic
    >>> X, y = np.array([[-1.0], [-1.0], [1.0], [1.0]]), np.array([0.0, 0.0, 1.0, 1.0])
    >>> splits = [(np.array([0, 2]), np.array([1, 3]))]
    >>> half_given_half(Logistic(1.0), 1.0, X, y, splits) < half_given_half(Logistic(9.0), 1.0, X, y, splits)
    True
    """
    rows, classes = with_intercept(X, model.intercept), int(y.max()) + 1
    weights = np.ones(len(y)) if weights is None else weights
    found = []
    for own, others in both_ways(splits):
        asked = Known(rows[own], y[own], weights[own], rows[others], y[others], classes)
        found.append(float(weights[others] @ log_predictives(model, tempering, asked)))
    return float(np.mean(found))
