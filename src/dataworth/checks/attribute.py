"""DW013: does the attribute that a curation looks at predict the label, given the features?

If it does, matching the test set's attributes tells something of the test set, and its score may rise. But
matching reaches a model through its features alone: where they do not show the attribute (x ⟂ a | y),
curation by it can only move the classes' proportions. So the features are asked first.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtrc, logsumexp

from ..arrays import Array
from ..data.dataset import Dataset
from ..data.labels import Classes
from ..measure import AFTER, BEFORE, Case
from ..measure.slices import label_codes
from ..models import Logistic
from ..yardstick.kinds import YardstickModel
from .base import CHEAP, CheckOutcome, not_run, too_costly
from .rows import datasets, some_rows

SCALES = (0.1, 0.3, 1.0, 3.0)
"""Prior standard deviations of the attribute's coefficient, each with the same prior probability."""
TELLING = 1.0
"""Log Bayes factor from which the attribute is taken to tell: odds of e to 1."""
DRAWS = 20
SHOWN = 3.0
"""Multiple of what chance explains from which features are taken to show the attribute."""
ROWS = 1000
"""Test rows that are asked at most."""
VALUES = 8
"""Values of the attribute, the most common first, that are asked one by one, each against all others."""
SURE = 4.0
"""Standard deviations above what chance shows of an attribute from which features are taken to show it: up to
eight values are asked, and with one feature and two classes chance goes beyond 4 in 0.7 % of cases."""
MOVED = 0.01
"""p-value below which a curation is taken to have moved the attributes' proportions; a random part of the
same rows stays above it more often than that, since it shares its rows with the whole."""
PAIRS = 50


def check_attribute(
    model: YardstickModel, X: Array, y: Array, attribute: Array, size: int | None = None, seed: int = 0
) -> CheckOutcome:
    """Mean log Bayes factor for adding the attribute as a column (±s) to the features of the test set.

    log mean_s Z(T; X, s·a) − log Z(T; X), over draws of `size` rows (all rows at once without it); fires if
    it is above one nat. Features that show the attribute (a colour, in pixels) would hide its worth, so it is
    first taken out of them.
    """
    rng = np.random.default_rng([seed, 0xA77B])
    signs = np.where(np.asarray(attribute) > 0, 1.0, -1.0) / np.sqrt(model.prior_variance)
    X = without_attribute(X, y, signs)
    plain = model.bind(X, y)
    wider = [model.bind(np.column_stack([X, s * signs]), y) for s in SCALES]
    everything = size is None or size >= len(y)
    parts = [np.arange(len(y))] if everything else [rng.permutation(len(y))[:size] for _ in range(DRAWS)]
    factors = [
        logsumexp([fitter(rows).log_z for fitter in wider]) - np.log(len(SCALES)) - plain(rows).log_z
        for rows in map(np.sort, parts)
    ]
    stderr = None if everything else float(np.std(factors, ddof=1) / np.sqrt(len(factors)))
    value = float(np.mean(factors))
    return CheckOutcome(value > TELLING, value, stderr=stderr)


def attribute(case: Case) -> CheckOutcome:
    """DW013: the attributes of the test set, if curation moved their proportions and features show them."""
    if case.what != "audit":
        return not_run("it is about curation: audits only")
    before = next(iter(datasets(case).values()), None)
    if before is None or before.attributes is None or case.test.attributes is None:
        return not_run("the data or the test set have no attributes (attribute=, --attribute)")
    if case.plan.attribute is not None and case.conclude(case.plan, case.table) == "strategic":
        return not_run("the verdict says it")
    if not moved(case, before):
        return not_run("the curation left the attributes' proportions as they were")
    model = case.yardstick.model
    if not hasattr(model, "prior_variance"):
        return not_run("the model has no coefficients")
    if isinstance(model, Logistic) and model.inference == "ep":
        model = replace(model, inference="laplace")  # it is a difference of two evidences that err alike
    rows = some_rows(len(case.test), ROWS, np.random.default_rng([case.options.seed, 0xD13]))
    some = case.test.take(rows)
    X, y, values = case.yardstick.features(some), case.yardstick.targets(some), np.asarray(some.attributes)
    cells = label_codes(case.yardstick, case.test, y)
    clear = X if isinstance(case.yardstick.labels, Classes) else without_label(X, y)
    names, counts = np.unique(values, return_counts=True)
    if len(names) < 2:
        return not_run("all test rows have the same attribute")
    # of two values either tells all; and a value needs rows on both sides to be compared
    common = names[np.argsort(-counts, kind="stable")][: 1 if len(names) == 2 else VALUES]
    visible = [name for name in common if shows(clear, cells, values == name)]
    if not visible:
        told = "the features do not show the attribute: curation by it moves labels alone"
        return CheckOutcome(False, 0.0, told)
    fits = len(visible) * (len(SCALES) + 1) * len(y)
    if fits * (X.shape[1] * max(1, len(np.unique(cells)) - 1)) ** 2 > CHEAP and not case.options.slow_checks:
        return too_costly("slow with so many features and attributes")
    seed = case.options.seed
    factors = {str(name): check_attribute(model, X, y, values == name, seed=seed).value for name in visible}
    worst = max(factors, key=lambda name: factors[name] or 0.0)
    value = factors[worst] or 0.0
    told = f"attribute {worst!r} in the test set: log Bayes factor {value:+.1f}, given the features,"
    told += f" allowed up to {TELLING:g}"
    return CheckOutcome(value > TELLING, value, told)


