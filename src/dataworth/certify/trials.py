"""Simulated datasets and their scores: D and T of one θ, T′ of another, and D misreported in several ways."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..arrays import Array, Rows
from ..models import Fitter, Model
from ..models.base import bind

Simulator = Callable[[np.random.Generator, Array], Array]

MISREPORTS = ("no rows", "half the rows", "noisy labels", "shuffled labels", "rows doubled", "rows halved")


@dataclass(frozen=True)
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
    data, test, other = np.split(np.arange(3 * size), 3)
    joint, apart = [], []
    gains: dict[str, list[float]] = {name: [] for name in MISREPORTS if weighs or name != "rows halved"}
    for _ in range(repeats):
        own = X[rng.choice(len(X), 3 * size, replace=False)]
        y = np.asarray(simulate(rng, own[: 2 * size]), dtype=float)
        y2 = np.asarray(simulate(rng, own), dtype=float)  # of another θ: for T′, and for noise in labels
        fitter = bind(model, own, np.concatenate([y, y2[other]]))
        log_test, log_other = fitter(test).log_z, fitter(other).log_z

        def score(
            rows: Rows,
            labels: Array,
            weight: float | None = None,
            against: Rows = test,
            fitter: Fitter = fitter,
        ) -> float:
            """Log Z(D∪T) − log Z(D), which is U(D,T) + log Z(T)."""
            both, targets = np.append(rows, against), np.append(labels, fitter.y[against])
            weights = None if weight is None else np.repeat([weight, 1.0], [len(rows), len(against)])
            own = None if weights is None else weights[: len(rows)]
            whole = fitter(both, weights=weights, targets=targets).log_z
            return float(whole - fitter(rows, weights=own, targets=labels).log_z)

        truth, labels = score(data, y[data]), y[data]
        joint.append(truth - log_test)
        apart.append(score(data, labels, against=other) - log_other)
        half = size // 2
        noisy = np.where(rng.random(size) < 0.5, y2[data], labels)
        gains["no rows"].append(log_test - truth)
        gains["half the rows"].append(score(data[:half], labels[:half]) - truth)
        gains["noisy labels"].append(score(data, noisy) - truth)
        gains["shuffled labels"].append(score(data, rng.permutation(labels)) - truth)
        gains["rows doubled"].append(score(np.tile(data, 2), np.tile(labels, 2)) - truth)
        if weighs:
            gains["rows halved"].append(score(data, labels, 0.5) - truth)
    return Trials(np.array(joint), np.array(apart), {name: np.array(g) for name, g in gains.items()})
