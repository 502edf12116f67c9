"""Do values find wrong labels and bad sources, do their intervals hold, does the forecast come true?

One file of finished cells; a study that is started again goes on where it stopped.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from dataworth import Dataset, Yardstick, contributions, forecast, score, values

from .cells import Cells, Record, at_least
from .value_peers import PEERS, Task
from .value_sets import MANY, NAMES, draw, flipped

RATES = (0.1, 0.2)
FRESH = 10
"""Fresh test sets from which the true value of a row is told."""
SOURCES, BAD = 5, 0.3
PARTS = ("labels", "intervals", "sources", "forecast", "attacks")
ATTACKS = 40
"""Times as many seeds: of simulated vendors, one set."""


def run(
    out: Path | None = None,
    *,
    parts: tuple[str, ...] = PARTS,
    sets: tuple[str, ...] = NAMES,
    seeds: int = 5,
    progress: Callable[[int, int], None] | None = None,
) -> dict[str, list[Record]]:
    """All parts on all sets; finished cells in `out` are kept."""
    at_least(1, seeds=seeds)
    todo = []
    for part in parts:
        some = sets if part in ("labels", "sources") else tuple(name for name in sets if name in MANY)
        times = ATTACKS if part == "attacks" else 1
        names = ("simulated",) if part == "attacks" else some
        todo += [(part, name, seed) for seed in range(times * seeds) for name in names]
    cells = Cells.of(out, "values")
    found: dict[str, list[Record]] = {part: [] for part in parts}
    for done, (part, name, seed) in enumerate(todo):
        key = {"part": part, "set": name, "seed": seed}
        found[part].append(cells.get(key, partial(STUDIES[part], name, seed)))
        if progress is not None:
            progress(done + 1, len(todo))
    return found


def labels(name: str, seed: int) -> Record:
    """Area under the ROC curve and average precision of every way to find wrong labels; lists; clean data."""
    from sklearn.metrics import average_precision_score, roc_auc_score

    drawn = draw(name, seed)
    T = Dataset(drawn.test_X, drawn.test_y)
    yard = Yardstick.fit(T, seed=seed)
    features = yard.features(Dataset(drawn.X, drawn.y)), yard.features(T)
    clean = values(Dataset(drawn.X, drawn.y), T, yardstick=yard)
    record: Record = {"clean listed": int(clean.rows.harmful.sum()), "yardstick": str(yard)}
    for rate in RATES:
        y, bad = flipped(drawn.y, rate, seed)
        started = perf_counter()
        found = values(Dataset(drawn.X, y), T, yardstick=yard).rows
        seconds = perf_counter() - started
        told = {
            "p_mislabeled": found.p_mislabeled,
            "loo_log_likelihood": -found.loo_log_likelihood,
            "value": -found.value,
        }
        task = Task(
            features[0], y, features[1], drawn.test_y, yard.model.prior_variance * yard.tempering, seed
        )
        told |= {peer: ask(task) for peer, ask in PEERS.items()}
        ways = {
            way: [float(roc_auc_score(bad, each)), float(average_precision_score(bad, each))]
            for way, each in told.items()
        }
        wrong = found.p_mislabeled > 0.5
        lists = {
            "listed": int(found.harmful.sum()),
            "listed, wrong": int(found.harmful[bad].sum()),
            "doubted": int(wrong.sum()),
            "doubted, wrong": int(wrong[bad].sum()),
        }
        record[f"{rate:g}"] = {"ways": ways, **lists, "seconds": seconds}
    return record


def intervals(name: str, seed: int) -> Record:
    """How often 95 % intervals hold a row's mean value over fresh test sets; false entries on the list."""
    drawn = draw(name, seed, data=400)
    yard = Yardstick.fit(Dataset(drawn.test_X, drawn.test_y), seed=seed)
    record: Record = {}
    for rate in (0.0, 0.1):
        y, bad = flipped(drawn.y, rate, seed)
        D, rng = Dataset(drawn.X, y), np.random.default_rng([seed, 0xF2E5])
        found = []
        for _ in range(FRESH):
            rows = rng.permutation(len(drawn.rest_y))[:250]
            T = Dataset(drawn.rest_X[rows], drawn.rest_y[rows])
            found.append(values(D, T, yardstick=yard).rows)
        value, stderr = (np.array([getattr(one, what) for one in found]) for what in ("value", "stderr"))
        listed, mean = np.array([one.harmful for one in found]), value.mean(axis=0)
        # the mean of the ten holds a tenth of the value itself
        off = np.abs(value - mean) / np.maximum(stderr, 1e-12) * np.sqrt(FRESH / (FRESH - 1))
        record[f"{rate:g}"] = {
            "covered": float((off < 1.97).mean()),
            "listed": float(listed.sum(axis=1).mean()),
            "listed, mean value above 0": float((listed & (mean > 0)).sum(axis=1).mean()),
            "listed, label wrong": float((listed & bad).sum(axis=1).mean()),
            "mean value below 0": int((mean < 0).sum()),
        }
    return record


