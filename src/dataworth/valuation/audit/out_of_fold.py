"""Out-of-fold predictions of the labels of `before`: what its own models know, and nothing from outside.

Learners predict every row from other folds. `ensemble` is the mean of their predictions; `pruned_ensemble` is
the mean once more, learnt without the rows whose own label `ensemble` finds less likely than another.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from ...arrays import Array, Flags, Rows
from ...data.dataset import Dataset
from ...data.order import canonical_order
from ...data.rows import same_rows
from ...measure import blocks_of_groups, group_codes
from ...models import Logistic
from ...parallel.threads import one_thread
from ...yardstick.recipe import expand
from ...yardstick.yardstick import Yardstick
from .boosting import Bins, boosting
from .learners import Labelled, gaussian_process, knn, label_spreading, linear

DIVISIONS, FOLDS = 2, 5
"""Two divisions into folds: one alone leaves which rows look wrong to the luck of its folds."""
MAX_LEARNT = 4000
"""Rows that a model learns from at most, as of 5,000 rows in five folds: more would cost much and change
little of which rows look wrong."""
WIDE, AXES = 300, 40
"""Above so many columns, boosting and the linear model learn on so many principal axes."""
FAR = 6.0
"""Standard deviations beyond which a value is no farther to boosting and the linear model."""
Heard = Callable[[int, int], None] | None
Views = tuple[Array, Array]
"""What learners see: features on the yardstick; all columns, in standard units of the data."""


@dataclass(frozen=True)
class OutOfFold:
    """Predictions of a dataset's own rows, and of rows that a curation added, by learner.

    A prediction is a row of probabilities (n × classes), or of numeric labels one number (n × 1; `classes` is
    0), of vectors one an output. targets: the rows' own labels as numbers. encode: the labels of a dataset as
    such numbers.
    resemblance: probability that a row, its label unseen, is one of the test set's; None if not computed.
    test: features of the test set, in the same columns; None if they are not known.
    """

    targets: Array
    classes: int
    predictions: Mapping[str, Array]
    added: Mapping[str, Array]
    encode: Callable[[Dataset], Array]
    resemblance: Array | None = None
    test: Array | None = None

    @property
    def label_columns(self) -> Array:
        """The rows' own labels as columns: one a class, 0 or 1, or the numeric label."""
        one_hot = np.eye(self.classes)
        return one_hot[self.targets.astype(np.intp)] if self.classes else _in_columns(self.targets)

    def labels(self, learner: str) -> Array:
        """The label that a learner finds likeliest for each row, as a number."""
        return likeliest(self.predictions[learner], self.classes, self.targets)

    def added_labels(self, learner: str) -> Array:
        """The same for the added rows."""
        if not self.added:
            return np.zeros((0, *self.targets.shape[1:]))
        return likeliest(self.added[learner], self.classes, self.targets)

    def self_confidence(self, learner: str) -> Array:
        """A learner's probability of each row's own label; of numbers and vectors `confidence_of`."""
        prediction = self.predictions[learner]
        if not self.classes:
            return confidence_of(prediction, self.targets)
        return np.asarray(prediction[np.arange(len(self.targets)), self.targets.astype(np.intp)])

    def margin_score(self, learner: str) -> Array:
        """The likeliest label's probability less the next one's, whatever the row's own; of classes only."""
        ordered = np.sort(self.predictions[learner], axis=1)
        return np.asarray(ordered[:, -1] - ordered[:, -2])

    def at(self, rows: Rows, added: slice) -> OutOfFold:
        """The same of some of the rows, and of some of the added ones."""
        return replace(
            self,
            targets=self.targets[rows],
            predictions={name: one[rows] for name, one in self.predictions.items()},
            added={name: one[added] for name, one in self.added.items()},
        )


