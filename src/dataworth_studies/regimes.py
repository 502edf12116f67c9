"""Where the paper's headline holds: removal raises accuracy while the score falls; where the score is fooled.

Corrupted CIFAR over feature quality × severity × label noise × prior, each cell on forty whitened axes of its
features. Two checks see the test set alone: does the attribute predict the label beyond the features, and
does doubling look informative?
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from pathlib import Path

from dataworth import Logistic
from dataworth.checks.attribute import TELLING
from dataworth.evidence.forms import Form
from dataworth.parallel import Engine

from .cells import Cells, Record
from .curation import Cell, Laboratory, over_groups
from .draws import Setting
from .sets import load_set
from .tables import explain, field, save_figure, table, with_error
from .yardsticks import whitened_yardstick

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
SHADES = {
    "headline": ("#F2C14E", "accuracy rises, the score falls"),
    "fooled": ("#F4A4A4", "the score rises"),
    "both fall": ("#A9D6E5", "accuracy and score fall"),
    "score falls": ("#D6EAF0", "accuracy may be unchanged"),
    "undecided": ("#E8E8E8", "the score may be unchanged"),
}
"""Regimes: the colour of each on the map, and what it is; each change beyond two standard errors."""
NAMES = tuple(SHADES)


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
    cells = Cells.of(out, "regimes")
    grid = list(product(SEVERITIES, FEATURES))
    records = []
    for done, (severity, features) in enumerate(grid):
        pictures = load_set("corrupted-cifar", data, seed, severity=severity, most=TRAIN)
        lab = Laboratory(pictures, features, seed)
        for prior in PRIORS:
            key = {"severity": severity, "features": features, "C": prior, "seed": seed, "input": lab.input}
            key |= {"repetitions": repetitions, "groups": groups}

            def compute(lab: Laboratory = lab, prior: float = prior) -> Record:
                yard = whitened_yardstick(lab.test_set(SETTING), AXES, seed, prior)
                return Cell(lab, SETTING, Logistic(prior), yard, Form(), repetitions, groups, engine)()

            record = cells.get(key, compute)
            records += [_row(record, labels, key) for labels in REMOVALS]
        if progress is not None:
            progress(done + 1, len(grid))
    return records


def _row(record: Record, labels: str, key: Record) -> Record:
    removal = over_groups(record["groups"], REMOVALS[labels])
    filtering = over_groups(record["groups"], "filtering")
    return {
        **{name: key[name] for name in ("severity", "features", "C")},
        "labels": labels,
        "accuracy": removal["accuracy"],
        "removal": removal["delta"],
        "removal_se": removal["delta_se"],
        "removal_accuracy": removal["delta_accuracy"],
        "removal_accuracy_se": removal["delta_accuracy_se"],
        "filtering": filtering["delta"],
        "filtering_se": filtering["delta_se"],
        **{name: record[name] for name in ("attribute_check", "doubling_check", "doubling_check_se")},
        "regime": _name(_pair(removal, "delta"), _pair(removal, "delta_accuracy")),
    }


def _pair(means: Record, name: str) -> tuple[float, float]:
    return means[name], means[f"{name}_se"]


def _name(delta: tuple[float, float], accuracy: tuple[float, float]) -> str:
    """A change counts from two standard errors on."""
    if delta[0] > 2 * delta[1]:
        return "fooled"
    if delta[0] > -2 * delta[1]:
        return "undecided"
    if accuracy[0] > 2 * accuracy[1]:
        return "headline"
    return "both fall" if accuracy[0] < -2 * accuracy[1] else "score falls"


def warned(records: list[Record]) -> list[Record]:
    """For each regime: cells, and in how many a check fired beforehand."""
    counts = []
    for name in NAMES:
        own = [r for r in records if r["regime"] == name]
        attribute = [r["attribute_check"] > TELLING for r in own]
        doubling = [r["doubling_check"] > r["doubling_check_se"] for r in own]
        counts.append(
            {
                "regime": name,
                "cells": len(own),
                "attribute check fired": sum(attribute),
                "doubling probe fired": sum(doubling),
                "either": sum(a or d for a, d in zip(attribute, doubling, strict=True)),
            }
        )
    return counts


def to_markdown(records: list[Record]) -> str:
    """Regimes and warnings, then every cell."""
    counts = warned(records)
    cells = table(
        records,
        *((name, field(name)) for name in ("severity", "features")),
        ("C", field("C", "g")),
        ("labels", field("labels")),
        ("accuracy", lambda r: f"{100 * r['accuracy']:.1f} %"),
        ("ΔPMI", with_error("removal")),
        ("Δaccuracy", with_error("removal_accuracy", 100.0)),
        ("filtering ΔPMI", with_error("filtering")),
        ("attribute check", field("attribute_check", "+.2f")),
        ("doubling", field("doubling_check", "+.2f")),
        ("regime", field("regime")),
    )
    return "\n".join([table(counts, *((name, field(name)) for name in counts[0])), "", cells]) + "\n"


def draw_regimes(records: list[Record], path: Path) -> None:
    """A map for each kind of labels and prior: features down, severity across, coloured by regime."""
    from matplotlib.figure import Figure
    from matplotlib.patches import Patch, Rectangle

    figure = Figure(figsize=(10, 8.4), layout="constrained")
    axes = figure.subplots(2, len(PRIORS), sharex=True, sharey=True)
    for i, labels in enumerate(REMOVALS):
        for j, prior in enumerate(PRIORS):
            here = axes[i, j]
            for r in (r for r in records if (r["labels"], r["C"]) == (labels, prior)):
                x, y = SEVERITIES.index(r["severity"]), FEATURES.index(r["features"])
                colour, _ = SHADES[r["regime"]]
                here.add_patch(Rectangle((x - 0.5, y - 0.5), 1, 1, facecolor=colour, edgecolor="white", lw=2))
                text = f"{r['removal']:+.1f} nats\n{100 * r['removal_accuracy']:+.1f} points"
                here.text(x, y, text, ha="center", va="center", fontsize=9)
            here.set_title(f"{labels} labels, prior variance {prior:g}", fontsize=10)
            here.set(xlim=(-0.5, len(SEVERITIES) - 0.5), ylim=(len(FEATURES) - 0.5, -0.5))
            here.set_xticks(range(len(SEVERITIES)), [f"severity {s}" for s in SEVERITIES])
            here.set_yticks(range(len(FEATURES)), [_plain(name) for name in FEATURES])
            here.tick_params(length=0)
            here.spines[:].set_visible(False)
    legend = [Patch(facecolor=colour, label=f"{name}: {told}") for name, (colour, told) in SHADES.items()]
    explain(
        figure,
        "Removing rows until the groups are as in the test set: change of score and of accuracy",
        f"Corrupted CIFAR, {sum(SETTING.data)} rows of data, {sum(SETTING.test)} of test, {AXES} whitened"
        " axes; each cell: 240 draws. results/curation/regimes.csv.",
        legend,
    )
    save_figure(figure, path)


def _plain(features: str) -> str:
    """Features by where in the network they come from.

    >>> _plain("efficientnet-lite0:9@64")
    'block 9'
    """
    name, _, block = features.removesuffix("@64").partition(":")
    return f"block {block}" if block else {"pixels": "pixels"}.get(name, "whole network")
