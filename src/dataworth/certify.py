"""Is it a model? What every Bayesian evidence obeys, tried on one of yours.

    Z(∅) = 1,   U(D,T) = U(T,D),   U(∅,T) = 0,   log p(η|D) p(η|T) / (p(η) p(η|D,T)) = U(D,T) for every η,
    E[U(f(D),T)] ≤ E[U(D,T)] for every f of D alone,   E[exp U(D,T′)] = 1 for T′ independent of D.

The first line is arithmetic and must hold to rounding. The second is of expectations, over datasets that the
model itself simulates. At most one correct model in a thousand would fail any of the statistical outcomes
(FALSE_ALARM, shared out evenly among them; by the central limit theorem).

What only exact posteriors obey is required of models that say `exact = True`, and reported of the others; of
those, `balance` may be off by ROUGH and no more, or an evidence that lost its determinant would pass.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

import numpy as np

from .errors import DataworthError
from .models import Fit, Fitter, Model
from .models.base import Array, Rows, bind, require_model

Simulator = Callable[[np.random.Generator, Array], Array]

FALSE_ALARM = 1e-3
STATISTICAL = 9
"""How many outcomes of a certificate are statistical."""
POINTS = 5
DRAWS = 1000
WIDEST = 30
LEAST_OVERLAP = 0.1
TAIL = 3.0
ROUGH = 0.1
LEAST_ROWS = 12


@dataclass(frozen=True)
class Outcome:
    """One property: whether it holds (None: not applicable, or reported only), its value and its bound."""

    name: str
    passed: bool | None
    value: float | None
    bound: float | None
    meaning: str

    def __str__(self) -> str:
        word = {True: "ok", False: "FAILED", None: "–"}[self.passed]
        value = "" if self.value is None else f"{self.value:.2g}"
        bound = "" if self.bound is None else f"≤ {self.bound:.2g}"
        return f"{word:6} {self.name:16} {value:>9} {bound:>10}  {self.meaning}"


@dataclass(frozen=True)
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
        return {
            "model": self.model,
            "ok": self.ok,
            "seed": self.seed,
            "outcomes": [asdict(outcome) for outcome in self.outcomes],
        }

    def __str__(self) -> str:
        tally = [sum(o.passed is passed for o in self.outcomes) for passed in (True, False, None)]
        head = f"{self.model}: {'ok' if self.ok else 'NOT OK'}"
        counts = f"{tally[0]} passed, {tally[1]} failed, {tally[2]} not applicable or only reported"
        return "\n".join([f"{head} ({counts})", *(f"  {outcome}" for outcome in self.outcomes)])


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

    X, y: rows and targets (as numbers) to try it on; by default `rows` rows of two standard normal features,
    with targets of the kind that its `takes` names (two classes if it names none). simulate: (rng, X) → y,
    parameters drawn from the prior and targets from them; by default the model's own `simulate`. Without one,
    what is true of expectations is not tried. repeats: simulated datasets.

    >>> from dataworth.models import Categorical
    >>> certificate = check_model(Categorical(classes=3), repeats=50)
    >>> certificate.ok, certificate["one more row"].passed
    (True, True)
    """
    require_model(model)
    simulate = simulate or getattr(model, "simulate", None)
    X, y = _rows(model, X, y, simulate, rows, seed)
    subject = Subject(model, X, y, simulate, repeats, seed)
    outcomes = [_tried("protocol", _protocol, subject)]
    sound = outcomes[0].passed
    for name, check in CHECKS.items():
        outcomes.append(
            _tried(name, check, subject)
            if sound
            else Outcome(name, None, None, None, "not tried, since the protocol is not kept")
        )
    return Certificate(repr(model), seed, tuple(outcomes))


class _NotApplicable(Exception):
    """Why a property cannot be tried on this model."""


Result = tuple[bool | None, float | None, float | None, str]


