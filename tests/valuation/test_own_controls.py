"""What the data's own models could have done: blind models, blind controls, and what a rise is made of."""

from __future__ import annotations

import warnings

import numpy as np
import pyarrow as pa
import pytest
from dataworth.valuation.audit.blind import BlindModels, least
from dataworth.valuation.audit.controls import ladder, own_controls
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, WhiteKernel
from sklearn.metrics import roc_auc_score

import dataworth as dw
from dataworth.data.changes import compare
from dataworth.measure.designs import AFTER, BEFORE, Sample
from dataworth.measure.intervals import negligible
from dataworth.valuation.audit import blind, controls, learners
from dataworth.valuation.audit.arms import Arms
from dataworth.valuation.audit.edits import edited_rows
from worlds import classes, flipped, held_out, numeric_labels, yardstick

TEST = held_out()
YARD = yardstick()
CLEAN = classes(150, seed=1)
NOISY, BAD = flipped(CLEAN, 0.15, 1)
LEARNERS = ("yardstick", "boosting", "neighbours", "linear", "mean")


def arms_of(before, after):
    """As in an audit: rows before, then rows that differ."""
    change = compare(before, after)
    rows = change.origin.copy()
    rows[change.own] = len(before) + np.arange(len(change.own))
    return Arms(change, Sample(np.arange(len(before)), before.weights), Sample(rows, after.weights))


def controls_of(before, after, yard=YARD):
    models = BlindModels(before, yard, seed=0)
    made = own_controls(arms_of(before, after), models, after, {})
    made = {str(arm): sample for arm, sample in made.items()}
    return {name: sample for name, sample in made.items() if "of all rows" not in name}, models


# The models


def test_no_row_is_judged_by_a_model_that_saw_its_label():
    """Flip one label: every learner's prediction of that row stays to the last bit, those of others move."""
    y = np.array(NOISY.y)
    y[7] = 1 - y[7]
    one, other = (BlindModels(data, YARD, seed=0).own for data in (NOISY, NOISY.with_labels(y)))
    for name in LEARNERS:
        assert np.array_equal(one[name][7], other[name][7]), name
    assert not np.array_equal(one["yardstick"], other["yardstick"])


@pytest.mark.parametrize("by", ["group", "copy"])
def test_rows_that_belong_together_stand_in_one_fold(by):
    """The label of a row of the same group, or of a copy, does not move a row's prediction."""
    rows = np.arange(150) if by == "group" else np.arange(150) % 50
    groups = np.arange(150) % 50 if by == "group" else None
    y = np.array(NOISY.y[rows])
    data = dw.Dataset(NOISY.X[rows], y, groups=groups)
    y = y.copy()
    y[57] = 1 - y[57]  # stands with row 7
    one, other = (BlindModels(d, YARD, seed=0).own["mean"] for d in (data, data.with_labels(y)))
    assert np.array_equal(one[7], other[7])
    assert not np.array_equal(one, other)


def test_wrong_labels_are_trusted_less():
    """By scikit-learn's AUC: 0.5 without knowledge; the world's Bayes rule gives about 0.9."""
    models = BlindModels(NOISY, YARD, seed=0)
    for name in ("yardstick", "boosting", "neighbours", "linear", "mean"):
        assert roc_auc_score(BAD, -models.trust(name)) > 0.7, name
    assert roc_auc_score(BAD, -models.trust("clean")) > 0.7


def test_the_second_pass_learns_without_doubted_rows(monkeypatch):
    seen = []
    monkeypatch.setattr(
        BlindModels, "_learn", lambda self, use, views: seen.append(use) or learn(self, use, views)
    )
    models = BlindModels(NOISY, YARD, seed=0)
    doubted = models.labels(models.own["mean"]) != models.targets
    assert len(seen) == 15  # two divisions and the second pass, five folds each
    assert all(not (use & doubted).any() for use in seen[10:])
    assert all((use & doubted).any() for use in seen[:10])


learn = BlindModels._learn


