"""Dataset pairs of known mutual information (the paper's appendix, "A benchmark for dataset MI estimation").

A pair's rates of label 0 are r_D ∈ {a_D, b_D} and r_T ∈ {a_T, b_T}, a < ½ < b, with

    p(a_D, a_T) = p(b_D, b_T) = ρ,   p(a_D, b_T) = p(b_D, a_T) = ½ − ρ,   I(r_D; r_T) = 1 − h(2ρ) bits.

ρ is solved for I = λ on the branch ρ ≥ ¼ (the other one reverses the ranking). Labels are drawn at the rates
r; the last one is changed so that the parity of all labels is 1 exactly if r < ½. So D determines the side of
r_D and T that of r_T, hence I(D; T) ≥ λ; and D tells about T only through the two sides, hence ≤. Images are
attached by label.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from dataworth import DataworthError
from dataworth.arrays import Array, Rows

LEVELS = tuple(round(0.1 * i, 1) for i in range(11))
"""Mutual information of the pairs, in bits."""
LOW, HIGH = (0.1, 0.2, 0.3, 0.4), (0.6, 0.7, 0.8, 0.9)


@dataclass(frozen=True)
class KnownPairs:
    """k pairs as rows of one pool (k × size each), the rates they were drawn at, and the pool itself."""

    X: Array
    y: Array
    data: Rows
    test: Rows
    rate_data: Array
    rate_test: Array

    def __len__(self) -> int:
        return len(self.data)

    def take(self, count: int) -> KnownPairs:
        """The first pairs."""
        own = {name: getattr(self, name)[:count] for name in ("data", "test", "rate_data", "rate_test")}
        return replace(self, **own)


@cache
def same_side(bits: float) -> float:
    """2ρ, the probability that both rates lie on the same side of ½: 1 − h(2ρ) = bits, 2ρ ≥ ½.

    >>> same_side(0.0), same_side(1.0), round(same_side(0.5), 4)
    (0.5, 1.0, 0.89)
    """
    from scipy.optimize import brentq

    if not 0.0 <= bits <= 1.0:
        raise DataworthError(f"a mutual information of {bits} bits was asked for; give 0 to 1.")
    if bits in (0.0, 1.0):
        return 0.5 + 0.5 * bits
    return float(brentq(lambda p: 1.0 - entropy(p) - bits, 0.5, 1.0, xtol=1e-15, rtol=1e-15))


def entropy(p: float) -> float:
    """Entropy of a coin in bits; 0 log 0 = 0."""
    return -sum(q * float(np.log2(q)) for q in (p, 1.0 - p) if q > 0.0)


@dataclass(frozen=True)
class Randomness:
    """All that chance decides of k pairs, but for the mutual information they are made for.

    With the same randomness pairs of several λ have the same rates, labels and images but where λ moves them:
    a design of *common random numbers*.
    """

    rates: Array
    sides: Array
    labels: Array
    images: Array

    @classmethod
    def draw(cls, rng: np.random.Generator, pairs: int, size: int) -> Randomness:
        """Uniform numbers: rates (k × 4), sides (k × 2), labels (k × 2 × n), images (k × 2 × 2 × n)."""
        return cls(
            rng.random((pairs, 4)),
            rng.random((pairs, 2)),
            rng.random((pairs, 2, size)),
            rng.random((pairs, 2, 2, size)),
        )


def check_pool(y: Array, size: int) -> None:
    """A pool with both labels and enough rows for a dataset, or a sentence."""
    names = np.unique(y)
    if not np.array_equal(names, [0.0, 1.0]):
        shown = ", ".join(f"{name:g}" for name in names[:3])
        raise DataworthError(f"the pool's labels are {shown}; the study needs rows of the labels 0 and 1.")
    if isinstance(size, bool) or size < 2:
        raise DataworthError(f"size is {size}; datasets need at least 2 rows.")
    if size > len(y):
        raise DataworthError(f"size is {size}, but the pool has only {len(y)} rows: give a smaller size.")


def make_pairs(X: Array, y: Array, bits: float, chance: Randomness) -> KnownPairs:
    """Pairs with I(D; T) = bits, all their randomness given.

    >>> y = np.repeat([0.0, 1.0], 50)
    >>> pairs = make_pairs(y[:, None], y, 1.0, Randomness.draw(np.random.default_rng(0), 200, 20))
    >>> low = y[pairs.data].sum(axis=1) % 2 == 1  # parity reveals the rate's side
    >>> bool(np.array_equal(low, pairs.rate_data < 0.5)), bool(np.array_equal(low, pairs.rate_test < 0.5))
    (True, True)
    """
    size = chance.labels.shape[2]
    check_pool(y, size)
    choices = np.array([LOW, HIGH])
    place = np.minimum((chance.rates * 4).astype(np.intp), 3)
    low_data = chance.sides[:, 0] < 0.5
    low_test = low_data == (chance.sides[:, 1] < same_side(bits))
    rates, rows = [], []
    members = [np.flatnonzero(y == label) for label in (0.0, 1.0)]
    for part, low in enumerate((low_data, low_test)):
        rate = np.where(low, choices[0][place[:, 2 * part]], choices[1][place[:, 2 * part + 1]])
        labels = (chance.labels[:, part] >= rate[:, None]).astype(np.intp)
        labels[:, -1] = labels[:, :-1].sum(axis=1) % 2 ^ low  # the parity of all is 1 exactly if r < ½
        images = [
            members[label][(chance.images[:, part, label] * len(members[label])).astype(np.intp)]
            for label in (0, 1)
        ]
        rates.append(rate)
        rows.append(np.where(labels == 1, images[1], images[0]))
    return KnownPairs(X, y, rows[0], rows[1], rates[0], rates[1])