@dataclass(frozen=True)
class CrossFit:
    """Learners to be cross-fitted on a dataset; `features` are its rows on the yardstick.

    Rows of a group stand in one fold, unless `by_group` is False, and so do copies, which would tell each
    other's label. Folds depend on what the rows say, not on their order.
    """

    data: Dataset
    features: Array
    yardstick: Yardstick
    by_group: bool = True

    def __call__(self, added: tuple[Dataset, Array] | None = None, progress: Heard = None) -> OutOfFold:
        """Predictions of every row from other folds, and of `added` rows (with their features) from all."""
        everything = np.ones(len(self.data), dtype=bool)
        rounds = [self._cross(everything, division, progress) for division in range(DIVISIONS)]
        found = {name: np.mean([one[name] for one in rounds], axis=0) for name in rounds[0]}
        found["ensemble"] = np.mean(list(found.values()), axis=0)
        likely = self._likely(found["ensemble"])
        again = self._cross(likely, DIVISIONS, progress)
        found["pruned_ensemble"] = np.mean(list(again.values()), axis=0)
        others = {} if added is None else self._others(likely, (added[1], self._columns(added[0])))
        return OutOfFold(self.targets, self.classes, found, others, self.yardstick.targets)

    def resemblance(self, test: Dataset) -> Array:
        """Probability that each row is from the test set: boosting from features alone, out of fold."""
        rng = np.random.default_rng(0x51A)
        fold, n = self._folds(rng), len(self.data)
        others = self._columns(test)[rng.permutation(len(test))[:MAX_LEARNT]]
        weights = np.hstack([np.zeros((FOLDS, n)), np.ones((FOLDS, len(others)))])
        for k, own in enumerate(weights):
            own[rng.permutation(np.flatnonzero(fold != k))[:MAX_LEARNT]] = 1.0
        with one_thread():
            found = self._boosted(np.repeat([0.0, 1.0], [n, len(others)]), weights, 2, others)
        return np.asarray(found[fold, np.arange(n), 1])

    @property
    def classes(self) -> int:
        """How many classes; 0 for numeric labels."""
        return len(getattr(self.yardstick.labels, "names", ()))

    @cached_property
    def targets(self) -> Array:
        """The labels as numbers."""
        return self.yardstick.targets(self.data)

    @cached_property
    def together(self) -> Rows:
        """Rows that no fold may part."""
        groups = group_codes(self.data.groups) if self.by_group else None
        return same_rows(self.data)[0] if groups is None else groups

    def _folds(self, rng: np.random.Generator) -> Rows:
        """The fold of each row, numbered as the rows stand in canonical order."""
        order, codes = self._order, self.together
        _, first, place = np.unique(codes[order], return_index=True, return_inverse=True)
        fold = np.empty(len(codes), dtype=np.intp)
        fold[order] = blocks_of_groups(np.argsort(np.argsort(first))[place], FOLDS, rng)
        return fold

    @cached_property
    def _order(self) -> Rows:
        # by features alone: a row's own label is to move nothing of its prediction
        return canonical_order(self.data.with_labels(np.zeros(len(self.data), dtype=int)))

    @cached_property
    def _views(self) -> Views:
        return self.features, self._columns(self.data)

    @cached_property
    def _bins(self) -> Bins:
        return Bins.of(self._views[1][self._order])

    def _columns(self, data: Dataset) -> Array:
        """All columns in standard units; wide rows on principal axes of the own data."""
        return self._standard(data) @ self._axes if self._axes is not None else self._standard(data)

    @cached_property
    def _axes(self) -> Array | None:
        own = self._standard(self.data)
        return principal_axes(own, AXES) if own.shape[1] > WIDE else None

    def _standard(self, data: Dataset) -> Array:
        """All columns as numbers, filled as the yardstick fills them, in standard units of the own data."""
        recipe = self.yardstick.recipe
        own, X = (expand(recipe.columns, d.select(recipe.columns).X, recipe.fill) for d in (self.data, data))
        return np.clip((X - own.mean(axis=0)) / (own.std(axis=0) + 1e-12), -FAR, FAR)

    def _likely(self, prediction: Array) -> Flags:
        """Rows whose own label no other is likelier than; of numeric labels the nearer half of all; of
        vectors those that their prediction makes likelier."""
        if self.classes:
            likely = likeliest(prediction, self.classes, self.targets) == self.targets
        else:
            sure = confidence_of(prediction, self.targets)
            likely = sure >= (0.0 if self.targets.ndim > 1 else np.median(sure))
        return likely if likely.any() else np.ones(len(self.data), dtype=bool)

    def _cross(self, use: Flags, division: int, progress: Heard) -> dict[str, Array]:
        """Every row predicted from other folds.

        Folds do not look at labels: a row's own moves nothing of its prediction.
        """
        fold = self._folds(np.random.default_rng([0xB11D, division]))
        found: dict[str, Array] = {}
        with one_thread():
            boosted = self._by_boosting([use & (fold != k) for k in range(FOLDS)])
            for k in range(FOLDS):
                out = fold == k
                if out.any():
                    views = self._views[0][out], self._views[1][out]
                    for name, predicted in self._learn(use & ~out, views, boosted[k][out]).items():
                        shape = len(self.data), predicted.shape[1]
                        found.setdefault(name, np.zeros(shape))[out] = predicted
                if progress is not None:
                    progress(division * FOLDS + k + 1, (DIVISIONS + 1) * FOLDS)
        return found

    def _others(self, likely: Flags, views: Views) -> dict[str, Array]:
        """Other rows predicted from all rows, and from those with likely labels."""
        everything, n = np.ones(len(self.data), dtype=bool), len(self.data)
        with one_thread():
            boosted = self._by_boosting([everything, likely], views[1])[:, n:]
            found = self._learn(everything, views, boosted[0])
            spread = None
            if self.targets.ndim == 1:
                spread = label_spreading(Labelled(self.features, self.targets), views[0], self.classes)
            found |= {} if spread is None else {"label_spreading": spread}
            found["ensemble"] = np.mean(list(found.values()), axis=0)
            found["pruned_ensemble"] = np.mean(list(self._learn(likely, views, boosted[1]).values()), axis=0)
        return found

    def _learn(self, use: Flags, views: Views, boosted: Array) -> dict[str, Array]:
        """All learners from some rows, on other rows, of which `boosted` are boosting's predictions."""
        rows = self._learnt(use)
        y, weights = self.targets[rows], None if self.data.weights is None else self.data.weights[rows]
        features, columns = (Labelled(view[rows], y, weights) for view in self._views)
        learners: dict[str, Callable[[], Array]] = {
            "yardstick": lambda: self._by_yardstick(features, views[0]),
            "boosting": lambda: boosted,
            "knn": lambda: knn(features, views[0], self.classes),
            "linear": lambda: linear(columns, views[1], self.classes),
        }
        if self.targets.ndim > 1:
            del learners["boosting"]
        elif not self.classes:
            learners["gaussian_process"] = lambda: gaussian_process(columns, views[1])
        if len(rows) == 0 or (self.classes and len(np.unique(y)) < 2):
            return dict.fromkeys(learners, self._constant(y, len(views[0])))
        return {name: learn() for name, learn in learners.items()}

    def _learnt(self, use: Flags) -> Rows:
        """The rows that are learnt from, of those that may be."""
        rows = np.flatnonzero(use)
        if len(rows) <= MAX_LEARNT:
            return rows
        return np.random.default_rng([0xB11E, len(rows)]).permutation(rows)[:MAX_LEARNT]

    def _by_boosting(self, uses: Sequence[Flags], others: Array | None = None) -> Array:
        """Boosting from some rows each, on all rows and on `others`; nothing of vectors."""
        if self.targets.ndim > 1:
            return np.zeros((len(uses), len(self.data) + (0 if others is None else len(others)), 1))
        others = np.zeros((0, self._views[1].shape[1])) if others is None else others
        weights = np.zeros((len(uses), len(self.data) + len(others)))
        for own, rows in zip(weights, map(self._learnt, uses), strict=True):
            own[rows] = 1.0 if self.data.weights is None else self.data.weights[rows]
        targets = np.concatenate([self.targets, np.zeros(len(others))])
        return self._boosted(targets, weights, self.classes, others)

    def _boosted(self, targets: Array, weights: Array, classes: int, others: Array) -> Array:
        """Rows in canonical order, lest rounding chooses between splits that are as good."""
        order = np.concatenate([self._order, np.arange(len(self.data), len(targets))])
        bins = Bins.of(np.vstack([self._views[1], others])[order]) if len(others) else self._bins
        found = np.empty((*weights.shape, max(1, classes)))
        found[:, order] = boosting(bins, targets[order], weights[:, order], classes)
        return found

    def _constant(self, y: Array, n: int) -> Array:
        """What rows of one class alone, or none, say of others."""
        if not self.classes:
            own = _in_columns(y)
            return np.tile(own.mean(axis=0) if len(y) else np.zeros(own.shape[1]), (n, 1))
        counts = np.bincount(y.astype(np.intp), minlength=self.classes) + 1.0 / self.classes
        return np.tile(counts / counts.sum(), (n, 1))

    def _by_yardstick(self, known: Labelled, to: Array) -> Array:
        weights, model = (
            np.ones(len(known.y)) if known.weights is None else known.weights,
            self.yardstick.model,
        )
        if isinstance(model, Logistic):
            model = replace(model, inference="laplace")  # a tenth of the cost; probabilities hardly differ
        posterior: Any = model.fit(known.X, known.y, self.yardstick.tempering * weights)
        return np.asarray(posterior.predict_proba(to), dtype=float).reshape(len(to), -1)