def test_weights_count_as_copies_do_to_every_learner():
    """A row of weight 2 is two rows: to the models exactly, to neighbours by their votes."""
    X, y, to = NOISY.X[:60], YARD.targets(NOISY)[:60], NOISY.X[60:90]
    weights = np.where(np.arange(60) % 3 == 0, 2.0, 1.0)
    twice = np.repeat(np.arange(60), weights.astype(int))
    for learner in (learners.linear,):
        weighted, copied = (learner(X, y, weights, to, 2), learner(X[twice], y[twice], None, to, 2))
        np.testing.assert_allclose(weighted, copied, atol=1e-3)
    votes = learners.neighbours(X, y, weights, to, 2)
    distance = np.linalg.norm(to[:, None] - X[None], axis=2)
    for i, near in enumerate(np.argsort(distance, axis=1)[:, :10]):
        expected = (weights[near] @ y[near] + 0.5) / (weights[near].sum() + 1.0)
        assert votes[i, 1] == pytest.approx(expected)


def test_four_thousand_rows_are_learnt_from_at_most(monkeypatch):
    assert blind.MOST_LEARNT == 4000
    sizes = []
    monkeypatch.setattr(blind, "MOST_LEARNT", 50)
    monkeypatch.setattr(
        blind, "boosting", lambda X, y, *rest: sizes.append(len(y)) or learners.linear(X, y, *rest)
    )
    models = BlindModels(NOISY, YARD, seed=0)
    assert roc_auc_score(BAD, -models.trust("mean")) > 0.7
    assert max(sizes) == 50
    monkeypatch.setattr(learners, "MOST_SPREAD", 200)
    assert "spreading" in models.others(CLEAN.take(range(50)))
    assert "spreading" not in models.others(CLEAN.take(range(51)))


def test_wide_rows_are_boosted_on_forty_axes(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 301))
    y = (X[:, 0] > 0).astype(float)
    monkeypatch.setattr(
        learners, "_predicted", lambda learner, X, y, weights, to, classes: (X.shape, to.shape)
    )
    assert learners.boosting(X, y, None, X[:9], 2) == ((80, 40), (9, 40))
    assert learners.boosting(X[:, 1:], y, None, X[:9, 1:], 2) == ((80, 300), (9, 300))


def test_one_class_alone_says_so_and_nothing_more():
    models = BlindModels(CLEAN.take(np.flatnonzero(CLEAN.y == 1)[:12]), YARD, seed=0)
    for name in LEARNERS:
        assert (models.own[name][:, 1] > 0.9).all()
    assert set(models.others(CLEAN)) == {"yardstick", "boosting", "neighbours", "linear", "mean", "clean"}


def test_the_same_seed_gives_the_same_and_progress_is_told():
    told = []
    first = BlindModels(NOISY, YARD, 3, lambda done, total: told.append((done, total))).own
    again, other = (BlindModels(NOISY, YARD, seed).own for seed in (3, 4))
    assert all(np.array_equal(first[name], again[name]) for name in first)
    assert not np.array_equal(first["mean"], other["mean"])
    assert told == [(k, 15) for k in range(1, 16)]


def mixed(n, seed):
    """A category and a number that is missing in a fifth of rows; the label goes with the category."""
    rng = np.random.default_rng([seed, 0x3A7])
    kind = rng.choice(["a", "b", "c"], n)
    number = np.where(rng.random(n) < 0.2, np.nan, rng.normal(size=n))
    label = np.where(rng.random(n) < 0.9, kind == "a", kind != "a").astype(int)
    ids = [f"r{i}" for i in range(n)]
    table = pa.table({"id": ids, "kind": kind, "number": number, "label": label})
    return dw.read(table, label="label", id="id", impute=True)


def test_categories_and_missing_cells_are_seen_as_the_yardstick_sees_them():
    T, data = mixed(120, 0), mixed(120, 1)
    noisy, bad = flipped(data, 0.2, 1)
    models = BlindModels(noisy, dw.Yardstick.fit(T), seed=0)
    for name in LEARNERS:
        assert roc_auc_score(bad, -models.trust(name)) > 0.7, name


# Controls by kind of change


def test_a_removal_is_answered_by_the_removal_of_as_many_doubted_rows():
    made, models = controls_of(NOISY, NOISY.take(~BAD))
    assert set(made) == {"by yardstick", "by boosting", "by mean", "by clean"}
    for name, sample in made.items():
        gone = np.setdiff1d(np.arange(len(NOISY)), sample.rows)
        assert set(gone) == set(least(models.trust(name.removeprefix("by ")), int(BAD.sum())))
        assert np.array_equal(sample.targets, models.targets[sample.rows])
        assert sample.weights is None


