"""Scales of columns, and features of a kernel on them.

Rows come in standard units, z = (x − centre) / s.d. of each column. The scale `each` leaves them so. `common`
gives columns of one kind (pixels, entries of a vector) their spread back: z · s.d. / root mean square of the
s.d. of their kind; other columns stay in standard units, which nobody's units can move. `rank` takes normal
scores: Φ⁻¹ of the proportion of test rows below, between 40 quantiles of the column, so that neither heavy
tails nor outliers count for more than their rank.

A kernel is k(x, a) = exp(−γ |x − a|²) at landmarks a, turned so that inner products are k: with
K = k(A, A) = V Λ Vᵀ over the landmarks, φ(x) = k(x, A) V Λ^-½ has φ(a)·φ(b) = k(a, b) for landmarks a, b
(Nyström). Features are then centred and given a mean square of 1 over the test set.

**What is published.** A landmark is the mean of five test rows that lie next to each other, not a row: a
yardstick's file shows no row of the test set (unless five are equal), and never a label.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import ndtri

from ..arrays import Array, Rows
from ..errors import DataworthError
from .file import items, number, numbers, text

SCALES = ("each", "common", "rank")
ALIKE, UNLIKE = 8, 30.0
"""Columns from which those of one name are of one kind, and how much wider than most none of them may be."""
KNOTS = 40
"""Quantiles a column of the scale `rank`, at (i + ½) / 40."""
LEVELS = (np.arange(KNOTS) + 0.5) / KNOTS
SCORES: Array = ndtri(LEVELS)


@dataclass(frozen=True, kw_only=True)
class Scale:
    """z ↦ (z − shift) · stretch; with `knots` (columns × 40), (normal score of z − shift) · stretch."""

    name: str
    shift: Array
    stretch: Array
    knots: Array

    @classmethod
    def learn(cls, name: str, standard: Array, common: Array) -> Scale:
        """From test rows in standard units and what `common_stretch` says of their columns."""
        d = len(common)
        stretch = common if name == "common" else (common > 0).astype(float)
        shift, knots = np.zeros(d), np.zeros((d, 0))
        if name == "rank":
            knots = np.ascontiguousarray(np.quantile(standard, LEVELS, axis=0).T)
            shift = normal_scores(standard, knots).mean(axis=0)
        return cls(name=name, shift=shift, stretch=stretch, knots=knots)

    def __call__(self, standard: Array) -> Array:
        """Rows in standard units on this scale."""
        if self.name == "each":
            return standard
        scores = normal_scores(standard, self.knots) if self.knots.size else standard
        return np.asarray((scores - self.shift) * self.stretch)

    @classmethod
    def from_dict(cls, d: dict[str, Any], width: int) -> Scale:
        """The scale of a file; a reason if it can be none."""
        name = text(d, "name")
        if name not in SCALES:
            raise DataworthError("its scale is one that this version does not know")
        items(d, "knots")
        knots = numbers(d, "knots", (width, KNOTS if name == "rank" else 0))
        if (np.diff(knots, axis=1) < 0).any():
            raise DataworthError("its knots do not ascend")
        shift, stretch = (numbers(d, part, (width,)) for part in ("shift", "stretch"))
        if (stretch < 0).any():
            raise DataworthError("its stretch is below 0")
        return cls(name=name, shift=shift, stretch=stretch, knots=knots)


def common_stretch(names: Sequence[str], spread: Array) -> Array:
    """Factor of each column on the scale `common`; 1 of columns that are of no kind, 0 of constant ones.

    Columns are of one kind if they are `ALIKE` or more, their names differ by numbers alone (`px[0]`,
    `px[1]`, …), and none spreads `UNLIKE` times as far as most: another unit, then, is another kind.
    """
    stretch = (spread > 0).astype(float)
    stems: dict[str, list[int]] = {}
    for j in np.flatnonzero(spread > 0).tolist():
        stems.setdefault(re.sub(r"\d+", "#", names[j]), []).append(j)
    for stem, places in stems.items():
        own = spread[places]
        if "#" in stem and len(places) >= ALIKE and own.max() < UNLIKE * np.median(own):
            ratio = own / own.max()  # squares of 1e-170 vanish, those of 1e170 overflow
            stretch[places] = ratio / np.sqrt((ratio**2).mean())
    return stretch


def normal_scores(X: Array, knots: Array) -> Array:
    """Scores of each column by its knots: linear between, constant beyond, equal knots in their middle."""
    scores, apart = np.empty(X.shape), np.all(np.diff(knots, axis=1) > 0, axis=1).tolist()
    for j, own in enumerate(knots):
        if apart[j]:
            scores[:, j] = np.interp(X[:, j], own, SCORES)
            continue
        first = np.flatnonzero(np.append(True, np.diff(own) > 0))
        last = np.append(first[1:], KNOTS) - 1
        scores[:, j] = np.interp(X[:, j], own[first], 0.5 * (SCORES[first] + SCORES[last]))
    return scores


TOGETHER = 5
"""Test rows whose mean is a landmark."""
KEPT = 1e-6
"""Eigenvalues of K, by the largest, from which they are kept: smaller ones are rounding."""
MEASURED = 300
"""Rows between which distances are taken for the bandwidth."""


@dataclass(frozen=True, kw_only=True)
class Kernel:
    """x ↦ exp(−gamma |x − landmarks|²) @ mix − shift, for rows x on a recipe's scale."""

    landmarks: Array
    gamma: float
    mix: Array
    shift: Array

    @classmethod
    def learn(cls, X: Array, bandwidth: float, count: int, order: Rows) -> Kernel:
        """From test rows in random `order`: gamma = 1 / (2 b² · median squared distance), E|φ|² = 1."""
        landmarks = choose_landmarks(X, order[:count])
        gamma = 0.5 / (bandwidth**2 * median_square(X[order[:MEASURED]]))
        mix = nystroem(landmarks, gamma)
        raw = cls(landmarks=landmarks, gamma=gamma, mix=mix, shift=np.zeros(mix.shape[1]))
        features = raw(X)
        shift = features.mean(axis=0)
        size = float(np.sqrt(((features - shift) ** 2).sum(axis=1).mean()))
        return replace(raw, mix=mix / size, shift=shift / size)

    def __call__(self, X: Array) -> Array:
        """Features of rows."""
        return np.asarray(np.exp(-self.gamma * squares(X, self.landmarks)) @ self.mix - self.shift)

    def scaled(self, factor: float) -> Kernel:
        """The same features, all by a factor."""
        return replace(self, mix=self.mix * factor, shift=self.shift * factor)

    @classmethod
    def from_dict(cls, d: dict[str, Any], width: int) -> Kernel:
        """The kernel of a file; a reason if it can be none."""
        rows, size = len(items(d, "landmarks")), len(items(d, "shift"))
        return cls(
            landmarks=numbers(d, "landmarks", (rows, width)),
            gamma=number(d, "gamma"),
            mix=numbers(d, "mix", (rows, size)),
            shift=numbers(d, "shift", (size,)),
        )


