"""What a model is: a prior, a likelihood, an evidence.

A model in user code needs `fit` alone; `SliceFitter` then serves as its hot path. Targets are numbers
here: class 0 or 1, or the value to regress on. Labels as users write them live in `yardstick` and `pmi`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np

from ..arrays import Array, Rows
from ..errors import DataworthError

WEIGHED_ROWS = 4
"""Rows of a pool on which it is tried whether a model's fit counts weights."""


class Fit(NamedTuple):
    """Log evidence of some rows, and whatever the fitter needs to start or predict from there."""

    log_z: float
    state: Any


@runtime_checkable
class Posterior(Protocol):
    """A posterior over parameters θ."""

    log_evidence: float

    def log_density(self, theta: Array) -> float:
        """Log p(θ | data) at one θ."""
        ...

    def sample(self, rng: np.random.Generator, m: int) -> Array:
        """`m` draws of θ, one a row."""
        ...

    def predict_proba(self, X: Array) -> Array:
        """Posterior predictive: class probabilities (n × classes), or means (n) for regression."""
        ...


def bind(model: Model, X: Array, y: Array) -> Fitter:
    """The model's own fitter on a pool, or for a model that has `fit` alone, the plain one."""
    if hasattr(model, "bind"):
        return model.bind(X, y)
    require_model(model)
    return SliceFitter(model, X, y)


def require_model(model: object) -> None:
    """Something that can be fitted, or a sentence."""
    if isinstance(model, type):
        raise DataworthError(f"model is the class {model.__name__}; give an instance, {model.__name__}().")
    if not (hasattr(model, "bind") or hasattr(model, "fit")):
        hint = (
            " (Logistic().fit and Linear().fit take a prior as prior=)" if hasattr(model, "whitening") else ""
        )
        raise DataworthError(f"model is a {type(model).__name__}; give a model, such as dw.Logistic(){hint}.")


@runtime_checkable
class Model(Protocol):
    """A Bayesian model; its prior is a number, never fitted here."""

    def fit(self, X: Array, y: Array, weights: Array | None = None) -> Posterior:
        """Posterior given rows X, targets y and row weights (a row of weight w counts as w rows)."""
        ...

    def bind(self, X: Array, y: Array) -> Fitter:
        """A fitter on this pool of rows."""
        ...


def check_pool(X: Array, y: Array, *, classes: bool) -> tuple[Array, Array]:
    """A table of numbers and one target a row (0 or 1 for classes) as floats, or a sentence."""
    X, y = np.asarray(X, dtype=float), np.asarray(y, dtype=float)
    if X.ndim != 2 or y.shape != (len(X),):
        raise DataworthError(
            f"X has shape {X.shape} and y {y.shape}; give rows × features, and a target a row."
        )
    if not (np.isfinite(X).all() and np.isfinite(y).all()):
        raise DataworthError("X or y has values that are missing or infinite: drop or fill those rows.")
    if classes and not ((y >= 0) & (y <= 1)).all():
        raise DataworthError("y has targets other than 0 and 1; number the two classes 0 and 1.")
    return X, y


def check_outputs(X: Array, y: Array, outputs: int | None) -> tuple[Array, Array]:
    """A table of numbers and a vector of targets a row (one number is a vector of one), or a sentence."""
    X, y = np.asarray(X, dtype=float), np.asarray(y, dtype=float)
    y = y[:, None] if y.ndim == 1 else y
    if X.ndim != 2 or y.ndim != 2 or len(y) != len(X) or not y.shape[1]:
        raise DataworthError(
            f"X has shape {X.shape} and y {y.shape}; give rows × features, and rows × outputs."
        )
    if outputs not in (None, y.shape[1]):
        raise DataworthError(f"y has {y.shape[1]} outputs a row, but the model has outputs={outputs}.")
    if not (np.isfinite(X).all() and np.isfinite(y).all()):
        raise DataworthError("X or y has values that are missing or infinite: drop or fill those rows.")
    return X, y


