"""Intervals against hand-computed numbers, scipy.stats and simulation."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from dataworth.measure.intervals import (
    against_controls,
    make_estimate,
    over_blocks,
    over_pairs,
    t_quantile,
    two_sided,
    two_sided_p,
)


def test_t_quantile_is_at_95_percent_by_default():
    for degrees in (1, 2, 3.7, 19, 500.5):
        for level, expected in ((0.5, 0.75), (0.999, 0.9995), (None, 0.975)):
            asked = (degrees,) if level is None else (degrees, level)
            assert t_quantile(*asked) == pytest.approx(stats.t.ppf(expected, degrees), rel=1e-9)


@given(seed=st.integers(0, 2**32 - 1), n=st.integers(2, 30), shift=st.floats(-3, 3))
@settings(max_examples=40, deadline=None, derandomize=True)
def test_two_sided_p_is_the_one_sample_t_test(seed, n, shift):
    values = np.random.default_rng(seed).normal(shift, 1.0, n)
    assert two_sided_p(values) == pytest.approx(stats.ttest_1samp(values, 0.0).pvalue, rel=1e-8, abs=1e-300)


def test_over_blocks_and_pairs_by_hand():
    """Mean 5, variance (9 + 1 + 1 + 9)/3 = 20/3, s.e. √(20/3/4) = 1.29099, t(3) = 3.18245. s = √(20/3) =
    2.58199; m = 5, k = 4: s·√(1/4 + 1/4) = 1.82574; Monte-Carlo part s/√4 = 1.29099."""
    e = over_blocks(np.array([2.0, 4.0, 6.0, 8.0]))
    assert (e.value, e.stderr) == pytest.approx((5.0, 1.2909944487358056))
    assert e.interval == pytest.approx((5.0 - 4.108520, 5.0 + 4.108520), abs=1e-5)
    assert e.monte_carlo == 0.0
    e = over_pairs(np.array([2.0, 4.0, 6.0, 8.0]), blocks=5.0)
    assert (e.value, e.stderr, e.monte_carlo) == pytest.approx((5.0, 1.8257418583505538, 1.2909944487358056))
    assert e.interval == pytest.approx((5.0 - 3.182446 * 1.825742, 5.0 + 3.182446 * 1.825742), abs=1e-5)


@pytest.mark.parametrize(
    "estimate",
    [
        over_blocks(np.array([3.0])),
        over_pairs(np.array([3.0]), blocks=9.0),
        over_pairs(np.array([2.0, 4.0]), blocks=1.99),
        against_controls(np.array([4.0]), np.array([[1.0, 1.0]])),
    ],
)
def test_too_little_data_has_no_interval(estimate):
    assert (estimate.value, estimate.stderr, estimate.interval) == (3.0, None, None)
    assert (estimate.positive, estimate.negative) == (False, False)


def test_against_controls_by_hand():
    """Gaps (3, 5): mean 4, s.e. 1 (one degree); control means (1, 2, 3): variance 1·(1 + 1/3) (two
    degrees). Total variance 7/3, degrees (7/3)² / (1 + (4/3)²/2) = (49/9) / (17/9) = 49/17."""
    controls = np.array([[0.0, 2.0, 4.0], [2.0, 2.0, 2.0]])
    e = against_controls(np.array([5.0, 7.0]), controls)
    half = stats.t.ppf(0.975, 49 / 17) * np.sqrt(7 / 3)
    assert (e.value, e.stderr) == pytest.approx((4.0, np.sqrt(7 / 3)))
    assert e.interval == pytest.approx((4.0 - half, 4.0 + half))


@pytest.mark.parametrize("replicates", [3, 8])
@pytest.mark.parametrize("spread", [0.0, 0.3, 3.0])
def test_against_controls_covers_when_after_is_one_of_them(spread, replicates):
    """After and controls exchangeable; 2,000 worlds, at least 93 % must cover 0. If the true coverage is
    95 %, a false alarm has probability 4e-5. Ignoring the spread of controls fails."""
    rng = np.random.default_rng(17)
    worlds, blocks = 2000, 20
    covered = naive = 0
    for _ in range(worlds):
        arms = rng.normal(size=(blocks, 1)) + spread * rng.normal(size=replicates + 1)
        arms = arms + rng.normal(size=(blocks, replicates + 1))
        after, controls = arms[:, 0], arms[:, 1:]
        e = against_controls(after, controls)
        plain = over_blocks(after - controls.mean(axis=1))
        assert e.stderr > plain.stderr
        covered += e.interval[0] <= 0.0 <= e.interval[1]
        naive += plain.interval[0] <= 0.0 <= plain.interval[1]
    assert covered >= 0.93 * worlds
    if spread == 3.0:
        assert naive < 0.3 * worlds


def test_over_pairs_covers_what_overlapping_pairs_do_not():
    """Means of subsamples of one finite sample: m = 8 blocks, 100 pairs, 1,000 worlds; at least 93 %
    cover. The spread over pairs alone covers far less. The false-alarm rate is 2e-3 at a true coverage of
    95 %."""
    rng = np.random.default_rng(8)
    n, size, k = 160, 20, 100
    covered = naive = 0
    for _ in range(1000):
        sample = rng.normal(size=n)
        order = rng.random((k, n)).argpartition(size, axis=1)[:, :size]
        values = sample[order].mean(axis=1)
        e, plain = over_pairs(values, n / size), over_blocks(values)
        covered += e.interval[0] <= 0.0 <= e.interval[1]
        naive += plain.interval[0] <= 0.0 <= plain.interval[1]
    assert covered >= 930
    assert naive < 700


@given(
    value=st.floats(-8, 8), degrees=st.floats(2, 1e3), skew=st.floats(-0.8, 0.8), level=st.floats(0.5, 0.999)
)
@settings(max_examples=60, deadline=None, derandomize=True)
def test_an_interval_reaches_zero_at_its_own_p(value, degrees, skew, level):
    """Interval and p-value are of one transformation, and mirrored numbers have a mirrored one."""
    found = make_estimate(value, 1.0, degrees, level, skew=skew)
    low, high = found.interval
    assert low < high
    assert (found.positive or found.negative) == (two_sided(found) < 1 - level)
    assert make_estimate(-value, 1.0, degrees, level, skew=-skew).interval == pytest.approx((-high, -low))
