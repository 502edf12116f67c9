"""Rankings: best first, ties by Holm over paired blocks, intervals that hold for all at once."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import dataworth as dw
from dataworth.measure.designs import Arm
from dataworth.measure.intervals import degrees_of
from dataworth.measure.table import COLUMNS, PairTable
from dataworth.valuation.rank import holm, order
from worlds import classes, flipped, held_out, yardstick

DATA = classes(120, seed=1)


def rank(**candidates):
    return dw.rank(candidates, held_out(), yardstick=yardstick())


def table_of(**columns):
    """A table of given PMI columns, as if it had been measured."""
    pmi = np.column_stack([np.asarray(c, dtype=float) for c in columns.values()])
    values = np.repeat(pmi[:, :, None], len(COLUMNS), axis=2)
    rows = np.full(len(pmi), 10.0)
    arms = tuple(Arm("candidate", name) for name in columns)
    return PairTable(arms=arms, values=values, log_z_test=-rows, test_rows=rows)


def test_the_order_of_worth_whatever_the_names():
    """Clean, three in ten labels wrong, shuffled, all wrong: the same order for each of 30 seeds."""
    candidates = {
        "opposite": flipped(DATA, 1.0, seed=0)[0],
        "clean": DATA,
        "shuffled": DATA.with_labels(np.random.default_rng(0).permutation(DATA.y)),
        "noisy": flipped(DATA, 0.3, seed=0)[0],
    }
    result = rank(**candidates)
    assert [r.name for r in result] == ["clean", "noisy", "shuffled", "opposite"]
    assert [r.tied for r in result] == [True, False, False, False]
    assert [r.rows for r in result] == [120] * 4
    values = [r.value for r in result]
    assert values == sorted(values, reverse=True)
    assert result[0].interval[0] > 0 > result[-1].interval[1]
    names = ["test", "", "the test set", "'a'", "a", "control 1", "données"]
    result = rank(**{n: DATA.take(range(10, 20 + i)) for i, n in enumerate(names)})
    assert sorted(r.name for r in result) == sorted(names)
    assert {r.name: r.rows for r in result} == {n: 10 + i for i, n in enumerate(names)}


def test_a_value_is_that_of_the_score_and_its_interval_is_wider():
    """Three intervals at once: each at 1 − 0.05/3, by Student's t over the same 200 rows."""
    result = rank(a=DATA, b=DATA.take(range(40)), c=DATA.take(range(20)))
    alone = dw.score(DATA, held_out(), yardstick=yardstick())
    (a,) = (r for r in result if r.name == "a")
    assert (a.value, a.accuracy) == (pytest.approx(alone.value, abs=1e-6), alone.accuracy.value)
    single, wide = (i[1] - i[0] for i in (alone.interval, a.interval))
    degrees = degrees_of(alone.table.column("pmi", "data"))
    ratio = stats.t.ppf(1 - 0.05 / 6, degrees) / stats.t.ppf(0.975, degrees)
    assert ratio > 1
    assert wide / single == pytest.approx(ratio, rel=1e-4)


def test_differences_to_the_best_are_paired():
    """Against scipy's paired t-test; a large common part of all blocks cancels."""
    rng = np.random.default_rng(0)
    common = 100 * rng.normal(size=20)
    a, b, c = (common + shift + rng.normal(size=20) for shift in (1.0, 0.0, 0.5))
    columns = {"a": a, "b": b, "c": c}
    ranked = order(table_of(b=b, a=a, c=c), {"a": 5, "b": 6, "c": 7})
    names = sorted(columns, key=lambda n: -columns[n].mean())
    assert [r.name for r in ranked] == names
    best = columns[names[0]]
    tests = {n: stats.ttest_rel(columns[n], best) for n in names[1:]}
    smaller, larger = sorted(t.pvalue for t in tests.values())
    adjusted = {smaller: 2 * smaller, larger: max(2 * smaller, larger)}
    for r in ranked[1:]:
        test = tests[r.name]
        assert r.to_best.value == pytest.approx(columns[r.name].mean() - best.mean())
        # two differences at once: each interval at 1 − 0.05/2
        low, high = test.confidence_interval(0.975)
        assert r.to_best.interval == pytest.approx((low, high))
        assert r.p_value == pytest.approx(min(1.0, adjusted[test.pvalue]))
        assert r.tied == (r.p_value > 0.05)
    assert {r.name: r.rows for r in ranked} == {"a": 5, "b": 6, "c": 7}


@pytest.mark.parametrize(("gap", "tied"), [(0.019, True), (0.021, False)])
def test_a_gap_that_solvers_may_have_left_is_none_however_even(gap, tied):
    """The same gap in every block is as sure as can be; below a fiftieth of a nat it is none."""
    values = np.random.default_rng(0).normal(size=20)
    first, second = order(table_of(a=values, b=values - gap), dict.fromkeys("ab", 1))
    assert (first.name, second.tied) == ("a", tied)
    assert second.p_value == (1.0 if tied else pytest.approx(0.0, abs=1e-12))


@given(st.lists(st.floats(0, 1), min_size=1, max_size=6))
def test_holm_is_closed_testing_with_bonferroni(p_values):
    """Its other definition: the largest Bonferroni p-value of all intersections that contain a hypothesis."""
    p = dict(enumerate(p_values))
    subsets = [s for k in range(1, len(p) + 1) for s in itertools.combinations(p, k)]
    expected = {i: max(min(1.0, len(s) * min(p[j] for j in s)) for s in subsets if i in s) for i in p}
    assert holm(p) == pytest.approx(expected)