def _tried(name: str, check: Callable[[Subject], Result], subject: Subject) -> Outcome:
    try:
        return Outcome(name, *check(subject))
    except _NotApplicable as reason:
        return Outcome(name, None, None, None, str(reason))
    except Exception as error:  # whatever a model of the user's raises is the outcome
        sentence = " ".join(str(error).split())[:200]
        return Outcome(name, False, None, None, f"raised {type(error).__name__}: {sentence}")


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
        if y.shape != (len(X),):
            raise DataworthError(f"y has shape {y.shape} for {len(X)} rows; give one target a row.")
        return X, y
    slope = X.sum(axis=1) + rng.standard_normal(len(X))
    takes = getattr(model, "takes", "two classes")
    if takes == "amounts":
        return X, slope if simulate is None else np.asarray(simulate(rng, X), dtype=float)
    classes = min(3, getattr(model, "classes", None) or 3) if takes == "classes" else 2
    return X, np.floor(slope.argsort().argsort() * classes / len(X))


class Subject:
    """A model on trial, bound to its rows; `data` and `test` are halves of them."""

    def __init__(
        self, model: Model, X: Array, y: Array, simulate: Simulator | None, repeats: int, seed: int
    ) -> None:
        self.model, self.X, self.y = model, X, y
        self.simulate, self.repeats, self.seed = simulate, repeats, seed
        self.exact = bool(getattr(model, "exact", False))
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
            raise _NotApplicable("the posterior has no predict_proba")
        return posterior

    def asked(self, rows: Rows, *names: str) -> Any:
        """The same, if it has those names."""
        posterior = self.posterior(rows)
        missing = [name for name in names if not hasattr(posterior, name)]
        if missing:
            raise _NotApplicable(f"the posterior has no {' and no '.join(missing)}")
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

    def of_exact(self, result: Result) -> Result:
        """A property of exact posteriors: required of a model that says it is exact, else reported."""
        passed, value, bound, meaning = result
        if self.exact or passed is None:
            return result
        return None, value, bound, f"{meaning} (reported: not said to be exact)"

    @cached_property
    def weighs(self) -> bool:
        """Whether it takes weights."""
        try:
            self.fitter(self.data, weights=np.ones(len(self.data)))
        except (TypeError, NotImplementedError, DataworthError):
            return False
        return True

    @cached_property
    def trials(self) -> Trials:
        """What simulated datasets gave."""
        if self.simulate is None:
            raise _NotApplicable("the model has no simulate(rng, X) → y, and none was given")
        return run_trials(self.model, self.X, self.simulate, self.repeats, self.weighs, self.rng(0x7A1A))

    @cached_property
    def quantile(self) -> float:
        """How many standard errors one statistical outcome may be off, two-sided."""
        from scipy.special import stdtrit

        return float(stdtrit(max(self.repeats - 1, 1), 1.0 - FALSE_ALARM / STATISTICAL / 2.0))


# --- what must hold to rounding ---------------------------------------------------------------------------


def _protocol(s: Subject) -> Result:
    meaning = "fit gives a finite log_evidence, and the same again; draws and densities are numbers"
    posterior = s.model.fit(s.X, s.y, None)
    evidence = posterior.log_evidence
    if not (isinstance(evidence, (int, float, np.floating)) and np.isfinite(evidence)):
        return False, None, None, f"log_evidence is {evidence!r}; it must be a finite number"
    if not np.isfinite(s.log_z(s.all)):
        return False, None, None, "a bound model's log_z is not finite"
    if hasattr(posterior, "sample"):
        draws = [np.asarray(posterior.sample(np.random.default_rng(0), 3)) for _ in range(2)]
        if draws[0].ndim != 2 or len(draws[0]) != 3 or not np.array_equal(draws[0], draws[1]):
            return False, None, None, "sample(rng, 3) must give 3 rows of parameters, the same for one seed"
        if hasattr(posterior, "log_density") and not all(
            np.isfinite(posterior.log_density(t)) for t in draws[0]
        ):
            return False, None, None, "log_density is not finite at a draw of the posterior itself"
    return s.near(s.model.fit(s.X, s.y, None).log_evidence - evidence, meaning)


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
        raise _NotApplicable("the model takes no weights")
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


