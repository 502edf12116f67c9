"""Scales of columns: each, common and rank, against what they are called."""

import numpy as np
import pytest
from scipy.stats import norm, rankdata

from dataworth.data.dataset import Dataset
from dataworth.yardstick.maps import KNOTS, SCORES, common_stretch, normal_scores
from dataworth.yardstick.recipe import Basis


def scaled(X, scale):
    """Rows on a scale that was learned from themselves."""
    data = Dataset(X, np.arange(len(X)) % 2)
    return Basis.learn(data).recipe(1, 1.0, scale).scaled(data.X)


def heavy(n, d, seed):
    rng = np.random.default_rng(seed)
    return rng.standard_t(3, size=(n, d)) * 10.0 ** rng.uniform(-3, 3, d) + rng.normal(size=d)


def test_the_common_scale_is_one_factor_for_columns_of_one_kind():
    """Eight pixels share a factor; a column of its own, and seven of another name, keep standard units."""
    spread = np.r_[1.0 + np.arange(8.0), 50.0, 1.0 + np.arange(7.0)]
    names = [f"px{j}" for j in range(8)] + ["age"] + [f"q{j}" for j in range(7)]
    made = common_stretch(names, spread)
    assert made[:8] == pytest.approx(spread[:8] / np.sqrt((spread[:8] ** 2).mean()))
    assert made[8:].tolist() == [1.0] * 8


@pytest.mark.parametrize(("factor", "kind"), [(29.0, True), (31.0, False)])
def test_a_column_in_another_unit_is_of_another_kind(factor, kind):
    spread = np.ones(9)
    spread[0] = factor
    stretch = common_stretch([f"px{j}" for j in range(9)], spread)
    assert bool((stretch != 1.0).all()) == kind


def test_ranks_are_normal_scores():
    """Blom-like scores Φ⁻¹((rank − ½)/n) of scipy's ranks, centred: 40 knots keep them to 0.01 inside, and
    the outermost eightieths on either side are the last knot's."""
    X = heavy(1000, 3, 1)
    expected = norm.ppf((rankdata(X, axis=0) - 0.5) / len(X))
    ours = scaled(X, "rank")
    ours = ours + normal_scores(X, np.quantile(X, (np.arange(40) + 0.5) / 40, axis=0).T).mean(axis=0)
    inside = np.abs(expected) < SCORES[-1]
    # linear within a gap of quantiles, whose tails bend most: a tenth of a standard deviation there
    assert np.abs(ours - expected)[inside].max() < 0.12
    assert np.abs(ours - expected)[np.abs(expected) < 1.2].max() < 0.06
    assert np.abs(ours).max() == pytest.approx(SCORES[-1])
    assert ours[~inside] == pytest.approx(np.sign(expected[~inside]) * SCORES[-1])
    assert (KNOTS, SCORES[-1]) == (40, pytest.approx(norm.ppf(1 - 1 / 80)))
