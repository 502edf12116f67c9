"""What must hold to rounding for every model: evidences are of sets of rows, and predictions add up to 1."""

from __future__ import annotations

import numpy as np

from .subject import POINTS, Check, NotApplicable, Result, Subject


def _no_rows(s: Subject) -> Result:
    return s.near(s.log_z(s.none), "the log evidence of no rows is 0")


def _symmetry(s: Subject) -> Result:
    data, test = s.fitter(s.data), s.fitter(s.test)
    there = s.log_z(np.concatenate([s.data, s.test]), (data, test))
    back = s.log_z(np.concatenate([s.test, s.data]), (test, data))
    return s.near(there - back, "either way around the same: U(D,T) = U(T,D)", 2.0)


def _no_data(s: Subject) -> Result:
    nothing, test = s.fitter(s.none), s.fitter(s.test)
    joint = s.log_z(np.concatenate([s.none, s.test]), (nothing, test))
    return s.near(joint - nothing.log_z - test.log_z, "nothing is worth nothing: U(∅,T) = 0", 2.0)


def _order(s: Subject) -> Result:
    rng, there = s.rng(0x0DE5), s.log_z(s.all)
    orders = [s.all[::-1], *(rng.permutation(s.all) for _ in range(POINTS))]
    gaps = [s.log_z(rows) - there for rows in orders]
    return s.near(float(np.abs(gaps).max()), "the order of rows does not matter", 2.0)


def _weights(s: Subject) -> Result:
    if not s.weighs:
        raise NotApplicable("the model takes no weights")
    counts = np.resize([1, 3, 0, 2], len(s.all))
    repeated = s.log_z(np.repeat(s.all, counts))
    bound = float(s.fitter(s.all, weights=counts.astype(float)).log_z)
    alone = s.model.fit(s.X[s.all], s.y[s.all], counts.astype(float)).log_evidence
    worst = max(abs(bound - repeated), abs(alone - repeated))
    return s.near(worst, "a row of weight 2 counts as two rows, one of weight 0 as none", 3.0)


def _bind(s: Subject) -> Result:
    # a part that has every target: models may count the classes of what they are given
    part = np.unique(np.concatenate([np.unique(s.y, return_index=True)[1], s.data]))
    gaps = [s.model.fit(s.X[r], s.y[r]).log_evidence - s.log_z(r) for r in (s.all, part)]
    return s.near(float(np.abs(gaps).max()), "a bound model's evidence of rows is that of fitting them", 2.0)


def _warm(s: Subject) -> Result:
    cold, parts = s.fitter(s.all), (s.fitter(s.data), s.fitter(s.test))
    gaps = [s.log_z(s.all, start) - cold.log_z for start in (parts, parts[::-1], (cold,))]
    return s.near(float(np.abs(gaps).max()), "where a fit starts does not matter", 2.0)


def _predictive(s: Subject) -> Result:
    posterior = s.forecaster(s.data)
    forecast = np.asarray(posterior.predict_proba(s.X[s.test]), dtype=float)
    if s.numbers:
        fine = forecast.shape == (len(s.test),) and bool(np.isfinite(forecast).all())
        return fine, None, None, "predictions are one finite mean a row"
    if forecast.ndim != 2 or len(forecast) != len(s.test) or not (forecast >= -1e-12).all():
        return False, None, None, "predict_proba must give a row of probabilities for each row"
    gap = float(np.abs(forecast.sum(axis=1) - 1.0).max())
    return bool(gap <= 1e-6), gap, 1e-6, "predicted probabilities add up to 1"


CHECKS: dict[str, Check] = {
    "no rows": _no_rows,
    "symmetry": _symmetry,
    "no data": _no_data,
    "row order": _order,
    "weights": _weights,
    "bind": _bind,
    "warm starts": _warm,
    "predictive": _predictive,
}