def squares(X: Array, A: Array) -> Array:
    """|x − a|² of every row x and every a."""
    own, other = (np.einsum("ij,ij->i", rows, rows) for rows in (X, A))
    return np.maximum(own[:, None] + other - 2.0 * X @ A.T, 0.0)


def median_square(X: Array) -> float:
    """The median squared distance between rows; their mean if most rows are equal."""
    found = squares(X, X)[np.triu_indices(len(X), 1)]
    return float(np.median(found)) or float(found.mean()) or 1.0


def nystroem(landmarks: Array, gamma: float) -> Array:
    """V Λ^-½ of the landmarks' kernel matrix, the largest eigenvalue first."""
    values, vectors = np.linalg.eigh(np.exp(-gamma * squares(landmarks, landmarks)))
    kept = np.flatnonzero(values > KEPT * values[-1])[::-1]
    return np.asarray(vectors[:, kept] / np.sqrt(values[kept]))


def choose_landmarks(X: Array, chosen: Rows) -> Array:
    """Means of each chosen row and its nearest ones, five in all: where the data lie, but no row of them."""
    near = np.argpartition(squares(X[chosen], X), TOGETHER - 1, axis=1)[:, :TOGETHER]
    total = X[near[:, 0]]
    for one in near.T[1:]:  # not all five at once, which is much memory where rows are long
        total += X[one]
    return np.asarray(total / near.shape[1])
