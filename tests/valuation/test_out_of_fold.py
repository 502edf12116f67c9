"""Out-of-fold predictions: no row is judged by a model that saw its label, and wrong labels stand out."""

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

import dataworth as dw
from dataworth.valuation.audit import learners, out_of_fold
from dataworth.valuation.audit.learners import Labelled
from dataworth.valuation.audit.out_of_fold import CrossFit
from worlds import classes, flipped, mixed, numeric_labels, yardstick

YARD = yardstick()
CLEAN = classes(150, seed=1)
NOISY, BAD = flipped(CLEAN, 0.15, 1)
LEARNERS = ("yardstick", "boosting", "knn", "linear", "ensemble")


def predicted(data, yard=YARD, added=None, **options):
    more = None if added is None else (added, yard.features(added))
    return CrossFit(data, yard.features(data), yard, **options)(more)


def with_flip(data, row):
    y = np.array(data.y)
    y[row] = 1 - y[row]
    return data.with_labels(y)


@pytest.mark.parametrize("by", ["row", "group", "copy"])
def test_no_row_is_judged_by_a_model_that_saw_its_label_or_that_of_a_row_that_belongs_to_it(by):
    """Flip a label: predictions of that row stay to the last bit, those of others move."""
    rows, groups, flip = np.arange(150), None, 57  # stands with row 7
    if by == "group":
        groups = np.arange(150) % 50
    elif by == "copy":
        rows = np.arange(150) % 50
    else:
        flip = 7
    data = dw.Dataset(NOISY.X[rows], NOISY.y[rows], groups=groups)
    one, other = (predicted(d).predictions for d in (data, with_flip(data, flip)))
    for name in LEARNERS:
        assert np.array_equal(one[name][7], other[name][7]), name
    assert not np.array_equal(one["yardstick"], other["yardstick"])


