"""How many independent pairs bring the mean within ε of its expectation with probability 1 − δ?

The paper's corollary says k = O(log(1/δ)/ε²), whatever the dimension. With constants, for pairs of spread s
(standard deviation of U) or bound M (|U| ≤ M):

    normal      k = (z s/ε)², z = Φ⁻¹(1 − δ/2)          for many pairs; not a guarantee
    chebyshev   k = s²/(δ ε²)                           guaranteed, whatever the distribution
    hoeffding   k = 2 M² log(2/δ)/ε²                    guaranteed (the Chernoff argument of the paper)
    bernstein   k = (2 s² + 4Mε/3) log(2/δ)/ε²          guaranteed (|U − E U| ≤ 2M); little more than normal

rounded up. "Guaranteed" takes s and M as true, not estimated; values get a bound by `clipping`, and the mean
is then near the expectation of the *clipped* values. This is the Monte-Carlo part only: pairs drawn from one
finite dataset overlap, and beyond some k only more rows help (`intervals.over_pairs`).

Boucheron, Lugosi, Massart (2013), Concentration Inequalities, theorems 2.8 (Hoeffding) and 2.10 (Bernstein).
"""

from __future__ import annotations

import math

from ..errors import DataworthError
from ..models.base import positive_number

METHODS = {
    "normal": ["spread"],
    "chebyshev": ["spread"],
    "hoeffding": ["bound"],
    "bernstein": ["spread", "bound"],
}
"""What each needs; all but the first are guaranteed."""


def pairs_needed(
    epsilon: float,
    delta: float = 0.05,
    *,
    spread: float | None = None,
    bound: float | None = None,
    method: str | None = None,
) -> int:
    """Independent pairs for P(|mean − expectation| ≤ ε) ≥ 1 − δ.

    Without a method: normal if the spread alone is known, hoeffding if the bound alone is; if both are, the
    smallest of the guaranteed numbers (mostly bernstein's).

    >>> pairs_needed(0.5, spread=3.0), pairs_needed(0.5, spread=3.0, method="chebyshev")
    (139, 720)
    >>> pairs_needed(0.5, bound=20.0), pairs_needed(0.5, spread=3.0, bound=20.0)
    (11805, 463)
    """
    epsilon = positive_number(epsilon, "epsilon (in nats)")
    delta = positive_number(delta, "delta")
    if delta >= 1:
        raise DataworthError(f"delta is {delta!r}; it is a probability of failure: give one between 0 and 1.")
    from scipy.special import ndtri  # scipy.stats takes a second to import

    known = {"spread": spread, "bound": bound}
    if method not in (None, *METHODS):
        raise DataworthError(f"method is {method!r}; known methods: {', '.join(METHODS)}.")
    if spread is None and bound is None:
        raise DataworthError("neither spread nor bound is given: the number of pairs depends on one of them.")
    for name in METHODS.get(str(method), []):
        if known[name] is None:
            raise DataworthError(f"the method {method} needs the {name} of the values: give it, in nats.")
    s = math.nan if spread is None else _spread(spread)
    M = math.nan if bound is None else positive_number(bound, "bound (in nats)")
    if s > M:
        raise DataworthError(
            f"spread is {s:g} and bound is {M:g}, but values within ±{M:g} have a spread of {M:g} at most: "
            "give the spread of the clipped values."
        )
    s, M, risk = s / epsilon, M / epsilon, math.log(2.0 / delta)  # in units of ε
    k = {
        "normal": s * s * float(ndtri(delta / 2.0)) ** 2,
        "chebyshev": s * s / delta,
        "hoeffding": 2.0 * M * M * risk,
        "bernstein": (2.0 * s * s + 4.0 / 3.0 * M) * risk,
    }
    able = [name for name, needs in METHODS.items() if all(known[one] is not None for one in needs)]
    able = able[:1] if bound is None else [name for name in able if name != "normal"]
    return round_up(min(k[name] for name in ([method] if method else able)))


def pairs_for_error(stderr: float, spread: float) -> int:
    """Independent pairs for a standard error of the mean: k = (s/E)²."""
    return round_up((_spread(spread) / positive_number(stderr, "stderr (in nats)")) ** 2)


def round_up(k: float) -> int:
    """The next whole number, 1 at least; what rounding of floats adds is not a pair."""
    if not math.isfinite(k):
        raise DataworthError("so small an epsilon takes more pairs than can be counted: give a larger one.")
    return max(1, math.ceil(k * (1.0 - 1e-12)))


def _spread(value: float) -> float:
    """A standard deviation: zero is one, too."""
    return 0.0 if value == 0 and not isinstance(value, bool) else positive_number(value, "spread (in nats)")
