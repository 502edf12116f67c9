"""A score against class proportions, and between nothing and the ceiling."""

import numpy as np
import pytest
from scipy import stats

import dataworth as dw
from dataworth.measure import DATA
from dataworth.measure.labels_alone import LabelsAlone
from dataworth.measure.ladder import beyond_chance, ladder, of_ceiling
from worlds import classes, flipped, numeric_labels


def test_proportions_of_the_other_rows_by_hand():
    y, ones = np.array([0.0, 0.0, 1.0, 1.0, 1.0, 2.0]), np.ones(6)
    known = LabelsAlone("classes", y, ones, 3)
    share = np.array([2.5, 2.5, 0.5]) / 5.5  # without the last two rows and half a row each
    assert known.log_p(y[4:], ones[4:]) == pytest.approx(np.log(share[1:]))
    assert LabelsAlone("even", y, ones, 3).log_p(y[4:], ones[4:]) == pytest.approx(-np.log([3, 3]))


def test_mean_and_spread_of_the_other_rows_by_hand():
    y = np.array([1.0, 2.0, 4.0, 9.0])
    known = LabelsAlone("numbers", y, np.ones(4))
    spread = np.sqrt(y[:3].var() * (1 + 1 / 3))
    assert known.log_p(y[3:], np.ones(1)) == pytest.approx(stats.norm(y[:3].mean(), spread).logpdf(9.0))


@pytest.fixture(scope="module")
def scored():
    test = classes(400, seed=1)
    return test, dw.Yardstick.fit(test)


def value(data, scored, **options):
    test, yard = scored
    return dw.score(data, test, yardstick=yard, ignore="all", **options)


def test_a_score_is_what_rows_predict_beyond_proportions(scored):
    """By hand, from the posterior's own predictive probabilities at the tempering that was found."""
    test, yard = scored
    data = classes(60, seed=2)
    found = value(data, scored, keep=True)
    (times,) = found.table.tempering.values()
    fit = yard.model.fit(yard.features(data), yard.targets(data))
    P0 = np.eye(len(fit.mean)) / yard.model.prior_variance
    precision = P0 + times * (fit.precision - P0)
    mean = np.linalg.solve(precision, times * fit.precision @ fit.mean)
    X = np.column_stack([yard.features(test), np.ones(len(test))])
    f, v = X @ mean, np.einsum("ij,ij->i", X @ np.linalg.inv(precision), X)
    nodes, shares = np.polynomial.hermite_e.hermegauss(60)
    sign = 2.0 * yard.targets(test) - 1.0
    p = (1 / (1 + np.exp(-sign[:, None] * (f[:, None] + np.sqrt(v)[:, None] * nodes)))) @ shares
    total = np.log(p / shares.sum()).sum() - found.table.reference.sum()
    # the mixture over three temperings is at most log 3 below the best of them, over all blocks
    assert total - np.log(3) < found.table.pmi.sum() < total + 0.5


@pytest.mark.parametrize("make", [classes, numeric_labels])
def test_rungs_stand_in_their_order(make):
    test, data = make(400, seed=1), make(150, seed=2)
    found = ladder(dw.score(data, test, keep=True, ignore="all").case, DATA)
    assert found.nothing.value < found.data.value
    assert found.data.value < found.ceiling.value + 2 * found.ceiling.stderr
    assert 0.5 < found.of_ceiling.value < 1.1
    assert found.of_ceiling.interval[0] < found.of_ceiling.value < found.of_ceiling.interval[1]


def test_noise_has_no_ceiling():
    rng = np.random.default_rng(0)
    noise = [dw.Dataset(rng.normal(size=(n, 3)), rng.integers(0, 2, n)) for n in (200, 100)]
    found = ladder(dw.score(noise[1], noise[0], keep=True, ignore="all").case, DATA)
    assert found.of_ceiling is None


def test_a_share_has_the_error_of_a_ratio():
    """Against a bootstrap over blocks; 3 % of simulations of this kind would differ by as much."""
    rng = np.random.default_rng(0)
    best = rng.normal(5.0, 1.0, 200)
    data = 0.7 * best + rng.normal(0.0, 0.5, 200)
    drawn = rng.integers(0, 200, (4000, 200))
    spread = (data[drawn].mean(axis=1) / best[drawn].mean(axis=1)).std()
    assert of_ceiling(data, best).stderr == pytest.approx(spread, rel=0.1)


def test_permuted_labels_are_not_worth_more_than_chance(scored):
    """At most 2 of 20 are shown beyond chance (5 % each: more in 8 % of runs); the data themselves are."""
    data, rng = classes(80, seed=3), np.random.default_rng(0)
    assert beyond_chance(value(data, scored, keep=True).case, DATA).positive
    permuted = [value(data.with_labels(rng.permutation(data.y)), scored, keep=True) for _ in range(20)]
    shown = [one.interval[0] > 0 and beyond_chance(one.case, DATA).positive for one in permuted]
    assert sum(shown) <= 2


def test_repeats_and_sealing_change_nothing(scored):
    test, yard = scored
    for data in (classes(60, seed=4), flipped(classes(60, seed=4), 0.3, 0)[0]):
        own = value(data, scored).value
        assert value(data.take(np.r_[0:60, 0:60, 0:60]), scored).value == pytest.approx(own, abs=1e-9)
        assert value(data.with_weights(np.full(60, 7.0)), scored).value == pytest.approx(own, abs=1e-9)
        sealed = dw.score(dw.seal(data, yard), test, yardstick=yard, ignore="all").value
        assert sealed == pytest.approx(own, abs=1e-3)  # EP's sites are settled further in a file
