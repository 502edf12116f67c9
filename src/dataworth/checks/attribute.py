"""DW013: does the attribute that a curation looks at predict the label, given the features?

The guarantee against strategic curation needs an attribute that is not predictive once the features are
known. If it is, matching the test set's groups tells something of the test set, and its score may rise.
"""

from __future__ import annotations

import numpy as np
from scipy.special import logsumexp

from ..models import Linear, Logistic
from ..models.base import Array
from .base import Finding

SCALES = (0.1, 0.3, 1.0, 3.0)
"""Prior standard deviations of the attribute's coefficient, each with the same prior probability."""
DRAWS = 20


def check_attribute(
    model: Logistic | Linear, X: Array, y: Array, attribute: Array, size: int | None = None, seed: int = 0
) -> Finding:
    """Mean log Bayes factor for adding the attribute as a column (±s) to the features of the test set.

    log mean_s Z(T; X, s·a) − log Z(T; X), over draws of `size` rows (all rows at once without it); fires if
    it is above zero. Features that show the attribute (a colour, in pixels) would hide its worth, so it is
    first taken out of them: each value's mean is subtracted, every class counting the same.

    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 2))
    >>> y = (X[:, 0] + rng.normal(size=300) > 0).astype(float)
    >>> chance, telling = rng.integers(0, 2, 300), np.where(rng.random(300) < 0.9, y, 1 - y)
    >>> [check_attribute(Logistic(1.0), X, y, a).fires for a in (chance, telling)]
    [False, True]
    """
    rng = np.random.default_rng([seed, 0xA77B])
    signs = np.where(np.asarray(attribute) > 0, 1.0, -1.0) / np.sqrt(model.prior_variance)
    X = without_attribute(X, y, signs)
    plain = model.bind(X, y)
    wider = [model.bind(np.column_stack([X, s * signs]), y) for s in SCALES]
    everything = size is None or size >= len(y)
    parts = [np.arange(len(y))] if everything else [rng.permutation(len(y))[:size] for _ in range(DRAWS)]
    factors = []
    for rows in parts:
        known = [fitter(np.sort(rows)).log_z for fitter in wider]
        factors.append(logsumexp(known) - np.log(len(SCALES)) - plain(np.sort(rows)).log_z)
    stderr = None if everything else float(np.std(factors, ddof=1) / np.sqrt(len(factors)))
    value = float(np.mean(factors))
    return Finding(
        "DW013",
        "attribute",
        value > 0.0,
        value,
        stderr,
        "the attribute predicts the label beyond the features: the guarantee does not cover curation by it",
        "use features that see more, or read a rise of the score as real information about this test set",
    )


def without_attribute(X: Array, y: Array, attribute: Array) -> Array:
    """Features less the mean of their attribute's value, averaged over classes so that no label goes with it.

    >>> X = np.array([[0.0], [1.0], [10.0], [11.0]])
    >>> without_attribute(X, np.array([0, 1, 0, 1]), np.array([0, 0, 1, 1])).ravel().tolist()
    [-0.5, 0.5, -0.5, 0.5]
    """
    X = X.copy()
    for value in np.unique(attribute):
        rows = attribute == value
        X[rows] -= np.mean([X[rows & (y == c)].mean(axis=0) for c in np.unique(y[rows])], axis=0)
    return X
