"""Evidences add up: over the possible labels of one more row, to the evidence without it.

    Σ_y Z(S ∪ {(x, y)}) = Z(S)        for every set S, the empty one too, and every x; ∫ dy for numeric labels

An approximation misses this by a term of second order in what a row says. With v the PMI of a row and its
copy given S, v = log Z(S,r,r) − 2 log Z(S,r) + log Z(S), Laplace's method is off by 0.15 v² (three classes)
to 0.28 v² (two) on a first row, and EP by nothing. So an approximate log sum may be off by CURVED v² (the
mean of v² over the labels) and FIRST_SLACK for a first row, SLACK for others. Laplace's method keeps to that
at prior variances up to 10. A forgotten penalty is of first order and a constant of none: both show where
rows say little, and rows are therefore tried as they are and shrunk.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import numpy as np

from ..arrays import Array, Rows
from ..models import Fitter
from ..models.base import bind
from .subject import POINTS, ROUGH, Check, NotApplicable, Result, Subject

FIRST_SLACK, SLACK, CURVED = 0.01, 0.03, 0.35
"""Nats that the log sum of an approximate evidence may be off: slack + CURVED v²."""
NUMERIC_SLACK = 0.05
"""The same for numeric labels, where v depends on the label."""
SHRUNK = 0.25
"""Rows are also tried with their features times this."""
DRAWS = 10
"""Simulated pairs of labels for each of `repeats`."""


def _one_more_row(s: Subject) -> Result:
    """The sum over labels for each row of D given those before it, the first given none."""
    if s.y.ndim > 1:
        raise NotApplicable("the targets are vectors, over which no integral is taken")
    if s.numbers:
        return _one_more_number(s)
    try:
        classes = int(np.shape(s.forecaster(s.data).predict_proba(s.X[s.test]))[1])
    except NotApplicable:
        classes = max(2, int(s.y.max()) + 1)
    worst = (0.0, 1.0)
    for fitter in _fitters(s):
        for i, row in enumerate(s.data):
            logs, step = _ratios(fitter, s.data[:i], row, classes)
            worst = max(worst, (abs(float(np.logaddexp.reduce(logs))), step), key=_ratio)
    gap, step = worst
    meaning = "the evidences of one more row, over its possible labels, add up to that without it"
    if s.exact:
        return s.near(gap, meaning)
    return gap <= step, gap, step, f"{meaning} (nats off; more if rows say much)"


def _forecast(s: Subject) -> Result:
    posterior = s.forecaster(s.data)
    if s.numbers:
        raise NotApplicable("the targets are numeric labels, whose predictive density is not asked for")
    rows = s.test[:POINTS]
    predicted = np.asarray(posterior.predict_proba(s.X[rows]), dtype=float)
    implied = [np.exp(_ratios(s.fitter, s.data, row, predicted.shape[1])[0]) for row in rows]
    gap = float(np.abs(predicted - implied).max())
    meaning = "predicted probabilities are the ratios of evidences"
    return s.near(gap, meaning) if s.exact else (gap <= ROUGH, gap, ROUGH, meaning)


def simulated_labels(s: Subject) -> Result:
    """How often simulated labels of a row and its copy are so and so, against their evidence."""
    if s.simulate is None:
        raise NotApplicable("the model has no simulate(rng, X) → y, and none was given")
    if s.numbers:
        raise NotApplicable("the targets are numeric labels, which cannot be counted")
    rng, draws, X = s.rng(0x51B), DRAWS * s.repeats, s.X[np.repeat(s.data[:1], 2)]
    drawn = np.array([s.simulate(rng, X) for _ in range(draws)], dtype=np.intp)
    classes = int(drawn.max(initial=1)) + 1  # a model that counts classes simulates as many as it likes
    fitter = bind(s.model, X[np.zeros(classes, dtype=np.intp)], np.arange(classes, dtype=float))
    _, step = _ratios(fitter, s.none, 0, classes)
    worst = (0.0, 1.0)
    for labels in product(range(classes), repeat=2):
        told = float(np.exp(fitter(np.array([0, 1]), targets=np.array(labels, dtype=float)).log_z))
        error = s.quantile * float(np.sqrt(max(told * (1.0 - told), 0.0) / draws)) + 1e-9
        bound = error + (0.0 if s.exact else told * float(np.expm1(2.0 * step)))
        gap = abs(float((drawn == labels).all(axis=1).mean()) - told)
        worst = max(worst, (gap, bound), key=_ratio)
    gap, bound = worst
    return gap <= bound, gap, bound, "labels are simulated as often as their evidence says"


def _ratio(one: tuple[float, float]) -> float:
    """How much of its bound a gap takes."""
    return one[0] / one[1]


def _fitters(s: Subject) -> list[Fitter]:
    """The model on its rows as they are and shrunk; rows that cannot be shrunk are left as they are."""
    try:
        shrunk = bind(s.model, SHRUNK * s.X, s.y)
        shrunk(s.data)
    except Exception:  # features of the user's that are codes
        return [s.fitter]
    return [s.fitter, shrunk]


def _ratios(fitter: Fitter, given: Rows, row: int, classes: int) -> tuple[Array, float]:
    """Log Z(S ∪ {(x, c)}) − log Z(S) of every class c, and what their log sum may be off by."""
    known = fitter.y[given]

    def log_z(*labels: int) -> float:
        rows = np.append(given, np.full(len(labels), row)).astype(np.intp)
        return float(fitter(rows, targets=np.append(known, labels).astype(float)).log_z)

    before = log_z()
    logs = np.array([log_z(c) - before for c in range(classes)])
    twice = np.array([log_z(c, c) - before for c in range(classes)])
    shares = np.exp(logs - np.logaddexp.reduce(logs))
    slack = SLACK if len(given) else FIRST_SLACK
    return logs, slack + CURVED * float(shares @ np.maximum(twice - 2.0 * logs, 0.0) ** 2)


def _one_more_number(s: Subject) -> Result:
    """The integral over the label of one more row, given none, one and all of D's rows."""
    gaps = []
    for i in (0, 1, len(s.data)):
        given, row = s.data[:i], s.test[0]
        before, rows = s.log_z(given), np.append(given, row)

        def density(value: float, rows: Rows = rows, before: float = before) -> float:
            try:
                log_ratio = float(s.fitter(rows, targets=np.append(s.y[rows[:-1]], value)).log_z) - before
            except Exception:  # a number that is no label
                return 0.0
            return float(np.exp(log_ratio)) if np.isfinite(log_ratio) else 0.0

        with np.errstate(all="ignore"):
            gaps.append(_gap_of(density, s.y))
    gap = max(gaps)
    bound = 1e-5 if s.exact else NUMERIC_SLACK
    return gap <= bound, gap, bound, "the density of one more row's label integrates to 1"


