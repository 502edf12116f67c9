"""Blind controls: how many there are, who labels their rows, what of them is chance."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

import dataworth as dw
from dataworth.data.changes import compare
from dataworth.measure.designs import AFTER, BEFORE, Sample
from dataworth.measure.options import Options
from dataworth.measure.prepare import prepare
from dataworth.valuation.audit.arms import Arms
from dataworth.valuation.audit.audit import with_controls
from dataworth.valuation.audit.methods import apply_to_draws
from worlds import classes, flipped, held_out, refusal, yardstick

DATA = classes(100, seed=1)


def arms_of(before, after):
    """The arms of an audit: rows that are kept stand in the pool once, others below them."""
    change = compare(before, after)
    rows = np.where(change.origin >= 0, change.origin, 0)
    rows[change.own] = len(before) + np.arange(len(change.own))
    return Arms(change, Sample(np.arange(len(before))), Sample(rows))


RELABELLED = DATA.with_labels(np.where(np.arange(100) < 30, 1 - DATA.y, DATA.y))


@pytest.mark.parametrize(("rows", "controls"), [(100, 20), (20_000, 20), (20_001, 8)])
def test_twenty_controls_and_eight_of_more_than_twenty_thousand_rows(rows, controls):
    rows = Sample(np.arange(rows))
    blind = SimpleNamespace(before=rows, after=None, random=True, control=lambda rng, replicate: replicate)
    arms = with_controls(blind, seed=0)
    assert list(arms)[:2] == [BEFORE, AFTER]
    assert [str(arm) for arm in arms][2:] == [f"control {r + 1}" for r in range(controls)]
    assert all(arm.role == "control" for arm in list(arms)[2:])
    assert list(arms.values())[2:] == [True] * controls  # each of them a replicate
    blind.random = False  # where there is nothing to chance one says it all
    assert len(with_controls(blind, seed=0)) == 3


def test_a_replicates_labels_are_those_of_a_model_of_four_fifths():
    """In the design whole every control has a teacher of its own; elsewhere the draw's own model labels."""
    arms, rng = arms_of(DATA, RELABELLED), np.random.default_rng(0)
    teachers = [arms.control(rng, replicate=True).teacher for _ in range(5)]
    for teacher in teachers:
        assert len(teacher.rows) == len(set(teacher.rows)) == 80
        assert set(teacher.rows) <= set(range(100))
    assert len({tuple(sorted(t.rows)) for t in teachers}) == 5
    assert arms.control(rng).teacher is None
    assert arms.control(rng).self_labelled.sum() == 30


def test_controls_of_an_audit_of_new_labels_differ_by_their_teachers_alone():
    """No row is removed, so that only the models that label differ, and with them the controls' values."""
    data, _ = flipped(classes(60, 4), 0.3, 4)
    other = data.with_labels(np.where(np.arange(60) < 40, 1 - data.y, data.y))
    audit = dw.audit(data, other, held_out(), yardstick=yardstick(), ignore="all", keep=True)
    values = audit.table.of_role("pmi", "control").mean(axis=0)
    assert len(values) == 20
    assert values.std() > 0
    drawn = audit.case.design.draw(0).arms
    controls = [sample for arm, sample in drawn.items() if arm.role == "control"]
    assert all(np.array_equal(np.sort(c.rows), np.sort(controls[0].rows)) for c in controls)
    assert all(len(c.teacher.rows) == 48 for c in controls)


# Methods


def drawn(curate, **options):
    """The plan of a method's draws."""
    opts = Options.parse("curate", {"yardstick": yardstick(), **options})
    _, plan, _, _ = apply_to_draws(prepare("audit", {"the data": DATA}, held_out(), opts), DATA, curate)
    return plan


def test_a_hundred_draws_of_a_method():
    assert drawn(lambda D: D).count == 100
    assert drawn(lambda D: D, pairs=7).count == 7


def leaky(copies):
    """A method that found the first test rows somewhere."""
    return lambda D: dw.Dataset.concat([D, held_out().take(range(copies))])


def test_a_method_that_makes_more_than_a_twentieth_of_what_scores_it_is_refused():
    """Pairs of all 200 test rows: ten copies are 5 % and dropped, eleven are more and refused."""
    fine = drawn(leaky(10), pairs=3, size=(20, 200))
    draws = [fine.design.draw(i) for i in range(3)]
    assert [len(draw.test.rows) for draw in draws] == [200] * 3
    assert [len(draw.arms[AFTER].rows) for draw in draws] == [20] * 3
    sentence = refusal(drawn, leaky(11), pairs=3, size=(20, 200))
    assert "the method's output holds 6% of the test rows it is scored on" in sentence
