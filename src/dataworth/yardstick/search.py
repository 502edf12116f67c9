"""The search of a yardstick: scales, maps, priors, tempering, by held-out likelihood over halves of the test.

1. Every map, on one halving, both ways, with at most 200 rows to learn from; its prior is climbed.
2. The best map of every kind and scale, over a ladder of sizes (an eighth, a quarter and a half of the test
   set) and more halvings, with three priors and every tempering.
3. Among maps that are as good, within 2 standard errors and 0.015 nats a row, the one with the sharpest eye:
   the largest mean t of known-answer probes (`probes`), if it is 15 % larger than the best one's.

Tempering: rows of the data count w times, since test rows of one world say more of each other than a model
that is nearly right believes. Its part is played by the noise variance for numeric labels.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from ..arrays import Array, Rows
from ..data.dataset import Dataset
from ..errors import DataworthError
from ..models import with_intercept
from .candidates import EFFORTS, Effort, Map, Trial, maps
from .predictive import PREDICT, Known, Told, both_ways, halves, one_of_classes
from .probes import eye, in_sums
from .recipe import Basis, Recipe

PRIORS = tuple(float(f"{c:.3g}") for c in 10.0 ** np.arange(-3.0, 3.51, 0.5))
"""C′, the prior variance of coefficients when rows count once."""
START = PRIORS.index(10.0)
ROWS = 1000
"""Rows of the test set that the search uses at most; scales, axes and landmarks come from the same rows."""
SCREENED, LARGEST, SMALLEST = 200, 400, 10
"""Rows to learn from: in the first stage, and at the ends of the ladder."""
FINALISTS, FINAL_NATS = 5, 0.03
"""Maps that are compared over more halvings, and how near the best they must be, in nats a row."""
NEAR_ERRORS, NEAR_NATS, SHARPER, RIVALS = 2.0, 0.015, 1.15, 3
"""How near the best a map must be, how much sharper its eye, and how many are looked at."""


def searched(test: Dataset, seed: int, kind: str) -> tuple[Dataset, list[tuple[Rows, Rows]]]:
    """The rows of a test set that a search uses, and their halves; groups are whole in both."""
    rng = np.random.default_rng([seed, 0x7E57])
    sample = test.take(np.sort(_some(test, rng)))
    return sample, halves(len(sample), rng, splits_of(kind, len(sample)), sample.groups)


def _some(test: Dataset, rng: np.random.Generator) -> Rows:
    """At most ROWS rows: whole groups in random order, each that still fits.

    Where groups are so large that half of the room stays empty, rows at random: what is left of a group still
    lies in one half.
    """
    if test.groups is not None and len(test) > ROWS:
        _, member, sizes = np.unique(test.groups, return_inverse=True, return_counts=True)
        room, kept = ROWS, []
        for group in rng.permutation(len(sizes)):
            if sizes[group] <= room:
                room -= sizes[group]
                kept.append(group)
        if 2 * room <= ROWS:
            return np.flatnonzero(np.isin(member, kept))
    return rng.permutation(len(test))[:ROWS]


def splits_of(kind: str, rows: int) -> int:
    """How often a test set is halved for a model of this kind."""
    return EFFORTS[kind].splits[rows > 600]


@dataclass(frozen=True)
class Point:
    """A map at a prior C′ and a level: its held-out log-likelihood, row by row."""

    map: Map
    features: Array = field(repr=False)
    prior: float
    level: float
    rows: Array = field(repr=False)


@dataclass(frozen=True)
class Search:
    """Held-out likelihood of candidates, on fixed halves of the test set."""

    sample: Dataset
    basis: Basis
    targets: Array
    kind: str
    splits: list[tuple[Rows, Rows]]
    seed: int = 0

    @cached_property
    def effort(self) -> Effort:
        """What is tried."""
        return EFFORTS[self.kind]

    @cached_property
    def weights(self) -> Array:
        """Of rows."""
        return np.ones(len(self.sample)) if self.sample.weights is None else self.sample.weights

    def run(self, prior_variance: float | None = None) -> tuple[Trial, Recipe]:
        """The chosen candidate and its recipe."""
        screened = self.screen(prior_variance)
        if not screened:
            raise DataworthError("every feature of the test set is constant; there is nothing to learn from.")
        compared = sorted(self.compare(screened, prior_variance), key=lambda p: -self.mean(p.rows))
        points = self.settled(compared)
        chosen, sight = self.sharpest(points)
        recipe = chosen.map.cut(self.basis)
        linear = self.kind == "linear"
        trial = Trial(
            kind=chosen.map.kind,
            scale=chosen.map.scale,
            size=recipe.width,
            exponent=chosen.map.exponent,
            bandwidth=chosen.map.bandwidth,
            prior_variance=prior_variance or self.variance(chosen),
            tempering=1.0 if linear else chosen.level,
            noise_variance=chosen.level if linear else None,
            held_out=self.mean(chosen.rows),
            held_out_stderr=self.stderr(chosen.rows),
            sight=sight,
        )
        return trial, recipe

    def variance(self, point: Point) -> float:
        """C of C′: C′/w, or C′·s²."""
        return point.prior * point.level if self.kind == "linear" else point.prior / point.level

    def grid(self, prior_variance: float | None) -> list[tuple[float, tuple[float, ...]]]:
        """Priors C′, each with its levels.

        A prior variance that is given is kept as it is: rows count once; only the noise is still found.
        """
        if prior_variance is None:
            return [(c, self.effort.levels) for c in PRIORS]
        if self.kind == "linear":
            return [(prior_variance / s, (s,)) for s in self.effort.levels]
        return [(prior_variance, (1.0,))]

    def screen(self, prior_variance: float | None) -> list[tuple[Map, Array, int]]:
        """The best maps, one of every kind and scale: with its features and the place of its prior."""
        predict = one_of_classes if self.kind == "softmax" else PREDICT[self.kind]
        grid = self.grid(prior_variance)
        found: dict[tuple[str, str], tuple[float, Map, Array, int]] = {}
        places: dict[str, int] = {}
        for candidate in maps(self.basis, self.effort):
            features = with_intercept(self.basis.features(candidate.cut(self.basis)), not self.basis.odd)
            start = places.get(candidate.kind, min(START, len(grid) // 2))
            value, place = self.climb(features, grid, predict, start)
            places[candidate.kind] = place
            best = found.get((candidate.kind, candidate.scale))
            if best is None or value > best[0]:
                found[candidate.kind, candidate.scale] = value, candidate, features, place
        ranked = sorted(found.values(), key=lambda entry: -entry[0])
        return [entry[1:] for entry in ranked[: self.effort.short]]

    def climb(
        self,
        features: Array,
        grid: list[tuple[float, tuple[float, ...]]],
        predict: Callable[..., Told],
        place: int,
    ) -> tuple[float, int]:
        """The best prior on the grid, uphill from a place, by one halving; its likelihood and place."""
        seen: dict[int, float] = {}
        starts: dict[Any, Any] = {}

        def at(i: int) -> float:
            if not 0 <= i < len(grid):
                return -np.inf
            if i not in seen:
                rows = self.held_out(features, *grid[i], (SCREENED,), self.splits[:1], predict, starts)
                seen[i] = max(map(self.mean, rows))
            return seen[i]

        while max(at(place - 1), at(place + 1)) > at(place):
            place += 1 if at(place + 1) > at(place - 1) else -1
        return at(place), place

    def compare(
        self, screened: list[tuple[Map, Array, int]], prior_variance: float | None
    ) -> Iterator[Point]:
        """Held out over the ladder: three priors around each map's best, every level."""
        grid = self.grid(prior_variance)
        for candidate, features, place in screened:
            starts: dict[Any, Any] = {}
            for prior, levels in grid[max(0, place - 1) : place + 2]:
                rows = self.held_out(features, prior, levels, self.ladder(), self.splits, None, starts)
                for level, own in zip(levels, rows, strict=True):
                    yield Point(candidate, features, prior, level, own)

    def settled(self, points: list[Point]) -> list[Point]:
        """The best point of each of the best maps, over many more halvings, so that luck does not choose."""
        best = {point.map: point for point in reversed(points)}
        finals = sorted(best.values(), key=lambda p: -self.mean(p.rows))[:FINALISTS]
        near = [p for p in finals if self.mean(finals[0].rows - p.rows) < FINAL_NATS]
        if len(near) < 2 or not self.effort.finals:
            return points
        rng = np.random.default_rng([self.seed, 0xF1A])
        more = halves(len(self.sample), rng, self.effort.finals, self.sample.groups)
        share = self.effort.finals / (self.effort.finals + len(self.splits))
        found = []
        for point in near:
            (rows,) = self.held_out(point.features, point.prior, (point.level,), self.ladder(), more)
            found.append(replace(point, rows=share * rows + (1.0 - share) * point.rows))
        return sorted(found, key=lambda p: -self.mean(p.rows))

    def ladder(self) -> tuple[int, ...]:
        """An eighth, a quarter and a half of the rows."""
        top = max(SMALLEST, min(len(self.sample) // 2, LARGEST))
        return tuple(sorted({max(SMALLEST, size) for size in (top // 4, top // 2, top)}))

    def held_out(
        self,
        features: Array,
        prior: float,
        levels: tuple[float, ...],
        sizes: tuple[int, ...],
        splits: list[tuple[Rows, Rows]],
        predict: Callable[..., Told] | None = None,
        starts: dict[Any, Any] | None = None,
    ) -> Array:
        """Log-likelihood of every row given so many rows of the other half: mean over halvings and sizes."""
        starts = {} if starts is None else starts
        predict = predict or PREDICT[self.kind]
        total, count = np.zeros((len(levels), len(features))), np.zeros(len(features))
        for i, (own, others) in enumerate(both_ways(splits)):
            for size in sizes:
                known, start = starts.get((i, size)) or (self.known(features, own[:size], others), None)
                told = predict(known, prior, levels, start)
                starts[i, size] = known, told.start
                total[:, others] += told.log_p
                count[others] += 1.0
        return total / count

    def known(self, features: Array, rows: Rows, others: Rows, targets: Array | None = None) -> Known:
        """Some rows to predict others from; `targets` stand in for their own."""
        own = self.targets[rows] if targets is None else targets
        classes = int(self.targets.max()) + 1  # of numbers and vectors none
        return Known(features[rows], own, self.weights[rows], features[others], self.targets[others], classes)

    def sharpest(self, points: list[Point]) -> tuple[Point, float | None]:
        """The best point, or one that is as good and has a sharper eye; and how sharp that is."""
        best, near = points[0], {points[0].map: points[0]}
        for point in points[1:]:
            loss = best.rows - point.rows
            close = self.mean(loss) <= min(NEAR_NATS, NEAR_ERRORS * self.stderr(loss))
            if close and len(near) <= RIVALS:
                near.setdefault(point.map, point)
        if len(near) == 1:
            return best, None
        sights = {place: self.sight(point) for place, point in near.items()}
        sharp = max(near, key=lambda place: sights[place])
        if sights[sharp] < SHARPER * sights[best.map]:
            sharp = best.map
        return near[sharp], sights[sharp]

    def sight(self, point: Point) -> float:
        """Mean t of known-answer probes; rows of a block count each on its own."""

        def score(rows: Rows, targets: Array, blocks: list[Rows]) -> Array:
            others = np.concatenate(blocks)
            asked = self.known(point.features, rows, others, targets)
            told = self.weights[others] * PREDICT[self.kind](asked, point.prior, (point.level,)).log_p[0]
            return in_sums(told, blocks)

        numeric = self.kind in ("linear", "multilinear")
        return eye(score, self.targets, self.splits, numeric, self.seed)

    def mean(self, rows: Array) -> float:
        """Mean over rows by their weights."""
        return float(np.average(rows, weights=self.weights))

    def stderr(self, rows: Array) -> float:
        """Its standard error; rows of one group are one observation."""
        parts: Array = self.weights * (rows - self.mean(rows))
        if self.sample.groups is not None:
            member = np.unique(self.sample.groups, return_inverse=True)[1]
            parts = np.bincount(member, parts).astype(float)
        return float(np.sqrt((parts**2).sum()) / self.weights.sum())
