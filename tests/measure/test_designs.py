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


def identity_arms(data):
    return lambda places, rng: {
        BEFORE: select(data, places),
        HALF: select(data, places[: len(places) // 2]),
    }


def make_pairs(seed=0, n=40, m=30, data_size=12, test_size=9):
    rng = np.random.default_rng(99)
    data = Sample(np.arange(n), rng.uniform(1, 2, n))
    test = Sample(np.arange(n, n + m), None)
    piles = Pile(data, rng.integers(0, 2, n)), Pile(test, rng.integers(0, 2, m))
    return Pairs(*piles, data_size, test_size, seed, identity_arms(data))


def make_whole(seed=0, m=23, blocks=5):
    arms = {BEFORE: Sample(np.arange(10)), AFTER: Sample(np.arange(5))}
    return Whole(arms, Sample(np.arange(10, 10 + m), np.arange(m) + 0.5), blocks, seed)


def same(a, b):
    assert list(a.arms) == list(b.arms)
    for one, other in [(a.test, b.test), *((a.arms[name], b.arms[name]) for name in a.arms)]:
        assert np.array_equal(one.rows, other.rows)
        assert np.array_equal(weights_of(one), weights_of(other))


@pytest.mark.parametrize("make", [make_pairs, make_whole])
def test_draws_are_pure_in_seed_and_number(make):
    forwards = [make(7).draw(i) for i in range(5)]
    design = make(7)
    np.random.default_rng(0)
    backwards = [design.draw(i) for i in (4, 3, 3, 2, 1, 0)]
    for i, draw in zip((4, 3, 3, 2, 1, 0), backwards, strict=True):
        same(forwards[i], draw)


@given(seed=st.integers(0, 2**32 - 1), m=st.integers(2, 60), blocks=st.integers(2, 60))
@settings(max_examples=60, deadline=None, derandomize=True)
def test_whole_blocks_partition_the_test_rows(seed, m, blocks):
    blocks = min(blocks, m)
    design = make_whole(seed, m, blocks)
    drawn = [design.draw(i).test for i in range(blocks)]
    rows = np.concatenate([t.rows for t in drawn])
    assert sorted(rows.tolist()) == list(range(10, 10 + m))
    assert np.array_equal(np.concatenate([t.weights for t in drawn]), rows - 10 + 0.5)  # weights go along
    sizes = [len(t.rows) for t in drawn]
    assert max(sizes) - min(sizes) <= 1
    assert all(design.draw(i).arms is design.arms for i in range(blocks))


@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(1, 50),
    m=st.integers(1, 50),
    share=st.tuples(st.floats(0.01, 1), st.floats(0.01, 1)),
    i=st.integers(0, 10**9),
)
@settings(max_examples=60, deadline=None, derandomize=True)
def test_pairs_are_drawn_without_replacement_inside_their_sets(seed, n, m, share, i):
    sizes = max(1, int(share[0] * n)), max(1, int(share[1] * m))
    design = make_pairs(seed, n, m, *sizes)
    draw = design.draw(i)
    before, test = draw.arms[BEFORE], draw.test
    assert (len(before.rows), len(test.rows)) == sizes
    assert len(set(before.rows)) == sizes[0]
    assert len(set(test.rows)) == sizes[1]
    assert set(before.rows) <= set(range(n))
    assert set(test.rows) <= set(range(n, n + m))
    assert np.array_equal(before.weights, design.data.sample.weights[before.rows])


def test_every_row_is_drawn_equally_often_within_its_stratum():
    """4,000 draws of 4 of 20 rows: each count within 5 s.d. of 800; false alarm 1e-5 in all."""
    strata = np.array([0] * 15 + [1] * 5)
    rng = np.random.default_rng(2)
    counts = np.zeros(20)
    for _ in range(4000):
        counts[stratified(strata, 4, rng)] += 1
    assert counts.sum() == 16_000
    assert np.abs(counts - 800).max() < 5 * np.sqrt(4000 * 0.2 * 0.8)


@given(
    totals=st.lists(st.integers(0, 40), min_size=1, max_size=6).filter(any),
    share=st.floats(0, 1),
    seed=st.integers(0, 2**32 - 1),
)
@settings(max_examples=200, deadline=None, derandomize=True)
def test_stratified_counts(totals, share, seed):
    """Shares by largest remainder; and one row of each class wherever there is room for one of each."""
    rng = np.random.default_rng(seed)
    strata = rng.permutation(np.repeat(np.arange(len(totals)), totals))
    n, present = len(strata), np.count_nonzero(totals)
    size = round(share * n)
    rows = stratified(strata, size, rng)
    counts = np.bincount(strata[rows], minlength=len(totals))
    assert len(rows) == len(set(rows.tolist())) == size
    assert (counts <= totals).all()
    shares = np.array(totals) * size / n
    if size >= present:
        assert (counts[np.array(totals) > 0] > 0).all()
    if size < present or (shares[np.array(totals) > 0] >= 1.0).all():
        assert (np.abs(counts - shares) < 1.0 + 1e-9).all()
        assert all(
            c in (floor(s + 1e-9), floor(s - 1e-9) + 1, floor(s - 1e-9))
            for c, s in zip(counts, shares, strict=True)
        )


layouts = st.lists(st.integers(1, 12), min_size=2, max_size=9)


def shuffled_groups(sizes, seed):
    return np.random.default_rng(seed).permutation(np.repeat(np.arange(len(sizes)), sizes))


@given(sizes=layouts, blocks=st.integers(2, 9), seed=st.integers(0, 2**32 - 1))
@settings(max_examples=100, deadline=None, derandomize=True)
def test_blocks_hold_whole_groups(sizes, blocks, seed):
    """Every row in one block, no group in two; none empty; and as even as groups allow."""
    groups, blocks = shuffled_groups(sizes, seed), min(blocks, len(sizes))
    test = Sample(np.arange(100, 100 + len(groups)), np.arange(len(groups)) + 0.5)
    design = Whole({BEFORE: Sample(np.arange(10))}, test, blocks, seed, groups)
    drawn = [design.draw(i).test for i in range(blocks)]
    assert sorted(np.concatenate([t.rows for t in drawn]).tolist()) == list(range(100, 100 + len(groups)))
    assert all(np.array_equal(t.weights, t.rows - 100 + 0.5) for t in drawn)
    homes = [set(groups[t.rows - 100]) for t in drawn]
    assert all(homes)
    assert sum(map(len, homes)) == len(sizes)
    rows = [len(t.rows) for t in drawn]
    assert max(rows) - min(rows) <= max(sizes)


@given(sizes=layouts, share=st.floats(0.01, 1), seed=st.integers(0, 2**32 - 1))
@settings(max_examples=100, deadline=None, derandomize=True)
def test_pairs_draw_whole_groups(sizes, share, seed):
    """At least as many rows as asked for, and not a group more than that takes."""
    groups = shuffled_groups(sizes, seed)
    size = max(1, int(share * len(groups)))
    places = whole_groups(groups, size, np.random.default_rng(seed))
    assert len(places) == len(set(places.tolist()))
    taken = np.unique(groups[places])
    assert len(places) == np.isin(groups, taken).sum() >= size
    assert len(places) - max(sizes) < size
    pile = Pile(Sample(np.arange(len(groups))), np.zeros(len(groups), dtype=int), groups)
    assert np.array_equal(pile.some(size, np.random.default_rng(seed)), places)


def test_every_group_is_drawn_equally_often():
    """4,000 draws of 2 of 10 groups of three: each within 5 s.d. of 800; false alarm 1e-5 in all."""
    groups, rng = np.tile(np.arange(10), 3), np.random.default_rng(3)
    counts = np.zeros(10)
    for _ in range(4000):
        counts[np.unique(groups[whole_groups(groups, 6, rng)])] += 1
    assert counts.sum() == 8000
    assert np.abs(counts - 800).max() < 5 * np.sqrt(4000 * 0.2 * 0.8)


def test_without_groups_rows_are_drawn_by_the_documented_rule():
    """Blocks: a permutation from (seed, 0xB10C), cut evenly. Pairs: from (seed, 0xDA7A, i), D, then T."""
    order = np.random.default_rng([7, 0xB10C]).permutation(23)
    cut = [order[:5], order[5:10], order[10:15], order[15:19], order[19:]]
    for i in range(5):
        assert (make_whole(7).draw(i).test.rows - 10).tolist() == sorted(cut[i].tolist())
    design, rng = make_pairs(7), np.random.default_rng([7, 0xDA7A, 3])
    data, test = stratified(design.data.strata, 12, rng), stratified(design.test.strata, 9, rng)
    drawn = design.draw(3)
    assert drawn.arms[BEFORE].rows.tolist() == data.tolist()
    assert drawn.test.rows.tolist() == (test + 40).tolist()


def test_the_same_sample_in_any_order():
    rows, weights = np.array([3, 1, 2]), np.array([0.5, 1.0, 2.0])
    order = np.array([2, 0, 1])
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
    assert len(table) == 4
    assert table.arms == tuple(design.draw(0).arms)
    for i in range(4):
        draw = design.draw(i)
        T = Dataset(X[draw.test.rows], y[draw.test.rows], weights=draw.test.weights)
        for name, sample in draw.arms.items():
            D = Dataset(X[sample.rows], y[sample.rows], weights=sample.weights)
            expected = pmi(D, T, model)
            assert table.column("pmi", name)[i] == pytest.approx(
                expected.value, abs=2 * tolerance(expected.log_z_joint), rel=0
            )
            assert table.log_z_test[i] == pytest.approx(
                expected.log_z_test, abs=tolerance(expected.log_z_test)
            )
            fit = fitter(sample.rows, weights=sample.weights)
            assert table.column("accuracy", name)[i] == pytest.approx(
                fitter.accuracy(fit, draw.test.rows, draw.test.weights)
            )
            assert table.column("information_gain", name)[i] == pytest.approx(
                fitter.information_gain(fit), abs=1e-5
            )
            assert table.column("data_rows", name)[i] == len(sample.rows)
        assert table.test_rows[i] == len(draw.test.rows)
    change = table.change("pmi", table.arms[1], table.arms[0])
    assert np.array_equal(change, table.pmi[:, 1] - table.pmi[:, 0])
