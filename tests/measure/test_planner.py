"""Numbers of pairs: the formulas solved by other means, guarantees by exact probabilities and simulation."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from dataworth.measure.planner import METHODS, pairs_for_error, pairs_needed
from worlds import refusal

sizes = st.floats(1e-2, 1e2)
risks = st.floats(1e-9, 0.9)
checked = settings(max_examples=60, deadline=None, derandomize=True)


# The bounds themselves: k is the first number of pairs at which the inequality promises δ


def promised(method, k, epsilon, spread, bound):
    """What the inequality says of P(|mean − E| > ε) at k pairs."""
    if method == "hoeffding":  # a range of 2M: 2 exp(−2kε²/(2M)²)
        return 2 * math.exp(-2 * k * epsilon**2 / (2 * bound) ** 2)
    if method == "bernstein":  # |U − E U| ≤ b = 2M: 2 exp(−kε²/(2s² + 2bε/3))
        return 2 * math.exp(-k * epsilon**2 / (2 * spread**2 + 2 * (2 * bound) * epsilon / 3))
    if method == "chebyshev":
        return spread**2 / (k * epsilon**2)
    return 2 * stats.norm.sf(epsilon * math.sqrt(k) / spread)


@pytest.mark.parametrize("method", METHODS)
@given(sizes, risks, sizes, st.floats(0.01, 1.0))
@checked
def test_k_is_the_first_that_keeps_the_promise(method, epsilon, delta, bound, share):
    spread = share * bound
    k = pairs_needed(epsilon, delta, spread=spread, bound=bound, method=method)
    slack = 1 + 1e-9 * (1 + abs(math.log(delta)))
    assert promised(method, k, epsilon, spread, bound) <= delta * slack
    if k > 1:
        assert promised(method, k - 1, epsilon, spread, bound) >= delta / slack


def test_by_hand():
    """M = 1, ε = 0.1, δ = 0.05: 2·100·ln 40 = 737.8; s = 1: (1.95996/0.1)² = 384.1 and 100/0.05 = 2000."""
    assert pairs_needed(0.1, bound=1.0) == 738
    assert pairs_needed(0.1, spread=1.0) == 385
    assert pairs_needed(0.1, spread=1.0, method="chebyshev") == 2000
    # (2·0.25 + 4·0.1/3)·100·ln 40 = 233.6
    assert pairs_needed(0.1, spread=0.5, bound=1.0) == 234


@given(sizes, risks, sizes, st.floats(0.01, 1.0))
@checked
def test_knowing_more_never_takes_more_pairs(epsilon, delta, bound, share):
    """Both spread and bound known: the least of the three guaranteed numbers."""
    known = {"spread": share * bound, "bound": bound}
    guaranteed = ("chebyshev", "hoeffding", "bernstein")
    each = [pairs_needed(epsilon, delta, method=method, **known) for method in guaranteed]
    assert pairs_needed(epsilon, delta, **known) == min(each)
    assert pairs_needed(epsilon, delta, **known) <= pairs_needed(epsilon, delta, bound=bound)


@pytest.mark.parametrize("p", [0.5, 0.9, 0.99])
@pytest.mark.parametrize("method", ["chebyshev", "hoeffding", "bernstein"])
@pytest.mark.parametrize(("epsilon", "delta"), [(0.3, 0.05), (0.1, 0.01), (0.5, 0.3)])
def test_guarantees_hold_exactly_for_coins(p, method, epsilon, delta):
    """±1 with probability p, whose mean is a binomial count: no simulation, no chance."""
    mean, spread = 2 * p - 1, 2 * math.sqrt(p * (1 - p))
    k = pairs_needed(epsilon, delta, spread=spread, bound=1.0, method=method)
    counts = np.arange(k + 1)
    outside = np.abs(2 * counts / k - 1 - mean) > epsilon + 1e-12
    assert stats.binom(k, p).pmf(counts)[outside].sum() <= delta


def test_the_standard_error_is_reached():
    """s/√k ≤ E, and not at k − 1."""
    for spread, error in ((3.0, 0.07), (1.0, 0.1), (0.3, 0.1)):
        k = pairs_for_error(error, spread)
        assert spread / math.sqrt(k) <= error * (1 + 1e-9)
        assert spread / math.sqrt(max(k - 1, 0.5)) > error


@pytest.mark.parametrize(
    ("call", "part"),
    [
        ({"epsilon": 0.0, "spread": 1.0}, "epsilon (in nats) is 0.0"),
        ({"epsilon": 0.1, "delta": 1.0, "spread": 1.0}, "give one between 0 and 1"),
        ({"epsilon": 0.1}, "neither spread nor bound is given"),
        ({"epsilon": 0.1, "spread": -1.0}, "spread (in nats) is -1.0"),
        ({"epsilon": 0.1, "spread": 3.0, "bound": 2.0}, "spread is 3 and bound is 2"),
        ({"epsilon": 0.1, "spread": 3.0, "method": "hoeffding"}, "hoeffding needs the bound"),
        ({"epsilon": 0.1, "bound": 3.0, "method": "chernoff"}, "known methods: normal, chebyshev"),
        ({"epsilon": 1e-200, "bound": 3.0}, "give a larger one"),
    ],
)
def test_what_is_refused(call, part):
    assert part in refusal(pairs_needed, **call)
