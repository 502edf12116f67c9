"""Rows that belong together stay together: in blocks, in pairs, in what a method sees and is scored on."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dataworth as dw
from dataworth.valuation.audit.methods import curated_whole, halved
from worlds import classes, flipped, refusal, yardstick


def grouped(n, seed, size, name):
    """Rows of the logistic model in shuffled groups of `size`."""
    data = classes(n, seed)
    order = np.random.default_rng(seed).permutation(n)
    return dw.Dataset(data.X, data.y, groups=[f"{name}{i // size}" for i in order])


DATA, TEST = grouped(160, 1, 4, "d"), grouped(200, 1_000, 5, "t")
NOISY = DATA.with_labels(flipped(DATA, 0.3, 1)[0].y)
OPTIONS = {"yardstick": yardstick(), "ignore": "all", "keep_data": True}


def test_there_are_no_more_blocks_than_groups():
    few = dw.Dataset(TEST.X, TEST.y, groups=[f"t{i % 7}" for i in range(200)])
    assert dw.score(DATA, few, **OPTIONS).details.blocks == 7
    one = dw.Dataset(TEST.X, TEST.y, groups=["t"] * 200)
    assert "all test rows belong to one group" in refusal(dw.score, DATA, one, **OPTIONS)
    for design in ("whole", "method"):
        method = {"curate": lambda D, T: D, "design": design, **OPTIONS}
        assert "all test rows belong to one group" in refusal(dw.audit, DATA, test=one, **method)


def whole(rows, groups):
    """Whether rows are whole groups."""
    return set(np.flatnonzero(np.isin(groups, groups[rows]))) == set(rows)


def test_pairs_of_a_score_draw_whole_groups():
    """Six rows of data in groups of 4 are 8, seven test rows in groups of 5 are 10."""
    case = dw.score(DATA, TEST, pairs=6, size=(15, 12), **OPTIONS).case
    for i in range(6):
        draw = case.design.draw(i)
        (data,) = draw.arms.values()
        assert (len(data.rows), len(draw.test.rows)) == (16, 15)
        assert whole(data.rows, DATA.groups)
        assert whole(draw.test.rows - len(DATA), case.test.groups)
    found = dw.score(DATA, TEST, pairs=4, size=(6, 7), **OPTIONS)
    assert (found.details.size, found.table.data_rows[0, 0]) == ((8, 10), 8)
    assert found.per_row == pytest.approx(found.value / 10)


def test_an_interval_over_pairs_rests_on_groups_and_not_on_rows():
    """Pairs of 2 rows draw groups of 4 and of 5: 40 and 40 of them, not 80 and 100 draws of rows."""
    case = dw.score(DATA, TEST, pairs=4, size=2, **OPTIONS).case
    assert case.plan.blocks == 40
    plain = dw.Dataset(DATA.X, DATA.y), dw.Dataset(TEST.X, TEST.y)
    assert dw.score(*plain, pairs=4, size=2, **OPTIONS).case.plan.blocks == 80
    method = dw.audit(DATA, test=TEST, curate=lambda D, T: D, pairs=4, size=2, **OPTIONS).case
    assert method.plan.blocks == 20  # a pair shows one group of test rows and scores on another


@given(
    sizes=st.lists(st.integers(1, 9), min_size=2, max_size=9),
    seed=st.integers(0, 2**32 - 1),
)
@settings(max_examples=100, deadline=None, derandomize=True)
def test_a_method_is_scored_on_groups_that_it_has_not_seen(sizes, seed):
    rng = np.random.default_rng(seed)
    groups = rng.permutation(np.repeat(np.arange(len(sizes)), sizes))
    shown = np.arange(len(groups))
    seen, scored = halved(shown, groups, len(groups) // 2, rng)
    assert sorted([*seen, *scored]) == shown.tolist()
    assert len(seen)
    assert len(scored)
    assert not set(groups[seen]) & set(groups[scored])
    test = dw.Dataset(np.zeros((len(groups), 1)), groups % 2, groups=groups.astype(str))
    data, told = dw.Dataset(np.ones((3, 1)), [0, 1, 0]), []
    _, left = curated_whole(data, test, lambda D, T: told.append(T) or D, seed)
    assert not set(told[0].groups) & set(left.groups)
    assert set(told[0].groups) | set(left.groups) == set(test.groups)
    assert len(told[0]) + len(left) == len(test)
    assert len(told[0])
    assert len(left)


def test_a_method_sees_a_group_and_is_scored_on_another_however_large_they_are():
    """Two groups of which either is larger than a draw: both are drawn, one is shown."""
    large, seen = dw.Dataset(TEST.X, TEST.y, groups=["a"] * 150 + ["b"] * 50), []
    options = {"curate": lambda D, T: seen.append(len(T)) or D, "pairs": 6, "size": 20, **OPTIONS}
    case = dw.audit(DATA, test=large, **options).case
    assert set(seen) == {150, 50}
    assert [len(case.design.draw(i).test.rows) for i in range(6)] == [200 - n for n in seen]


def test_groups_of_one_row_each_change_nothing():
    """Every row its own group: the same blocks and draws as without groups."""
    single = [dw.Dataset(d.X, d.y, groups=[f"r{i}" for i in range(len(d))]) for d in (DATA, TEST)]
    plain = [dw.Dataset(d.X, d.y) for d in (DATA, TEST)]
    for options in ({}, {"pairs": 4, "size": 20}):
        tables = [dw.score(*sets, **OPTIONS, **options).table.pmi.tobytes() for sets in (single, plain)]
        assert tables[0] == tables[1]


def test_a_method_that_a_draw_of_whole_groups_fails_is_told_to_take_all_rows():
    def needs_many(data):
        if len(data) < 100:
            raise dw.DataworthError("there are too few rows: add some.")
        return data

    told = refusal(dw.audit, DATA, test=TEST, curate=needs_many, pairs=2, size=8, **OPTIONS)
    assert told.endswith("add some (in a draw of whole groups, 8 of 160 rows: use design='whole').")
