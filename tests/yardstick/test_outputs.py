"""Targets where labels are vectors, and the test set's own rows among them."""

import json

import numpy as np
import pytest

import dataworth as dw
from dataworth.data.labels import Vectors
from dataworth.yardstick.outputs import AXES, ROWS_AN_AXIS, Outputs
from dataworth.yardstick.texts import TextAxes
from worlds import refusal


def texts(rng, n, topics=6):
    """Short texts, each of words of one topic and of words that all have."""
    words = [[f"t{t}w{k}" for k in range(60)] for t in range(topics)]
    common = [f"c{k}" for k in range(80)]
    made = []
    for _ in range(n):
        own = [*rng.choice(words[rng.integers(topics)], 12), *rng.choice(common, 12)]
        made.append(" ".join(rng.permutation(own)))
    return made


def test_own_rows_are_spread_as_fresh_ones():
    """Without the correction, 150 texts look far more spread out on their own axes than 1,500 others do.

    The ratio of variances along the fifteen axes: on average within 15 % of 1 with it; above 1.5 without.
    """
    rng = np.random.default_rng(0)
    own, fresh = texts(rng, 150), texts(rng, 1500)
    axes = TextAxes.learn(own)
    T, D = axes.vectors(own), axes.vectors(fresh)
    made = Outputs.learn(T, of_texts=True)
    assert 0 < made.leaning.min() < made.leaning.max() <= 1
    spread = [((one - made.centre) @ made.axes).var(axis=0) for one in (T, made.own(T), D)]
    assert np.mean(spread[0] / spread[2]) > 1.5
    assert np.mean(spread[1] / spread[2]) == pytest.approx(1.0, abs=0.15)


def test_leaning_is_what_a_row_left_out_takes_from_its_axis():
    """Texts that come in copies of c: without one of them, an axis shows 1 − 1/c of it, to within 1/n."""
    for copies in (2, 4):
        rows = np.repeat(np.eye(40), copies, axis=0)
        made = Outputs.learn(rows, of_texts=True)
        assert made.leaning == pytest.approx(np.full(made.size, 1 - 1 / copies), abs=0.02)
        assert Outputs.learn(rows, of_texts=False).leaning.tolist() == [1.0] * made.size
    assert "nothing in common" in refusal(Outputs.learn, np.eye(40), of_texts=True)


def test_targets_are_normal_scores_of_the_test_sets_axes():
    rng = np.random.default_rng(1)
    Y = rng.standard_t(2, size=(400, 3)) @ rng.normal(size=(3, 3))
    made = Outputs.learn(Y, of_texts=False)
    targets = made.of(dw.Dataset(np.zeros((400, 1)), Y))
    assert targets.shape == (400, 3)
    assert np.abs(targets.mean(axis=0)).max() < 0.05
    assert targets.std(axis=0) == pytest.approx(np.ones(3), abs=0.05)
    far = dw.Dataset(np.zeros((1, 1)), 1e6 * np.ones((1, 3)))
    assert np.abs(made.of(far)).max() <= np.abs(targets).max() + 1e-12  # no row counts for more than its rank


@pytest.mark.parametrize(("rows", "wide", "size"), [(400, 50, AXES), (60, 50, 6), (400, 4, 4), (5, 3, 1)])
def test_twenty_axes_and_ten_rows_for_each(rows, wide, size):
    assert (AXES, ROWS_AN_AXIS) == (20, 10)
    Y = np.random.default_rng(0).normal(size=(rows, wide))
    assert Outputs.learn(Y, of_texts=False).size == size


def world(n=120):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(n, 3))
    return dw.Dataset(X, X @ rng.normal(size=(3, 5)) + rng.normal(size=(n, 5)))


def test_a_yardstick_of_vectors_is_kept_in_a_file(tmp_path):
    T = world()
    yard = dw.Yardstick.fit(T)
    assert yard.kind == "multilinear"
    assert isinstance(yard.labels, Outputs)
    yard.save(tmp_path / "y.json")
    again = dw.Yardstick.load(tmp_path / "y.json")
    assert again == yard
    assert np.array_equal(again.targets(T), yard.targets(T))
    assert np.array_equal(again.features(T), yard.features(T))
    assert not isinstance(dw.Yardstick.fit(T.with_labels(T.X[:, 0] > 0)).labels, Vectors)


@pytest.mark.parametrize("spoil", ["leaning", "knots", "centre", "freedom"])
def test_a_file_that_no_yardstick_wrote_is_refused(tmp_path, spoil):
    d = dw.Yardstick.fit(world()).to_dict()
    if spoil == "freedom":
        d["model"]["freedom"] = -1.0
    else:
        d["labels"][spoil] = {"leaning": [2.0] * 5, "knots": [[0.0]], "centre": [1.0]}[spoil]
    d = json.loads(json.dumps(d))
    d.pop("digest")
    with pytest.raises(dw.DataworthError):
        dw.Yardstick._read(d)


def test_a_dataset_without_vectors_is_refused():
    T = world()
    yard = dw.Yardstick.fit(T, prior_variance=1.0)
    assert "labels are no vectors" in refusal(yard.targets, dw.Dataset(T.X, T.X[:, 0] > 0))
    assert "vectors of 2 numbers" in refusal(yard.targets, dw.Dataset(T.X, T.X[:, :2]))
    assert "nothing to predict" in refusal(Outputs.learn, np.ones((30, 4)), of_texts=False)
    assert "suit multilinear" in refusal(dw.Yardstick.fit, T, model="linear")
