"""Checks: each fires on its constructed case and stays silent where there is nothing to say."""

import numpy as np
import pytest

from dataworth.checks import check_attribute, check_doubling
from dataworth.models import Logistic


def world(rng, n=300, d=4, scale=1.0):
    """Labels from the prior that Logistic(scale) has."""
    theta = rng.normal(size=d) * np.sqrt(scale)
    X = rng.normal(size=(n, d))
    return X, (rng.random(n) < 1.0 / (1.0 + np.exp(-X @ theta))).astype(float)


def test_doubling_fires_under_a_prior_that_is_far_too_narrow():
    X, y = world(np.random.default_rng(1), scale=4.0)
    found = check_doubling(Logistic(1e-5), X, y)
    assert found.fires
    assert found.value > 5 * found.stderr
    assert not check_doubling(Logistic(1e-3), X, y).fires  # which tempering still mends


@pytest.mark.parametrize("shown", [False, True])
def test_attribute_that_tells_the_label_fires_even_if_features_show_it(shown):
    rng = np.random.default_rng(4)
    X, y = world(rng, n=400)
    telling = np.where(rng.random(400) < 0.75, y, 1 - y)
    if shown:
        X = np.column_stack([X, 3.0 * telling, -telling])
    found = check_attribute(Logistic(1.0), X, y, telling)
    assert found.fires
    assert check_attribute(Logistic(1.0), X, y, telling, size=100).value < found.value


def test_attribute_is_silent_where_features_say_all():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(400, 3))
    y = (X[:, 0] > 0).astype(float)
    telling = np.where(rng.random(400) < 0.75, y, 1 - y)
    assert not check_attribute(Logistic(1e4), 10 * X, y, telling).fires


def test_doubling_is_silent_on_worlds_of_the_models_own():
    """In worlds drawn from the model doubling tells nothing new; two standard errors leave 2.5 % alarms."""
    fired = []
    for seed in range(30):
        X, y = world(np.random.default_rng(seed))
        fired.append(check_doubling(Logistic(1.0, intercept=False), X, y, seed=seed).fires)
    assert sum(fired) <= 4  # P(more than 4 of 30 at 2.5 %) < 0.1 %


def test_attribute_of_chance_is_silent():
    """The log Bayes factor of a useless column is below zero but for luck: allow 3 of 30."""
    fired = []
    for seed in range(30):
        rng = np.random.default_rng(seed)
        X, y = world(rng, n=400)
        fired.append(check_attribute(Logistic(1.0), X, y, rng.integers(0, 2, 400)).fires)
    assert sum(fired) <= 3
