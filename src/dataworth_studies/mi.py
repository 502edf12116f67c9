"""The MI study: how well do estimators order dataset pairs of known mutual information?

For λ = 0, 0.1, … 1 bits, k pairs are drawn and an estimator makes one number of them; Spearman's ρ between λ
and those eleven numbers says how well it orders. Trials repeat this with fresh draws. Two designs:
*independent* draws for every λ, as in the paper, and *common* random numbers across λ, where only what λ
decides differs.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from dataworth import Dataset, DataworthError, Logistic, Yardstick
from dataworth.arrays import Array
from dataworth.parallel import Engine
from dataworth.parallel.runs import Run, map_resumable

from .cells import at_least, digest
from .estimators.base import Estimator
from .estimators.registry import WITH_PRIOR, known_name, make_estimator
from .known_mi import LEVELS, KnownPairs, Randomness, check_pool, make_pairs, same_side
from .pools import ImagePool

DESIGNS = ("independent", "common")
YARDSTICK_ROWS = 1000


class Usual(NamedTuple):
    """What a study does if it is not told otherwise."""

    size: int
    pairs: int
    trials: int
    estimators: str
    priors: str | None


DEFAULT = Usual(100, 2000, 20, "evidence", None)
QUICK = Usual(50, 200, 2, "evidence,eta,centred", "yardstick")
"""A quick look."""


@dataclass(frozen=True)
class Plan:
    """One estimator on one pool: how many pairs of which size, how many trials, in which design."""

    pool: ImagePool
    estimator: str
    prior: float | str | None
    size: int = 100
    pairs: int = 2000
    trials: int = 20
    design: str = "independent"
    seed: int = 0
    levels: tuple[float, ...] = LEVELS
    intercept: bool = False

    def __post_init__(self) -> None:
        if self.design not in DESIGNS:
            raise DataworthError(f"design is {self.design!r}; known designs: {', '.join(DESIGNS)}.")
        at_least(2, pairs=self.pairs)
        at_least(1, trials=self.trials)
        at_least(0, seed=self.seed)
        if list(self.levels) != sorted(set(self.levels)):
            raise DataworthError(f"levels are {', '.join(map(str, self.levels))}; give them in rising order.")
        check_pool(self.pool.y, self.size)

    @property
    def name(self) -> str:
        """For files: pool, size, design, estimator and prior."""
        prior = (
            "" if self.prior is None else "-yardstick" if self.prior == "yardstick" else f"-{self.prior:g}"
        )
        features = f"{self.pool.name}{self.pool.X.shape[1]}"
        levels = (
            "" if self.levels == LEVELS else "-" + "-".join(f"{level:g}" for level in self.levels) + "bits"
        )
        intercept = "-intercept" if self.intercept else ""
        return f"{features}-{self.size}-{self.design}-{self.estimator}{prior}{intercept}{levels}"


class Work(NamedTuple):
    """What every worker shares."""

    X: Array
    y: Array
    estimator: Estimator
    size: int
    pairs: int
    design: str
    seed: int
    levels: tuple[float, ...]


@dataclass(frozen=True)
class Found:
    """Estimates (trials × levels, nats) with standard errors and seconds of computing.

    `wall_seconds` is how long all of it took together, unless a part had been computed before.
    """

    plan: Plan
    values: Array
    stderr: Array
    cpu_seconds: Array
    details: list[list[dict[str, Any]]] = field(repr=False)
    wall_seconds: float | None = None

    @property
    def correlations(self) -> Array | None:
        """Spearman's ρ of each trial, if levels can be ordered.

        A constant estimate orders nothing: 0. One that failed somewhere (nan) has none: nan.
        """
        from scipy.stats import rankdata

        if len(self.plan.levels) < 2:
            return None
        true = rankdata(self.plan.levels)
        found = []
        for row in self.values:
            ranks = rankdata(row)
            if np.isnan(row).any():
                found.append(np.nan)
            else:
                found.append(float(np.corrcoef(true, ranks)[0, 1]) if np.ptp(ranks) > 0 else 0.0)
        return np.array(found)

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        plan, ordered = self.plan, self.correlations
        return {
            "schema": "dataworth/study-mi/1",
            "pool": plan.pool.name,
            "pool_rows": len(plan.pool.y),
            "features": plan.pool.X.shape[1],
            "pool_digest": digest(plan.pool.X, plan.pool.y),
            "estimator": plan.estimator,
            "prior_variance": plan.prior,
            "intercept": plan.intercept or plan.prior == "yardstick",
            "size": plan.size,
            "pairs": plan.pairs,
            "trials": len(self.values),
            "design": plan.design,
            "seed": plan.seed,
            "levels_bits": list(plan.levels),
            "spearman": None if ordered is None else plain(ordered),
            "spearman_mean": None if ordered is None else plain(ordered.mean()),
            "spearman_sd": None if ordered is None or len(ordered) < 2 else plain(ordered.std(ddof=1)),
            "values_nats": plain(self.values),
            "stderr_nats": plain(self.stderr),
            "cpu_seconds_per_estimate": float(self.cpu_seconds.mean()),
            "wall_seconds": self.wall_seconds,
            "details": self.details,
        }


def plain(values: Any) -> Any:
    """Numbers for JSON, which has no nan: None.

    >>> plain(np.array([1.0, np.nan]))
    [1.0, None]
    """
    numbers = np.asarray(values, dtype=object)
    numbers[np.isnan(np.asarray(values, dtype=float))] = None
    return numbers.tolist()


def run_plan(
    plan: Plan,
    engine: Engine,
    run_dir: Path | None = None,
    progress: Callable[[int, int], None] | None = None,
    estimator: Estimator | None = None,
) -> Found:
    """All trials and levels; in `run_dir` finished ones are kept. `estimator`: in place of a known name."""
    X, estimator = _measured(plan, estimator)
    shared = Work(X, plan.pool.y, estimator, plan.size, plan.pairs, plan.design, plan.seed, plan.levels)
    chunks = [(t, level) for t in range(plan.trials) for level in range(len(plan.levels))]
    started = time.perf_counter()
    if run_dir is None:
        payloads = map_resumable(engine, _cell, chunks, shared=shared, run=None, on_chunk=progress)
        return _found(plan, payloads, time.perf_counter() - started)
    # trials are no part of the configuration: more of them continue the same run
    config = {
        "what": "study mi",
        "pool": digest(X, plan.pool.y),
        "estimator": _told(estimator),
        **{n: getattr(plan, n) for n in ("size", "pairs", "design", "seed", "prior")},
        "levels": list(plan.levels),
    }
    begun_before = run_dir.exists()
    with Run.open(run_dir, config) as run:
        payloads = map_resumable(engine, _cell, chunks, shared=shared, run=run, on_chunk=progress)
    return _found(plan, payloads, None if begun_before else time.perf_counter() - started)


def _told(estimator: Estimator) -> str:
    """The estimator with its settings, the same whenever it is made: not where it is in memory."""
    kind = type(estimator)
    return f"{kind.__module__}.{kind.__qualname__}" if kind.__repr__ is object.__repr__ else repr(estimator)


def _measured(plan: Plan, given: Estimator | None) -> tuple[Array, Estimator]:
    """The features the estimator sees, and the estimator with its prior."""
    X, y = plan.pool.X, plan.pool.y
    if given is not None:
        return X, given
    ones = np.ones(len(y))
    if plan.prior is None:
        return X, make_estimator(plan.estimator, 1.0)
    if plan.prior != "yardstick":
        X = np.column_stack([X, ones]) if plan.intercept else X
        return X, make_estimator(plan.estimator, float(plan.prior))
    some = np.sort(np.random.default_rng([plan.seed, 0x1A4D]).permutation(len(y))[:YARDSTICK_ROWS])
    yard = Yardstick.fit(Dataset(X[some], y[some].astype(int)), seed=plan.seed)
    assert isinstance(yard.model, Logistic)
    features = yard.features(Dataset(X, y.astype(int)))
    # the yardstick's model has an intercept, under the prior of the other columns
    return np.column_stack([features, ones]), make_estimator(plan.estimator, yard.model.prior_variance)


def pairs_of(work: Work, trial: int, level: int) -> KnownPairs:
    """The pairs of one trial and level; pure in the seed, and in *common* the same but for the level."""
    stream = [work.seed, 0x3171, trial] + ([level] if work.design == "independent" else [])
    chance = Randomness.draw(np.random.default_rng(stream), work.pairs, work.size)
    return make_pairs(work.X, work.y, work.levels[level], chance)


def _cell(work: Work, chunk: tuple[int, int]) -> dict[str, Any]:
    trial, level = chunk
    pairs = pairs_of(work, trial, level)
    started = time.process_time()  # of this process: other work on the machine does not count
    guess = work.estimator(pairs, int(np.random.default_rng([work.seed, trial, level]).integers(2**31)))
    seconds = time.process_time() - started
    return {"value": guess.value, "stderr": guess.stderr, "cpu_seconds": seconds, "details": guess.details}


def _found(plan: Plan, payloads: Sequence[dict[str, Any]], wall_seconds: float | None) -> Found:
    shape = (plan.trials, len(plan.levels))

    def table(name: str) -> Array:
        return np.array([np.nan if p[name] is None else p[name] for p in payloads], dtype=float).reshape(
            shape
        )

    wide = len(plan.levels)
    details = [[p["details"] for p in payloads[t * wide : (t + 1) * wide]] for t in range(plan.trials)]
    return Found(plan, table("value"), table("stderr"), table("cpu_seconds"), details, wall_seconds)


def plans_for(
    pool: ImagePool,
    estimators: str,
    priors: str | None,
    levels: str | None,
    size: int,
    pairs: int,
    trials: int,
    design: str,
    seed: int,
    intercept: bool = False,
) -> list[Plan]:
    """A plan for each estimator and prior that were named; estimators without a prior have one plan.

    `intercept` gives models a column of ones, which the paper's have not in this study.
    """
    wanted = list(dict.fromkeys(known_name(word.strip()) for word in estimators.split(",")))
    for name in wanted:
        make_estimator(name, 1.0)  # refuses what it does not know before any work
    if priors is None:
        values: list[float | str] = [*pool.priors, "yardstick"]
    else:
        values = [_prior(word.strip()) for word in priors.split(",")]
    bits = LEVELS if levels is None else tuple(_number(word.strip(), "a level") for word in levels.split(","))
    for level in bits:
        same_side(level)  # refuses what is no level
    return [
        Plan(pool, name, prior, size, pairs, trials, design, seed, bits, intercept and name in WITH_PRIOR)
        for name in wanted
        for prior in (values if name in WITH_PRIOR else [None])
    ]


def _prior(word: str) -> float | str:
    if word == "yardstick":
        return word
    return Logistic(_number(word, "a prior variance")).prior_variance  # which refuses what is no variance


def _number(word: str, what: str) -> float:
    try:
        return float(word)
    except ValueError:
        raise DataworthError(f"{what} is {word!r}; give numbers between commas.") from None
