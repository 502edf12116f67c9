"""The yardstick: features, class order, model and prior, from the test set alone.

Subsamples of one real dataset share one θ*. If the model is under-confident, anything that sharpens its
posterior raises the score: doubling every row would look informative. So the yardstick is chosen by
held-out log-likelihood over halves of the test set, subject to the *doubling probe*

    U(2×T_a, T_b) − U(T_a, T_b) ≤ 0  on average (within its standard error),

then frozen and hashed. Nobody's data can move it, because it never sees any.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np

from .data import Dataset
from .errors import DataworthError
from .models import Fit, Fitter, Linear, Logistic, OneVsRest, Softmax
from .models.base import Array, Rows
from .models.logistic import INFERENCES
from .recipe import Basis, Recipe
from .targets import Amounts, Classes, learn_targets

SCHEMA = "dataworth/yardstick/1"
KINDS: dict[str, type[Any]] = {
    "logistic": Logistic,
    "linear": Linear,
    "softmax": Softmax,
    "one-vs-rest": OneVsRest,
}
"""Models by name. One more is one more line, if it has a `prior_variance` and an `intercept`."""
MODELS = ("auto", *KINDS)
YardstickModel = Logistic | Linear | Softmax | OneVsRest
SIZES = (1, 2, 3, 5, 10, 20, 40, 80, 160)
ALWAYS_TRIED = 40
EXPONENTS = (0.0, 0.5, 1.0)
PRIORS = tuple(float(f"{c:.3g}") for c in 10.0 ** np.arange(-4.0, 3.01, 0.5))
NOISES = (0.03, 0.1, 0.3, 0.6, 1.0)
ROWS = 1000
"""Rows of the test set that the search uses at most; the recipe's axes come from the same rows."""
SPLITS = 6
LEAST_ROWS = 20
MOST_PROBED = 60
SPLITS_OF_SOFTMAX, PROBED_OF_SOFTMAX = 3, 10
"""A fit of ten classes has 45 times the operations of one of two (K² − K), so its search takes fewer."""
LEAST_ALLOWANCE, ALLOWANCE = 3.0, 0.1
"""Held-out nats, and share of the best held-out likelihood, within which a candidate is near the best."""


@dataclass(frozen=True)
class Trial:
    """One candidate of the search: mean held-out log-likelihood of a half, and the doubling probe (nats)."""

    size: int
    exponent: float
    prior_variance: float
    noise_variance: float | None
    held_out: float
    probe: float | None = None
    probe_stderr: float | None = None

    @property
    def calibrated(self) -> bool:
        """Whether the doubling probe is not shown positive: not above one standard error."""
        return self.probe is not None and self.probe_stderr is not None and self.probe <= self.probe_stderr


