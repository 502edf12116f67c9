"""The paper's third experiment: does the score of preference data follow generalisation, unlike accuracy?

Parts of a pool, more and less diverse (smoothing, uniform, peak), are scored by the paper's PMI (projected
gradients, halves swapped by a coin, C = 0.001) and by our yardstick, on gradients, n-grams and a text
encoder; reward models trained on them are tested in and out of distribution.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

import dataworth as dw
from dataworth import DataworthError
from dataworth.arrays import Array, Rows
from dataworth.curation.density import peak_rows, smooth_rows
from dataworth.curation.diversity import mean_cosine, vendi
from dataworth.data.io.preferences import Preferences, read_preferences
from dataworth.embed import encode
from dataworth.embed.gradients import embed_gradients, gradient_table
from dataworth.embed.language_model import LanguageModel

from .cells import Cells, Record, digest
from .rewards import Activations, RewardModel, Training

STRATEGIES = ("distribution smoothing", "uniform random", "peak selection")
FORMS = ("evidence", "product", "eta")
PAPER_C = 0.001
"""The paper's regularisation: the prior variance of its logistic regression."""


@dataclass(frozen=True)
class Plan:
    """Sizes of the study; those of the paper are 10 parts of 5,000 pairs, 100 draws of 1,000 and 1,000."""

    pool: int = 2000
    test: int = 500
    outside: int = 500
    part: int = 250
    parts: int = 8
    models: int = 5
    draws: int = 100
    draw: int = 200
    clusters: int = 20
    size: int = 1024
    max_tokens: int = 160
    modules: str = "last-quarter"
    training: Training = field(default_factory=Training)


PLANS = {
    "here": Plan(),
    "paper": Plan(50_000, 5_000, 5_000, 5_000, 10, 10, 100, 1_000, 100, modules="all", max_tokens=1024),
    "quick": Plan(60, 30, 20, 20, 2, 1, 3, 15, 3, size=32, training=Training(blocks=1, epochs=1)),
}
"""By name. `paper` trains the upper blocks too; `Training(blocks=None)` trains all."""
SOURCES = {
    "pool": "rmb_helpfulness.jsonl.gz",
    "arguments": "ukpconvarg1strict.jsonl.gz",
    "harmless": "hh_rlhf_harmless_base_test.jsonl.gz",
}
OUTSIDE = ("arguments", "harmless")


def split(pairs: Preferences, plan: Plan, seed: int) -> tuple[Preferences, Rows, Rows]:
    """Some pairs, and which of them are the pool and the test set; no prompt is in both."""
    rng = np.random.default_rng([seed, 0x9E3])
    prompts = np.array(sorted(set(pairs.prompts)))
    own = np.searchsorted(prompts, pairs.prompts)
    held, part = np.zeros(len(prompts), dtype=bool), plan.test / (plan.test + plan.pool)
    held[rng.permutation(len(prompts))[: max(1, round(part * len(prompts)))]] = True
    order = rng.permutation(len(pairs))
    test, pool = order[held[own[order]]][: plan.test], order[~held[own[order]]][: plan.pool]
    if len(test) < plan.test or len(pool) < plan.pool:
        raise DataworthError(
            f"the pool has {len(pool)} pairs and the test set {len(test)}, but {plan.pool} and {plan.test}"
            " are asked for: give more pairs, or another --preset."
        )
    both = np.concatenate([pool, test])
    return take(pairs, both), np.arange(len(pool)), np.arange(len(pool), len(both))


def take(pairs: Preferences, rows: Rows) -> Preferences:
    """Some of the pairs."""
    every = pairs.pairs
    prompts, chosen, rejected = zip(*(every[i] for i in rows), strict=True)
    return Preferences(prompts, chosen, rejected, pairs.kept[rows], pairs.dropped)


def parts(vectors: Array, pool: Rows, plan: Plan, seed: int) -> Iterator[tuple[str, int, Rows, float | None]]:
    """(strategy, number, rows, the threshold that filled a peak), by gradients of both responses."""
    X = vectors[pool].reshape(len(pool), -1)
    for number in range(plan.parts):
        rng = np.random.default_rng([seed, 0x5A3, number])
        yield STRATEGIES[0], number, pool[smooth_rows(X, plan.part, plan.clusters, rng)], None
        yield STRATEGIES[1], number, np.sort(rng.choice(pool, plan.part, replace=False)), None
        rows, reached = peak_rows(X, plan.part, 0.8, rng)
        yield STRATEGIES[2], number, pool[rows], reached


def lengths(pairs: Preferences) -> Record:
    """How often the longer response is chosen, and how much longer the longer ones are (mean log ratio)."""
    ratio = np.log([len(a) / len(b) for a, b in zip(pairs.chosen, pairs.rejected, strict=True)])
    return {"longer_chosen": float((ratio > 0).mean()), "length_ratio": float(np.abs(ratio).mean())}


def paper_pmi(vectors: Array, rows: Rows, test: Rows, plan: Plan, seed: int) -> Record:
    """The paper's score: means over draws, of every form."""
    model = dw.Logistic(prior_variance=PAPER_C)
    found: dict[str, list[float]] = {form: [] for form in FORMS}
    for i in range(plan.draws):
        rng = np.random.default_rng([seed, 0xB37, i])
        D, T = (_swapped(vectors, rng.choice(some, plan.draw, replace=False), rng) for some in (rows, test))
        for form in FORMS:
            found[form].append(dw.pmi(D, T, model, form).value)
    return {f"pmi_{form}": float(np.mean(values)) for form, values in found.items()}


