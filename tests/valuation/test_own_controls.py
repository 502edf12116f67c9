"""What the data's own models could have done: blind models, blind controls, and verdicts."""

import numpy as np
import pytest

import dataworth as dw
from dataworth.data.changes import compare
from dataworth.measure.designs import Sample
from dataworth.measure.intervals import Estimate
from dataworth.valuation.audit.arms import Arms
from dataworth.valuation.audit.blind import BlindModels, least
from dataworth.valuation.audit.controls import dealt, edited_rows, own_controls
from dataworth.valuation.audit.verdict import SLIGHT, decide
from worlds import classes, flipped, held_out, yardstick

TEST = held_out()
YARD = yardstick()
CLEAN = classes(150, seed=1)
NOISY, BAD = flipped(CLEAN, 0.15, 1)


def arms_of(before, after):
    """As in an audit: rows before, then rows that differ."""
    change = compare(before, after)
    rows = change.origin.copy()
    rows[change.own] = len(before) + np.arange(len(change.own))
    return Arms(change, Sample(np.arange(len(before)), before.weights), Sample(rows, after.weights))


def controls_of(before, after):
    models = BlindModels(before, YARD, seed=0)
    return own_controls(arms_of(before, after), models, after, {}), models


def test_no_row_is_judged_by_a_model_that_saw_its_label():
    """Flip one label: every learner's prediction of that row stays to the last bit, those of others move."""
    y = np.array(NOISY.y)
    y[7] = 1 - y[7]
    one, other = (BlindModels(data, YARD, seed=0).own for data in (NOISY, NOISY.with_labels(y)))
    for name in ("yardstick", "boosting", "neighbours", "linear", "mean"):
        assert np.array_equal(one[name][7], other[name][7]), name
    assert not np.array_equal(one["yardstick"], other["yardstick"])


def test_rows_that_belong_together_stand_in_one_fold():
    """A copy of a row, in its group, with the flipped label does not move its prediction."""
    groups = np.arange(len(NOISY)) % 50
    grouped = dw.Dataset(NOISY.X, NOISY.y, groups=groups)
    y = np.array(NOISY.y)
    y[57] = 1 - y[57]  # of the group of row 7
    one, other = (
        BlindModels(data, YARD, seed=0).own["mean"]
        for data in (grouped, dw.Dataset(NOISY.X, y, groups=groups))
    )
    assert np.array_equal(one[7], other[7])


def test_wrong_labels_are_trusted_less():
    """By scikit-learn's AUC: 0.5 without knowledge; the world's Bayes rule gives about 0.9."""
    from sklearn.metrics import roc_auc_score

    models = BlindModels(NOISY, YARD, seed=0)
    for name in ("yardstick", "boosting", "mean", "clean"):
        assert roc_auc_score(BAD, -models.trust(name)) > 0.7, name


def test_a_removal_is_answered_by_the_removal_of_as_many_doubted_rows():
    made, models = controls_of(NOISY, NOISY.take(~BAD))
    for arm, sample in made.items():
        name = str(arm).removeprefix("by ")
        gone = np.setdiff1d(np.arange(len(NOISY)), sample.rows)
        assert set(gone) == set(least(models.trust(name), int(BAD.sum())))
        assert np.array_equal(sample.targets, models.targets[sample.rows])


def test_a_correction_is_answered_by_as_many_relabelled_rows_at_most():
    made, models = controls_of(NOISY, CLEAN)
    for arm, sample in made.items():
        changed = sample.rows[sample.targets != models.targets[sample.rows]]
        assert len(changed) <= BAD.sum()
        if str(arm) == "dropped by clean":
            assert len(sample.rows) == len(NOISY) - BAD.sum()
        else:
            name = str(arm).removeprefix("by ")
            assert len(changed) > 0
            assert set(changed) <= set(least(models.trust(name), int(BAD.sum())))


def test_controls_of_new_rows_do_not_know_their_labels():
    more = classes(40, seed=9)
    wrong = more.with_labels(1 - np.array(more.y))
    one, other = (controls_of(NOISY, dw.Dataset.concat([NOISY, part]))[0] for part in (more, wrong))
    assert {str(arm) for arm in one} >= {"by yardstick", "by boosting", "by linear", "by spreading"}
    for arm, sample in one.items():
        assert np.array_equal(sample.targets, other[arm].targets)
        assert len(sample.rows) == len(NOISY) + 40


def test_weights_are_dealt_out_again_all_of_them():
    weights = np.random.default_rng(0).exponential(size=len(CLEAN))
    arms = arms_of(CLEAN, CLEAN.with_weights(weights))
    by = np.arange(len(CLEAN))[::-1].astype(float)
    given = dealt(arms, np.arange(len(CLEAN)), by)
    assert sorted(given) == sorted(weights)
    assert (np.diff(given) <= 0).all()  # the largest to the largest


