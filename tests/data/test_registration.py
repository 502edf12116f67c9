"""Rows whose columns were moved are the same rows; new rows of the same kind are not."""

import numpy as np
import pytest

from dataworth.data import registration
from dataworth.data.changes import compare
from dataworth.data.dataset import Dataset
from dataworth.data.registration import register


def table(n, columns, seed):
    """Columns that go together, as in a real table."""
    rng = np.random.default_rng([seed, 0x2E6])
    return rng.normal(size=(n, columns)) @ rng.normal(size=(columns, columns))


MOVES = {
    "units": lambda X, rng: X * np.exp(rng.normal(size=X.shape[1])) + 5.0 * rng.normal(size=X.shape[1]),
    "turned": lambda X, rng: X * np.where(np.arange(X.shape[1]) % 2 == 0, -2.0, 1.0),
    "logarithms": lambda X, rng: np.log1p(X - X.min(axis=0)),
    "shaken": lambda X, rng: 2.0 * X + 0.1 * X.std(axis=0) * rng.normal(size=X.shape),
    "mixed": lambda X, rng: X @ (np.eye(X.shape[1]) + 0.05 * rng.normal(size=(X.shape[1],) * 2)),
}


@pytest.mark.parametrize("move", MOVES)
@pytest.mark.parametrize("columns", [4, 12])
def test_moved_rows_are_found_though_a_quarter_is_gone(columns, move):
    rng = np.random.default_rng(columns)
    X = table(200, columns, columns)
    order = rng.permutation(np.argsort(X[:, 0])[: 150 if columns > 4 else 180])  # the largest are gone
    left, right = register(X, MOVES[move](X, rng)[order])
    assert (order[right] == left).mean() > 0.9
    assert len(left) >= 0.9 * len(order)


@pytest.mark.parametrize("seed", [29, 39])
def test_ranks_are_learnt_from_the_nearest_pairs_round_by_round(seed):
    """Three columns, a tenth of the rows gone at one end: four rounds, or all pairs, do not find the rest."""
    X = table(200, 3, seed)
    order = np.random.default_rng(seed).permutation(np.argsort(X[:, 0])[:180])
    left, right = register(X, 2.0 * X[order] + 1.0)
    assert (order[right] == left).sum() > 0.98 * 180


@pytest.mark.parametrize("columns", [1, 2, 3, 10])
def test_new_rows_of_the_same_kind_are_no_moved_rows(columns):
    """Of every size beside the others, and of tables that say the same twice."""
    for seed in range(10):
        for n, m in ((20, 20), (100, 100), (100, 25), (30, 120)):
            X = table(n + m, columns, seed)
            assert not len(register(X[:n], X[n:])[0])
            assert not len(register(np.hstack([X, np.exp(X)])[:n], np.hstack([X, np.exp(X)])[n:])[0])


def test_a_third_of_what_chance_leaves_over_may_be_left_over():
    """Of two samples 45 % are pairs by chance: 18 % may be left over."""
    rng, found = np.random.default_rng(3), []
    for share in (0.75, 0.85):
        X = table(300, 8, 5)
        moved = 2.0 * X[:150]
        new = rng.permutation(150)[round(150 * share) :]
        moved[new] = 2.0 * X[150 : 150 + len(new)]
        found.append(len(register(X[:150], moved)[0]))
    assert found[0] == 0
    assert found[1] > 0.85 * 150


def test_chance_is_told_by_four_parts(monkeypatch):
    X, asked = table(60, 5, 0), []
    pairs = registration._pairs
    monkeypatch.setattr(registration, "_pairs", lambda *one: asked.append(1) or pairs(*one))
    register(X, 2.0 * X)
    assert len(asked) == 1 + 4
    register(X, table(60, 5, 1))
    assert len(asked) == 1 + 4 + 2  # as they are and turned round: so few pairs need no chance


@pytest.mark.parametrize(("n", "found"), [(5, 0), (20, 0), (40, 40)])
def test_a_few_pairs_are_chance(n, found):
    """Of so few rows more than half are pairs by chance: of 20 all, once in 10,000 times."""
    X = table(n, 5, 0)
    assert compare(Dataset(X, np.arange(n) % 2), Dataset(2.0 * X, np.arange(n) % 2)).kept == found


def test_more_rows_than_can_be_compared_are_left_alone(monkeypatch):
    X = table(60, 5, 0)
    before, after = Dataset(X, np.arange(60) % 2), Dataset(2.0 * X, np.arange(60) % 2)
    assert registration.MOST == 5000
    monkeypatch.setattr(registration, "MOST", 59)
    assert compare(before, after).kept == 0


def test_few_columns_of_many_tell():
    X = np.random.default_rng(0).normal(size=(40, 3000))
    assert np.array_equal(register(X, 2.0 * X[::-1])[0], np.arange(40)[::-1])
    assert registration.COLUMNS == 64
    X = table(80, 4, 6)
    X[::7, 1] = np.nan
    X[:, 3] = 1.0
    assert np.array_equal(register(X, 3.0 * X)[0], np.arange(80))
    assert not len(register(np.ones((30, 2)), np.ones((30, 2)))[0])


@pytest.mark.parametrize("how", ["none", "kept", "new", "others'"])
def test_the_same_edit_is_the_same_change_whatever_ids_say(how):
    """Seven labels changed, thirty rows gone, all columns moved, in another order."""
    rng = np.random.default_rng(1)
    X, y = table(120, 6, 2), rng.integers(0, 2, 120)
    order = rng.permutation(120)[:90]
    new = np.where(np.arange(120) < 7, 1 - y, y)
    ids = {
        "none": None, "kept": order, "new": [f"n{i}" for i in range(90)],
        "others'": np.random.default_rng(2).permutation(order),
    }[how]  # fmt: skip
    before = Dataset(X, y, ids=None if how == "none" else np.arange(120))
    change = compare(before, Dataset(np.exp(X[order] / 9.0), new[order], ids=ids))
    assert np.array_equal(change.origin, order)
    assert change.edited.all()
    assert np.array_equal(change.relabelled, order < 7)
    assert change.by == ("ids" if how == "kept" else "features")


def test_rows_that_stayed_are_settled_and_others_may_have_moved():
    """A unit error in a fifth of the rows that is put right; and as many new rows in their place."""
    X, y = table(200, 5, 4), np.arange(200) % 2
    wrong = np.arange(200) % 5 == 0
    units = np.where(wrong[:, None], 2.54 * X, X)
    change = compare(Dataset(units, y), Dataset(X, y))
    assert np.array_equal(change.origin, np.arange(200))
    assert np.array_equal(change.edited, wrong)
    replaced = X.copy()
    replaced[wrong] = table(240, 5, 4)[200:]
    change = compare(Dataset(X, y), Dataset(replaced, y))
    assert change.counts == {
        "kept": 160, "removed": 40, "new": 40, "repeated": 0, "relabelled": 0, "edited": 0,
    }  # fmt: skip
