"""Other ways to find wrong labels, on the same features: higher scores for rows to be looked at first."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.special import expit

from dataworth.arrays import Array

FOLDS, TREES, NEIGHBOURS, SUBSETS = 5, 300, 5, 300


class Task(NamedTuple):
    """Features and labels of data and test set, the penalty that suits them, a seed."""

    X: Array
    y: Array
    test_X: Array
    test_y: Array
    C: float
    seed: int


def cleanlab(task: Task, with_test: bool = False) -> Array:
    """Self-confidence of cross-validated logistic regression, as `cleanlab` ranks labels by default."""
    from sklearn.model_selection import StratifiedKFold, cross_val_predict

    X, y = task.X, task.y
    if with_test:
        X, y = np.vstack([X, task.test_X]), np.concatenate([y, task.test_y])
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=task.seed)
    chances = cross_val_predict(_logistic(task), X, y, cv=folds, method="predict_proba")
    return np.asarray(1.0 - chances[np.arange(len(task.y)), task.y])


def data_oob(task: Task) -> Array:
    """Data-OOB (Kwon & Zou 2023): how often trees that have not seen a row are wrong about it."""
    from sklearn.ensemble import RandomForestClassifier

    forest = RandomForestClassifier(TREES, oob_score=True, random_state=task.seed).fit(task.X, task.y)
    chances = np.nan_to_num(forest.oob_decision_function_, nan=0.5)
    return np.asarray(1.0 - chances[np.arange(len(task.y)), task.y])


def knn_shapley(task: Task) -> Array:
    """Shapley values of k nearest neighbours in closed form (Jia et al. 2019), with the sign turned."""
    n, total = len(task.y), np.zeros(len(task.y))
    places = np.arange(1, n)
    for x, label in zip(task.test_X, task.test_y, strict=True):
        order = np.argsort(((task.X - x) ** 2).sum(axis=1), kind="stable")
        right = (task.y[order] == label).astype(float)
        steps = (right[:-1] - right[1:]) / NEIGHBOURS * np.minimum(NEIGHBOURS, places) / places
        total[order] += right[-1] / n + np.append(np.cumsum(steps[::-1])[::-1], 0.0)
    return -total


def influence(task: Task, leave_out: bool = False) -> Array:
    """Test loss that a row causes, by its influence on logistic regression (Koh & Liang 2017).

    `leave_out`: by one Newton step without the row, which is leaving it out but for what is left of the step.
    """
    model = _logistic(task).fit(task.X, task.y)
    X, test_X = (np.column_stack([part, np.ones(len(part))]) for part in (task.X, task.test_X))
    theta = np.append(model.coef_[0], model.intercept_)
    p, q = expit(X @ theta), expit(test_X @ theta)
    penalty = np.append(np.full(task.X.shape[1], 1.0 / task.C), 1e-6)
    inverse = np.linalg.inv(X.T @ ((p * (1.0 - p))[:, None] * X) + np.diag(penalty))
    pull = (task.test_y - q) @ test_X
    moved = (task.y - p) * (X @ (inverse @ pull))
    if leave_out:
        moved /= 1.0 - p * (1.0 - p) * np.einsum("ij,jk,ik->i", X, inverse, X)
    return np.asarray(-moved)


def banzhaf(task: Task) -> Array:
    """Data Banzhaf by maximum sample reuse (Wang & Jia 2023) of the test log-likelihood."""
    rng = np.random.default_rng([task.seed, 0xBA2])
    inside = rng.random((SUBSETS, len(task.y))) < 0.5
    worth = np.empty(SUBSETS)
    for k, rows in enumerate(inside):
        chances = _logistic(task).fit(task.X[rows], task.y[rows]).predict_proba(task.test_X)
        worth[k] = np.log(np.maximum(chances[np.arange(len(task.test_y)), task.test_y], 1e-12)).mean()
    with_row = inside.astype(float)
    return np.asarray(-(worth @ with_row / with_row.sum(0) - worth @ (1 - with_row) / (1 - with_row).sum(0)))


def _logistic(task: Task) -> Any:
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(C=task.C, max_iter=1000)


PEERS = {
    "cleanlab": cleanlab,
    "cleanlab D+T": lambda task: cleanlab(task, with_test=True),
    "Data-OOB forest": data_oob,
    "KNN-Shapley": knn_shapley,
    "influence": influence,
    "leave one out": lambda task: influence(task, leave_out=True),
    "Banzhaf": banzhaf,
}