def class_count(y: Array, classes: int | None) -> int:
    """How many classes there are, as given or by the largest target; targets that are none are a sentence."""
    count = max(2, int(y.max(initial=0.0)) + 1) if classes is None else int(classes)
    if not ((y == np.round(y)) & (y >= 0) & (y < count)).all():
        raise DataworthError(
            f"y has targets other than the whole numbers 0 to {count - 1}: number the classes from 0, and "
            "say how many there are by classes=."
        )
    return count


def check_classes(X: Array, y: Array, classes: int | None) -> tuple[Array, Array, int]:
    """A pool of class numbers, and how many classes there are."""
    X, y = check_pool(X, y, classes=False)
    return X, y, class_count(y, classes)


def check_theta(theta: Array, width: int, what: str = "one θ of length {}") -> Array:
    """One vector of parameters as floats, or a sentence."""
    if np.shape(theta) != (width,):
        raise DataworthError(f"theta has shape {np.shape(theta)}; log_density takes {what.format(width)}.")
    return np.asarray(theta, dtype=float)


def check_class_number(classes: object) -> None:
    """A number of classes, or None for as many as occur; else a sentence."""
    whole = isinstance(classes, int | np.integer) and not isinstance(classes, bool) and classes >= 2
    if classes is not None and not whole:
        raise DataworthError(f"classes is {classes!r}; it must be a whole number, 2 or more, or None.")


def positive_number(value: float, name: str) -> float:
    """`value` as a float, or a sentence."""
    if isinstance(value, bool) or not isinstance(value, (int, float, np.number)) or not 0 < value < np.inf:
        raise DataworthError(f"{name} is {value!r}; it must be a positive number.")
    return float(value)


class Fitter(ABC):
    """A model bound to one pool of rows: the only hot path. One of your own derives from this."""

    y: Array
    """The pool's targets: a number a row, or a vector (rows × outputs)."""
    numbers: bool = False
    """Whether targets are numbers or vectors of them, whose score is R², and not classes (accuracy)."""
    exact: bool = False
    """Whether posteriors are exact, so that every form of the score is the evidence's number."""
    takes_weights: bool = True
    """Whether a row can count any number of times; without weights there is no tempering."""

    def __call__(
        self,
        rows: Rows,
        start: tuple[Fit, ...] = (),
        *,
        weights: Array | None = None,
        targets: Array | None = None,
    ) -> Fit:
        """Fit the pool's `rows`, starting from earlier fits of their parts.

        Repeated rows count as often as they are named, a row of weight w as w rows; `targets` stand in for
        the pool's own.
        """
        return self.fit_rows(rows, start, *self.told(rows, weights, targets))

    def told(self, rows: Rows, weights: Array | None, targets: Array | None) -> tuple[Array, Array]:
        """The weights and targets of rows: 1 and the pool's own, unless given."""
        weights = np.ones(len(rows)) if weights is None else np.asarray(weights, dtype=float)
        return weights, self.y[rows] if targets is None else np.asarray(targets, dtype=float)

    @abstractmethod
    def fit_rows(self, rows: Rows, start: tuple[Fit, ...], weights: Array, targets: Array) -> Fit:
        """Fit rows of the pool with the weights and targets that they are given."""

    @abstractmethod
    def predict(self, fit: Fit, rows: Rows) -> Array:
        """The most probable class of each row, or the posterior mean of its target."""

    def accuracy(self, fit: Fit, rows: Rows, weights: Array | None = None) -> float:
        """Weighted fraction of rows whose class is the predicted one, or R²."""
        return agreement(self.predict(fit, rows), self.y[rows], weights, self.numbers)

    def information_gain(self, fit: Fit) -> float:
        """KL(posterior ‖ prior) in nats, which the state of a fit knows."""
        return float(fit.state.information_gain())


