"""What exact posteriors obey to rounding: Bayes' identity at any η, and evidences that add up over labels.

It is required of models that say `exact = True`, and reported of the others.
"""

from __future__ import annotations

import numpy as np

from .subject import POINTS, Check, NotApplicable, Result, Subject


def _identity(s: Subject) -> Result:
    joint = s.asked(s.all, "log_density", "sample")
    data, test, prior = (s.posterior(rows) for rows in (s.data, s.test, s.none))
    points = joint.sample(s.rng(0xE7A), POINTS)
    parts = np.array([[p.log_density(t) for t in points] for p in (data, test, prior, joint)])
    gap = float(np.abs(parts[0] + parts[1] - parts[2] - parts[3] - s.pmi).max())
    meaning = f"log p(η|D)p(η|T)/(p(η)p(η|D,T)) = U(D,T) at {POINTS} η"
    scale = 1.0 + 1e-2 * float(np.abs(parts).max())
    return s.of_exact(s.near(gap, meaning, scale))


def _one_more(s: Subject) -> Result:
    if s.numbers:
        raise NotApplicable("the targets are numeric labels, which cannot be counted")
    classes, before = _class_number(s), s.log_z(s.data)
    gaps = []
    for row in s.test[:POINTS]:
        gaps.append(sum(np.exp(_with_label(s, row, c) - before) for c in range(classes)) - 1.0)
    meaning = "the evidences of one more row, over its possible labels, add up to that without it"
    return s.of_exact(s.near(float(np.abs(gaps).max()), meaning))


def _forecast(s: Subject) -> Result:
    posterior = s.forecaster(s.data)
    if s.numbers:
        raise NotApplicable("the targets are numeric labels, whose predictive density is not asked for")
    before, rows = s.log_z(s.data), s.test[:POINTS]
    forecast = np.asarray(posterior.predict_proba(s.X[rows]), dtype=float)
    implied = [[np.exp(_with_label(s, r, c) - before) for c in range(forecast.shape[1])] for r in rows]
    gap = float(np.abs(forecast - implied).max())
    return s.of_exact(s.near(gap, "predicted probabilities are the ratios of evidences"))


def _class_number(s: Subject) -> int:
    try:
        return int(np.shape(s.forecaster(s.data).predict_proba(s.X[s.test]))[1])
    except NotApplicable:
        return max(2, int(s.y.max()) + 1)


def _with_label(s: Subject, row: int, label: int) -> float:
    """Log evidence of D and one more row with that label."""
    rows = np.append(s.data, row)
    return float(s.fitter(rows, targets=np.append(s.y[s.data], float(label))).log_z)


CHECKS: dict[str, Check] = {
    "Bayes' identity": _identity,
    "one more row": _one_more,
    "forecast": _forecast,
}
