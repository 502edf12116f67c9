"""A model on trial: bound to its rows, with all that checks ask of it and the bars they hold it to.

What a model does not have makes a check not applicable, which is no failure.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
from scipy.special import stdtrit

from ..arrays import Array, Rows
from ..errors import DataworthError
from ..models import Fit, Fitter, Model
from ..models.base import bind, fit_with

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
        noisy = np.where((rng.random(size) < 0.5).reshape(-1, *[1] * (y.ndim - 1)), y2[data], labels)
        scores = {
            "no rows": log_test,
            "half the rows": score(data[:half], labels[:half]),
            "noisy labels": score(data, noisy),
            "shuffled labels": score(data, rng.permutation(labels)),
            "rows doubled": score(np.tile(data, 2), np.concatenate([labels, labels])),
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
    both, targets = np.append(rows, test), np.concatenate([labels, fitter.y[test]])
    weights = None if weight is None else np.repeat([weight, 1.0], [len(rows), len(test)])
    own = None if weights is None else weights[: len(rows)]
    whole = fitter(both, weights=weights, targets=targets).log_z
    return float(whole - fitter(rows, weights=own, targets=labels).log_z)


FALSE_ALARM = 1e-3
STATISTICAL = 10
"""How many outcomes of a certificate are statistical."""
ROUGH = 0.1
"""What a probability of an approximate model may be off by."""
POINTS = 5
"""How many rows, orders or parameters are tried where all would be too many."""

Result = tuple[bool | None, float | None, float | None, str]


class NotApplicable(Exception):
    """Why a property cannot be tried on this model."""


class Subject:
    """A model on trial, bound to its rows; `data` and `test` are halves of them."""

    def __init__(
        self, model: Model, X: Array, y: Array, simulate: Simulator | None, repeats: int, seed: int
    ) -> None:
        self.model, self.X, self.y = model, X, y
        self.simulate, self.repeats, self.seed = simulate, repeats, seed
        self.exact = bool(getattr(model, "exact", False))
        self.numbers = getattr(model, "takes", None) in ("numbers", "vectors")
        order = np.random.default_rng([seed, 0x0DE4]).permutation(len(y))
        self.data, self.test, self.all = order[: len(y) // 2], order[len(y) // 2 :], order
        self.none = order[:0]

    @cached_property
    def fitter(self) -> Fitter:
        """The model bound to its rows."""
        return bind(self.model, self.X, self.y)

    def rng(self, stream: int) -> np.random.Generator:
        """Random numbers of a check's own."""
        return np.random.default_rng([self.seed, stream])

    def log_z(self, rows: Rows, start: tuple[Fit, ...] = ()) -> float:
        """Log evidence of some rows."""
        return float(self.fitter(rows, start).log_z)

    def posterior(self, rows: Rows) -> Any:
        """A posterior that can be asked for densities, which a fit's state need not be."""
        state = self.fitter(rows).state
        return state if hasattr(state, "log_density") else self.model.fit(self.X[rows], self.y[rows])

    def forecaster(self, rows: Rows) -> Any:
        """What `fit` makes of rows: a bound fit's state may take features in place of rows."""
        posterior = self.model.fit(self.X[rows], self.y[rows])
        if not hasattr(posterior, "predict_proba"):
            raise NotApplicable("the posterior has no predict_proba")
        return posterior

    def asked(self, rows: Rows, *names: str) -> Any:
        """The same, if it has those names."""
        posterior = self.posterior(rows)
        missing = [name for name in names if not hasattr(posterior, name)]
        if missing:
            raise NotApplicable(f"the posterior has no {' and no '.join(missing)}")
        return posterior

    @cached_property
    def pmi(self) -> float:
        """U of the two halves."""
        return self.log_z(self.all) - self.log_z(self.data) - self.log_z(self.test)

    @cached_property
    def tolerance(self) -> float:
        """The bar for a log evidence."""
        return 1e-6 + 1e-8 * abs(self.log_z(self.all))

    def near(self, value: float, meaning: str, scale: float = 1.0) -> Result:
        """Whether a difference is rounding."""
        bound = self.tolerance * scale
        return bool(abs(value) <= bound), abs(float(value)), bound, meaning

    def agree(self, ours: Array, theirs: Array, meaning: str, slack: float = 0.0) -> Result:
        """Whether two means of as many independent values are equal but for chance, and for the slack."""
        gap = abs(float(ours.mean() - theirs.mean()))
        error = float(np.sqrt((ours.var() + theirs.var()) / len(ours)))
        bound = self.quantile * error + 1e-9 + slack
        return gap <= bound, gap, bound, meaning

    def of_exact(self, result: Result) -> Result:
        """A property of exact posteriors: required of a model that says it is exact, else reported."""
        passed, value, bound, meaning = result
        if self.exact or passed is None:
            return result
        return None, value, bound, f"{meaning} (reported: not said to be exact)"

    def takes(self, weight: float) -> bool:
        """Whether `fit` takes rows of some weight, rightly or not."""
        weights = np.full(len(self.data), weight)
        try:
            fit_with(self.model, self.X[self.data], self.y[self.data], weights)
        except (TypeError, NotImplementedError, DataworthError):
            return False
        return True

    @property
    def weighs(self) -> bool:
        """Whether rows can count half: a model without weights repeats rows."""
        return self.takes(0.5) and getattr(self.fitter, "takes_weights", True)

    @cached_property
    def trials(self) -> Trials:
        """What simulated datasets gave."""
        if self.simulate is None:
            raise NotApplicable("the model has no simulate(rng, X) → y, and none was given")
        return run_trials(self.model, self.X, self.simulate, self.repeats, self.weighs, self.rng(0x7A1A))

    @cached_property
    def quantile(self) -> float:
        """How many standard errors one statistical outcome may be off, two-sided."""
        return float(stdtrit(max(self.repeats - 1, 1), 1.0 - FALSE_ALARM / STATISTICAL / 2.0))


Check = Callable[[Subject], Result]
