"""What vendors add to each other: copies, second names and labels of one's own pay nothing."""

import numpy as np
import pytest

import dataworth as dw
from dataworth.valuation.blocks import coalitions, shapley_values


@pytest.fixture(scope="module")
def world():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(400, 4))
    data = dw.Dataset(X, (X @ [1.0, -1.0, 0.5, 0.0] + 0.5 * rng.normal(size=400) > 0).astype(int))
    a, b, c = data.take(range(40)), data.take(range(40, 90)), data.take(range(90, 150))
    return {"a": a, "b": b, "c": c}, data.take(range(150, 400))


@pytest.fixture(scope="module")
def yardstick(world):
    return dw.Yardstick.fit(world[1], prior_variance=2.0)


@pytest.fixture(scope="module")
def honest(world, yardstick):
    return dw.contributions(world[0], world[1], yardstick=yardstick)


def test_what_each_adds_and_what_is_redundant_is_the_total(world, yardstick, honest):
    vendors, test = world
    rest = dw.Dataset.concat([vendors["b"], vendors["c"]])
    without = dw.score(rest, test, yardstick=yardstick, ignore="all").value
    adds = {one.name: one.marginal.value for one in honest.vendors}
    assert adds["a"] == pytest.approx(honest.total.value - without)
    assert honest.redundant.value == pytest.approx(honest.total.value - sum(adds.values()))
    for one in honest.vendors:
        assert one.fraction == pytest.approx(one.marginal.value / honest.total.value)
    wrong = vendors["c"].with_labels(1 - vendors["c"].y)
    found = dw.contributions(
        {"a": vendors["a"], "b": vendors["b"], "wrong": wrong}, test, yardstick=yardstick
    )
    assert added_by(found, "wrong") < 0.0
    assert any(note.startswith("without wrong the others are worth more") for note in found.notes)


def added_by(found, *names):
    return sum(one.marginal.value for one in found.vendors if one.name in names)


def test_copies_and_second_names_add_nothing(world, yardstick, honest):
    """What its owner gets falls on average (`dataworth study values --parts attacks`), not in each sample."""
    vendors, test = world
    twice = dw.Dataset.concat([vendors["a"], vendors["a"]])
    doubled = dw.contributions({**vendors, "a": twice}, test, yardstick=yardstick)
    assert added_by(doubled, "a") == pytest.approx(added_by(honest, "a"), abs=1e-9)
    assert any("40 rows that stand in the data already" in note for note in doubled.notes)
    again = dw.contributions({**vendors, "d": vendors["a"]}, test, yardstick=yardstick)
    assert added_by(again, "a", "d") == pytest.approx(0.0, abs=1e-9)
    c = vendors["c"]
    parts = {**vendors, "c": c.take(range(30)), "c too": c.take(range(30, 60))}
    both = dw.contributions(parts, test, yardstick=yardstick)
    assert both.total.value == pytest.approx(honest.total.value, abs=1e-6)
    assert added_by(both, "a") == pytest.approx(added_by(honest, "a"), abs=1e-6)


@pytest.mark.parametrize("count", [8, 9])
def test_shapley_shares_of_a_game_are_the_known_ones(count):
    """u(S) = Σ s + |S|²/10; all coalitions of up to eight sources, of more those of random orders."""
    names = [f"{k}" for k in range(count)]
    met, orders = coalitions(names, np.random.default_rng(0))
    assert (len(met) == 2**count - 1) == (not orders) == (count == 8)
    own = dict(zip(names, range(count), strict=True))
    worth = {s: np.array([sum(own[n] for n in s) + len(s) ** 2 / 10]) for s in (*met, frozenset())}
    found = shapley_values(names, worth, orders)
    for name in names:  # an order and its reverse together give every source the same mean place
        assert found[name].mean() == pytest.approx(own[name] + count / 10)
    assert all(frozenset(names) - {name} in set(met) for name in names)
