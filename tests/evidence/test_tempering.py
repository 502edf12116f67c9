"""The walk over temperings, and a Gaussian posterior at any of them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dataworth.evidence.tempering import Tempered, climb, mixture, pulls, repeats
from dataworth.models import Linear
from reference import mixed


@pytest.mark.parametrize(("gain", "end"), [(0.02, 12), (0.011, 12), (0.009, -3), (0.0, -3), (-0.02, -3)])
def test_a_step_must_be_worth_a_hundredth_of_a_nat(gain, end):
    """Ten steps up from where it starts, and down to an eighth of a row, are the most."""
    assert climb(lambda k: np.array([gain * k, -1.0]), start=2)[0] == end


@given(
    best=st.floats(-6.0, 15.0), bent=st.floats(0.01, 50.0), start=st.integers(-2, 5), near=st.integers(-9, 20)
)
def test_where_the_search_begins_moves_nothing(best, bent, start, near):
    """Of a concave function one k is the first from which a step up is not worth it."""
    asked = []

    def at(k):
        asked.append(k)
        return np.array([-bent * (k - best) ** 2, 0.0])

    def worth(k):
        return at(k + 1)[0] - at(k)[0] > 0.01

    found, scores = climb(at, start, near=near)
    assert len(set(asked)) <= 9
    assert all(-5 <= k <= start + 11 for k in asked)
    assert found == next((k for k in range(-3, start + 10) if not worth(k)), start + 10)
    assert scores == pytest.approx(climb(at, start)[1])


def test_without_a_start_rows_count_once():
    assert climb(lambda k: np.array([float(k)]), start=None) == (0, np.array([0.0]))


def test_the_window_is_the_best_and_its_neighbours():
    """Quadratic in the steps, two blocks: the mixture over 1, 2 and 3, by hand."""
    said = {k: np.array([-((k - 2.0) ** 2), -0.5 * (k - 2.0) ** 2]) for k in range(-12, 13)}
    best, scores = climb(lambda k: said[k])
    assert best == 2
    assert scores == pytest.approx(mixture(np.array([said[k] for k in (1, 2, 3)])))
    assert scores == pytest.approx(mixed(np.array([said[k] for k in range(-12, 13)])))


REPEATS = [
    ([0, 1, 2], [0, 1, 0], [1, 1, 1], 1.0),
    ([0, 1, 0, 1], [0, 1, 0, 1], [1, 1, 1, 1], 2.0),  # all rows twice
    ([0, 1, 0, 1], [0, 1, 1, 0], [1, 1, 1, 1], 1.0),  # the same features, other labels
    ([0, 1, 1], [0, 1, 1], [1, 1, 1], 1.0),  # one of two twice: not the whole
    ([0, 1], [0, 1], [4, 6], 2.0), ([0, 1], [0, 1], [8, 8], 8.0), ([0, 1], [0, 1], [0.3, 0.6], 0.3),
    ([0, 1], [0, 1], [0.2, 0.5], 0.35), ([0, 1, 2], [0, 1, 1], [3, 3, 0], 3.0),
    ([0, 1], [0, 1], [0.5, 250], 0.5),  # the lighter is the unit of the other,
    ([0, 1], [0, 1], [0.5, 1000], 500.25),  # unless it hardly counts
    ([0, 1, 2], [0, 1, 2], [0.5, 0.7, 9e-13], 0.4),  # a row of no weight is a row,
    ([0, 1, 2], [0, 1, 2], [0.5, 0.7, 6e-13], 0.6),  # below 1e-12 of the mean it is none
    ([], [], [], 1.0),
]  # fmt: skip


@pytest.mark.parametrize(("rows", "targets", "weights", "often"), REPEATS)
def test_repeats_are_of_the_data_as_a_whole(rows, targets, weights, often):
    given = np.array(rows, dtype=int), np.array(targets, dtype=float), np.array(weights, dtype=float)
    assert repeats(*given) == pytest.approx(often)


@pytest.mark.parametrize("r", [0.125, 1.0, 7.0, 1024.0])
def test_gaussian_labels_have_the_posterior_of_rows_counted_r_times(r):
    """Exact: of linear regression the tempered posterior is that of every row given r times."""
    rng = np.random.default_rng(0)
    X, y, Z = rng.normal(size=(12, 3)), rng.normal(size=12), rng.normal(size=(5, 3))
    model = Linear(prior_variance=2.0, noise_variance=0.5)
    once, often = model.fit(X, y), model.fit(X, y, np.full(12, r))
    mean, variance = Tempered.of(once.mean, once.precision, 2.0, np.column_stack([Z, np.ones(5)])).at(r)
    wanted = often.predictor(Z)
    assert (mean, variance) == (pytest.approx(wanted[0], rel=1e-9), pytest.approx(wanted[1], rel=1e-9))


def test_how_far_a_row_moves_the_tempering():
    """Leave each row out and maximise the sum of the others: `pulls` says it to first order, and adds up."""
    rng = np.random.default_rng(0)
    bends, tops = rng.uniform(0.5, 2.0, 400), rng.normal(0.0, 1.0, 400)
    tops -= (bends @ tops) / bends.sum()  # all together are best at 0
    gained, moved = pulls(np.array([-bends * (step - tops) ** 2 / 2.0 for step in (-1.0, 0.0, 1.0)]))
    np.testing.assert_allclose(gained, bends * tops)
    without = [-(np.delete(bends, i) @ np.delete(tops, i)) / np.delete(bends, i).sum() for i in range(400)]
    np.testing.assert_allclose(moved, np.array(without), rtol=0.02, atol=1e-4)
    assert abs(moved.sum()) < 1e-9
    flat = np.repeat(rng.normal(size=(1, 400)), 3, axis=0)
    assert not np.any(pulls(flat)[0])
