"""A model put on trial: the rows to try it on, each check in turn, and whatever it raises as the outcome."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from ..arrays import Array
from ..errors import DataworthError
from ..models import Model
from ..models.base import require_model
from ..parallel.threads import one_thread
from . import additivity, identities
from .subject import Check, NotApplicable, Simulator, Subject


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """One property: whether it holds (None: not applicable, or reported only), its value and its bound."""

    name: str
    meaning: str
    passed: bool | None = None
    value: float | None = None
    bound: float | None = None

    def __str__(self) -> str:
        word = {True: "ok", False: "FAILED", None: "–"}[self.passed]
        value = "" if self.value is None else f"{self.value:.2g}"
        bound = "" if self.bound is None else f"≤ {self.bound:.2g}"
        return f"{word:6} {self.name:16} {value:>9} {bound:>10}  {self.meaning}"


@dataclass(frozen=True, kw_only=True)
class Certificate:
    """The outcomes for one model; `ok` if none failed."""

    model: str
    seed: int
    outcomes: tuple[Outcome, ...]

    @property
    def ok(self) -> bool:
        """Whether nothing failed."""
        return all(outcome.passed is not False for outcome in self.outcomes)

    def __iter__(self) -> Iterator[Outcome]:
        return iter(self.outcomes)

    def __getitem__(self, name: str) -> Outcome:
        return {outcome.name: outcome for outcome in self.outcomes}[name]

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        outcomes = [asdict(outcome) for outcome in self.outcomes]
        return {"model": self.model, "ok": self.ok, "seed": self.seed, "outcomes": outcomes}

    def __str__(self) -> str:
        tally = [sum(o.passed is passed for o in self.outcomes) for passed in (True, False, None)]
        head = f"{self.model}: {'ok' if self.ok else 'NOT OK'}"
        counts = f"{tally[0]} passed, {tally[1]} failed, {tally[2]} not applicable or only reported"
        return "\n".join([f"{head} ({counts})", *(f"  {outcome}" for outcome in self.outcomes)])


LEAST_ROWS = 12

CHECKS: dict[str, Check] = {**identities.ON_ONE, **additivity.CHECKS, **identities.ON_AVERAGE}
"""What is tried of a model that keeps the protocol, in this order."""


@one_thread()
def check_model(
    model: Model,
    *,
    X: Array | None = None,
    y: Array | None = None,
    simulate: Simulator | None = None,
    rows: int = 24,
    repeats: int = 400,
    seed: int = 0,
) -> Certificate:
    """Try what every Bayesian model obeys on `model`: a class of yours with `fit` alone is enough.

    Args:
        model: an instance, with `fit(X, y, weights=None)` that gives a posterior with `log_evidence`.
        X: rows to try it on; by default `rows` rows of two standard normal features.
        y: their targets, as numbers (rows × outputs for a model that takes vectors); by default of the kind
            that the model's `takes` names (two classes if it names none).
        simulate: (rng, X) → y, parameters drawn from the prior and targets from them; by default the model's
            own `simulate`. Without one, what is true of expectations is not tried.
        rows: how many rows to make, if none are given.
        repeats: how many datasets to simulate.
        seed: the same seed gives the same certificate.

    Returns:
        An outcome for every property, with its value and its bound; `ok` if none failed.

    Raises:
        DataworthError: the model is none, X has too few rows, or y does not fit X.

    Examples:
        >>> import dataworth as dw
        >>> certificate = dw.check_model(dw.Categorical(classes=3), repeats=50)
        >>> certificate.ok, certificate["one more row"].passed
        (True, True)
    """
    require_model(model)
    simulate = simulate or getattr(model, "simulate", None)
    X, y = _rows(model, X, y, simulate, rows, seed)
    subject = Subject(model, X, y, simulate, repeats, seed)
    kept = _tried("protocol", identities.protocol, subject)
    untried = "not tried, since the protocol is not kept"
    outcomes = [
        _tried(name, check, subject) if kept.passed else Outcome(name=name, meaning=untried)
        for name, check in CHECKS.items()
    ]
    return Certificate(model=repr(model), seed=seed, outcomes=(kept, *outcomes))


def _tried(name: str, check: Check, subject: Subject) -> Outcome:
    try:
        passed, value, bound, meaning = check(subject)
    except NotApplicable as reason:
        return Outcome(name=name, meaning=str(reason))
    except Exception as error:  # whatever a model of the user's raises is the outcome
        sentence = " ".join(str(error).split())[:200]
        return Outcome(name=name, passed=False, meaning=f"raised {type(error).__name__}: {sentence}")
    return Outcome(name=name, passed=passed, value=value, bound=bound, meaning=meaning)


def _rows(
    model: Model, X: Array | None, y: Array | None, simulate: Simulator | None, rows: int, seed: int
) -> tuple[Array, Array]:
    """The rows to try it on."""
    if X is None and y is not None:
        raise DataworthError("y was given without X: give the rows too, or neither.")
    rng = np.random.default_rng([seed, 0xDE51])
    X = rng.standard_normal((rows, 2)) if X is None else np.asarray(X, dtype=float)
    if X.ndim != 2 or len(X) < LEAST_ROWS:
        raise DataworthError(f"X has shape {X.shape}; give a table of at least {LEAST_ROWS} rows.")
    if y is not None:
        y = np.asarray(y, dtype=float)
        several = getattr(model, "takes", None) == "vectors" and y.ndim == 2
        if y.shape[: 1 if several else None] != (len(X),):
            raise DataworthError(f"y has shape {y.shape} for {len(X)} rows; give one target a row.")
        return X, y
    slope = X.sum(axis=1) + rng.standard_normal(len(X))
    takes = getattr(model, "takes", "two classes")
    if takes == "vectors" and simulate is None:
        return X, np.column_stack([slope, rng.standard_normal(len(X))])
    if takes in ("numbers", "vectors"):
        return X, slope if simulate is None else np.asarray(simulate(rng, X), dtype=float)
    classes = min(3, getattr(model, "classes", None) or 3) if takes == "classes" else 2
    return X, np.floor(slope.argsort().argsort() * classes / len(X))