def several_classes():
    """Four corners of a plane, one label in five wrong; which are, and a yardstick."""
    rng = np.random.default_rng(4)
    y = rng.integers(4, size=320)
    X = 2.0 * np.column_stack([y % 2, y // 2]) + rng.normal(0, 0.7, (320, 2))
    wrong = rng.random(160) < 0.2
    told = np.where(wrong, (y[:160] + rng.integers(1, 4, 160)) % 4, y[:160])
    return dw.Dataset(X[:160], told), wrong, dw.Yardstick.fit(dw.Dataset(X[160:], y[160:]))


def wrong_labels(kind):
    """A world with wrong labels, which these are, its yardstick, and the least AUC."""
    if kind == "plain":
        return NOISY, BAD, YARD, 0.7
    if kind == "several classes":
        return *several_classes(), 0.7
    if kind == "categories and missing cells":
        return *flipped(mixed(120, 1), 0.2, 1), dw.Yardstick.fit(mixed(120, 0)), 0.7
    data, wrong = numeric_labels(120, seed=6, d=2), np.random.default_rng(0).random(120) < 0.2
    noisy = data.with_labels(np.where(wrong, data.y + 6.0, data.y))
    return noisy, wrong, dw.Yardstick.fit(numeric_labels(160, seed=5, d=2)), 0.9


@pytest.mark.parametrize("kind", ["plain", "several classes", "categories and missing cells", "numeric"])
def test_wrong_labels_have_low_self_confidence(kind):
    """By scikit-learn's AUC: 0.5 without knowledge."""
    noisy, bad, yard, least = wrong_labels(kind)
    known = predicted(noisy, yard)
    assert set(LEARNERS) < set(known.predictions)
    for learner in (*LEARNERS, "pruned_ensemble"):
        assert roc_auc_score(bad, -known.self_confidence(learner)) > least, learner


def test_the_pruned_ensemble_learns_without_doubted_rows(monkeypatch):
    seen, boosted = [], CrossFit._by_boosting
    learn = CrossFit._learn
    monkeypatch.setattr(
        CrossFit, "_learn", lambda self, use, *rest: seen.append(use) or learn(self, use, *rest)
    )
    monkeypatch.setattr(
        CrossFit, "_by_boosting", lambda self, uses, *rest: seen.extend(uses) or boosted(self, uses, *rest)
    )
    known = predicted(NOISY)
    doubted = known.labels("ensemble") != known.targets
    assert len(seen) == 30  # two divisions and the second pass, five folds each; boosting and the others
    assert all(not (use & doubted).any() for use in seen[20:])
    assert all((use & doubted).any() for use in seen[:20])


def test_weights_count_as_copies_do():
    """A row of weight 2 is two rows: to the linear model exactly, to neighbours by their votes."""
    X, y, to = NOISY.X[:60], YARD.targets(NOISY)[:60], NOISY.X[60:90]
    weights = np.where(np.arange(60) % 3 == 0, 2.0, 1.0)
    twice = np.repeat(np.arange(60), weights.astype(int))
    known = Labelled(X, y, weights)
    copied = learners.linear(Labelled(X[twice], y[twice]), to, 2)
    np.testing.assert_allclose(learners.linear(known, to, 2), copied, atol=1e-3)
    votes = learners.knn(known, to, 2)
    distance = np.linalg.norm(to[:, None] - X[None], axis=2)
    for i, near in enumerate(np.argsort(distance, axis=1)[:, :10]):
        expected = (weights[near] @ y[near] + 0.5) / (weights[near].sum() + 1.0)
        assert votes[i, 1] == pytest.approx(expected)


def test_large_data_are_learnt_from_in_part(monkeypatch):
    """4,000 rows at most; labels are spread over 10,000 at most."""
    assert (out_of_fold.MAX_LEARNT, learners.MAX_SPREAD) == (4000, 10_000)
    sizes = []
    monkeypatch.setattr(out_of_fold, "MAX_LEARNT", 50)
    boosting, linear = out_of_fold.boosting, out_of_fold.linear
    monkeypatch.setattr(
        out_of_fold,
        "boosting",
        lambda X, y, weights, classes: sizes.extend((weights > 0).sum(1)) or boosting(X, y, weights, classes),
    )
    monkeypatch.setattr(
        out_of_fold, "linear", lambda known, *rest: sizes.append(len(known.y)) or linear(known, *rest)
    )
    assert roc_auc_score(BAD, -predicted(NOISY).self_confidence("ensemble")) > 0.7
    assert max(sizes) == 50
    monkeypatch.setattr(learners, "MAX_SPREAD", 200)
    assert "label_spreading" in predicted(NOISY, added=CLEAN.take(range(50))).added
    assert "label_spreading" not in predicted(NOISY, added=CLEAN.take(range(51))).added


def test_wide_rows_are_learnt_from_on_forty_axes():
    """Above 300 columns; the axes are those of an exact decomposition."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 301)) * 1.1 ** -np.arange(301.0)
    yard = dw.Yardstick.fit(dw.Dataset(X, X[:, 0] > 0), prior_variance=1.0)
    for columns, expected in ((300, 300), (301, 40)):
        data = dw.Dataset(X[:, :columns], X[:, 0] > 0)
        yard = dw.Yardstick.fit(data, prior_variance=1.0)
        assert CrossFit(data, yard.features(data), yard)._views[1].shape == (80, expected)
    centred = X - X.mean(axis=0)
    axes = out_of_fold.principal_axes(centred, 5)
    exact = np.linalg.svd(centred, full_matrices=False)[2][:5]
    assert np.abs(np.abs(exact @ axes) - np.eye(5)).max() < 1e-6


def test_the_order_of_rows_moves_nothing_and_progress_is_told():
    told = []
    CrossFit(NOISY, YARD.features(NOISY), YARD)(None, lambda *step: told.append(step))
    several, _, yard = several_classes()
    for data, own in ((NOISY, YARD), (several, yard)):
        order = np.random.default_rng(0).permutation(len(data))
        first, other = predicted(data, own).predictions, predicted(data.take(order), own).predictions
        assert all(first[name][order] == pytest.approx(other[name], abs=1e-6) for name in first)
    assert told == [(k, 15) for k in range(1, 16)]