def agreement(predicted: Array, target: Array, weights: Array | None, numbers: bool) -> float:
    """Weighted fraction of rows whose class is the predicted one, or R² of numbers; nan without rows.

    R² is 1 − mean squared error: a yardstick's unit is the standard deviation of the test set's labels.
    """
    if len(target) == 0 or (weights is not None and not weights.any()):
        return float("nan")
    right = 1.0 - mean_square(target - predicted) if numbers else predicted == target
    return float(np.average(right, weights=weights))


def mean_square(error: Array) -> Array:
    """The square of a number, or the mean square of a vector, of every row.

    >>> mean_square(np.array([2.0])).tolist(), mean_square(np.array([[2.0, 0.0]])).tolist()
    ([4.0], [2.0])
    """
    return np.asarray(error**2 if error.ndim == 1 else (error**2).mean(axis=1))


def fit_with(model: Any, X: Array, y: Array, weights: Array | None) -> Any:
    """`model.fit`, with the keyword `weights` if there are some."""
    return model.fit(X, y) if weights is None else model.fit(X, y, weights=weights)


def counts_weights(model: Any, X: Array, y: Array) -> bool:
    """Whether `fit` takes weights and does not ignore them, tried on a few rows of a pool.

    A model that ignores weights gives rows of any weight the same evidence, but not rows that are repeated.
    """
    some = np.unique(np.linspace(0, len(y) - 1, WEIGHED_ROWS).astype(np.intp)) if len(y) else np.arange(0)
    twice = np.repeat(some, 2)
    try:
        once, repeated = (fit_with(model, X[rows], y[rows], None).log_evidence for rows in (some, twice))
    except Exception:  # too few rows for this model: nothing can be tried on them
        return True
    try:
        heavy = fit_with(model, X[some], y[some], np.full(len(some), 1.5)).log_evidence
    except (TypeError, NotImplementedError, DataworthError):
        return False
    return bool(heavy != once or repeated == once)


class SliceFitter(Fitter):
    """The default hot path: slice the pool, fit the model, which need not take weights.

    Rows of a model without weights are repeated: weights of whole numbers lose nothing, others are refused.
    """

    def __init__(self, model: Model, X: Array, y: Array) -> None:
        self.model, self.X, self.y = model, X, y
        self.numbers = getattr(model, "takes", None) in ("numbers", "vectors")

    def fit_rows(self, rows: Rows, start: tuple[Fit, ...], weights: Any, targets: Array) -> Fit:
        """Fit from scratch: a general posterior has no warm start."""
        if (weights == 1.0).all():
            weights = None
        elif not self.takes_weights:
            times = weights.astype(np.intp)
            if (times != weights).any():
                raise DataworthError(
                    f"some weights are not whole numbers, but fit of {type(self.model).__name__} takes no "
                    "weights or ignores them: give whole numbers, or make fit(X, y, weights) count a row of "
                    "weight w as w rows."
                )
            rows, targets, weights = np.repeat(rows, times), np.repeat(targets, times), None
        posterior = fit_with(self.model, self.X[rows], targets, weights)
        return Fit(posterior.log_evidence, posterior)

    @cached_property
    def takes_weights(self) -> bool:  # type: ignore[override]
        """Whether the model takes weights and does not ignore them; found when first asked for."""
        return counts_weights(self.model, self.X, self.y)

    def predict(self, fit: Fit, rows: Rows) -> Array:
        """The most probable class, or the predictive mean of numbers."""
        told = self.probabilities(fit, rows)
        return told if self.numbers else told.argmax(axis=1).astype(float)

    def probabilities(self, fit: Fit, rows: Rows) -> Array:
        """Predictive probabilities of the classes (means of numbers)."""
        chances: Array = fit.state.predict_proba(self.X[rows])
        return chances

    def information_gain(self, fit: Fit) -> float:
        """From the posterior where it knows; otherwise not a number."""
        return super().information_gain(fit) if hasattr(fit.state, "information_gain") else float("nan")