def moved(case: Case, before: Dataset) -> bool:
    """Whether attribute × label have other proportions after curation than before."""
    parts = [one for one in datasets(case).values() if one.attributes is not None][:2]
    y = np.concatenate([case.yardstick.targets(part) for part in parts])
    codes = np.unique(np.concatenate([np.asarray(part.attributes) for part in parts]), return_inverse=True)[1]
    labels = label_codes(case.yardstick, case.test, y)
    cells = codes * (int(labels.max(initial=0)) + 1) + labels
    if len(parts) == 2:
        return differ(np.bincount(cells[: len(before)]), np.bincount(cells[len(before) :]))
    # of a method: what became of the rows that it was given, which stand first; rows it made have none
    counts = {arm: np.zeros(int(cells.max()) + 1) for arm in (BEFORE, AFTER)}
    for i in range(min(PAIRS, len(case.table))):
        for arm, count in counts.items():
            rows = case.design.draw(i).arms[arm].rows
            count += np.bincount(cells[rows[rows < len(before)]], minlength=len(count))
    # draws overlap: together they show no more than all rows once
    scale = min(1.0, len(before) / max(1.0, float(counts[BEFORE].sum())))
    return differ(counts[BEFORE] * scale, counts[AFTER] * scale)


def differ(before: Any, after: Any) -> bool:
    """Whether two lists of counts have different proportions, by χ²."""
    size = max(len(before), len(after))
    table = np.array([np.pad(np.asarray(c, dtype=float), (0, size - len(c))) for c in (before, after)])
    table = table[:, table.sum(axis=0) > 0]
    if table.shape[1] < 2 or (table.sum(axis=1) == 0).any():
        return False
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / table.sum()
    square = float(((table - expected) ** 2 / expected).sum())
    return bool(chdtrc(table.shape[1] - 1, square) < MOVED)


def without_label(X: Array, y: Array) -> Array:
    """Features less what the label explains of them by a parabola: labels differ inside a fifth, too."""
    powers = np.vander(y, 3)
    rest: Array = X - powers @ np.linalg.lstsq(powers, X, rcond=None)[0]
    return rest


def shows(X: Array, classes: NDArray[np.intp], upper: NDArray[np.bool_]) -> bool:
    """Whether features differ between the attribute's values within a class, more than chance explains.

    Σ over classes and features of (difference of means)² has mean Σv and variance 2Σv² if there is none, v
    being the variance of each difference.
    """
    gaps, v = between(X, classes, upper)
    return float((gaps**2).sum()) > float(v.sum()) + SURE * float(np.sqrt(2.0 * (v**2).sum()))


def between(X: Array, classes: NDArray[Any], upper: NDArray[np.bool_]) -> tuple[Array, Array]:
    """Differences of the features' means between the attribute's values, and their variances.

    A row for each class with at least two rows of either value.
    """
    gaps, variances = [], []
    for c in np.unique(classes):
        parts = [X[(classes == c) & side] for side in (upper, ~upper)]
        if min(map(len, parts)) > 1:
            gaps.append(parts[0].mean(axis=0) - parts[1].mean(axis=0))
            variances.append(sum(part.var(axis=0, ddof=1) / len(part) for part in parts))
    return np.array(gaps), np.array(variances)


def without_attribute(X: Array, y: Array, attribute: Array) -> Array:
    """Features less what they show of the attribute, class by class; as they are if they show nothing.

    Each value's rows are moved by half the mean difference between values within a class. A difference that
    chance alone explains is left: taking noise out would put it in.
    """
    upper = attribute > 0
    gaps, variances = between(X, y, upper)
    if len(gaps) < len(np.unique(y)):
        return X
    gap, noise = gaps.mean(axis=0), float(variances.sum()) / len(gaps) ** 2
    return X if float(gap @ gap) < SHOWN * noise else X - np.where(upper, 0.5, -0.5)[:, None] * gap