def _swapped(vectors: Array, rows: Rows, rng: np.random.Generator) -> dw.Dataset:
    """x = [g(chosen); g(rejected)] where y = 0, the other way round where y = 1."""
    y = rng.integers(0, 2, len(rows))
    y[:2] = (0, 1)  # both classes, as its logistic regression needs
    halves = vectors[rows[:, None], np.stack([y, 1 - y], axis=1)]
    return dw.Dataset(halves.reshape(len(rows), -1), y)


def feature_sets(
    pairs: Preferences, store: Any, encoder: str | None, progress: Any
) -> dict[str, Callable[[Rows], dw.Dataset]]:
    """Datasets of differences, by what responses become."""
    gradients = dw.read(gradient_table(store, pairs))
    names = {"prompt": pairs.prompts, "chosen": pairs.chosen, "rejected": pairs.rejected}
    texts = dw.read(pa.table({name: list(said) for name, said in names.items()}))
    made = {"gradients": gradients, "n-grams": texts}
    if encoder is not None:
        made["encoder"] = encode(texts, encoder, progress=progress)
    return {name: data.take for name, data in made.items()}


def study(
    data: Path,
    out: Path,
    model: str,
    *,
    plan: Plan = PLANS["here"],
    encoder: str | None = None,
    sources: Mapping[str, str] = SOURCES,
    seed: int = 0,
    progress: Any = None,
) -> list[Record]:
    """A record for each part: diversity, scores, accuracies of its reward model if it has one."""
    pairs, pool, test = split(read_preferences(data / sources["pool"]), plan, seed)
    store = embed_gradients(
        pairs.pairs,
        model,
        size=plan.size,
        modules=plan.modules,
        max_tokens=plan.max_tokens,
        cache=out / "gradients",
        progress=progress,
    )
    vectors = store.vectors().astype(float)
    sets = feature_sets(pairs, store, encoder, progress)
    yards = {name: dw.Yardstick.fit(rows(test), seed=seed) for name, rows in sets.items()}
    cells = Cells.of(out, "preference")
    told = getattr(progress, "update", progress)
    judge = Judge(data, model, pairs, test, plan, sources, told, out / "activations")
    found = []
    for strategy, number, rows, reached in parts(vectors, pool, plan, seed):
        key = {"strategy": strategy, "part": number, "rows": digest(rows, vectors[rows])}
        G = vectors[rows].reshape(len(rows), -1)
        record = {
            "strategy": strategy,
            "part": number,
            "threshold": reached,
            "vendi": vendi(G),
            "mean_cosine": mean_cosine(G),
            **lengths(take(pairs, rows)),
            **cells.get(
                {**key, "what": "paper", "draws": plan.draws},
                partial(paper_pmi, vectors, rows, test, plan, seed),
            ),
        }
        for name, of in sets.items():
            scored = cells.get(
                {**key, "what": name},
                partial(_score, of, rows, test, yards[name], seed),
            )
            record |= {f"{what} ({name})": scored[what] for what in ("score", "accuracy")}
        if number < plan.models:
            record |= cells.get(
                {**key, "what": "reward", "training": vars(plan.training)},
                partial(judge, rows, number),
            )
        record.pop("key", None)
        found.append(record)
        if told is not None:
            told(len(found), len(STRATEGIES) * plan.parts)
    return found


def _score(of: Callable[[Rows], dw.Dataset], rows: Rows, test: Rows, yard: dw.Yardstick, seed: int) -> Record:
    found = dw.score(of(rows), of(test), yardstick=yard, seed=seed, ignore="all")
    return {"score": found.value, "accuracy": found.accuracy.value}


class Judge:
    """Trains reward models and tests them in and out of distribution; nothing is loaded before the first."""

    def __init__(
        self,
        data: Path,
        model: str,
        pairs: Preferences,
        test: Rows,
        plan: Plan,
        sources: Mapping[str, str],
        told: Callable[[int, int], None] | None = None,
        keep: Path | None = None,
    ) -> None:
        self._told, self._keep = told, keep
        self._data, self._model, self._pairs, self._test = data, model, pairs, test
        self._plan, self._sources = plan, sources
        self._known: tuple[LanguageModel, dict[str, Activations]] | None = None

    def __call__(self, rows: Rows, seed: int) -> Record:
        """Accuracies of the reward model of a part."""
        lm, seen = self._known or self._load()
        trained = RewardModel(lm, self._plan.training, seed).train(seen["pool"], rows)
        inside = {"reward_inside": trained.accuracy(seen["pool"], self._test)}
        outside = {
            f"reward_{name}": trained.accuracy(seen[name], range(len(seen[name].prompts))) for name in OUTSIDE
        }
        return {**inside, **outside, "reward_outside": float(np.mean(list(outside.values())))}

    def _load(self) -> tuple[LanguageModel, dict[str, Activations]]:
        lm, plan = LanguageModel(self._model), self._plan
        chosen = {"pool": self._pairs}
        for name in OUTSIDE:
            every = read_preferences(self._data / self._sources[name])
            rng = np.random.default_rng([0x00D, len(every)])
            chosen[name] = take(every, np.sort(rng.permutation(len(every))[: plan.outside]))
        seen = {
            name: Activations(lm, pairs, plan.training, plan.max_tokens, self._told, self._keep)
            for name, pairs in chosen.items()
        }
        self._known = lm, seen
        return self._known
