"""Samplers of more or less diverse rows, and what diversity is, against brute force."""

import numpy as np
import pytest

from dataworth.curation import Peak
from dataworth.curation.density import peak_rows, smooth_rows
from dataworth.curation.diversity import mean_cosine, vendi
from dataworth.data.dataset import Dataset


def crowd(seed=0, n=300, d=20):
    """Three directions, the first with nine rows of ten."""
    rng = np.random.default_rng(seed)
    member = rng.choice(3, n, p=[0.9, 0.07, 0.03])
    return 5 * np.eye(3, d)[member] + 0.3 * rng.normal(size=(n, d)), member


def test_smoothing_draws_as_many_from_every_cluster_and_all_of_a_small_one():
    X, member = crowd()
    rows = smooth_rows(X, 24, 3, np.random.default_rng(0))
    assert np.bincount(member[rows]).tolist() == [8, 8, 8]
    assert len(set(rows.tolist())) == 24
    rows = smooth_rows(X, 150, 3, np.random.default_rng(0))
    assert np.bincount(member[rows])[1:].tolist() == np.bincount(member)[1:].tolist()
    assert len(rows) == 150


def test_a_peak_is_what_the_greedy_rule_says():
    """Every row that was taken was, when it was, the one nearest to any before it; all above τ."""
    X, _ = crowd()
    rows, reached = peak_rows(X, 40, 0.8, np.random.default_rng(3))
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    cosines = unit @ unit.T
    chosen = [int(np.random.default_rng(3).integers(len(X)))]
    while len(chosen) < 40:
        left = [i for i in range(len(X)) if i not in chosen]
        chosen.append(max(left, key=lambda i: cosines[i, chosen].max()))
    assert sorted(chosen) == rows.tolist()
    assert reached == 0.8


def test_a_peak_that_cannot_be_filled_says_at_which_threshold_it_was():
    X, _ = crowd()
    everything, reached = peak_rows(X, len(X), 0.8, np.random.default_rng(0))
    assert everything.tolist() == list(range(len(X)))
    assert -1 < reached < 0.8
    ends = np.repeat([[1.0, 1.0], [-1.0, -1.0]], 10, axis=0) + 0.01 * np.random.default_rng(0).normal(
        size=(20, 2)
    )
    data = Dataset(ends, np.arange(20) % 2)
    assert Peak(0.5).bound(data).threshold == 0.8
    assert Peak(0.6).bound(data).threshold < -0.9


@pytest.mark.parametrize("shape", [(7, 30), (30, 7)])
def test_read_outs_are_their_formulas(shape):
    X = np.random.default_rng(0).normal(size=shape)
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    K = unit @ unit.T
    values = np.linalg.eigvalsh(K / len(X))
    values = values[values > 1e-12]
    assert vendi(X) == pytest.approx(np.exp(-np.sum(values * np.log(values))), rel=1e-9)
    off = [K[i, j] for i in range(len(X)) for j in range(len(X)) if i != j]
    assert mean_cosine(X) == pytest.approx(np.mean(off), abs=1e-12)