# --- what exact posteriors obey ---------------------------------------------------------------------------


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
    if getattr(s.model, "takes", None) == "amounts":
        raise _NotApplicable("the targets are amounts, which cannot be counted")
    classes, before = _class_number(s), s.log_z(s.data)
    gaps = []
    for row in s.test[:POINTS]:
        gaps.append(sum(np.exp(_with_label(s, row, c) - before) for c in range(classes)) - 1.0)
    meaning = "the evidences of one more row, over its possible labels, add up to that without it"
    return s.of_exact(s.near(float(np.abs(gaps).max()), meaning))


def _predictive(s: Subject) -> Result:
    posterior = s.forecaster(s.data)
    forecast = np.asarray(posterior.predict_proba(s.X[s.test]), dtype=float)
    if getattr(s.model, "takes", None) == "amounts":
        fine = forecast.shape == (len(s.test),) and bool(np.isfinite(forecast).all())
        return fine, None, None, "predictions are one finite mean a row"
    if forecast.ndim != 2 or len(forecast) != len(s.test) or not (forecast >= -1e-12).all():
        return False, None, None, "predict_proba must give a row of probabilities for each row"
    gap = float(np.abs(forecast.sum(axis=1) - 1.0).max())
    return bool(gap <= 1e-6), gap, 1e-6, "predicted probabilities add up to 1"


def _forecast(s: Subject) -> Result:
    posterior = s.forecaster(s.data)
    if getattr(s.model, "takes", None) == "amounts":
        raise _NotApplicable("the targets are amounts, whose predictive density is not asked for")
    before, rows = s.log_z(s.data), s.test[:POINTS]
    forecast = np.asarray(posterior.predict_proba(s.X[rows]), dtype=float)
    implied = [[np.exp(_with_label(s, r, c) - before) for c in range(forecast.shape[1])] for r in rows]
    gap = float(np.abs(forecast - implied).max())
    return s.of_exact(s.near(gap, "predicted probabilities are the ratios of evidences"))


def _class_number(s: Subject) -> int:
    try:
        return int(np.shape(s.forecaster(s.data).predict_proba(s.X[s.test]))[1])
    except _NotApplicable:
        return max(2, int(s.y.max()) + 1)


def _with_label(s: Subject, row: int, label: int) -> float:
    """Log evidence of D and one more row with that label."""
    rows = np.append(s.data, row)
    return float(s.fitter(rows, targets=np.append(s.y[s.data], float(label))).log_z)


# --- a density and its draws ------------------------------------------------------------------------------


def _density(s: Subject) -> Result:
    """E_p[q/(p+q)] = E_q[p/(p+q)] for any Gaussian q if p is a density and the draws are its own (Bennett).

    Both sides lie between 0 and 1 whatever the tails and the support of p.
    """
    from scipy.special import expit

    posterior = s.asked(s.all, "log_density", "sample")
    rng = s.rng(0xB377)
    draws = np.asarray(posterior.sample(rng, 2 * DRAWS), dtype=float)
    width = draws.shape[1]
    if width > WIDEST:
        raise _NotApplicable(f"the posterior has {width} parameters; a density is tried up to {WIDEST}")
    mean, covariance = draws[:DRAWS].mean(axis=0), np.atleast_2d(np.cov(draws[:DRAWS].T))
    try:
        root = np.linalg.cholesky(covariance)
    except np.linalg.LinAlgError:
        raise _NotApplicable("the draws lie in a plane, where they have no density") from None
    z = rng.standard_normal((DRAWS, width))
    gaussian = mean + z @ root.T
    log_norm = float(np.log(np.diagonal(root)).sum()) + 0.5 * width * float(np.log(2.0 * np.pi))

    def log_ratio(points: Array) -> Array:
        log_p = np.array([posterior.log_density(t) for t in points], dtype=float)
        square = (np.linalg.solve(root, (points - mean).T) ** 2).sum(axis=0)
        return -0.5 * square - log_norm - np.where(np.isnan(log_p), -np.inf, log_p)

    with np.errstate(all="ignore"):
        ours, theirs = expit(log_ratio(draws[DRAWS:])), expit(-log_ratio(gaussian))
    if ours.mean() + theirs.mean() < LEAST_OVERLAP:
        raise _NotApplicable("the posterior is too far from any Gaussian to be compared with one")
    gap = float(ours.mean() - theirs.mean())
    bound = s.quantile * float(np.sqrt((ours.var() + theirs.var()) / DRAWS)) + 1e-9
    return abs(gap) <= bound, abs(gap), bound, "the density integrates to 1, and the draws are drawn from it"


