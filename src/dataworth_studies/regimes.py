"""Where the paper's headline holds: removal raises accuracy while the score falls; where the score is fooled.

Corrupted CIFAR over feature quality × severity × label noise × prior, each cell on forty whitened axes of its
features. Two checks see the test set alone: does the attribute predict the label beyond the features, and
does doubling look informative?
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from dataworth.checks.attribute import TELLING
from dataworth.data.dataset import Dataset
from dataworth.data.labels import learn_targets
from dataworth.evidence.forms import Form
from dataworth.measure.engines import Engine
from dataworth.models import Logistic
from dataworth.yardstick.recipe import Basis
from dataworth.yardstick.search import Trial
from dataworth.yardstick.yardstick import Yardstick

from .cells import Cells, Record
from .curation import Cell, Laboratory
from .draws import Setting
from .sets import load_set
from .tables import markdown_table, save_figure

FEATURES = (
    "pixels",
    "efficientnet-lite0:4@64",
    "efficientnet-lite0:9@64",
    "efficientnet-lite0:14@64",
    "efficientnet-lite0@64",
)
SEVERITIES = (1, 3, 5)
PRIORS = (0.03, 0.3, 3.0)
AXES = 40
TRAIN = 3000
SETTING = Setting((30,) * 4, (20, 60, 60, 20), ("filtering", "removal", "removal, noisy labels"))
REMOVALS = {"clean": "removal", "noisy": "removal, noisy labels"}
COLUMNS = (
    "severity",
    "features",
    "C",
    "labels",
    "accuracy",
    "removal",
    "removal_se",
    "removal_accuracy",
    "removal_accuracy_se",
    "filtering",
    "filtering_se",
    "attribute_check",
    "doubling_check",
    "doubling_check_se",
    "regime",
)
NAMES = ("headline", "fooled", "both fall", "score falls", "undecided")


def regimes(
    data: Path | None,
    out: Path | None = None,
    *,
    repetitions: int = 40,
    groups: int = 6,
    seed: int = 0,
    engine: Engine,
    progress: Callable[[int, int], None] | None = None,
) -> list[Record]:
    """One record a cell and a kind of labels; finished cells in `out` are kept."""
    cells = Cells(None if out is None else out / "cells" / "regimes.jsonl")
    grid = list(product(SEVERITIES, FEATURES))
    records = []
    for done, (severity, features) in enumerate(grid):
        pictures = load_set("corrupted-cifar", data, seed, severity=severity, most=TRAIN)
        lab = Laboratory(pictures, features, seed)
        for prior in PRIORS:
            key = {"severity": severity, "features": features, "C": prior, "seed": seed, "input": lab.input}
            key |= {"repetitions": repetitions, "groups": groups}

            def compute(lab: Laboratory = lab, prior: float = prior) -> Record:
                yard = whitened(lab.test_set(SETTING), prior, seed)
                return Cell(lab, SETTING, Logistic(prior), yard, Form(), repetitions, groups, engine)()

            record = cells.get(key, compute)
            records += [_row(record, labels, key) for labels in REMOVALS]
        if progress is not None:
            progress(done + 1, len(grid))
    return records


def whitened(test: Dataset, prior_variance: float, seed: int) -> Yardstick:
    """Forty whitened principal axes of the test set's features, under a given prior."""
    basis = Basis.learn(test)
    size = min(AXES, basis.rank)
    trial = Trial(size=size, exponent=0.0, prior_variance=prior_variance, held_out=float("nan"))
    return Yardstick(
        recipe=basis.recipe(size, 0.0),
        labels=learn_targets(test),
        model=Logistic(prior_variance),
        chosen=trial,
        test_hash=test.content_hash(),
        rows=len(test),
        seed=seed,
    )


