"""The study of values: its peers against their definitions, its tables on records whose answers are known."""

from itertools import combinations
from math import comb

import numpy as np
import pytest

from dataworth_studies import value_peers
from dataworth_studies.value_peers import Task, influence, knn_shapley


def test_knn_shapley_is_that_of_all_coalitions(monkeypatch):
    monkeypatch.setattr(value_peers, "NEIGHBOURS", 2)
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(6, 2)), np.array([0, 1, 0, 1, 1, 0])
    test_X, test_y = rng.normal(size=(3, 2)), np.array([0, 1, 1])

    def worth(rows):
        total = 0.0
        for x, label in zip(test_X, test_y, strict=True):
            near = sorted(rows, key=lambda i: float(((X[i] - x) ** 2).sum()))[:2]
            total += sum(y[i] == label for i in near) / 2
        return total

    exact = [
        sum(
            (worth((*some, i)) - worth(some)) / (6 * comb(5, size))
            for size in range(6)
            for some in combinations([j for j in range(6) if j != i], size)
        )
        for i in range(6)
    ]
    np.testing.assert_allclose(-knn_shapley(Task(X, y, test_X, test_y, 1.0, 0)), exact, atol=1e-12)


def test_influence_is_the_slope_of_the_test_loss_in_a_rows_weight():
    from sklearn.linear_model import LogisticRegression

    rng = np.random.default_rng(1)
    X = rng.normal(size=(80, 2))
    y = (X[:, 0] + rng.normal(size=80) > 0).astype(int)
    task = Task(X[:50], y[:50], X[50:], y[50:], 1.0, 0)

    def loss(weight):
        weights = np.ones(50)
        weights[3] = weight
        model = LogisticRegression(C=1.0, tol=1e-10, max_iter=1000).fit(X[:50], y[:50], weights)
        return -np.log(model.predict_proba(X[50:])[np.arange(30), y[50:]]).sum()

    slope = (loss(1.01) - loss(0.99)) / 0.02
    assert influence(task)[3] == pytest.approx(slope, rel=0.02)
    assert influence(task, leave_out=True)[3] == pytest.approx(loss(1.0) - loss(0.0), rel=0.1)