def test_a_correction_is_answered_by_as_many_relabelled_rows_at_most():
    made, models = controls_of(NOISY, CLEAN)
    chance = {f"labels at random {k}" for k in (1, 2, 3)}
    assert set(made) == {"by yardstick", "by boosting", "by mean", "by clean", "dropped by clean"} | chance
    k = int(BAD.sum())
    for name, sample in made.items():
        changed = sample.rows[sample.targets != models.targets[sample.rows]]
        if name in chance:
            assert len(changed) == k
        elif name == "dropped by clean":
            assert len(changed) == 0
            assert set(sample.rows) == set(range(150)) - set(least(models.trust("clean"), k))
        else:
            # of the k most doubted, those whose label is less likely than the other
            trust = models.trust(name.removeprefix("by "))
            assert set(changed) == {row for row in least(trust, k) if trust[row] < 0.5}


def test_labels_at_random_are_other_labels_of_other_rows_each_time():
    made, models = controls_of(NOISY, CLEAN)
    drawn = [made[f"labels at random {k}"] for k in (1, 2, 3)]
    changed = [set(np.flatnonzero(one.targets != models.targets)) for one in drawn]
    assert changed[0] != changed[1] != changed[2]
    rng = np.random.default_rng(0)
    given = np.arange(3000) % 3.0
    other = controls.other_labels(given, 3, rng)
    assert not (other == given).any()
    assert abs(((other - given) % 3 == 1).mean() - 0.5) < 4 * 0.5 / 3000**0.5  # false alarm 6e-5
    numbers = rng.normal(size=50)
    moved = controls.other_labels(numbers, 0, rng)
    assert sorted(moved) == sorted(numbers)
    assert (moved != numbers).any()


@pytest.mark.parametrize("seed", range(2))
def test_wrong_labels_that_make_sure_data_less_sure_are_no_information(seed):
    """The data's slope is five times the test set's: flips at random help, and anybody can flip."""
    rng = np.random.default_rng([41, seed])
    X = rng.normal(size=(1600, 2))
    slopes = np.where(np.arange(1600) < 1000, 4.0, 0.8)
    y = (rng.random(1600) < 1 / (1 + np.exp(-slopes * X[:, 0]))).astype(int)
    D, T = dw.Dataset(X[:1000], y[:1000]), dw.Dataset(X[1000:], y[1000:])
    flips = rng.random(1000) < 0.15
    yard = dw.Yardstick.fit(T, prior_variance=10.0)  # too wide to shrink a slope, as a test set may prefer it
    found = dw.audit(D, D.with_labels(np.where(flips, 1 - D.y, D.y)), T, yardstick=yard, ignore="all")
    assert found.delta > 1.0
    assert found.verdict == "recycled"
    assert found.made_of.strongest.startswith("labels at random")


def test_controls_of_new_rows_do_not_know_their_labels():
    more = classes(40, seed=9)
    wrong = more.with_labels(1 - np.array(more.y))
    (one, models), (other, _) = (controls_of(NOISY, dw.Dataset.concat([NOISY, p])) for p in (more, wrong))
    learnt = ("yardstick", "boosting", "linear", "spreading", "mean", "clean")
    assert set(one) == {f"by {name}" for name in learnt}
    predicted = models.others(more)
    for name, sample in one.items():
        assert np.array_equal(sample.targets, other[name].targets)
        assert np.array_equal(sample.rows, np.arange(190))
        assert np.array_equal(sample.targets[:150], models.targets)
        labels = predicted[name.removeprefix("by ")].argmax(axis=1)
        assert np.array_equal(sample.targets[150:], labels)


def test_weights_are_dealt_out_again_all_of_them():
    weights = np.random.default_rng(0).exponential(size=len(CLEAN))
    arms = arms_of(CLEAN, CLEAN.with_weights(weights))
    by = np.arange(len(CLEAN))[::-1].astype(float)
    given = arms.deal(np.arange(len(CLEAN)), by)
    assert sorted(given) == sorted(weights)
    assert (np.diff(given) <= 0).all()  # the largest to the largest


