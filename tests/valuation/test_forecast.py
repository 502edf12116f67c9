"""What more rows would be worth: curve models that are known are found again, and forecasts come true."""

import numpy as np
import pytest

import dataworth as dw
from dataworth.valuation.forecast import RATES, Curve, CurveModel, Extrapolation, fitted, shape


def curve_of(value, n=320, sd=0.0, seed=0):
    rng = np.random.default_rng(seed)
    sizes = np.concatenate([np.repeat([20.0, 40, 80, 160, 240], 8), [n]])
    parts = value(sizes) + sd * rng.normal(size=len(sizes))
    return Curve(sizes, parts[:, None] + np.zeros((1, 20)))


@pytest.mark.parametrize("rate", [None, RATES[6]])
def test_curve_models_are_found_again(rate):
    sizes = np.array([20.0, 40, 80, 160])
    true = CurveModel(0.5, 1.7, rate)
    found = fitted(sizes, true(sizes, 12.0), np.ones(4), 12.0, [None] if rate is None else RATES)
    assert found.rate == rate
    np.testing.assert_allclose([found.level, found.slope], [0.5, 1.7], atol=1e-8)


def test_the_gaussian_model_is_the_information_of_gaussian_numbers():
    """½ log of det(prior) det(both) / det(each): 1/λ is the noise of a look at a number of variance 1."""
    k, m, rate = 7.0, 3.0, 0.4
    entropy = [0.5 * np.log(1 + rate * rows) for rows in (k, m, k + m)]
    assert shape(k, rate, m) == pytest.approx(entropy[0] + entropy[1] - entropy[2])


@pytest.mark.parametrize("rate", [None, RATES[8]])
def test_a_forecast_follows_the_model_that_predicted_the_larger_parts(rate):
    true = CurveModel(0.2, 1.5, rate)
    ahead = curve_of(lambda k: true(k, 12.0)).extrapolate(12.0)
    assert (ahead.gaussian > 0.9) == (rate is not None)
    assert ahead(1280.0) == pytest.approx(float(true(1280.0, 12.0)), rel=0.02)
    assert ahead.rows_for(float(true(600.0, 12.0))) == pytest.approx(600, rel=0.05)
    assert ahead.rows_for(1e9) is None
    assert ahead.rows_for(-1.0) == 320


def test_ranges_are_made_of_sampling_error_and_growth_and_widen_with_every_doubling():
    models, now = (CurveModel(0.0, 1.0, None), CurveModel(0.0, 0.0, 1.0)), float(np.log(100.0)) + 1.0
    ahead = Extrapolation(*models, 0.0, 100.0, now, 0.3, 12.0)
    assert ahead(200.0) == pytest.approx(np.log(200.0) + 0.7)
    for rows, doublings in ((200.0, 1), (400.0, 2)):
        low, high = ahead.range(rows)
        growth = np.log(rows) + 0.7 - ahead.value
        assert high - low == pytest.approx(2 * 1.2 * np.sqrt(doublings) * np.hypot(0.3, 0.6 * growth))


def test_a_value_that_falls_is_said_to_fall():
    """Parts of equal spread, independent here: √(1 − k/n) makes them look luckier, by 3 to 40 %."""
    found = curve_of(lambda k: 0 * k, sd=0.5, seed=1).sampling_sd(np.array([320.0]))
    assert 0.3 < found[0] < 0.9
    assert curve_of(lambda k: -np.log(k), sd=0.01).decreasing
    assert not curve_of(lambda k: np.log(k), sd=0.01).decreasing
    assert not curve_of(lambda k: -0.001 * np.log(k), sd=0.5).decreasing


def test_a_forecast_of_data(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(900, 5))
    data = dw.Dataset(X, (X[:, 0] - X[:, 1] + rng.normal(size=900) > 0).astype(int))
    D, T = data.take(range(150)), data.take(range(600, 900))
    yard = dw.Yardstick.fit(T, prior_variance=1.0)
    found = dw.forecast(D, T, rows=300, target=0.5, yardstick=yard)
    true = dw.score(data.take(range(450)), T, yardstick=yard, ignore="all").value
    assert found.interval[0] < true < found.interval[1]
    now = dw.score(D, T, yardstick=yard, ignore="all").value
    assert (found.gain, found.rows_for_target) == (pytest.approx(found.value - now), 150)
    assert [one.rows for one in found.curve if not one.measured] == [300, 450, 600]
    with pytest.raises(dw.DataworthError, match="the data have 39 rows; a forecast needs 40 or more"):
        dw.forecast(D.take(range(39)), T, yardstick=yard)
    with pytest.raises(dw.DataworthError, match="target is 'much'; it must be a number of nats per block"):
        dw.forecast(D, T, target="much", yardstick=yard)