def _row(record: Record, labels: str, key: Record) -> Record:
    def over(method: str, column: str) -> tuple[float, float]:
        values = np.array([group["methods"][method][column] for group in record["groups"]])
        return float(values.mean()), float(values.std(ddof=1) / np.sqrt(len(values)))

    removal = REMOVALS[labels]
    delta, accuracy = over(removal, "delta"), over(removal, "delta_accuracy")
    filtering = over("filtering", "delta")
    return {
        **{name: key[name] for name in ("severity", "features", "C")},
        "labels": labels,
        "accuracy": over(removal, "accuracy")[0],
        "removal": delta[0],
        "removal_se": delta[1],
        "removal_accuracy": accuracy[0],
        "removal_accuracy_se": accuracy[1],
        "filtering": filtering[0],
        "filtering_se": filtering[1],
        "attribute_check": record["attribute_check"],
        "doubling_check": record["doubling_check"],
        "doubling_check_se": record["doubling_check_se"],
        "regime": _name(delta, accuracy),
    }


def _name(delta: tuple[float, float], accuracy: tuple[float, float]) -> str:
    """A change counts from two standard errors on."""
    if delta[0] > 2 * delta[1]:
        return "fooled"
    if delta[0] > -2 * delta[1]:
        return "undecided"
    if accuracy[0] > 2 * accuracy[1]:
        return "headline"
    return "both fall" if accuracy[0] < -2 * accuracy[1] else "score falls"


def warned(records: list[Record]) -> list[dict[str, Any]]:
    """For each regime: cells, and in how many a check fired beforehand."""
    table = []
    for name in NAMES:
        own = [r for r in records if r["regime"] == name]
        attribute = [r["attribute_check"] > TELLING for r in own]
        doubling = [r["doubling_check"] > r["doubling_check_se"] for r in own]
        either = [a or d for a, d in zip(attribute, doubling, strict=True)]
        table.append(
            {
                "regime": name,
                "cells": len(own),
                "attribute check fired": sum(attribute),
                "doubling probe fired": sum(doubling),
                "either": sum(either),
            }
        )
    return table


def to_markdown(records: list[Record]) -> str:
    """Regimes and warnings, then every cell."""
    counts = warned(records)
    lines = [markdown_table(list(counts[0]), [[str(v) for v in row.values()] for row in counts]), ""]
    names = ["severity", "features", "C", "labels", "accuracy", "ΔPMI", "Δaccuracy", "filtering ΔPMI"]
    names += ["attribute check", "doubling", "regime"]
    rows = []
    for r in records:
        cells = (
            f"{r['severity']}",
            r["features"],
            f"{r['C']:g}",
            r["labels"],
            f"{100 * r['accuracy']:.1f} %",
            f"{r['removal']:+.2f} ± {r['removal_se']:.2f}",
            f"{100 * r['removal_accuracy']:+.2f} ± {100 * r['removal_accuracy_se']:.2f}",
            f"{r['filtering']:+.2f} ± {r['filtering_se']:.2f}",
            f"{r['attribute_check']:+.2f}",
            f"{r['doubling_check']:+.2f}",
            r["regime"],
        )
        rows.append(cells)
    return "\n".join([*lines, markdown_table(names, rows)]) + "\n"


def draw_regimes(records: list[Record], path: Path) -> None:
    """A map for each kind of labels and prior: features down, severity across; colour is removal's ΔPMI."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11, 7), layout="constrained")
    axes = figure.subplots(2, len(PRIORS), sharex=True, sharey=True)
    most = max(abs(r["removal"]) for r in records)
    for i, labels in enumerate(REMOVALS):
        for j, prior in enumerate(PRIORS):
            grid = np.full((len(FEATURES), len(SEVERITIES)), np.nan)
            for r in records:
                if (r["labels"], r["C"]) != (labels, prior):
                    continue
                place = FEATURES.index(r["features"]), SEVERITIES.index(r["severity"])
                grid[place] = r["removal"]
                text = f"{r['removal']:+.1f}\n{100 * r['removal_accuracy']:+.1f} %\n{r['regime']}"
                axes[i, j].text(place[1], place[0], text, ha="center", va="center", fontsize=7)
            image = axes[i, j].imshow(grid, cmap="RdBu", vmin=-most, vmax=most, aspect="auto")
            axes[i, j].set_title(f"{labels} labels, C = {prior:g}", fontsize=9)
            axes[i, j].set_xticks(range(len(SEVERITIES)), [f"severity {s}" for s in SEVERITIES])
            axes[i, j].set_yticks(range(len(FEATURES)), FEATURES, fontsize=7)
    figure.colorbar(image, ax=axes, label="ΔPMI of removal (nats)")
    save_figure(figure, path)