def test_repeated_rows_are_answered_by_repeating_sure_unsure_borderline_and_random_ones():
    chosen = np.arange(0, 150, 5)
    made, models = controls_of(CLEAN, CLEAN.take(np.r_[:150, chosen, chosen]))
    orders = {
        ", to the sure": lambda name: models.trust(name),
        ", to the unsure": lambda name: -models.trust(name),
        ", to the borderline": lambda name: -np.abs(models.own[name][:, 1] - 0.5),
    }
    expected = {f"by {name}{how}" for name in ("yardstick", "boosting") for how in orders}
    assert set(made) == expected | {f"by {n}, to the sure" for n in ("mean", "clean")} | {
        "by mean, at random"
    }
    for name, sample in made.items():
        assert sorted(sample.weights) == [1.0] * 120 + [3.0] * 30
        learner, _, how = name.removeprefix("by ").partition(",")
        if how != " at random":
            by = orders[f",{how}"](learner)
            assert by[sample.weights == 3].min() >= by[sample.weights == 1].max()


def test_a_change_of_several_kinds_is_answered_by_all_of_them_at_once():
    """Ten rows removed, twenty relabelled, fifteen new, all weights changed."""
    more = classes(15, seed=9)
    y = np.array(NOISY.y)
    y[10:30] = 1 - y[10:30]
    weights = np.random.default_rng(0).exponential(size=155)
    kept = NOISY.with_labels(y).take(range(10, 150))
    made, models = controls_of(NOISY, dw.Dataset.concat([kept, more]).with_weights(weights))
    assert {"by spreading, to the sure", "dropped by clean", "by boosting, to the unsure"} <= set(made)
    for name, sample in made.items():
        drop = name == "dropped by clean"
        assert len(sample.rows) == 155 - 20 * drop
        old = sample.rows < 150
        assert old.sum() == 140 - 20 * drop
        changed = (sample.targets[old] != models.targets[sample.rows[old]]).sum()
        assert changed <= 20
        assert (changed > 0) != drop
        # new rows keep the weights that the curator gave them
        assert np.array_equal(sample.weights[~old], weights[140:])
        assert drop or sorted(sample.weights[old]) == sorted(weights[:140])


def test_edits_are_answered_by_dropping_as_many_doubted_rows():
    """Twenty rows edited under their ids, five of them relabelled as well."""
    X, y = NOISY.X.copy(), np.array(NOISY.y)
    X[:20] += 1.0
    y[:5] = 1 - y[:5]
    made, models = controls_of(with_ids(NOISY.X, NOISY.y), with_ids(X, y))
    names = ("yardstick", "boosting", "mean", "clean")
    dropped = {name: sample for name, sample in made.items() if name.startswith("dropped by ")}
    assert set(dropped) == {f"dropped by {name}" for name in names}
    for name, sample in dropped.items():
        gone = set(range(150)) - set(sample.rows)
        assert gone == set(least(models.trust(name.removeprefix("dropped by ")), 20))


def test_a_ladder_removes_fewer_rows_than_were_touched():
    """Of 150 rows 28 are removed and 12 relabelled: 5, 10, 15 and 20 % are fewer than 40, 30 % are more."""
    y = np.array(NOISY.y)
    y[:12] = 1 - y[:12]
    models = BlindModels(NOISY, YARD, seed=0)
    made = ladder(arms_of(NOISY, NOISY.with_labels(y).take(range(122))), models)
    parts = {"5%": 8, "10%": 15, "15%": 22, "20%": 30}
    assert set(made) == {f"dropped by {n}, {p} of all rows" for n in ("mean", "clean") for p in parts}
    for name, sample in made.items():
        learner, _, part = name.removeprefix("dropped by ").partition(", ")
        gone = set(range(150)) - set(sample.rows)
        assert gone == set(least(models.trust(learner), parts[part.partition(" ")[0]]))
        assert np.array_equal(sample.targets, models.targets[sample.rows])
    assert ladder(arms_of(NOISY, NOISY.take(range(143))), models) == {}  # seven: 5 % are eight


def test_of_numeric_labels_a_ladder_relabels_too():
    T, data = numeric_labels(160, seed=5, d=2), numeric_labels(100, seed=6, d=2)
    models = BlindModels(data, dw.Yardstick.fit(T), seed=0)
    made = ladder(arms_of(data, data.with_labels(data.y + 0.5)), models)
    assert len(made) == 20
    sample = made["by mean, 10% of all rows"]
    changed = np.flatnonzero(sample.targets != models.targets)
    assert set(changed) == set(least(models.trust("mean"), 10))
    assert np.array_equal(sample.targets[changed], models.own["mean"][changed, 0])


