"""What the data's own models know of their labels: nothing from outside.

Four learners of `before` (the yardstick's model, boosting, nearest neighbours, a linear model) give each row
the probability of every label, cross-fitted: no row is judged by a model that saw it. `mean` is their mean.
`clean` is the mean once more, learnt without the rows whose own label `mean` finds less likely than another.

For numeric labels they predict numbers, and a row is trusted the less the farther it is from its prediction.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from ...arrays import Array, Flags, Rows
from ...data.dataset import Dataset
from ...data.labels import Classes
from ...measure.designs import group_codes
from ...yardstick.yardstick import Yardstick

LEARNERS = ("yardstick", "boosting", "neighbours", "linear")
DIVISIONS, FOLDS = 2, 5
"""Two divisions into folds: one alone leaves which rows look wrong to the luck of its folds."""
MOST_LEARNT = 4000
"""Rows that a model learns from at most: more would cost much and change little of which rows look wrong."""
NEIGHBOURS = 10
FAR = 6.0
"""Standard deviations beyond which a value is no farther to boosting and the linear model."""
WIDE, AXES = 300, 40
"""Above so many columns, boosting learns on so many principal axes."""


@dataclass(frozen=True)
class BlindModels:
    """Cross-fitted predictions of a dataset's own labels, and predictions of other rows.

    A prediction is a row of probabilities (n × classes), or of numeric labels one number (n × 1).
    """

    data: Dataset
    yardstick: Yardstick
    seed: int

    @property
    def classes(self) -> int:
        """How many classes; 0 for numeric labels."""
        labels = self.yardstick.labels
        return len(labels.names) if isinstance(labels, Classes) else 0

    @cached_property
    def targets(self) -> Array:
        """The labels as numbers."""
        return self.yardstick.targets(self.data)

    @cached_property
    def _views(self) -> tuple[Array, Array]:
        """Features on the yardstick, and standardised ones with every axis."""
        return self.yardstick.features(self.data), self._standard(self.data)

    def _standard(self, data: Dataset) -> Array:
        recipe = self.yardstick.recipe
        return np.clip(recipe.standard(data.select(recipe.columns).X), -FAR, FAR)

    @cached_property
    def own(self) -> dict[str, Array]:
        """Predictions of the rows themselves, by learner."""
        everything = np.ones(len(self.data), dtype=bool)
        rounds = [self._cross(everything, division) for division in range(DIVISIONS)]
        found = {name: np.mean([one[name] for one in rounds], axis=0) for name in LEARNERS}
        found["mean"] = np.mean(list(found.values()), axis=0)
        again = self._cross(self._likely(found["mean"]), DIVISIONS)
        found["clean"] = np.mean([again[name] for name in LEARNERS], axis=0)
        return found

    def others(self, data: Dataset) -> dict[str, Array]:
        """Predictions of other rows, by learner; labels spread over the rows of both as well."""
        views = self.yardstick.features(data), self._standard(data)
        everything = np.ones(len(self.data), dtype=bool)
        found = self._learn(everything, views)
        spread = self._spread(views[0])
        found |= {} if spread is None else {"spreading": spread}
        found["mean"] = np.mean(list(found.values()), axis=0)
        kept = self._learn(self._likely(self.own["mean"]), views)
        found["clean"] = np.mean(list(kept.values()), axis=0)
        return found

    def trust(self, name: str) -> Array:
        """How far a learner believes each row's own label: its probability, or minus its distance."""
        return self.trusted(self.own[name], self.targets)

    def trusted(self, prediction: Array, targets: Array) -> Array:
        """The same of any predictions."""
        if not self.classes:
            return -np.abs(prediction[:, 0] - targets)
        return np.asarray(prediction[np.arange(len(targets)), targets.astype(np.intp)])

    def labels(self, prediction: Array) -> Array:
        """The likeliest label of each row, as numbers."""
        return prediction.argmax(axis=1).astype(float) if self.classes else prediction[:, 0]

    def _likely(self, prediction: Array) -> Flags:
        """Rows whose own label no other is likelier than; of numeric labels the nearer half of all."""
        if self.classes:
            likely = self.labels(prediction) == self.targets
        else:
            trust = self.trusted(prediction, self.targets)
            likely = trust >= np.median(trust)
        return likely if likely.any() else np.ones(len(self.data), dtype=bool)

    def _cross(self, use: Flags, division: int) -> dict[str, Array]:
        """Every row predicted from other folds; rows that belong together stand in one fold."""
        rng = np.random.default_rng([self.seed, 0xB11D, division])
        groups = group_codes(self.data.groups)
        codes = np.arange(len(self.data)) if groups is None else groups
        fold = (rng.permutation(int(codes.max()) + 1) % FOLDS)[codes]
        found = {name: np.zeros((len(self.data), max(self.classes, 1))) for name in LEARNERS}
        for k in np.unique(fold):
            out = fold == k
            views = self._views[0][out], self._views[1][out]
            for name, predicted in self._learn(use & ~out, views).items():
                found[name][out] = predicted
        return found

    def _learn(self, use: Flags, views: tuple[Array, Array]) -> dict[str, Array]:
        """All learners from some rows, on other rows."""
        rows = np.flatnonzero(use)
        if len(rows) > MOST_LEARNT:
            rows = np.random.default_rng([self.seed, 0xB11E, len(rows)]).permutation(rows)[:MOST_LEARNT]
        y, weights = self.targets[rows], None if self.data.weights is None else self.data.weights[rows]
        if len(rows) == 0 or (self.classes and len(np.unique(y)) < 2):
            return dict.fromkeys(LEARNERS, self._constant(y, len(views[0])))
        features, standard = self._views[0][rows], self._views[1][rows]
        made: dict[str, Callable[[], Array]] = {
            "yardstick": lambda: self._by_yardstick(features, y, weights, views[0]),
            "boosting": lambda: self._by(self._boosting(), standard, y, weights, views[1]),
            "neighbours": lambda: self._by(self._neighbours(len(y)), features, y, None, views[0]),
            "linear": lambda: self._by(self._linear(), standard, y, weights, views[1]),
        }
        return {name: learn() for name, learn in made.items()}

    def _constant(self, y: Array, n: int) -> Array:
        if not self.classes:
            return np.full((n, 1), float(y.mean()) if len(y) else 0.0)
        counts = np.bincount(y.astype(np.intp), minlength=self.classes) + 1.0 / self.classes
        return np.tile(counts / counts.sum(), (n, 1))

    def _by_yardstick(self, X: Array, y: Array, weights: Array | None, to: Array) -> Array:
        posterior: Any = self.yardstick.model.fit(X, y, weights)
        predicted = np.asarray(posterior.predict_proba(to), dtype=float)
        if predicted.ndim == 2:
            return predicted
        return np.column_stack([1.0 - predicted, predicted]) if self.classes else predicted[:, None]

    def _by(self, learner: Any, X: Array, y: Array, weights: Array | None, to: Array) -> Array:
        """A learner of scikit-learn; classes that it did not see have no probability."""
        with warnings.catch_warnings(), threadpool_limits(1):  # threads of several processes would wait
            warnings.simplefilter("ignore")  # that a solver has not converged is no matter here
            given = {} if weights is None else {"sample_weight": weights}
            learner.fit(X, y, **given)
        if not self.classes:
            return np.asarray(learner.predict(to), dtype=float)[:, None]
        found = np.zeros((len(to), self.classes))
        found[:, learner.classes_.astype(np.intp)] = learner.predict_proba(to)
        return found

    def _boosting(self) -> Any:
        from sklearn.decomposition import PCA
        from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

        kind = HistGradientBoostingClassifier if self.classes else HistGradientBoostingRegressor
        made = kind(max_iter=40, learning_rate=0.1, max_leaf_nodes=15, early_stopping=False, random_state=0)
        if self._views[1].shape[1] <= WIDE:
            return made
        return _OnAxes(PCA(AXES, svd_solver="randomized", random_state=0), made)

    def _neighbours(self, rows: int) -> Any:
        from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

        return (KNeighborsClassifier if self.classes else KNeighborsRegressor)(min(NEIGHBOURS, rows))

    def _linear(self) -> Any:
        from sklearn.linear_model import LogisticRegression, Ridge

        return LogisticRegression(C=0.1, max_iter=300) if self.classes else Ridge(alpha=10.0)

    def _spread(self, to: Array) -> Array | None:
        """Labels spread from the data's rows to others along their neighbours."""
        from sklearn.semi_supervised import LabelSpreading

        features = self._views[0]
        if not self.classes or len(features) + len(to) > 5 * MOST_LEARNT or len(np.unique(self.targets)) < 2:
            return None
        everything = np.vstack([features, to])
        known = np.concatenate([self.targets, -np.ones(len(to))]).astype(int)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            made = LabelSpreading(kernel="knn", n_neighbors=min(NEIGHBOURS, len(features)), max_iter=50)
            made.fit(everything, known)
        found = np.full((len(to), self.classes), 1.0 / self.classes)
        distribution = made.label_distributions_[len(features) :]
        reached = np.isfinite(distribution).all(axis=1)
        found[np.ix_(reached, made.classes_.astype(np.intp))] = distribution[reached]
        return found


@dataclass
class _OnAxes:
    """A learner on principal axes of what it learns from."""

    axes: Any
    learner: Any

    def fit(self, X: Array, y: Array, **settings: Any) -> None:
        """Find the axes, then learn on them."""
        self.learner.fit(self.axes.fit_transform(X), y, **settings)

    @property
    def classes_(self) -> Array:
        """As the learner has them."""
        return np.asarray(self.learner.classes_)

    def predict(self, X: Array) -> Array:
        """As the learner does."""
        return np.asarray(self.learner.predict(self.axes.transform(X)))

    def predict_proba(self, X: Array) -> Array:
        """As the learner does."""
        return np.asarray(self.learner.predict_proba(self.axes.transform(X)))


def least(trust: Array, k: int) -> Rows:
    """The k rows that are trusted least; of equals the first.

    >>> least(np.array([0.9, 0.2, 0.5]), 2).tolist()
    [1, 2]
    """
    return np.argsort(trust, kind="stable")[:k]