# --- expectations over simulated datasets -----------------------------------------------------------------

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


def _no_gain(name: str, meaning: str) -> Callable[[Subject], Result]:
    """E[U(f(D),T)] ≤ E[U(D,T)]."""

    def check(s: Subject) -> Result:
        if name not in s.trials.gains:
            raise _NotApplicable("the model takes no weights")
        gain = s.trials.gains[name]
        bound = s.quantile * float(gain.std(ddof=1)) / np.sqrt(len(gain)) + 1e-9
        return bool(gain.mean() <= bound), float(gain.mean()), float(bound), meaning

    return check


def _balance(s: Subject) -> Result:
    """E_apart[σ(U)] = E_joint[σ(−U)]: exp U is the ratio of the two densities of (D,T); bounded at any U."""
    from scipy.special import expit

    ours, theirs = expit(s.trials.apart), expit(-s.trials.joint)
    gap = abs(float(ours.mean() - theirs.mean()))
    bound = s.quantile * float(np.sqrt((ours.var() + theirs.var()) / s.repeats)) + 1e-9
    meaning = "exp U is how much likelier a pair is of one θ than of two: E σ(U) apart = E σ(−U) together"
    if not s.exact:
        bound, meaning = bound + ROUGH, f"{meaning} ({ROUGH:g} allowed: not said to be exact)"
    return gap <= bound, gap, bound, meaning


def _mean_exp(s: Subject) -> Result:
    """E[exp U] = 1 with its tail bounded: E[exp U; U ≤ M] over independent pairs + P(U > M) of one θ is 1."""
    information = float(s.trials.joint.mean())
    if information >= 1.0:
        raise _NotApplicable(f"I(D;T) is {information:.1f} nats; the mean of exp U settles only below 1")
    ours = np.where(s.trials.apart <= TAIL, np.exp(np.minimum(s.trials.apart, TAIL)), 0.0)
    theirs = (s.trials.joint > TAIL).astype(float)
    gap = abs(float(ours.mean() + theirs.mean() - 1.0))
    bound = s.quantile * float(np.sqrt((ours.var() + theirs.var()) / s.repeats)) + 1e-9
    return s.of_exact((gap <= bound, gap, bound, "E exp U = 1 over independent pairs"))


CHECKS: dict[str, Callable[[Subject], Result]] = {
    "no rows": _no_rows,
    "symmetry": _symmetry,
    "no data": _no_data,
    "row order": _order,
    "weights": _weights,
    "bind": _bind,
    "warm starts": _warm,
    "predictive": _predictive,
    "Bayes' identity": _identity,
    "one more row": _one_more,
    "forecast": _forecast,
    "density": _density,
    "information": _no_gain("no rows", "data processing: no rows are worth no more than D, so E U(D,T) ≥ 0"),
    "half the rows": _no_gain("half the rows", "data processing: half of D is worth no more than D"),
    "noisy labels": _no_gain("noisy labels", "data processing: D with noisy labels is worth no more than D"),
    "shuffled labels": _no_gain("shuffled labels", "truthfulness: D with its labels shuffled scores no more"),
    "rows doubled": _no_gain("rows doubled", "truthfulness: D reported twice scores no more than D"),
    "rows halved": _no_gain("rows halved", "truthfulness: D reported at half weight scores no more than D"),
    "balance": _balance,
    "mean of exp U": _mean_exp,
}