def test_several_classes_get_their_likeliest_label():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    y = X.argmax(axis=1)
    T, data = dw.Dataset(X[:150], y[:150]), dw.Dataset(X[150:], y[150:])
    wrong = np.arange(150) % 6 == 0
    noisy = data.with_labels(np.where(wrong, (data.y + 1) % 3, data.y))
    made, models = controls_of(noisy, data, dw.Yardstick.fit(T))
    sample = made["by mean"]
    changed = np.flatnonzero(sample.targets != models.targets)
    assert len(changed) > 5
    assert np.array_equal(sample.targets[changed], models.own["mean"].argmax(axis=1)[changed])
    assert (sample.targets[changed] == data.y[changed]).mean() > 0.7  # by chance 0.5
    np.testing.assert_allclose(models.own["mean"].sum(axis=1), 1.0)


def test_numeric_labels_are_doubted_by_distance_and_relabelled_by_prediction():
    T, data = numeric_labels(160, seed=5, d=2), numeric_labels(120, seed=6, d=2)
    wrong = np.random.default_rng(0).random(120) < 0.2
    noisy = data.with_labels(np.where(wrong, data.y + 6.0, data.y))
    yard = dw.Yardstick.fit(T)
    made, models = controls_of(noisy, data, yard)
    for name in LEARNERS:
        assert roc_auc_score(wrong, -models.trust(name)) > 0.9, name
    sample = made["by mean"]
    changed = np.flatnonzero(sample.targets != models.targets)
    assert set(changed) == set(least(models.trust("mean"), int(wrong.sum())))
    assert np.array_equal(sample.targets[changed], models.own["mean"][changed, 0])
    more, _ = controls_of(data, dw.Dataset.concat([data, numeric_labels(20, 7, d=2)]), yard)
    assert set(more) == {
        f"by {name}" for name in ("yardstick", "boosting", "linear", "smooth", "mean", "clean")
    }


# Edits


def edits_of(before, after, targets, classes=2):
    change = compare(before, after)
    return {name: d.X for name, d in edited_rows(change, before, after, targets, classes, seed=0).items()}


def with_ids(X, y):
    return dw.Dataset(X, y, ids=np.arange(len(y)))


def test_a_rescaling_is_repeated_by_a_line():
    before, after = with_ids(CLEAN.X, CLEAN.y), with_ids(1.0 + 0.7 * CLEAN.X, CLEAN.y)
    made = edits_of(before, after, YARD.targets(before))
    assert len(made) == 4
    for name in ("edited on a line", "edited on a line by label"):
        np.testing.assert_allclose(made[name], after.X, atol=1e-9)
    cells = made["edited cells permuted"]
    np.testing.assert_allclose(np.sort(cells, axis=0), np.sort(after.X, axis=0))
    assert not np.allclose(cells, after.X)


@pytest.mark.parametrize("classes", [2, 3])
def test_a_shrinking_to_class_means_is_repeated_with_the_label(classes):
    y = np.random.default_rng(0).integers(0, classes, len(CLEAN))
    means = np.random.default_rng(1).normal(size=(classes, 3))[y]  # in no order of the classes' numbers
    X = CLEAN.X + means
    centres = np.array([X[y == k].mean(axis=0) for k in range(classes)])[y]
    before, after = with_ids(X, y), with_ids(0.8 * X + 0.2 * centres, y)
    made = edits_of(before, after, y.astype(float), classes)
    np.testing.assert_allclose(made["edited on a line by label"], after.X, atol=1e-9)
    towards, spread = made["edited towards its class"], X.std(axis=0)
    walked, asked = (np.linalg.norm((new - X) / spread, axis=1) for new in (towards, after.X))
    np.testing.assert_allclose(walked, asked, rtol=1e-6)
    # straight on
    np.testing.assert_allclose(towards, after.X, atol=0.2 * 0.01 * np.abs(centres - X).max())


