"""Simulated datasets and their scores: D and T of one θ, T′ of another, and D misreported in several ways."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from ..arrays import Array, Rows
from ..models import Fitter, Model
from ..models.base import bind

Simulator = Callable[[np.random.Generator, Array], Array]


@dataclass(frozen=True, kw_only=True)
class Trials:
    """U of simulated pairs and of independent ones; for each misreport f, U(f(D),T) − U(D,T)."""

    joint: Array
    apart: Array
    gains: dict[str, Array]


def run_trials(
    model: Model, X: Array, simulate: Simulator, repeats: int, weighs: bool, rng: np.random.Generator
) -> Trials:
    """Simulate D and T of one θ, and T′ of another; score D and its misreports."""
    size = min(4, len(X) // 3)
    half = size // 2
    data, test, other = np.split(np.arange(3 * size), 3)
    joint, apart = [], []
    gains: dict[str, list[float]] = {}
    for _ in range(repeats):
        own = X[rng.choice(len(X), 3 * size, replace=False)]
        y = np.asarray(simulate(rng, own[: 2 * size]), dtype=float)
        y2 = np.asarray(simulate(rng, own), dtype=float)  # of another θ: for T′, and for noise in labels
        fitter = bind(model, own, np.concatenate([y, y2[other]]))
        log_test, log_other = fitter(test).log_z, fitter(other).log_z
        score, labels = partial(log_predictive, fitter, test), y[data]
        truth = score(data, labels)
        joint.append(truth - log_test)
        apart.append(log_predictive(fitter, other, data, labels) - log_other)
        noisy = np.where(rng.random(size) < 0.5, y2[data], labels)
        scores = {
            "no rows": log_test,
            "half the rows": score(data[:half], labels[:half]),
            "noisy labels": score(data, noisy),
            "shuffled labels": score(data, rng.permutation(labels)),
            "rows doubled": score(np.tile(data, 2), np.tile(labels, 2)),
        }
        if weighs:
            scores["rows halved"] = score(data, labels, 0.5)
        for name, value in scores.items():
            gains.setdefault(name, []).append(value - truth)
    told = {name: np.array(gain) for name, gain in gains.items()}
    return Trials(joint=np.array(joint), apart=np.array(apart), gains=told)


def log_predictive(
    fitter: Fitter, test: Rows, rows: Rows, labels: Array, weight: float | None = None
) -> float:
    """Log Z(D∪T) − log Z(D), which is U(D,T) + log Z(T), of rows D with those labels and one weight."""
    both, targets = np.append(rows, test), np.append(labels, fitter.y[test])
    weights = None if weight is None else np.repeat([weight, 1.0], [len(rows), len(test)])
    own = None if weights is None else weights[: len(rows)]
    whole = fitter(both, weights=weights, targets=targets).log_z
    return float(whole - fitter(rows, weights=own, targets=labels).log_z)
