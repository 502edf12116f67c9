"""Rows taken out of a fit, against fits without them."""

import numpy as np
import pytest

from dataworth.inference import removal
from dataworth.inference.logistic import Counts
from dataworth.inference.removal import Labelled, see, see_gaussian, toggle_each
from dataworth.inference.sites import Sites
from dataworth.models import Linear

NO_REFITS = np.inf


def problem(n=60, d=3, seed=0, weight=1.0):
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.normal(size=(n, d)), np.ones(n)])
    y = (X @ rng.normal(size=d + 1) + rng.logistic(size=n) > 0).astype(float)
    own = Counts(weight * y, weight * (1.0 - y))
    return X, Labelled(np.arange(n), own, y)


def without(counts, row):
    ones, zeros = counts.ones.copy(), counts.zeros.copy()
    ones[row], zeros[row] = 0.0, 0.0
    return Counts(ones, zeros)


@pytest.mark.parametrize("weight", [1.0, 4.0])
def test_a_rows_share_is_what_log_z_loses_without_it(weight):
    X, rows = problem(weight=weight)
    counts = rows.counted(len(X))
    seen = see(X, 2.0, counts)
    found = toggle_each(seen, counts, rows).log_share
    true = [seen.log_z - see(X, 2.0, without(counts, i)).log_z for i in range(len(X))]
    assert np.abs(found - true).max() < 0.02 * weight  # EP's own error grows with the counts
    assert np.median(np.abs(found - true)) < 1e-3 * weight


def test_labels_have_probabilities_that_add_up():
    X, rows = problem()
    counts = rows.counted(len(X))
    seen = see(X, 2.0, counts)
    given = toggle_each(seen, counts, rows, NO_REFITS).loo_log_likelihood
    other = toggle_each(seen, counts, rows._replace(label=1.0 - rows.label), NO_REFITS).loo_log_likelihood
    np.testing.assert_allclose(np.exp(given) + np.exp(other), 1.0, atol=1e-7)


def test_equal_rows_are_removed_one_at_a_time():
    X, rows = problem()
    place = np.append(rows.place, [0, 0])
    y = np.append(rows.label, [1.0, 0.0])
    copies = Labelled(place, Counts(y, 1.0 - y), y)
    counts = copies.counted(len(X))
    seen = see(X, 2.0, counts)
    found = toggle_each(seen, counts, copies).log_share
    for k in (0, len(y) - 2, len(y) - 1):
        left = Counts(counts.ones - (place[k] == np.arange(len(X))) * y[k], counts.zeros.copy())
        left.zeros[place[k]] -= 1.0 - y[k]
        assert found[k] == pytest.approx(seen.log_z - see(X, 2.0, left).log_z, abs=0.01)


def test_rows_that_move_their_own_predictor_by_half_are_fitted_again(monkeypatch):
    X, rows = problem(n=150, d=8, weight=4.0, seed=1)
    counts = rows.counted(len(X))
    seen = see(X, 20.0, counts)
    plain = toggle_each(seen, counts, rows, NO_REFITS)
    distance = np.abs(plain.other_mean - plain.mean)
    assert 5 < (distance > 0.5).sum() < 64
    calls = []
    monkeypatch.setattr(removal, "see", lambda *args: calls.append(1) or see(*args))
    found = toggle_each(seen, counts, rows)
    assert len(calls) == (distance > 0.5).sum()
    worst = np.argmax(distance)
    true = seen.log_z - see(X, 20.0, without(counts, worst)).log_z
    assert abs(plain.log_share[worst] - true) > 0.1
    assert found.log_share[worst] == pytest.approx(true, abs=1e-4)
    calls.clear()
    toggle_each(seen, counts, rows, 0.0)
    assert len(calls) == 64  # the farthest


def test_gaussian_rows_are_exact():
    rng = np.random.default_rng(2)
    X, y, noise = rng.normal(size=(30, 3)), rng.normal(size=30), 0.4
    sites = Sites(np.full(30, 1.0 / noise), y / noise)
    seen = see_gaussian(X, 1.5, sites)
    mean, variance = seen.cavity(np.arange(30))
    model = Linear(1.5, noise, intercept=False)
    whole = model.fit(X, y).log_evidence
    for i in range(0, 30, 7):
        rest = np.arange(30) != i
        told = -0.5 * (
            np.log(2 * np.pi * (variance[i] + noise)) + (y[i] - mean[i]) ** 2 / (variance[i] + noise)
        )
        assert told == pytest.approx(whole - model.fit(X[rest], y[rest]).log_evidence, abs=1e-9)