def test_a_rescaling_is_repeated_by_a_line():
    ids = np.arange(len(CLEAN))
    before = dw.Dataset(CLEAN.X, CLEAN.y, ids=ids)
    after = dw.Dataset(1.0 + 0.7 * CLEAN.X, CLEAN.y, ids=ids)
    made = edited_rows(arms_of(before, after), before, after, YARD.targets(before), seed=0)
    for name in ("edited on a line", "edited on a line by label"):
        np.testing.assert_allclose(made[name].X, after.X, atol=1e-9)
    cells = made["edited cells permuted"].X
    np.testing.assert_allclose(np.sort(cells, axis=0), np.sort(after.X, axis=0))


def test_a_shrinking_to_class_means_is_repeated_with_the_label():
    ids, y = np.arange(len(CLEAN)), YARD.targets(CLEAN)
    means = np.array([CLEAN.X[y == k].mean(axis=0) for k in (0, 1)])[y.astype(int)]
    before = dw.Dataset(CLEAN.X, CLEAN.y, ids=ids)
    after = dw.Dataset(0.8 * CLEAN.X + 0.2 * means, CLEAN.y, ids=ids)
    made = edited_rows(arms_of(before, after), before, after, y, seed=0)
    np.testing.assert_allclose(made["edited on a line by label"].X, after.X, atol=1e-9)
    towards = made["edited towards the own class"].X
    spread = CLEAN.X.std(axis=0)
    walked, asked = (np.linalg.norm((X - CLEAN.X) / spread, axis=1) for X in (towards, after.X))
    np.testing.assert_allclose(walked, asked, rtol=1e-6)


def estimate(value, half):
    return Estimate(value, half / 2, (value - half, value + half))


UP, NONE = estimate(2.0, 0.5), estimate(0.0, 0.1)


@pytest.mark.parametrize(
    ("outside", "verdict"),
    [
        ([estimate(1.0, 0.5), estimate(0.6, 0.5)], "informative"),
        ([estimate(1.0, 0.5), estimate(0.4, 0.5)], "recycled"),  # upper bound 0.9 below half of 2
        ([estimate(1.0, 0.5), estimate(0.6, 0.7)], "improved"),  # neither above 0 nor below 1
        ([estimate(1.0, 0.5), estimate(SLIGHT / 2, SLIGHT / 4)], "recycled"),
        ([estimate(1.9, 0.5), estimate(1.0, 0.9)], "informative"),
    ],
)
def test_a_rise_is_named_by_what_its_strongest_control_leaves(outside, verdict):
    assert decide(UP, NONE, NONE, False, outside)[0] == verdict


def test_policies_of_the_rise():
    """0.019 nats a block are nothing however sure, 0.021 are something; half of the rise is the border."""
    assert decide(UP, NONE, NONE, False, [estimate(0.021, 0.001)])[0] == "informative"
    assert decide(UP, NONE, NONE, False, [estimate(0.019, 0.001)])[0] == "recycled"
    assert decide(UP, NONE, NONE, False, [estimate(0.4, 0.59)])[0] == "recycled"
    assert decide(UP, NONE, NONE, False, [estimate(0.4, 0.61)])[0] == "improved"


def test_without_own_controls_selection_decides():
    assert decide(UP, estimate(1.0, 0.5), NONE)[0] == "informative"
    assert decide(UP, estimate(1.0, 1.5), NONE)[0] == "improved"


def audit(before, after):
    return dw.audit(before, after, TEST, yardstick=YARD, ignore="all")


def test_the_parts_of_a_rise_add_up():
    found = audit(NOISY, CLEAN)
    made = found.made_of
    assert made.own.value + made.outside.value == pytest.approx(found.delta)
    assert made.own.value >= 0  # doing nothing is a control too
    told = found.to_dict()["made_of"]
    assert told["outside"] == made.outside.value
    assert told["strongest"] == made.strongest


def test_what_its_own_learner_does_is_recycled_if_it_raises_anything():
    """Relabel as the data's own mean of learners would: exactly one of the controls."""
    models = BlindModels(NOISY, YARD, seed=0)
    labels = YARD.labels.decode(models.labels(models.own["mean"]))
    found = audit(NOISY, NOISY.with_labels(labels))
    assert found.verdict not in ("informative", "improved")
    if found.verdict == "recycled":
        assert abs(found.made_of.outside.value) <= SLIGHT


def test_own_models_are_not_asked_where_nothing_rose():
    found = audit(CLEAN, CLEAN.take(range(40)))
    assert found.made_of is None
    assert not [arm for arm in found.table.arms if arm.role == "own"]


def test_numeric_labels_have_own_controls_too():
    from worlds import numeric_labels

    T, data = numeric_labels(160, seed=5, d=2), numeric_labels(120, seed=6, d=2)
    wrong = np.random.default_rng(0).random(120) < 0.3
    noisy = data.with_labels(np.where(wrong, -data.y, data.y))
    found = dw.audit(noisy, data, T, ignore="all")
    assert found.made_of is not None
    assert found.made_of.own.value + found.made_of.outside.value == pytest.approx(found.delta)
