"""The walk over temperings: where it ends, what its window is, and that directions do not mix."""

import numpy as np
import pytest

from dataworth.evidence.tempering import climb, mixture, repeats
from reference import mixed


@pytest.mark.parametrize(("gain", "end"), [(0.02, 10), (0.011, 10), (0.009, 0), (0.0, 0), (-0.02, -3)])
def test_a_step_must_be_worth_a_hundredth_of_a_nat_and_ten_up_or_three_down_are_the_most(gain, end):
    best, _ = climb(lambda place: np.array([gain * place[0], -1.0]))
    assert best == (end,)


@pytest.mark.parametrize(("rows", "weights", "end"), [([0, 1, 2], [1, 1, 1], -3), ([0, 1, 0, 1], [1] * 4, -4),
    ([0, 1], [8, 8], -6), ([0, 1, 1], [1, 1, 1], -3), ([0, 1], [0.1, 0.1], -3)])  # fmt: skip
def test_repeated_rows_may_be_counted_as_if_they_were_not(rows, weights, end):
    """What is below an eighth of a row is the same for data and their double."""
    more = repeats(np.array(rows), np.array(weights, dtype=float))
    best, _ = climb(lambda place: np.array([-0.02 * place[0], -1.0]), repeated=more)
    assert best == (end,)


def test_the_window_is_the_best_and_its_neighbours():
    """Quadratic in the steps, two blocks: the mixture over 1, 2 and 3, by hand."""
    said = {k: np.array([-((k - 2.0) ** 2), -0.5 * (k - 2.0) ** 2]) for k in range(-12, 13)}
    best, scores = climb(lambda place: said[place[0]])
    assert best == (2,)
    assert scores == pytest.approx(mixture(np.array([said[k] for k in (1, 2, 3)])))
    assert scores == pytest.approx(mixed(np.array([said[k] for k in range(-12, 13)])))


def test_two_directions_have_a_window_of_nine():
    def at(place):
        return np.array([-((place[0] - 1.0) ** 2) - (place[1] + 2.0) ** 2, -0.1 * place[0] ** 2])

    best, scores = climb(at, directions=2)
    assert best == (1, -2)
    window = np.array([at((i, j)) for i in (0, 1, 2) for j in (-3, -2, -1)])
    assert scores == pytest.approx(mixture(window))
