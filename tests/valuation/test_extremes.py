"""Numbers under stress: any scale, many copies, one class, tiny and huge weights."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dataworth as dw
from dataworth.yardstick.recipe import Basis
from dataworth.yardstick.yardstick import Yardstick
from worlds import classes, numeric_labels, refusal

DATA, TEST = classes(60, 1, d=3), classes(50, 2, d=3)
FIXED = {"prior_variance": 1.0, "ignore": "all"}


def scaled(data, factor):
    return dw.Dataset(data.X * factor, data.y, weights=data.weights)


@settings(max_examples=20, deadline=None)
@given(st.lists(st.integers(-995, 995), min_size=3, max_size=3))
def test_a_power_of_two_in_a_column_changes_no_bit_of_its_features(powers):
    """Every column on a scale of its own, from 1e-299 to 1e299."""

    def features(factor):
        return Basis.learn(scaled(TEST, factor)).recipe(2, 0.5).features(scaled(DATA, factor))

    assert features(np.ldexp(1.0, powers)).tobytes() == features(1.0).tobytes()


def test_nor_of_an_audit_and_of_values():
    """All checks too: warnings are errors here."""

    def told(times):
        before, test = scaled(DATA, times), scaled(TEST, times)
        audited = dw.audit(before, before.take(range(40)), test, prior_variance=1.0)
        valued = dw.values(before, test, prior_variance=1.0)
        return audited.delta, audited.verdict, [c.failed for c in audited.checks], valued.rows.value.tolist()

    assert told(2.0**995) == told(2.0**-995)


def test_numeric_labels_of_any_scale():
    """To four digits, to which the unit of a test set's labels is rounded."""
    parts = numeric_labels(60, 1), numeric_labels(50, 2)
    small, plain, large = (
        dw.score(*(dw.Dataset(part.X, part.y * times) for part in parts), **FIXED).value
        for times in (1e-300, 1.0, 1e300)
    )
    assert (small, large) == pytest.approx((plain, plain), abs=1e-3)


def test_what_is_beyond_is_a_sentence():
    assert "other units" in refusal(Yardstick.fit, scaled(TEST, 1e303))
    assert "constant" in refusal(Yardstick.fit, scaled(TEST, 1e-304))
    labels = numeric_labels(50, 2)
    for factor in (1e-304, 1e303):
        wild = dw.Dataset(labels.X, labels.y * factor)
        assert "other units" in refusal(Yardstick.fit, wild)
    Yardstick.fit(scaled(TEST, 1e301), prior_variance=1.0)
    assert "at most 1e+08" in refusal(dw.score, DATA, TEST, pairs=10**8 + 1, **FIXED)
    with pytest.raises(dw.DataworthError, match="rows"):  # all there is to say of fewer pairs is the size
        dw.score(DATA, TEST, pairs=10**8, size=1000, **FIXED)


def test_no_row_counts_more_often_than_rows_can_be_counted():
    far = dw.Dataset(np.vstack([DATA.X, [[1.7e308, -1.7e308, 5e-324]]]), [*DATA.y, 1])
    assert np.isfinite(dw.score(far, TEST, **FIXED).value)
    assert np.isfinite(dw.score(DATA.with_weights(np.full(60, 2.0**53)), TEST, **FIXED).value)
    assert "no row counts more than 9e+15 times" in refusal(DATA.with_weights, np.full(60, 2.0**53 + 2))
    assert dw.audit(DATA, DATA.take(DATA.y == DATA.y[0]), TEST, **FIXED).delta < 0


def test_copies_count_as_weights():
    """10⁵ copies of a few rows, and the same rows with weights. Each distinct row counts once; if the
    inverse of its weight is no number, as if there were no data."""
    which = np.random.default_rng(0).integers(0, 60, 100_000)
    many = dw.score(DATA.take(which), TEST, **FIXED).value
    counted = DATA.with_weights(np.bincount(which, minlength=60))
    assert many == pytest.approx(dw.score(counted, TEST, **FIXED).value, abs=1e-6)
    plain = dw.score(DATA, TEST, **FIXED)
    for weight in (1e-300, 0.3, 2.0**53):
        assert dw.score(DATA.with_weights([weight] * 60), TEST, **FIXED).value == pytest.approx(plain.value)
    nothing = dw.score(DATA.with_weights([5e-324] * 60), TEST, **FIXED).value
    assert nothing == pytest.approx(plain.ladder.nothing.value, abs=1e-9)


@pytest.mark.parametrize("weight", [5e-324, 1e-13])
def test_rows_that_hardly_count_beside_others_are_worth_nothing(weight):
    some = np.where(np.arange(60) < 30, weight, 1.0)
    half = dw.score(DATA.take(range(30, 60)), TEST, **FIXED).value
    assert dw.score(DATA.with_weights(some), TEST, **FIXED).value == pytest.approx(half, abs=1e-6)