def likeliest(prediction: Array, classes: int, like: Array) -> Array:
    """The likeliest label of each row, as a number or a vector, as those that it is to be like."""
    return prediction.argmax(axis=1).astype(float) if classes else prediction.reshape(-1, *like.shape[1:])


def _in_columns(targets: Array) -> Array:
    return targets.reshape(len(targets), -1)


def confidence_of(prediction: Array, targets: Array) -> Array:
    """Minus |prediction − target| of numbers; of vectors how much likelier the prediction makes them.

    log N(y; prediction, errors' covariance) − log N(y; mean, covariance): what is far from its prediction may
    be far from all others, too; what does not belong to its prompt is not made likelier by it.

    >>> confidence_of(np.array([[1.0], [3.0]]), np.array([0.0, 5.0])).tolist()
    [-1.0, -2.0]
    """
    own = _in_columns(targets)
    if own.shape[1] == 1:
        return np.asarray(-np.abs(prediction[:, 0] - own[:, 0]))
    return _log_normal(own - prediction) - _log_normal(own - own.mean(axis=0))


def _log_normal(error: Array) -> Array:
    """Log density of errors under their own covariance, but for a constant."""
    spread = error.T @ error / max(1, len(error))
    spread.flat[:: len(spread) + 1] += 1e-9 + 1e-6 * float(np.trace(spread))
    square = np.einsum("ij,ij->i", error, np.linalg.solve(spread, error.T).T)
    return np.asarray(-0.5 * (square + np.linalg.slogdet(spread)[1]), dtype=float)


def lowest_k(score: Array, k: int) -> Rows:
    """The k rows with the lowest score; of equals the first."""
    return np.argsort(score, kind="stable")[:k]


def principal_axes(X: Array, count: int) -> Array:
    """The first principal axes of rows that are centred (columns × count), by subspace iteration."""
    count = min(count, *X.shape)
    axes = np.random.default_rng(0).standard_normal((X.shape[1], min(count + 10, *X.shape)))
    for _ in range(4):
        axes = np.linalg.qr(X.T @ (X @ axes))[0]
    return np.asarray(axes @ np.linalg.svd(X @ axes, full_matrices=False)[2].T[:, :count])