def test_edits_of_missing_cells_and_categories():
    """Filled cells become the mean of the new ones; categories are permuted; nothing else moves."""
    before = mixed(60, 1)
    X = before.X.copy()
    missing = np.flatnonzero(np.isnan(X[:, 1]))
    X[missing, 1] = np.arange(len(missing))
    X[:9, 0] = (X[:9, 0] + 1) % 3
    removed = np.setdiff1d(np.arange(20, 40), missing)[:3]
    X[removed, 1] = np.nan
    after = before.with_features(X)
    change = compare(before, after)
    places = np.flatnonzero(change.edited)
    targets = (before.y == before.y[0]).astype(float)
    made = edits_of(before, after, targets)
    filled, old = np.isin(places, missing), before.X[places]
    line = made["edited on a line"]
    np.testing.assert_allclose(line[filled, 1], np.mean(np.arange(len(missing))))
    for name in ("edited on a line", "edited on a line by label", "edited towards its class"):
        assert np.array_equal(made[name][:, 0], old[:, 0])
        assert np.array_equal(made[name][~filled, 1], old[~filled, 1], equal_nan=True)
        assert np.isfinite(made[name][:, 1]).all()
    permuted = made["edited cells permuted"]
    assert sorted(permuted[filled, 1]) == list(range(len(missing)))
    assert sorted(permuted[places < 9, 0]) == sorted(X[:9, 0])
    assert np.array_equal(permuted[~filled, 1], old[~filled, 1], equal_nan=True)


def test_no_edits_no_controls_of_them():
    assert edits_of(CLEAN, CLEAN.take(range(40)), YARD.targets(CLEAN)) == {}


# What a rise is made of


def audit(before, after, **options):
    return dw.audit(before, after, TEST, yardstick=YARD, ignore="all", **options)


@pytest.mark.parametrize("options", [{}, {"pairs": 40, "size": 40}])
def test_the_parts_of_a_rise_add_up(options):
    found = audit(NOISY, CLEAN, **options)
    made = found.made_of
    assert made.own.value + made.outside.value == pytest.approx(found.delta)
    assert made.own.value >= 0  # doing nothing is a control too
    controls = [arm for arm in found.table.arms if arm != AFTER]
    part = min(found.table.change("pmi", AFTER, arm).mean() for arm in controls)
    assert made.outside.value == pytest.approx(part)
    assert made.outside.interval[0] < part < made.outside.interval[1]
    told = found.to_dict()["made_of"]
    assert (told["outside"], told["own"]) == (made.outside.value, made.own.value)
    assert told["outside_interval"] == list(made.outside.interval)
    assert told["strongest"] == made.strongest


def test_if_all_own_controls_lose_nothing_is_the_strongest():
    few = CLEAN.take(range(12))
    found = audit(few, dw.Dataset.concat([few, classes(200, seed=9)]))
    own = [arm for arm in found.table.arms if arm.role == "own"]
    gains = [found.table.change("pmi", arm, BEFORE).mean() for arm in own]
    assert found.made_of.own.value == pytest.approx(max(0.0, *gains))
    assert (found.made_of.strongest == "nothing") == (max(gains) <= 0)


def test_what_its_own_learner_does_is_recycled_if_it_raises_anything():
    """Relabel as the data's own mean of learners would: exactly one of the controls."""
    models = BlindModels(NOISY, YARD, seed=0)
    labels = YARD.labels.decode(models.labels(models.own["mean"]))
    found = audit(NOISY, NOISY.with_labels(labels))
    assert found.verdict == "recycled"
    assert found.made_of.outside.value <= negligible(10)


def test_a_rescaling_under_ids_is_its_own_control():
    """A tenth of the scale on a third of the rows, given back: a line undoes it, whoever draws it."""
    X = CLEAN.X.copy()
    X[::3] *= 0.1
    found = audit(with_ids(X, CLEAN.y), with_ids(CLEAN.X, CLEAN.y))
    assert found.verdict in ("recycled", "inconclusive")
    if found.made_of is not None:
        assert abs(found.made_of.outside.value) <= negligible(10)


def doubted(k=24):
    """The rows that the data's own models trust least."""
    return least(BlindModels(NOISY, YARD, seed=0).trust("mean"), k)


@pytest.mark.parametrize("groups", [np.zeros(150), NOISY.y], ids=["one group", "groups that are the classes"])
def test_groups_that_somebody_chose_do_not_blind_the_own_models(groups):
    """Folds by such groups leave nothing to learn from; row by row they find what was removed."""
    grouped = dw.Dataset(NOISY.X, NOISY.y, groups=groups)
    kept = np.setdiff1d(np.arange(150), doubted())
    found = audit(grouped, grouped.take(kept))
    assert found.verdict == audit(NOISY, NOISY.take(kept)).verdict == "recycled"
    assert found.made_of.strongest.endswith(", row by row")


