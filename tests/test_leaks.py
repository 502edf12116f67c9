"""Test rows that also stand in the data: found, dropped, counted; too many are refused."""

from __future__ import annotations

import numpy as np
import pytest

import dataworth as dw
from dataworth.data.dataset import Dataset
from dataworth.data.leaks import drop_leaks
from worlds import classes, refusal

TEST = classes(100, seed=0)
CLEAN = classes(80, seed=1)


def with_rows(data, rows):
    return Dataset.concat([data, rows])


def test_nothing_leaked():
    leaks = drop_leaks(TEST, {"the data": CLEAN})
    assert leaks.kept.tolist() == list(range(100))
    assert leaks.dropped == 0
    assert leaks.note is None


@pytest.mark.parametrize("rows", [[7], [0, 99], [3, 50, 51, 98, 99]])
def test_leaked_rows_are_dropped_and_counted(rows):
    leaks = drop_leaks(TEST, {"the data": with_rows(CLEAN, TEST.take(rows))})
    assert leaks.kept.tolist() == [i for i in range(100) if i not in rows]
    assert leaks.dropped == len(rows)
    assert f"{len(rows)} test row" in leaks.note


def test_a_row_leaked_twice_counts_once_and_its_label_does_not_matter():
    leaked = TEST.take([7, 7])
    data = {"before": with_rows(CLEAN, leaked.with_labels(1 - leaked.y)), "after": with_rows(CLEAN, leaked)}
    leaks = drop_leaks(TEST, data)
    assert leaks.dropped == 1
    assert 7 not in leaks.kept


def test_rows_leaked_into_any_of_the_datasets_are_dropped():
    data = {"a": with_rows(CLEAN, TEST.take([1, 2])), "b": with_rows(CLEAN, TEST.take([2, 3]))}
    assert drop_leaks(TEST, data).dropped == 3


def test_more_than_one_in_twenty_is_refused():
    data = {"before": CLEAN, "after": with_rows(CLEAN, TEST.take(range(6)))}
    sentence = refusal(drop_leaks, TEST, data)
    assert "6 of 100 test rows (6%)" in sentence
    assert "stand in after" in sentence
    assert drop_leaks(TEST, {"after": with_rows(CLEAN, TEST.take(range(5)))}).dropped == 5


def test_negative_zero_is_zero():
    T = Dataset(np.vstack([[[0.0, 1.0, 2.0]], TEST.X]), np.r_[0, TEST.y])
    D = Dataset(np.vstack([[[-0.0, 1.0, 2.0]], CLEAN.X]), np.r_[0, CLEAN.y])
    assert drop_leaks(T, {"D": D}).dropped == 1


def test_the_order_of_columns_does_not_hide_a_leak():
    T = Dataset(TEST.X, TEST.y, names=["a", "b", "c"])
    D = with_rows(CLEAN, TEST.take([4]))
    turned = Dataset(D.X[:, [2, 0, 1]], D.y, names=["c", "a", "b"])
    assert drop_leaks(T, {"D": turned}).dropped == 1
    further = Dataset(np.column_stack([np.arange(len(D)), D.X]), D.y, names=["number", "a", "b", "c"])
    assert drop_leaks(T, {"D": further}).dropped == 1


# Rows that do not identify themselves


def sparse(n, seed, ids=None):
    """Rows of two coarse columns: most occur many times, in the data as in the test set."""
    rng = np.random.default_rng(seed)
    return Dataset(rng.integers(0, 4, size=(n, 2)), rng.integers(0, 2, size=n), ids=ids)


def test_rows_that_repeat_among_themselves_are_no_leaks():
    leaks = drop_leaks(sparse(100, 0), {"D": sparse(80, 1)})
    assert leaks.dropped == 0
    assert len(leaks.kept) == 100
    assert "ids" in leaks.note


def test_ids_tell_such_rows_apart():
    T = sparse(100, 0, ids=[f"t{i}" for i in range(100)])
    D = sparse(80, 1, ids=[f"d{i}" for i in range(78)] + ["t5", "t60"])
    leaks = drop_leaks(T, {"D": D})
    assert leaks.kept.tolist() == [i for i in range(100) if i not in (5, 60)]
    assert leaks.dropped == 2


def test_ids_that_show_no_leak_need_no_note():
    T = sparse(100, 0, ids=[f"t{i}" for i in range(100)])
    D = sparse(80, 1, ids=[f"d{i}" for i in range(80)])
    assert drop_leaks(T, {"D": D}).note is None
    assert "ids" in drop_leaks(T, {"D": D, "E": sparse(80, 2)}).note


def test_too_many_by_ids_are_refused():
    T = sparse(100, 0, ids=range(100))
    assert "test rows" in refusal(drop_leaks, T, {"D": sparse(80, 1, ids=range(80))})


# Where it matters


def test_measurements_leave_leaked_rows_out():
    """Scored with two leaked rows, and without them in the test set: the same number."""
    yard = dw.Yardstick.fit(TEST, prior_variance=1.0)
    D = with_rows(CLEAN, TEST.take([10, 20]))
    clean_test = TEST.take([i for i in range(100) if i not in (10, 20)])
    leaky, plain = (dw.score(D, T, yardstick=yard) for T in (TEST, clean_test))
    assert leaky.value == plain.value
    assert leaky.details.test_rows == 98
    assert any("2 test rows" in note for note in leaky.notes)
    for result in (
        dw.audit(CLEAN, D, TEST, yardstick=yard),
        dw.audit(D, CLEAN, TEST, yardstick=yard),
        dw.rank({"a": CLEAN, "b": D}, TEST, yardstick=yard),
    ):
        assert result.details.test_rows == 98
        assert any("2 test rows" in note for note in result.notes)
    assert "test rows" in refusal(dw.score, with_rows(CLEAN, TEST), TEST, yardstick=yard)
