"""True and blind changes of real data, as people make them: each a name, before and after.

Blind changes use nothing but the data themselves, through learners that are not those of the controls.
"""

from __future__ import annotations

import warnings

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.semi_supervised import LabelSpreading

import dataworth as dw

WIDE = 300


def boosting(seed=1):
    """A learner that people reach for."""
    return HistGradientBoostingClassifier(
        max_iter=40, max_leaf_nodes=15, early_stopping=False, random_state=seed
    )


def regression(C=0.1):
    """Another one."""
    return make_pipeline(StandardScaler(), LogisticRegression(C=C, max_iter=2000))


class Spreading:
    """Labels spread over all rows by nearest neighbours, those to be labelled among them."""

    def fit_predict(self, X, y, Q):
        """Labels of rows Q."""
        scale = StandardScaler().fit(X)
        rows = np.clip(scale.transform(np.vstack([X, Q])), -5, 5)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            made = LabelSpreading(kernel="knn", n_neighbors=10, alpha=0.2, max_iter=100)
            made.fit(rows, np.concatenate([y, np.full(len(Q), -1)]))
        return (np.nan_to_num(made.label_distributions_[len(y) :, 1], nan=0.5) > 0.5).astype(int)


def labels_of(learner, X, y, Q):
    """What a learner of X, y says of rows Q."""
    if isinstance(learner, Spreading):
        return learner.fit_predict(X, y, Q)
    return learner.fit(X, y).predict(Q)


def trust(learner, X, y):
    """Cross-fitted probability of each row's own label."""
    p = cross_val_predict(learner, X, y, cv=5, method="predict_proba")[:, 1]
    return np.where(y == 1, p, 1 - p)


def flip(y, proportion, rng):
    """Labels of which a proportion is wrong, and which those are."""
    bad = np.sort(rng.permutation(len(y))[: round(proportion * len(y))])
    wrong = y.copy()
    wrong[bad] = 1 - wrong[bad]
    return wrong, bad


def dataset(X, y, weights=None, ids=None):
    """Rows as the library takes them; ids say which row is which after an edit."""
    return dw.Dataset(X, y, weights=weights, ids=ids)


def true_changes(X, y, rng):
    """Somebody knew better: labels, cells, rows."""
    n = len(y)
    for proportion in (0.05, 0.10, 0.20):
        wrong, bad = flip(y, proportion, rng)
        before = dataset(X, wrong)
        yield f"remove {proportion:.0%}", before, before.take(np.setdiff1d(np.arange(n), bad))
        yield f"correct {proportion:.0%}", before, dataset(X, y)
    ids = np.array([f"r{i}" for i in range(n)])
    edited = np.sort(rng.permutation(n)[: round(0.4 * n)])
    destroyed = X.copy()
    others = X[rng.integers(0, n, (len(edited), X.shape[1])), np.arange(X.shape[1])]
    destroyed[edited] = np.where(rng.random((len(edited), X.shape[1])) < 0.5, others, X[edited])
    yield "repair cells", dataset(destroyed, y, ids=ids), dataset(X, y, ids=ids)
    for a, b in ((75, 75), (150, 75), (150, 150)):
        if a + b <= n:
            yield f"new {a} + {b}", dataset(X[:a], y[:a]), dataset(X[: a + b], y[: a + b])


def blind_changes(X, y, spare):
    """Nobody knew anything: the data are clean, and only their own models are asked."""
    n, data = len(y), dataset(X, y)
    rng = np.random.default_rng(len(y))
    yield "double", data, data.take(np.tile(np.arange(n), 2))
    yield "double 40", data.take(range(40)), data.take(np.tile(np.arange(40), 2))
    yield "random half", data, data.take(np.sort(rng.permutation(n)[: n // 2]))
    for name, learner in (("regression", regression()), ("boosting", boosting())):
        own = trust(learner, X, y)
        order = np.argsort(own)
        yield f"filter by {name}", data, data.take(np.sort(order[n // 10 :]))
        relabelled = y.copy()
        relabelled[order[: n // 20]] = 1 - relabelled[order[: n // 20]]
        yield f"relabel by {name}", data, dataset(X, relabelled)
        yield f"weigh by {name}", data, dataset(X, y, weights=0.5 + own)
    p = cross_val_predict(regression(), X, y, cv=5, method="predict_proba")[:, 1]
    weights = np.ones(n)
    weights[np.argsort(np.abs(p - 0.5))[: n // 3]] = 3.0
    yield "boundary rows three times", data, data.take(np.repeat(np.arange(n), weights.astype(int)))
    half = n // 2
    new = np.vstack([X[half:], spare[0][:100]])
    start = dataset(X[:half], y[:half])
    for name, learner in (("regression", regression()), ("boosting", boosting()), ("spreading", Spreading())):
        labels = labels_of(learner, X[:half], y[:half], new)
        yield f"self-label by {name}", start, dataset(np.vstack([X[:half], new]), np.append(y[:half], labels))
    ids = np.array([f"r{i}" for i in range(n)])
    named, centre = dataset(X, y, ids=ids), X.mean(axis=0)
    for factor in (0.7, 1.4):
        yield f"rescale {factor}", named, dataset(centre + factor * (X - centre), y, ids=ids)
    middle = np.vstack([X[y == c].mean(axis=0) for c in (0, 1)])[y]
    yield "shrink to class means", named, dataset(X + 0.3 * (middle - X), y, ids=ids)


def blind_cleaning(X, y, spare, rng):
    """A fifth of the labels is wrong, and the data's own models clean."""
    wrong, _ = flip(y, 0.20, rng)
    before = dataset(X, wrong)
    for name, learner in (("regression", regression()), ("boosting", boosting())):
        doubted = trust(learner, X, wrong) < 0.5
        yield f"drop by {name}", before, before.take(~doubted)
        yield f"relabel by {name}", before, dataset(X, np.where(doubted, 1 - wrong, wrong))
    for name, learner in (("regression", regression()), ("boosting", boosting()), ("spreading", Spreading())):
        new = spare[0][:150]
        labels = labels_of(learner, X, wrong, new)
        yield f"label new rows by {name}", before, dataset(np.vstack([X, new]), np.append(wrong, labels))


def all_changes(drawn, seed):
    """Every change of one draw, with what it is."""
    (X, y), rng = drawn.data, np.random.default_rng([seed, 41])
    yield from (("true", *change) for change in true_changes(X, y, rng))
    yield from (("blind", *change) for change in blind_changes(X, y, drawn.spare))
    yield from (("blind noisy", *change) for change in blind_cleaning(X, y, drawn.spare, rng))
