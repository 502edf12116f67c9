"""Random changes of the same size, and the draws of a method."""

from dataclasses import replace

import numpy as np
import pytest

import dataworth as dw
from dataworth.data.changes import Change, compare
from dataworth.measure.designs import AFTER, BEFORE, Sample
from dataworth.measure.options import Options
from dataworth.measure.prepare import prepare
from dataworth.valuation.audit.arms import Arms
from dataworth.valuation.audit.audit import with_controls
from dataworth.valuation.audit.methods import apply_to_draws
from worlds import classes, held_out, refusal, yardstick

DATA = classes(100, seed=1)


def arms_of(before, after):
    """The arms of an audit: rows that are kept stand in the pool once, others below them."""
    change = compare(before, after)
    rows = np.where(change.origin >= 0, change.origin, 0)
    rows[change.own] = len(before) + np.arange(len(change.own))
    return Arms(change, Sample(np.arange(len(before))), Sample(rows))


def arms_with(origin, rows=100):
    """Controls where rows after stem from these before, with weights of 1, 2, …"""
    none = np.zeros(len(origin), bool)
    every = Sample(np.arange(rows), np.arange(rows) + 1.0)
    change = Change(origin, none, none, rows, "ids")
    return with_controls(Arms(change, every, Sample(origin, origin + 1.0)), seed=0)


def test_eight_random_removals():
    origin = np.r_[np.arange(30, 100), np.full(10, -1)]
    arms = arms_with(origin)
    assert list(arms)[:2] == [BEFORE, AFTER]
    assert [(arm.role, str(arm)) for arm in arms][2:] == [("control", f"control {r + 1}") for r in range(8)]
    drawn = list(arms.values())[2:]
    assert all(len(set(one.rows)) == len(one.rows) == 80 for one in drawn)
    assert len({tuple(one.rows) for one in drawn}) == 8
    assert np.array_equal(drawn[0].weights, drawn[0].rows + 1.0)
    assert len(arms_with(np.r_[origin, np.full(20, -1)])) == 2  # not fewer: a fall's control is `before`


def test_weights_are_dealt_out_at_random_where_they_differ():
    weights = np.where(np.arange(100) < 30, 0.01, 1.0)
    arms = replace(arms_of(DATA, DATA), after=Sample(np.arange(100), weights))
    drawn = [arms.at_random(np.random.default_rng(seed)) for seed in range(3)]
    assert all(np.array_equal(one.rows, np.arange(100)) for one in drawn)
    assert all(sorted(one.weights) == sorted(weights) for one in drawn)
    assert len({tuple(one.weights) for one in drawn}) == 3
    assert len(with_controls(arms, seed=0)) == 10
    even = arms_of(DATA, dw.Dataset.concat([DATA, DATA]))  # twice every row: nothing to chance
    assert len(with_controls(even, seed=0)) == 2


def test_a_row_replaced_by_a_copy_of_another_is_a_row_fewer():
    """Of a bootstrap 63 of 100 rows are distinct: random removals keep as many."""
    rows = np.random.default_rng(0).integers(0, 100, 100)
    arms = arms_of(DATA, DATA.take(rows))
    assert arms.fewer == 100 - len(np.unique(rows))
    assert len(arms.at_random(np.random.default_rng(1)).rows) == len(np.unique(rows))


def test_where_no_rows_are_gone_a_fall_is_compared_with_before():
    wrong = DATA.with_labels(np.where(np.arange(100) < 30, 1 - DATA.y, DATA.y))
    audit = dw.audit(DATA, wrong, held_out(), yardstick=yardstick(), ignore="all")
    assert [str(arm) for arm in audit.table.arms] == ["before", "after"]
    assert (audit.control.excess_over_random, audit.control.value) == (
        audit.delta,
        pytest.approx(audit.before),
    )
    assert (audit.control.replicates, audit.verdict) == (1, "harmful")


def drawn(curate, **options):
    opts = Options.parse("curate", {"yardstick": yardstick(), **options})
    return apply_to_draws(prepare("audit", {"the data": DATA}, held_out(), opts), DATA, curate)[1]


def test_a_hundred_draws_of_a_method():
    assert drawn(lambda D: D).count == 100
    assert drawn(lambda D: D, pairs=7).count == 7


def test_a_method_that_makes_more_than_a_twentieth_of_what_scores_it_is_refused():
    """Pairs of all 200 test rows: ten copies of them are 5 % and dropped, eleven are more and refused."""

    def leaky(copies):
        return drawn(
            lambda D: dw.Dataset.concat([D, held_out().take(range(copies))]), pairs=3, size=(20, 200)
        )

    draws = [leaky(10).design.draw(i) for i in range(3)]
    assert [(len(draw.test.rows), len(draw.arms[AFTER].rows)) for draw in draws] == [(200, 20)] * 3
    assert "the method's output holds 6% of the test rows it is scored on" in refusal(leaky, 11)