def sources(name: str, seed: int) -> Record:
    """Five annotators, one of whom has 30 % wrong labels: who is said to be worse than rows at random."""
    drawn = draw(name, seed)
    T, rng = Dataset(drawn.test_X, drawn.test_y), np.random.default_rng([seed, 0x50C])
    who = rng.permutation(len(drawn.y)) % SOURCES
    wrong = (who == 0) & (rng.random(len(drawn.y)) < BAD)
    y = np.where(wrong, 1 - drawn.y, drawn.y)
    found = values(Dataset(drawn.X, y, groups=[f"annotator {k}" for k in who]), T, seed=seed)
    worse = [one.name for one in found.groups if one.below_random]
    return {"found": "annotator 0" in worse, "false": len([one for one in worse if one != "annotator 0"])}


def growing(name: str, seed: int) -> Record:
    """What twice and four times the rows are worth, as extrapolated and as measured."""
    record: Record = {}
    drawn = draw(name, seed, data=300)
    T = Dataset(drawn.test_X, drawn.test_y)
    yard = Yardstick.fit(T, seed=seed)
    X, clean = np.vstack([drawn.X, drawn.rest_X[:900]]), np.concatenate([drawn.y, drawn.rest_y[:900]])
    for rate in (0.0, 0.2):
        y, _ = flipped(clean, rate, seed)
        told = forecast(Dataset(X[:300], y[:300]), T, yardstick=yard, seed=seed)
        ends: dict[str, Any] = {}
        for times in (2, 4):
            point = next(one for one in told.curve if one.rows == 300 * times and not one.measured)
            true = score(
                Dataset(X[: 300 * times], y[: 300 * times]), T, yardstick=yard, ignore="all", seed=seed
            )
            low, high = point.interval or (np.nan, np.nan)
            ends[f"{times}"] = {
                "extrapolated": point.value,
                "measured": true.value,
                "covered": bool(low <= true.value <= high),
            }
        record[f"{rate:g}"] = {**ends, "decreasing": told.decreasing}
    return record


def attack(name: str, seed: int) -> Record:
    """What one of three vendors is paid for honest data, and for the same data with tricks."""
    from sklearn.linear_model import LogisticRegression

    rng = np.random.default_rng([seed, 0xA77])
    yard = _attacked()
    T, honest = (
        Dataset(*_vendor(rng, 250)),
        {one: _vendor(rng, k) for one, k in zip("abc", (40, 60, 80), strict=True)},
    )
    who = "abc"[seed % 3]
    X, y = honest[who]
    near, further = X + JITTER * rng.normal(size=X.shape), rng.normal(size=X.shape)
    guessed = LogisticRegression(max_iter=1000).fit(X, y).predict(further)
    half = len(y) // 2
    tricks = {
        "honest": {},
        "duplicate": {who: (np.vstack([X, X]), np.append(y, y))},
        "near-duplicate": {who: (np.vstack([X, near]), np.append(y, y))},
        "near-duplicate, second name": {"d": (near, y)},
        "split identity": {who: (X[:half], y[:half]), "d": (X[half:], y[half:])},
        "self-labelling": {who: (np.vstack([X, further]), np.append(y, guessed))},
    }
    record: Record = {"who": who}
    for trick, change in tricks.items():
        found = contributions(
            {one: Dataset(*rows) for one, rows in {**honest, **change}.items()}, T, yardstick=yard
        )
        marginal = {one.name: one.marginal.value for one in found.vendors}
        others = [one for one in "abc" if one != who]
        order = sorted(others, key=lambda one: -marginal[one])
        record[trick] = {"marginal": marginal[who] + marginal.get("d", 0.0), "order": order}
    return record


COEFFICIENTS, JITTER = np.array([1.0, -1.0, 0.5, 0.0, 0.7, -0.3]), 0.05


def _vendor(rng: np.random.Generator, rows: int) -> tuple[Any, Any]:
    X = rng.normal(size=(rows, len(COEFFICIENTS)))
    return X, (X @ COEFFICIENTS + 0.7 * rng.logistic(size=rows) > 0).astype(int)


@cache
def _attacked() -> Yardstick:
    return Yardstick.fit(Dataset(*_vendor(np.random.default_rng(99), 250)), prior_variance=1.0)


STUDIES: dict[str, Callable[[str, int], Record]] = {
    "labels": labels,
    "intervals": intervals,
    "sources": sources,
    "forecast": growing,
    "attacks": attack,
}
