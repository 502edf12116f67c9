"""DW013: does the attribute that a curation looks at predict the label, given the features?

The guarantee against strategic curation needs an attribute that is not predictive once the features are
known. If it is, matching the test set's groups tells something of the test set, and its score may rise.
"""

from __future__ import annotations

import numpy as np
from scipy.special import logsumexp

from ..case import Case
from ..models.base import Array
from ..yardstick import YardstickModel
from .base import Check, Finding, Seen, not_run

SCALES = (0.1, 0.3, 1.0, 3.0)
"""Prior standard deviations of the attribute's coefficient, each with the same prior probability."""
TELLING = 1.0
"""Log Bayes factor from which the attribute is taken to tell: odds of e to 1."""
DRAWS = 20
SHOWN = 3.0
"""Multiple of what chance explains from which features are taken to show the attribute."""


def check_attribute(
    model: YardstickModel, X: Array, y: Array, attribute: Array, size: int | None = None, seed: int = 0
) -> Finding:
    """Mean log Bayes factor for adding the attribute as a column (±s) to the features of the test set.

    log mean_s Z(T; X, s·a) − log Z(T; X), over draws of `size` rows (all rows at once without it); fires if
    it is above one nat. Features that show the attribute (a colour, in pixels) would hide its worth, so it is
    first taken out of them.

    >>> from dataworth.models import Logistic
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
    return CHECK.finding(Seen(value > TELLING, value, stderr=stderr))


def look(case: Case) -> Seen:
    """The groups of the test set, if it has any."""
    return not_run("to be written")


def without_attribute(X: Array, y: Array, attribute: Array) -> Array:
    """Features less what they show of the attribute, class by class; as they are if they show nothing.

    Each value's rows are moved by half the mean difference between values within a class. A difference that
    chance alone explains is left: taking noise out would put it in.

    >>> X = np.array([[0.0], [0.1], [1.0], [1.1], [10.0], [10.1], [11.0], [11.1]])
    >>> y, a = np.array([0, 0, 1, 1, 0, 0, 1, 1]), np.array([0, 0, 0, 0, 1, 1, 1, 1])
    >>> without_attribute(X, y, a).ravel().round(3).tolist()
    [5.0, 5.1, 6.0, 6.1, 5.0, 5.1, 6.0, 6.1]
    """
    upper = attribute > 0
    gaps, noise = [], 0.0
    for c in np.unique(y):
        parts = [X[(y == c) & side] for side in (upper, ~upper)]
        if min(map(len, parts)) < 2:
            return X
        gaps.append(parts[0].mean(axis=0) - parts[1].mean(axis=0))
        noise += sum(float(part.var(axis=0, ddof=1).sum()) / len(part) for part in parts)
    gap, noise = np.mean(gaps, axis=0), noise / len(gaps) ** 2
    if float(gap @ gap) < SHOWN * noise:
        return X
    return X - np.where(upper, 0.5, -0.5)[:, None] * gap


CHECK = Check(
    "DW013",
    "attribute",
    "the attribute predicts the label beyond the features: the guarantee does not cover curation by it",
    "use features that see more, or read a rise of the score as real information about this test set",
    look,
)
