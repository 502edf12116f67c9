"""Designs: draws are pure in (seed, i), inside their sets, stratified by a stated rule."""

from math import floor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dataworth import Dataset, pmi
from dataworth.measure.designs import (
    AFTER,
    BEFORE,
    Arm,
    Pairs,
    Pile,
    Sample,
    Whole,
    same_sample,
    select,
    stratified,
    weights_of,
    whole_groups,
)
from dataworth.measure.evaluate import evaluate
from dataworth.models import Linear, Logistic
from dataworth.parallel import Local
from reference import tolerance

HALF = Arm("part", "half")
seeds = st.integers(0, 2**32 - 1)
quick = settings(max_examples=60, deadline=None, derandomize=True)


def make_pairs(seed=0, n=40, m=30, data_size=12, test_size=9):
    rng = np.random.default_rng(99)
    data = Sample(np.arange(n), rng.uniform(1, 2, n))
    piles = Pile(data, rng.integers(0, 2, n)), Pile(Sample(np.arange(n, n + m)), rng.integers(0, 2, m))

    def arms(places, rng):
        return {BEFORE: select(data, places), HALF: select(data, places[: len(places) // 2])}

    return Pairs(*piles, data_size, test_size, seed, arms)


def make_whole(seed=0, m=23, blocks=5, groups=None):
    arms = {BEFORE: Sample(np.arange(10)), AFTER: Sample(np.arange(5))}
    return Whole(arms, Sample(np.arange(10, 10 + m), np.arange(m) + 0.5), blocks, seed, groups)


@pytest.mark.parametrize("make", [make_pairs, make_whole])
def test_draws_are_pure_in_seed_and_number(make):
    forwards, design = [make(7).draw(i) for i in range(5)], make(7)
    for i in (4, 3, 3, 2, 1, 0):
        draw = design.draw(i)
        for one, other in [
            (draw.test, forwards[i].test),
            *((draw.arms[a], forwards[i].arms[a]) for a in draw.arms),
        ]:
            assert np.array_equal(one.rows, other.rows)
            assert np.array_equal(weights_of(one), weights_of(other))


layouts = st.lists(st.integers(1, 12), min_size=2, max_size=9)


def shuffled_groups(sizes, seed):
    return np.random.default_rng(seed).permutation(np.repeat(np.arange(len(sizes)), sizes))


@given(sizes=layouts, grouped=st.booleans(), blocks=st.integers(2, 9), seed=seeds)
@quick
def test_blocks_hold_whole_groups(sizes, grouped, blocks, seed):
    """Every row in one block with its weight, no group in two; none empty; as even as groups allow."""
    groups = shuffled_groups(sizes if grouped else [1] * sum(sizes), seed)
    m, blocks = len(groups), min(blocks, len(set(groups)))
    design = make_whole(seed, m, blocks, groups if grouped else None)
    drawn = [design.draw(i).test for i in range(blocks)]
    rows = np.concatenate([t.rows for t in drawn])
    assert sorted(rows.tolist()) == list(range(10, 10 + m))
    assert np.array_equal(np.concatenate([t.weights for t in drawn]), rows - 10 + 0.5)
    homes = [set(groups[t.rows - 10]) for t in drawn]
    assert all(homes)
    assert sum(map(len, homes)) == len(set(groups))
    counts = [len(t.rows) for t in drawn]
    assert max(counts) - min(counts) <= (max(sizes) if grouped else 1)
    assert all(design.draw(i).arms is design.arms for i in range(blocks))


@given(
    seeds,
    st.integers(1, 50),
    st.integers(1, 50),
    st.floats(0.01, 1),
    st.floats(0.01, 1),
    st.integers(0, 10**9),
)
@quick
def test_pairs_are_drawn_without_replacement_inside_their_sets(seed, n, m, share, other, i):
    sizes = max(1, int(share * n)), max(1, int(other * m))
    design = make_pairs(seed, n, m, *sizes)
    draw = design.draw(i)
    before, test = draw.arms[BEFORE], draw.test
    assert (len(before.rows), len(test.rows)) == (len(set(before.rows)), len(set(test.rows))) == sizes
    assert set(before.rows) <= set(range(n))
    assert set(test.rows) <= set(range(n, n + m))
    assert np.array_equal(before.weights, design.data.sample.weights[before.rows])


def test_rows_and_groups_are_drawn_equally_often():
    """4,000 draws of 4 of 20 rows, 2 of 10 groups: counts within 5 s.d. of 800; false alarm 1e-5 each."""
    strata, groups = np.array([0] * 15 + [1] * 5), np.tile(np.arange(10), 3)
    rng, counts, of_groups = np.random.default_rng(2), np.zeros(20), np.zeros(10)
    for _ in range(4000):
        counts[stratified(strata, 4, rng)] += 1
        of_groups[np.unique(groups[whole_groups(groups, 6, rng)])] += 1
    assert (counts.sum(), of_groups.sum()) == (16_000, 8000)
    assert np.abs(np.r_[counts, of_groups] - 800).max() < 5 * np.sqrt(4000 * 0.2 * 0.8)


@given(st.lists(st.integers(0, 40), min_size=1, max_size=6).filter(any), st.floats(0, 1), seeds)
@settings(max_examples=200, deadline=None, derandomize=True)
def test_stratified_counts(totals, share, seed):
    """Shares by largest remainder; and one row of each class wherever there is room for one of each."""
    rng = np.random.default_rng(seed)
    strata = rng.permutation(np.repeat(np.arange(len(totals)), totals))
    n, present, there = len(strata), np.count_nonzero(totals), np.array(totals) > 0
    size = round(share * n)
    rows = stratified(strata, size, rng)
    counts = np.bincount(strata[rows], minlength=len(totals))
    assert len(rows) == len(set(rows.tolist())) == size
    assert (counts <= totals).all()
    shares = np.array(totals) * size / n
    if size >= present:
        assert (counts[there] > 0).all()
    if size < present or (shares[there] >= 1.0).all():
        allowed = [(floor(s + 1e-9), floor(s - 1e-9) + 1, floor(s - 1e-9)) for s in shares]
        assert all(c in around for c, around in zip(counts, allowed, strict=True))


@given(sizes=layouts, share=st.floats(0.01, 1), seed=seeds)
@quick
def test_pairs_draw_whole_groups(sizes, share, seed):
    """At least as many rows as asked for, and not a group more than that takes."""
    groups = shuffled_groups(sizes, seed)
    size = max(1, int(share * len(groups)))
    places = whole_groups(groups, size, np.random.default_rng(seed))
    assert len(places) == len(set(places.tolist()))
    assert len(places) == np.isin(groups, np.unique(groups[places])).sum() >= size
    assert len(places) - max(sizes) < size
    pile = Pile(Sample(np.arange(len(groups))), np.zeros(len(groups), dtype=int), groups)
    assert np.array_equal(pile.some(size, np.random.default_rng(seed)), places)


def test_the_same_sample_in_any_order():
    rows, weights, order = np.array([3, 1, 2]), np.array([0.5, 1.0, 2.0]), np.array([2, 0, 1])
    assert same_sample(Sample(rows, weights), Sample(rows[order], weights[order]))
    assert same_sample(Sample(rows), Sample(rows[order], np.ones(3)))
    assert not same_sample(Sample(rows, weights), Sample(rows[order], weights))
    assert not same_sample(Sample(rows), Sample(np.array([0, 2, 4])))  # the same sum
    assert not same_sample(Sample(rows), Sample(rows[:2]))
    assert not same_sample(Sample(rows), Sample(rows, None, np.array([1.0, 0.0, 0.0])))


@pytest.mark.parametrize("model", [Logistic(), Linear(noise_variance=0.3)], ids=["logistic", "linear"])
@pytest.mark.parametrize("make", [make_pairs, make_whole])
def test_every_entry_of_the_table_is_a_pmi(make, model):
    rng = np.random.default_rng(4)
    X = rng.normal(size=(70, 3))
    y = (X[:, 0] + rng.normal(size=70) > 0).astype(int)
    design, fitter = make(1), model.bind(X, y.astype(float))
    table = evaluate(design, fitter, 4, Local(1))
    assert (len(table), table.arms) == (4, tuple(design.draw(0).arms))
    for i in range(4):
        draw = design.draw(i)
        T = Dataset(X[draw.test.rows], y[draw.test.rows], weights=draw.test.weights)
        for name, sample in draw.arms.items():
            D = Dataset(X[sample.rows], y[sample.rows], weights=sample.weights)
            expected, fit = pmi(D, T, model), fitter(sample.rows, weights=sample.weights)
            told = {
                column: table.column(column, name)[i] for column in ("pmi", "accuracy", "information_gain")
            }
            assert told["pmi"] == pytest.approx(
                expected.value, abs=2 * tolerance(expected.log_z_joint), rel=0
            )
            assert table.log_z_test[i] == pytest.approx(
                expected.log_z_test, abs=tolerance(expected.log_z_test)
            )
            assert told["accuracy"] == pytest.approx(fitter.accuracy(fit, draw.test.rows, draw.test.weights))
            assert told["information_gain"] == pytest.approx(fitter.information_gain(fit), abs=1e-5)
            assert table.column("data_rows", name)[i] == len(sample.rows)
        assert table.test_rows[i] == pytest.approx(np.sum(weights_of(draw.test)))
    change = table.change("pmi", table.arms[1], table.arms[0])
    assert np.array_equal(change, table.pmi[:, 1] - table.pmi[:, 0])
