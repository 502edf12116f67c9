"""Boosting of several training sets at once: each is as if it stood alone, and as good as scikit-learn's."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.metrics import roc_auc_score

from dataworth.valuation.audit import boosting as module


def boosting(X, *rest):
    return module.boosting(module.Bins.of(X), *rest)


def folds(n, seed=0):
    fold = np.random.default_rng(seed).permutation(n) % 5
    return fold, (fold != np.arange(5)[:, None]).astype(float)


@pytest.mark.parametrize("load", [load_breast_cancer, load_digits])
def test_wrong_labels_stand_out_as_from_scikit_learns_boosting(load):
    X, y = load(return_X_y=True)
    X, y, rng = X[:400], y[:400], np.random.default_rng(1)
    classes, bad = int(y.max()) + 1, rng.random(400) < 0.1
    told = np.where(bad, (y + rng.integers(1, classes, 400)) % classes, y)
    fold, weights = folds(400)
    ours, rows = boosting(X, told.astype(float), weights, classes), np.arange(400)
    assert ours.sum(axis=2) == pytest.approx(1.0)
    own, other = ours[fold, rows, told], np.zeros(400)
    for k in range(5):
        made = HistGradientBoostingClassifier(max_iter=40, max_leaf_nodes=15, early_stopping=False)
        made.fit(X[fold != k], told[fold != k])
        other[fold == k] = made.predict_proba(X[fold == k])[np.arange((fold == k).sum()), told[fold == k]]
    assert roc_auc_score(bad, -own) > max(0.95, roc_auc_score(bad, -other) - 0.01)


def test_numbers_are_predicted_as_by_scikit_learns_boosting():
    X, y = load_diabetes(return_X_y=True)
    y = (y - y.mean()) / y.std()
    fold, weights = folds(len(y))
    ours, other = boosting(X, y, weights, 0)[fold, np.arange(len(y)), 0], np.zeros(len(y))
    for k in range(5):
        made = HistGradientBoostingRegressor(max_iter=40, max_leaf_nodes=15).fit(X[fold != k], y[fold != k])
        other[fold == k] = made.predict(X[fold == k])
    assert ((ours - y) ** 2).mean() < ((other - y) ** 2).mean() + 0.02


@pytest.mark.parametrize("classes", [0, 2, 3])
def test_each_set_is_as_if_it_stood_alone(classes, monkeypatch):
    """Grown together or one after the other; what others have, and rows without weight, move nothing."""
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(60, 4)), rng.integers(0, max(2, classes), 60).astype(float)
    weights = rng.integers(0, 3, (3, 60)).astype(float)
    together = boosting(X, y, weights, classes)
    monkeypatch.setattr(module, "ENTRIES", X.size)
    if classes < 3:  # of several classes, each set has a random direction of its own
        assert np.array_equal(together, boosting(X, y, weights, classes))
    unseen = weights[0] == 0
    other = np.where(unseen, y.max() - y, y)
    assert np.array_equal(boosting(X, y, weights[:1], classes), boosting(X, other, weights[:1], classes))


def test_weights_count_as_copies_do():
    rng = np.random.default_rng(3)
    X, y = np.round(rng.normal(size=(60, 3)), 1), rng.integers(0, 2, 60).astype(float)
    weights = rng.integers(1, 3, 60)
    rows = np.repeat(np.arange(60), weights)
    both = np.vstack([X, X[rows]]), np.concatenate([y, y[rows]])  # the same bins for both
    once = np.concatenate([weights, np.zeros(len(rows))])
    copied = np.concatenate([np.zeros(60), np.ones(len(rows))])
    first, second = boosting(*both, np.array([once, copied]), 2)
    assert first == pytest.approx(second, abs=1e-9)
    X = np.ones((5, 2))
    found = boosting(X, np.array([0.0, 1.0, 1.0, 1.0, 1.0]), np.eye(5)[:2], 2)
    assert (found[0, :, 0] > 0.5).all()
    assert (found[1, :, 1] > 0.5).all()