def test_cells_emptied_where_the_own_models_doubt_are_rows_removed():
    """A row without features says nothing, as one that is gone."""
    X = NOISY.X.copy()
    X[doubted()] = np.nan
    emptied = dw.Dataset(X, NOISY.y, ids=np.arange(150), allow_missing=True)
    found = audit(with_ids(NOISY.X, NOISY.y), emptied)
    assert found.change["edited"] == 24
    assert found.verdict == "recycled"
    assert found.made_of.strongest.startswith("dropped by ")


def test_rows_touched_for_show_do_not_choose_how_many_the_control_takes():
    """Cells emptied as above, and all other rows moved by a ten-thousandth under their ids."""
    rng = np.random.default_rng(0)
    X = NOISY.X + 1e-4 * rng.normal(size=NOISY.X.shape)
    X[doubted()] = np.nan
    found = audit(with_ids(NOISY.X, NOISY.y), dw.Dataset(X, NOISY.y, ids=np.arange(150), allow_missing=True))
    assert found.change["edited"] == 150
    assert found.verdict == "recycled"
    assert found.made_of.strongest.endswith("of all rows")


@pytest.mark.parametrize("factor", [0.7, 1.5])
def test_stretched_numeric_labels_are_their_own_control(factor):
    """A line undoes it: what was stretched before and is put right tells nothing new."""
    T, data = numeric_labels(160, seed=5, d=2), numeric_labels(120, seed=6, d=2)
    found = dw.audit(data.with_labels(factor * data.y), data, T, ignore="all")
    assert found.change["relabelled"] == 120
    assert found.delta > 0
    assert found.verdict in ("recycled", "inconclusive")
    if found.made_of is not None:
        assert found.made_of.outside.value <= negligible(8)


def test_a_curve_through_numeric_labels_is_their_own_knowledge():
    """Rows labelled by a Gaussian process of the data, which beats trees and lines on a smooth world."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-2, 2, size=(700, 3))
    y = 3 * np.sin(2 * X[:, 0]) + X[:, 1] ** 2 + 0.3 * rng.normal(size=700)
    data, T = dw.Dataset(X[:100], y[:100]), dw.Dataset(X[100:400], y[100:400])
    learner = GaussianProcessRegressor(RBF(np.ones(3)) + WhiteKernel(), normalize_y=True, random_state=0)
    made = dw.Dataset(X[400:], learner.fit(X[:100], y[:100]).predict(X[400:]))
    found = dw.audit(data, dw.Dataset.concat([data, made]), T, ignore="all")
    assert found.delta > 0
    assert found.verdict in ("recycled", "improved")
    assert found.made_of.strongest == "by smooth"


def test_own_models_are_not_asked_where_nothing_rose():
    found = audit(CLEAN, CLEAN.take(range(40)))
    assert found.made_of is None
    assert not [arm for arm in found.table.arms if arm.role == "own"]


def test_another_prior_at_which_nobody_asked_gives_no_informative_verdict():
    """The own models are asked once; where a rise is shown at another prior only, it has no parts."""
    found = audit(CLEAN, CLEAN.take(range(40)), keep=True)
    table = found.case.table
    rises = table.with_column("pmi", table.pmi + 5.0 * np.array([arm == AFTER for arm in table.arms]))
    assert found.case.conclude(found.case.plan, rises) == "improved"


def test_numeric_labels_have_own_controls_too():
    T, data = numeric_labels(160, seed=5, d=2), numeric_labels(120, seed=6, d=2)
    wrong = np.random.default_rng(0).random(120) < 0.3
    noisy = data.with_labels(np.where(wrong, -data.y, data.y))
    found = dw.audit(noisy, data, T, ignore="all")
    assert found.made_of is not None
    assert found.made_of.own.value + found.made_of.outside.value == pytest.approx(found.delta)


def test_no_warnings_reach_the_user_and_the_audit_can_be_repeated():
    more = dw.Dataset.concat([NOISY.take(~BAD), classes(60, seed=9)])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        one, other = (audit(NOISY, more).to_dict() for _ in range(2))
    assert one == other