def _gap_of(density: Callable[[float], float], y: Array) -> float:
    """|log ∫ density|, or for whole numbers |log Σ density| if that is nearer to 0."""
    gap = np.inf
    if (y == np.round(y)).all():
        gap = abs(np.log(max(_sum_over_integers(density, int(np.median(y))), 1e-300)))
    try:
        return float(min(gap, abs(np.log(max(_integral(density, y), 1e-300)))))
    except NotApplicable:
        if np.isinf(gap):
            raise
        return float(gap)


def _integral(density: Callable[[float], float], y: Array) -> float:
    """∫ by adaptive quadrature in u, label = mode + width · tan u."""
    from scipy.integrate import quad
    from scipy.optimize import minimize_scalar

    spread = float(y.std()) or 1.0
    grid = float(np.median(y)) + spread * np.tan(np.linspace(-1.4, 1.4, 41))
    best = int(np.argmax([density(one) for one in grid]))
    near = (grid[max(best - 1, 0)], grid[min(best + 1, len(grid) - 1)])
    mode = float(minimize_scalar(lambda one: -density(one), bounds=near, method="bounded").x)
    height = density(mode)
    width = spread
    while width > 1e-6 * spread and density(mode + width) < 0.3 * height:
        width /= 2.0

    def integrand(u: float) -> float:
        return density(mode + width * float(np.tan(u))) * width / float(np.cos(u)) ** 2

    value, error = quad(integrand, -1.5707, 1.5707, epsabs=1e-7, limit=100)[:2]
    if error > 1e-4:
        raise NotApplicable("the density of one more row's label could not be integrated")
    return float(value)


def _sum_over_integers(density: Callable[[float], float], start: int) -> float:
    """Σ outward from a start, until the terms are nothing."""
    total = 0.0
    for step in (1, -1):
        label, quiet = start if step == 1 else start - 1, 0
        while quiet < 50 and abs(label - start) < 5000:
            term = density(float(label))
            total, quiet, label = total + term, quiet + 1 if term < 1e-12 else 0, label + step
    return total


CHECKS: dict[str, Check] = {
    "one more row": _one_more_row,
    "forecast": _forecast,
    "simulated labels": simulated_labels,
}
