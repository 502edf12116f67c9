"""A score against class proportions, and between nothing and the ceiling."""

import numpy as np
import pytest
from scipy import stats

import dataworth as dw
from dataworth.measure import DATA
from dataworth.measure.labels_alone import LabelsAlone
from dataworth.measure.ladder import beyond_chance, ladder, of_ceiling
from worlds import classes, numeric_labels


def test_proportions_of_the_other_rows_by_hand():
    y, ones = np.array([0.0, 0.0, 1.0, 1.0, 1.0, 2.0]), np.ones(6)
    known = LabelsAlone("classes", y, ones, 3)
    share = np.array([2.5, 2.5, 0.5]) / 5.5  # without the last two rows and half a row each
    both = np.zeros(2, dtype=int)
    assert known.log_p(y[4:], ones[4:], both) == pytest.approx(np.log(share[1:]))
    alone = known.log_p(y[4:], ones[4:], np.arange(2))  # each without itself
    assert alone == pytest.approx(np.log([2.5 / 6.5, 0.5 / 6.5]))
    assert LabelsAlone("even", y, ones, 3).log_p(y[4:], ones[4:], both) == pytest.approx(-np.log([3, 3]))
    y = np.array([1.0, 2.0, 4.0, 9.0])
    known = LabelsAlone("numbers", y, np.ones(4))
    for row in range(4):
        rest = np.delete(y, row)
        expected = stats.norm(rest.mean(), np.sqrt(rest.var() * (1 + 1 / 3))).logpdf(y[row])
        assert known.log_p(y, np.ones(4), np.arange(4))[row] == pytest.approx(expected)
        assert known.log_p(y[[row]], np.ones(1), np.zeros(1, dtype=int)) == pytest.approx(expected)


@pytest.fixture(scope="module")
def scored():
    test = classes(400, seed=1)
    return test, dw.Yardstick.fit(test)


def value(data, scored, **options):
    test, yard = scored
    return dw.score(data, test, yardstick=yard, ignore="all", **options)


@pytest.mark.parametrize("make", [classes, numeric_labels])
def test_rungs_stand_in_their_order(make):
    test, data = make(400, seed=1), make(150, seed=2)
    found = ladder(dw.score(data, test, keep_data=True, ignore="all").case, DATA)
    assert found.nothing.value < found.data.value
    assert found.data.value < found.ceiling.value + 2 * found.ceiling.stderr
    assert 0.5 < found.of_ceiling.value < 1.1
    assert found.of_ceiling.interval[0] < found.of_ceiling.value < found.of_ceiling.interval[1]


def test_a_share_has_the_error_of_a_ratio_and_noise_no_ceiling():
    """Against a bootstrap over blocks; 3 % of simulations of this kind would differ by as much."""
    rng = np.random.default_rng(0)
    noise = [dw.Dataset(rng.normal(size=(n, 3)), rng.integers(0, 2, n)) for n in (200, 100)]
    found = ladder(dw.score(noise[1], noise[0], keep_data=True, ignore="all").case, DATA)
    assert found.of_ceiling is None
    rng = np.random.default_rng(0)
    best = rng.normal(5.0, 1.0, 200)
    data = 0.7 * best + rng.normal(0.0, 0.5, 200)
    drawn = rng.integers(0, 200, (4000, 200))
    spread = (data[drawn].mean(axis=1) / best[drawn].mean(axis=1)).std()
    assert of_ceiling(data, best).stderr == pytest.approx(spread, rel=0.1)


def test_permuted_labels_are_not_worth_more_than_chance(scored):
    """At most 2 of 20 are shown beyond chance (5 % each: more in 8 % of runs); the data themselves are."""
    data, rng = classes(80, seed=3), np.random.default_rng(0)
    assert beyond_chance(value(data, scored, keep_data=True).case, DATA).positive
    permuted = [value(data.with_labels(rng.permutation(data.y)), scored, keep_data=True) for _ in range(20)]
    shown = [one.interval[0] > 0 and beyond_chance(one.case, DATA).positive for one in permuted]
    assert sum(shown) <= 2