@dataclass(frozen=True, eq=False)
class Yardstick:
    """A frozen way of measuring. `Yardstick.fit(T)` makes one; `features`, `targets` and `model` apply it."""

    recipe: Recipe
    labels: Classes | Amounts
    model: YardstickModel
    chosen: Trial
    test_hash: str
    rows: int
    seed: int

    @classmethod
    def fit(
        cls,
        test: Dataset,
        *,
        model: str = "auto",
        inference: str = "laplace",
        prior_variance: float | None = None,
        seed: int = 0,
    ) -> Yardstick:
        """Search sizes, exponents and priors on halves of the test set.

        `inference` is how posteriors of classes are computed; amounts have exact ones, whatever it is.
        """
        from threadpoolctl import threadpool_limits

        if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)) or seed < 0:
            raise DataworthError(f"seed is {seed!r}; it must be a whole number, 0 or more.")
        seed = int(seed)
        check_modelling(model, inference)
        if len(test) < LEAST_ROWS:
            raise DataworthError(
                f"the test set has {len(test)} rows; a yardstick needs {LEAST_ROWS} or more."
            )
        labels = learn_targets(test)
        kind = suited_kind(labels, model)
        make = maker(kind, inference, labels)
        sample, rng = searched(test, seed)
        with threadpool_limits(1):  # how threads share a sum shows in its last bits
            basis = Basis.learn(sample)
        splits = halves(len(sample), rng, splits_of(kind))
        probed = PROBED_OF_SOFTMAX if kind == "softmax" else MOST_PROBED
        search = Search(sample, basis, labels.encode(sample.y), make, splits, probed)
        with threadpool_limits(1):
            chosen = search.run(NOISES if kind == "linear" else (None,), prior_variance)
        return cls(
            basis.recipe(chosen.size, chosen.exponent),
            labels,
            make(chosen.prior_variance, chosen.noise_variance),
            chosen,
            test.content_hash(),
            len(test),
            seed,
        )

    def features(self, data: Dataset) -> Array:
        """The dataset's features on this yardstick."""
        return self.recipe.features(data)

    def targets(self, data: Dataset, what: str = "the data") -> Array:
        """The dataset's labels as numbers."""
        return self.labels.encode(data.y, what)

    @property
    def kind(self) -> str:
        """The model's name."""
        return next(name for name, kind in KINDS.items() if isinstance(self.model, kind))

    @property
    def inference(self) -> str | None:
        """How its posteriors are computed; None if exactly."""
        if isinstance(self.model, Linear):
            return None
        return "laplace" if isinstance(self.model, Softmax) else self.model.inference

    @property
    def calibrated(self) -> bool:
        """Whether doubling data does not look informative on this yardstick."""
        return self.chosen.calibrated

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Yardstick) and self.digest == other.digest

    def __hash__(self) -> int:
        return hash(self.digest)

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON, with the digest of everything else."""
        labels = (
            {"classes": list(self.labels.names)}
            if isinstance(self.labels, Classes)
            else {"center": self.labels.center, "scale": self.labels.scale}
        )
        body = {
            "schema": SCHEMA,
            "labels": labels,
            "model": {"kind": self.kind} | vars(self.model),
            "chosen": vars(self.chosen),
            "test_hash": self.test_hash,
            "rows": self.rows,
            "seed": self.seed,
            "recipe": self.recipe.to_dict(),
        }
        return body | {"digest": _digest(body)}

    def summary(self) -> dict[str, Any]:
        """What of it belongs in every result: enough to name it, not enough to apply it."""
        return {
            "digest": self.digest,
            "model": repr(self.model),
            "calibrated": self.calibrated,
            "unit": "nats",
            **vars(self.chosen),
        }

    @property
    def digest(self) -> str:
        """A hash of all of it: equal digests measure alike."""
        return str(self.to_dict()["digest"])

    def save(self, path: str | Path) -> None:
        """Write as JSON."""
        Path(path).write_text(json.dumps(self.to_dict()) + "\n")

    @classmethod
    def load(cls, path: str | Path) -> Yardstick:
        """Read what `save` wrote; a file that was altered is refused."""
        try:
            d = json.loads(Path(path).read_text())
        except FileNotFoundError:
            raise DataworthError(
                f"there is no yardstick at {str(path)!r}; `dataworth yardstick` makes one."
            ) from None
        except (OSError, ValueError):
            raise DataworthError(
                f"{str(path)!r} is not a yardstick; `dataworth yardstick` makes one."
            ) from None
        if not isinstance(d, dict) or d.get("schema") != SCHEMA:
            raise DataworthError(f"{str(path)!r} is not a yardstick of this version ({SCHEMA}).")
        if d.pop("digest", None) != _digest(d):
            raise DataworthError(f"{str(path)!r} was changed after it was made (its digest does not match).")
        labels = d["labels"]
        kind = KINDS.get(d["model"].pop("kind"))
        if kind is None:
            raise DataworthError(f"{str(path)!r} has a model that this version does not know: update it.")
        return cls(
            Recipe.from_dict(d["recipe"]),
            Classes(tuple(labels["classes"])) if "classes" in labels else Amounts(**labels),
            kind(**d["model"]),
            Trial(**d["chosen"]),
            d["test_hash"],
            d["rows"],
            d["seed"],
        )

    def __repr__(self) -> str:
        return f"Yardstick({self})"

    def __str__(self) -> str:
        plural = "axis" if self.chosen.size == 1 else "axes"
        axes = f"{self.chosen.size} principal {plural}, variance exponent {self.chosen.exponent:g}"
        probe = "" if self.chosen.probe is None else f", doubling probe {self.chosen.probe:+.2f}"
        return f"{axes}; {self.model!r}{probe}; {self.digest[:12]}"


def check_modelling(model: object, inference: object) -> None:
    """Known names of a model and of an inference, or a sentence."""
    if not isinstance(model, str):
        raise DataworthError(
            f"model is a {type(model).__name__}; give a name here, {', '.join(MODELS)}: the yardstick makes "
            "the model, with prior_variance if you give it (dw.pmi takes models themselves)."
        )
    if model not in MODELS:
        raise DataworthError(f"model is {model!r}; known models: {', '.join(MODELS)}.")
    if inference not in INFERENCES:
        raise DataworthError(f"inference is {inference!r}; known inferences: {', '.join(INFERENCES)}.")


def suited_kind(labels: Classes | Amounts, model: str = "auto") -> str:
    """The name of the model that is asked for, or the first that suits the labels; a sentence if it does not.

    >>> suited_kind(Classes(("a", "b", "c"))), suited_kind(Classes(("a", "b"))), suited_kind(Amounts())
    ('softmax', 'logistic', 'linear')
    """
    if isinstance(labels, Amounts):
        suited = ["linear"]
    else:
        takes = ("two classes", "classes") if len(labels.names) == 2 else ("classes",)
        suited = [name for name, kind in KINDS.items() if kind.takes in takes]
    if model not in ("auto", *suited):
        raise DataworthError(f"model is {model!r}, but the test set's labels suit {', '.join(suited)}.")
    return suited[0] if model == "auto" else model


def maker(
    kind: str, inference: str, labels: Classes | Amounts
) -> Callable[[float, float | None], YardstickModel]:
    """Makes models of a kind from a prior variance and, for amounts, a noise variance."""
    if kind == "softmax" and inference != "laplace":
        raise DataworthError(
            f"inference is {inference!r}, but softmax knows laplace alone: drop it, or use one-vs-rest."
        )
    known = {f.name for f in fields(KINDS[kind])}
    given: dict[str, Any] = {"inference": inference}
    if isinstance(labels, Classes):
        given["classes"] = len(labels.names)  # fixed: a dataset that lacks a class measures as others do
    given = {name: value for name, value in given.items() if name in known}

    def make(prior_variance: float, noise: float | None) -> YardstickModel:
        own = given if noise is None else given | {"noise_variance": noise}
        made: YardstickModel = KINDS[kind](prior_variance=prior_variance, **own)
        return made

    return make


def _digest(body: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()


def searched(test: Dataset, seed: int) -> tuple[Dataset, np.random.Generator]:
    """The rows of a test set that a search uses, and the generator that goes on to halve them."""
    rng = np.random.default_rng([seed, 0x7E57])
    return test.take(np.sort(rng.permutation(len(test))[:ROWS])), rng


def splits_of(kind: str) -> int:
    """How often the test set is halved for a model of this kind.

    >>> splits_of("logistic"), splits_of("softmax")
    (6, 3)
    """
    return SPLITS_OF_SOFTMAX if kind == "softmax" else SPLITS


def halves(n: int, rng: np.random.Generator, splits: int = SPLITS) -> list[tuple[Rows, Rows]]:
    """Random halves of n rows."""
    return [(p[: n // 2], p[n // 2 :]) for p in (rng.permutation(n) for _ in range(splits))]


@dataclass(frozen=True)
class Search:
    """Held-out likelihood and doubling probe of candidates, on fixed halves of the test set."""

    sample: Dataset
    basis: Basis
    targets: Array
    make: Callable[[float, float | None], YardstickModel]
    splits: list[tuple[Rows, Rows]]
    most_probed: int = MOST_PROBED

    def run(self, noises: tuple[float | None, ...], prior_variance: float | None) -> Trial:
        """The candidate with the best held-out likelihood among those near the best that are calibrated.

        If none is, the one with the least positive probe, and `calibrated` says so.
        """
        trials = sorted(self.candidates(noises, prior_variance), key=lambda t: -t.held_out)
        if not trials:
            raise DataworthError("every feature of the test set is constant; there is nothing to learn from.")
        near = [t for t in trials if t.held_out >= trials[0].held_out - self.allowance(trials[0])]
        probed: list[Trial] = []
        for trial in near[: self.most_probed]:
            probe, stderr = self.probe(trial)
            probed.append(replace(trial, probe=probe, probe_stderr=stderr))
            if probed[-1].calibrated:
                return probed[-1]
        return min(probed, key=lambda t: t.probe if t.probe is not None else np.inf)

    @staticmethod
    def allowance(best: Trial) -> float:
        """Held-out nats that calibration may cost: a model that sees less is the worse evil."""
        return max(LEAST_ALLOWANCE, ALLOWANCE * abs(best.held_out))

    def candidates(self, noises: tuple[float | None, ...], prior_variance: float | None) -> Iterator[Trial]:
        """Every size and exponent, each with priors around its best one.

        Every size up to 40 is tried, since what matters may lie behind axes that do not; larger ones, which
        cost more, only until one brings nothing.
        """
        most = max(1, len(self.sample) // 6)
        sizes = sorted({min(k, self.basis.rank) for k in SIZES if k <= most} - {0})
        best, center = -np.inf, PRIORS.index(1.0)
        for size in sizes:
            top = -np.inf
            for exponent in EXPONENTS if size > 1 else (1.0,):
                features = self.basis.recipe(size, exponent).features(self.sample)
                for noise in noises:
                    found = self.climb(features, size, exponent, noise, center, prior_variance)
                    yield from found.values()
                    index = max(found, key=lambda i: found[i].held_out)
                    if found[index].held_out > top:
                        top, center = found[index].held_out, index
            if size >= ALWAYS_TRIED and top <= best:
                return
            best = max(best, top)

    def climb(
        self,
        features: Array,
        size: int,
        exponent: float,
        noise: float | None,
        center: int,
        fixed: float | None,
    ) -> dict[int, Trial]:
        """Held-out likelihood on the grid of priors, uphill from `center`, and one step past the top.

        Wider priors than the best are kept as candidates too: they are more confident, so they may pass the
        probe where the best does not.
        """
        priors = PRIORS if fixed is None else (fixed,)
        center = min(center, len(priors) - 1)
        found: dict[int, Trial] = {}

        def at(i: int) -> float:
            if not 0 <= i < len(priors):
                return -np.inf
            if i not in found:
                held_out = self.held_out(features, priors[i], noise)
                found[i] = Trial(size, exponent, priors[i], noise, held_out)
            return found[i].held_out

        while max(at(center - 1), at(center + 1)) > at(center):
            center += 1 if at(center + 1) > at(center - 1) else -1
        for i in range(center + 1, center + 4):
            at(i)
        return found

    def held_out(self, features: Array, prior_variance: float, noise: float | None) -> float:
        """Mean of log p(T_b | T_a) = log Z(T) − log Z(T_a) over halves, both ways round."""
        fitter = self.make(prior_variance, noise).bind(features, self.targets)
        return half_given_half(fitter, self.splits, self.sample.weights)

    def probe(self, trial: Trial) -> tuple[float, float]:
        """The doubling probe of a candidate."""
        features = self.basis.recipe(trial.size, trial.exponent).features(self.sample)
        model = self.make(trial.prior_variance, trial.noise_variance)
        return doubling_probe(model.bind(features, self.targets), self.splits, self.sample.weights)


def half_given_half(fitter: Fitter, splits: list[tuple[Rows, Rows]], weights: Array | None = None) -> float:
    """Mean of log p(T_b | T_a) = log Z(T) − log Z(T_a) over halves of a test set, both ways round."""
    whole = fitter(np.arange(len(fitter.y)), weights=weights)
    parts = [
        fitter(rows, (whole,), weights=None if weights is None else weights[rows]).log_z
        for split in splits
        for rows in split
    ]
    return float(whole.log_z - np.mean(parts))


def doubling_probe(
    fitter: Fitter, splits: list[tuple[Rows, Rows]], weights: Array | None = None
) -> tuple[float, float]:
    """Mean and standard error of U(2×T_a, T_b) − U(T_a, T_b) over halves of a test set, both ways round."""

    def fit(rows: Rows, *start: Fit) -> Fit:
        return fitter(rows, start, weights=None if weights is None else weights[rows])

    whole = fit(np.concatenate(splits[0]))
    gains = []
    for a, b in (pair for split in splits for pair in (split, split[::-1])):
        single = fit(a, whole)
        double = fit(np.concatenate([a, a]), single)
        joint = fit(np.concatenate([a, a, b]), double, whole)
        gains.append((joint.log_z - double.log_z) - (whole.log_z - single.log_z))
    return float(np.mean(gains)), float(np.std(gains, ddof=1) / np.sqrt(len(gains)))
