"""Numbers of pairs: the formulas solved by other means, guarantees by exact probabilities and simulation."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from dataworth.measure.planner import METHODS, pairs_for_error, pairs_needed
from golden.sentences import all_refused

GUARANTEED = ("chebyshev", "hoeffding", "bernstein")


def promised(method, k, epsilon, spread, bound):
    """What the inequality says of P(|mean − E| > ε) at k pairs."""
    if method == "hoeffding":  # a range of 2M: 2 exp(−2kε²/(2M)²)
        return 2 * math.exp(-2 * k * epsilon**2 / (2 * bound) ** 2)
    if method == "bernstein":  # |U − E U| ≤ b = 2M: 2 exp(−kε²/(2s² + 2bε/3))
        return 2 * math.exp(-k * epsilon**2 / (2 * spread**2 + 2 * (2 * bound) * epsilon / 3))
    if method == "chebyshev":
        return spread**2 / (k * epsilon**2)
    return 2 * stats.norm.sf(epsilon * math.sqrt(k) / spread)


@given(st.floats(1e-2, 1e2), st.floats(1e-9, 0.9), st.floats(1e-2, 1e2), st.floats(0.01, 1.0))
@settings(max_examples=60, deadline=None, derandomize=True)
def test_k_is_the_first_that_keeps_the_promise(epsilon, delta, bound, share):
    """Of every method; of both spread and bound the least guaranteed number, of one its own method."""
    known, slack = {"spread": share * bound, "bound": bound}, 1 + 1e-9 * (1 + abs(math.log(delta)))
    each = {method: pairs_needed(epsilon, delta, method=method, **known) for method in METHODS}
    for method, k in each.items():
        assert promised(method, k, epsilon, *known.values()) <= delta * slack
        assert k == 1 or promised(method, k - 1, epsilon, *known.values()) >= delta / slack
    assert pairs_needed(epsilon, delta, **known) == min(each[method] for method in GUARANTEED)
    assert pairs_needed(epsilon, delta, bound=bound) == each["hoeffding"]
    assert pairs_needed(epsilon, delta, spread=known["spread"]) == each["normal"]


@pytest.mark.parametrize("p", [0.5, 0.9, 0.99])
@pytest.mark.parametrize("method", GUARANTEED)
@pytest.mark.parametrize(("epsilon", "delta"), [(0.3, 0.05), (0.1, 0.01), (0.5, 0.3)])
def test_guarantees_hold_exactly_for_coins(p, method, epsilon, delta):
    """±1 with probability p, whose mean is a binomial count: no simulation, no chance."""
    mean, spread = 2 * p - 1, 2 * math.sqrt(p * (1 - p))
    k = pairs_needed(epsilon, delta, spread=spread, bound=1.0, method=method)
    counts = np.arange(k + 1)
    outside = np.abs(2 * counts / k - 1 - mean) > epsilon + 1e-12
    assert stats.binom(k, p).pmf(counts)[outside].sum() <= delta


@pytest.mark.parametrize(("spread", "error"), [(3.0, 0.07), (1.0, 0.1), (0.3, 0.1)])
def test_the_standard_error_is_reached(spread, error):
    """s/√k ≤ E, and not at k − 1."""
    k = pairs_for_error(error, spread)
    assert spread / math.sqrt(k) <= error * (1 + 1e-9)
    assert spread / math.sqrt(max(k - 1, 0.5)) > error


REFUSED = [
    {"epsilon": 0.0, "spread": 1.0}, {"epsilon": 0.1, "delta": 1.0, "spread": 1.0}, {"epsilon": 0.1},
    {"epsilon": 0.1, "spread": -1.0}, {"epsilon": 0.1, "spread": 3.0, "bound": 2.0},
    {"epsilon": 0.1, "spread": 3.0, "method": "hoeffding"},
    {"epsilon": 0.1, "bound": 3.0, "method": "chernoff"}, {"epsilon": 1e-200, "bound": 3.0},
]  # fmt: skip


def test_sentences():
    all_refused("planner", [lambda given=given: pairs_needed(**given) for given in REFUSED])
