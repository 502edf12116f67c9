"""What the data's own models know of their labels: nothing from outside.

Four learners of `before` (the yardstick's model, boosting, nearest neighbours, a linear model) give each row
the probability of every label, cross-fitted: no row is judged by a model that saw it. `mean` is their mean.
`clean` is the mean once more, learnt without the rows whose own label `mean` finds less likely than another.

Of numeric labels they predict numbers, and a row is trusted the less the farther it is from its prediction;
a smooth curve (a Gaussian process) is the fifth of them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ...arrays import Array, Flags, Rows
from ...data.dataset import Dataset
from ...data.labels import Classes
from ...data.rows import same_rows
from ...measure.designs import blocks_of_groups, group_codes
from ...parallel.threads import one_thread
from ...yardstick.recipe import expand
from ...yardstick.yardstick import Yardstick
from .learners import boosting, linear, neighbours, smooth, spreading

LEARNERS = ("yardstick", "boosting", "neighbours", "linear")
SMOOTH = "smooth"
DIVISIONS, FOLDS = 2, 5
"""Two divisions into folds: one alone leaves which rows look wrong to the luck of its folds."""
MOST_LEARNT = 4000
"""Rows that a model learns from at most, as of 5,000 rows in five folds: more would cost much and change
little of which rows look wrong."""
FAR = 6.0
"""Standard deviations beyond which a value is no farther to boosting and the linear model."""


@dataclass(frozen=True)
class BlindModels:
    """Cross-fitted predictions of a dataset's own labels, and predictions of other rows.

    A prediction is a row of probabilities (n × classes), or of numeric labels one number (n × 1).
    With `row_by_row` folds may part groups.
    """

    data: Dataset
    yardstick: Yardstick
    seed: int
    progress: Callable[[int, int], None] | None = None
    row_by_row: bool = False

    @property
    def classes(self) -> int:
        """How many classes; 0 for numeric labels."""
        labels = self.yardstick.labels
        return len(labels.names) if isinstance(labels, Classes) else 0

    @property
    def learners(self) -> tuple[str, ...]:
        """Their names."""
        return LEARNERS if self.classes else (*LEARNERS, SMOOTH)

    @cached_property
    def targets(self) -> Array:
        """The labels as numbers."""
        return self.yardstick.targets(self.data)

    @cached_property
    def together(self) -> Rows:
        """Rows that no fold may part: those of a group, else copies, which would tell each other's label."""
        groups = None if self.row_by_row else group_codes(self.data.groups)
        return same_rows(self.data)[0] if groups is None else groups

    @cached_property
    def _columns(self) -> Array:
        return self._expanded(self.data)

    @cached_property
    def _views(self) -> tuple[Array, Array]:
        return self._seen(self.data)

    def _expanded(self, data: Dataset) -> Array:
        """All columns as numbers, missing ones filled as the yardstick fills them."""
        recipe = self.yardstick.recipe
        return expand(recipe.columns, data.select(recipe.columns).X, recipe.fill)

    def _seen(self, data: Dataset) -> tuple[Array, Array]:
        """What learners see: features on the yardstick; all columns, in standard units of the data."""
        own = self._columns
        units = (self._expanded(data) - own.mean(axis=0)) / (own.std(axis=0) + 1e-12)
        return self.yardstick.features(data), np.clip(units, -FAR, FAR)

    @cached_property
    def own(self) -> dict[str, Array]:
        """Predictions of the rows themselves, by learner."""
        everything = np.ones(len(self.data), dtype=bool)
        rounds = [self._cross(everything, division) for division in range(DIVISIONS)]
        found = {name: np.mean([one[name] for one in rounds], axis=0) for name in self.learners}
        found["mean"] = np.mean(list(found.values()), axis=0)
        again = self._cross(self._likely(found["mean"]), DIVISIONS)
        found["clean"] = np.mean([again[name] for name in self.learners], axis=0)
        return found

    def others(self, data: Dataset) -> dict[str, Array]:
        """Predictions of other rows, by learner; labels spread over the rows of both as well."""
        views = self._seen(data)
        everything = np.ones(len(self.data), dtype=bool)
        with one_thread():
            found = self._learn(everything, views)
            spread = spreading(self._views[0], self.targets, views[0], self.classes)
            found |= {} if spread is None else {"spreading": spread}
            found["mean"] = np.mean(list(found.values()), axis=0)
            kept = self._learn(self._likely(self.own["mean"]), views)
        found["clean"] = np.mean(list(kept.values()), axis=0)
        return found

    def trust(self, name: str) -> Array:
        """How far a learner believes each row's own label: its probability, or minus its distance."""
        prediction = self.own[name]
        if not self.classes:
            return -np.abs(prediction[:, 0] - self.targets)
        return np.asarray(prediction[np.arange(len(self.targets)), self.targets.astype(np.intp)])

    def margin(self, name: str) -> Array:
        """How far the likeliest label stands above the next, whatever the row's own; of classes only."""
        ordered = np.sort(self.own[name], axis=1)
        return np.asarray(ordered[:, -1] - ordered[:, -2])

    def labels(self, prediction: Array) -> Array:
        """The likeliest label of each row, as numbers."""
        return prediction.argmax(axis=1).astype(float) if self.classes else prediction[:, 0]

    def _likely(self, prediction: Array) -> Flags:
        """Rows whose own label no other is likelier than; of numeric labels the nearer half of all."""
        if self.classes:
            likely = self.labels(prediction) == self.targets
        else:
            distance = np.abs(prediction[:, 0] - self.targets)
            likely = distance <= np.median(distance)
        return likely if likely.any() else np.ones(len(self.data), dtype=bool)

    def _cross(self, use: Flags, division: int) -> dict[str, Array]:
        """Every row predicted from other folds.

        Folds do not look at labels: a row's own moves nothing of its prediction.
        """
        rng = np.random.default_rng([self.seed, 0xB11D, division])
        fold = blocks_of_groups(self.together, FOLDS, rng)
        found = {name: np.zeros((len(self.data), max(self.classes, 1))) for name in self.learners}
        with one_thread():
            for k in range(FOLDS):
                out = fold == k
                if out.any():
                    views = self._views[0][out], self._views[1][out]
                    for name, predicted in self._learn(use & ~out, views).items():
                        found[name][out] = predicted
                if self.progress is not None:
                    self.progress(division * FOLDS + k + 1, (DIVISIONS + 1) * FOLDS)
        return found

    def _learn(self, use: Flags, views: tuple[Array, Array]) -> dict[str, Array]:
        """All learners from some rows, on other rows."""
        rows = np.flatnonzero(use)
        if len(rows) > MOST_LEARNT:
            rows = np.random.default_rng([self.seed, 0xB11E, len(rows)]).permutation(rows)[:MOST_LEARNT]
        y, weights = self.targets[rows], None if self.data.weights is None else self.data.weights[rows]
        if len(rows) == 0 or (self.classes and len(np.unique(y)) < 2):
            return dict.fromkeys(self.learners, self._constant(y, len(views[0])))
        features, columns = self._views[0][rows], self._views[1][rows]
        found = {
            "yardstick": self._by_yardstick(features, y, weights, views[0]),
            "boosting": boosting(columns, y, weights, views[1], self.classes),
            "neighbours": neighbours(features, y, weights, views[0], self.classes),
            "linear": linear(columns, y, weights, views[1], self.classes),
        }
        return found if self.classes else {**found, SMOOTH: smooth(columns, y, weights, views[1])}

    def _constant(self, y: Array, n: int) -> Array:
        """What rows of one class alone, or none, say of others."""
        if not self.classes:
            return np.full((n, 1), float(y.mean()) if len(y) else 0.0)
        counts = np.bincount(y.astype(np.intp), minlength=self.classes) + 1.0 / self.classes
        return np.tile(counts / counts.sum(), (n, 1))

    def _by_yardstick(self, X: Array, y: Array, weights: Array | None, to: Array) -> Array:
        weights = self.yardstick.tempering * (np.ones(len(y)) if weights is None else weights)
        posterior: Any = self.yardstick.model.fit(X, y, weights)
        predicted = np.asarray(posterior.predict_proba(to), dtype=float)
        return predicted if predicted.ndim == 2 else predicted[:, None]


def least(trust: Array, k: int) -> Rows:
    """The k rows that are trusted least; of equals the first.

    >>> least(np.array([0.9, 0.2, 0.5]), 2).tolist()
    [1, 2]
    """
    return np.argsort(trust, kind="stable")[:k]
