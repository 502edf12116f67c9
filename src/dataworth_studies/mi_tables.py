"""The MI study's results as a table beside the paper's, and as rank plots."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from textwrap import fill
from typing import Any

import numpy as np

from dataworth import DataworthError
from dataworth.arrays import Array

from .cells import Record
from .estimators.registry import known_name
from .tables import COLOURS, Column, explain, field, save_figure, table

PAPER: dict[str, dict[str, float | str]] = {
    "mnist": {"eta": 0.967, "mine": 0.354, "mine-theta": 0.367, "lmi": 0.765, "monte-carlo": 0.611},
    "cifar": {"eta": 0.976, "mine": 0.281, "mine-theta": 0.312, "lmi": 0.634, "monte-carlo": "failed"},
    "catsdogs": {"eta": 0.972, "mine": 0.350, "mine-theta": 0.405, "lmi": 0.752, "monte-carlo": "failed"},
}
"""Spearman's ρ in the paper's table (its PMI is η = 0 with the best C; its third pool is ImageNet's cats and
dogs, ours are other photographs of them)."""
PAPER_PRIORS: dict[tuple[str, int], dict[float, float]] = {
    ("mnist", 100): {1: 0.954, 100: 0.967, 1000: 0.961},
    ("mnist", 50): {1: 0.962, 100: 0.956, 1000: 0.964},
    ("cifar", 100): {1e4: 0.976, 2e4: 0.976, 5e4: 0.982},
    ("cifar", 50): {1e4: 0.978, 2e4: 0.984, 5e4: 0.986},
}
"""The same of its PMI by pool and size, for every C."""
ACROSS = 3
"""Panels of a rank plot side by side."""
SHOWN = ("evidence", "eta", "centred", "lmi", "mine", "mine-theta", "monte-carlo")
"""Estimators of a rank plot, each with the prior that orders best."""


def read_results(folder: Path) -> list[Record]:
    """All results of a directory, in the order of their names; former names are brought up to date."""
    found = [json.loads(path.read_text()) for path in sorted(folder.glob("*.json"))]
    own = [record for record in found if record.get("schema") == "dataworth/study-mi/1"]
    return [{**record, "estimator": known_name(record["estimator"])} for record in own]


def level_means(records: Sequence[Record]) -> str:
    """The estimates themselves, mean over trials, where there is no order to show and no test for zero."""
    rows = [
        {**r, "bits": bits, "mean": mean}
        for r in records
        if r["spearman"] is None and not _tests_zero(r)
        for bits, mean in zip(
            r["levels_bits"], np.array(r["values_nats"], dtype=float).mean(axis=0), strict=True
        )
    ]
    return table(
        rows,
        *_fields("pool", "size", "estimator"),
        ("C", _prior),
        ("bits", field("bits", "g")),
        ("trials", field("trials")),
        ("estimate, nats", field("mean", ".4f")),
    )


def _fields(*names: str) -> list[Column]:
    return [(name, field(name)) for name in names]


def _tests_zero(record: Record) -> bool:
    return record["estimator"] == "centred" and 0.0 in record["levels_bits"]


def all_tables(records: Sequence[Record]) -> str:
    """Every table that has a line."""
    makers = (beside_paper, same_pairs, zero_table, level_means, to_markdown)
    tables = [make(records) for make in makers]
    return "\n\n".join(table for table in tables if table) + "\n"


def to_markdown(records: Sequence[Record]) -> str:
    """One line an estimator, prior, pool, size and design."""
    return table(
        [r for r in records if r["spearman"] is not None],
        *_fields("pool", "features", "size", "design", "estimator"),
        ("C", _prior),
        ("k", lambda r: r["details"][0][0].get("pairs", r["pairs"])),  # some take fewer than they are given
        ("trials", field("trials")),
        ("ρ", _correlation),
        ("lowest → highest, nats", _steps),
        ("s.e., nats", _error),
        ("paper", _papers),
        ("CPU s", field("cpu_seconds_per_estimate", ".1f")),
    )


def in_short(records: Sequence[Record]) -> str:
    """What was found in a sentence: how well each estimator orders the levels, under its best prior.

    >>> cell = {"spearman": [0.9], "prior_variance": None, "trials": 1}
    >>> rhos = (("mine", 0.9), ("evidence", 0.95))
    >>> print(in_short([{**cell, "estimator": name, "spearman_mean": rho} for name, rho in rhos]))
    Shown: Spearman's correlation with the true mutual information (1 is the right order) is at best
    0.95 by evidence, 0.90 by mine.
    """
    ordered = [record for record in records if record["spearman"] is not None]
    best = {
        name: max(r["spearman_mean"] for r in ordered if r["estimator"] == name)
        for name in dict.fromkeys(record["estimator"] for record in ordered)
    }
    told = [f"{rho:.2f} by {name}" for name, rho in sorted(best.items(), key=lambda item: -item[1])]
    what = "Spearman's correlation with the true mutual information (1 is the right order) is at best"
    return fill(f"Shown: {what} {', '.join(told)}.", 100) if told else "Shown: levels as asked for, no order."


def beside_paper(records: Sequence[Record]) -> str:
    """As the paper has it (independent draws, 100 rows, no intercept): ρ (trials), the C that orders best."""
    full = [
        r
        for r in records
        if (r["design"], r["size"], r["intercept"]) == ("independent", 100, False) and r["spearman"]
    ]
    full = [r for r in full if r["pool"] in PAPER]
    pools = [pool for pool in PAPER if any(r["pool"] == pool for r in full)]

    def ours(pool: str) -> Column:
        def show(name: str) -> str:
            best = best_prior([r for r in full if (r["estimator"], r["pool"]) == (name, pool)])
            return "" if best is None else f"{_correlation(best)} ({best['trials']})"

        return pool, show

    def papers(pool: str) -> Column:
        return "paper", lambda name: PAPER[pool].get(name, "")

    columns = [column for pool in pools for column in (ours(pool), papers(pool))]
    return table(dict.fromkeys(r["estimator"] for r in full), ("ρ (trials)", str), *columns)


def best_prior(records: Sequence[Record]) -> Record | None:
    """The result that orders best; one that failed is the last."""
    ordered = [r for r in records if r["spearman_mean"] is not None]
    return max(ordered or records, key=lambda r: r["spearman_mean"] or 0.0, default=None)


def _papers(record: Record) -> str:
    """What the paper has for the same, if it has."""
    if record["design"] != "independent" or record["intercept"]:
        return ""
    if record["estimator"] == "eta":
        return str(PAPER_PRIORS.get((record["pool"], record["size"]), {}).get(record["prior_variance"], ""))
    return str(PAPER.get(record["pool"], {}).get(record["estimator"], "")) if record["size"] == 100 else ""


def _steps(record: Record) -> str:
    """How far the estimate moves from the lowest level to the highest, and how much that varies by trial."""
    values = np.array(record["values_nats"], dtype=float)
    moved = values[:, -1] - values[:, 0]
    noise = f" ± {moved.std(ddof=1):.3f}" if len(moved) > 1 else ""
    return f"{moved.mean():+.3f}{noise}"


def _error(record: Record) -> str:
    """The standard error that an estimate states, mean over levels and trials."""
    stated = np.array(record["stderr_nats"], dtype=float)
    return "" if np.isnan(stated).any() else f"{stated.mean():.3f}"


def _correlation(record: Record) -> str:
    if record["spearman_mean"] is None:
        return "failed"
    spread = "" if record["spearman_sd"] is None else f" ± {record['spearman_sd']:.3f}"
    return f"{record['spearman_mean']:.3f}{spread}"


FORMS = ("evidence", "eta", "product", "centred")


def same_pairs(records: Sequence[Record]) -> str:
    """Forms of the PMI on the very same pairs: mean ρ over the trials that all of them have."""
    groups: dict[tuple[Any, ...], dict[str, Record]] = {}
    for r in records:
        if r["estimator"] in FORMS and r["design"] == "independent" and r["spearman"]:
            groups.setdefault((r["pool"], r["size"], _prior(r)), {})[r["estimator"]] = r

    def trials(found: dict[str, Record]) -> int:
        return min(int(r["trials"]) for r in found.values())

    def mean(name: str) -> Column:
        def show(found: dict[str, Record]) -> str:
            if name not in found:
                return ""
            return f"{np.mean(np.array(found[name]['spearman'][: trials(found)], dtype=float)):.3f}"

        return name, show

    def key(name: str, show: Callable[[Record], object]) -> Column:
        return name, lambda found: show(next(iter(found.values())))

    return table(
        [found for found in groups.values() if len(found) > 1],
        key("same pairs", field("pool")),
        key("size", field("size")),
        key("C", _prior),
        ("trials", trials),
        *map(mean, FORMS),
    )


def _prior(record: Record) -> str:
    prior = record["prior_variance"]
    if prior is None or isinstance(prior, str):
        return prior or ""
    return f"{prior:g}{' + intercept' if record['intercept'] else ''}"


def zero_table(records: Sequence[Record]) -> str:
    """Centred PMI where there is no mutual information: it should be within its error of zero."""
    rows = []
    for r in filter(_tests_zero, records):
        place = r["levels_bits"].index(0.0)
        for trial, (value, error) in enumerate(zip(r["values_nats"], r["stderr_nats"], strict=True)):
            found = {"trial": trial, "value": value[place], "error": error[place]}
            rows.append({**r, **found, "at_zero": r["details"][trial][place]})
    return table(
        rows,
        *_fields("pool", "size"),
        ("C", _prior),
        ("trial", field("trial")),
        ("centred PMI at 0 bits, nats", lambda r: f"{r['value']:+.4f} ± {r['error']:.4f}"),
        ("in s.e.", lambda r: f"{r['value'] / r['error']:+.2f}"),
        ("variance, plain / centred", lambda r: f"{r['at_zero']['variance_ratio']:.1f}"),
        ("of centred's, explained by proportions", lambda r: f"{_explained(r['at_zero']):.0%}"),
    )


def _explained(details: Record) -> float:
    """By its name of today, or by the one it had."""
    name = "explained_by_proportions"
    return float(details[name if name in details else "explained_by_shares"])


def rank_figure(records: Sequence[Record]) -> Any:
    """True rank of λ against the rank an estimator gives it: the median over trials, and 20 to 80 %."""
    from matplotlib.figure import Figure
    from scipy.stats import rankdata

    across = min(ACROSS, len(records))
    down = -(-len(records) // across)
    figure = Figure(figsize=(3.0 * across, 2.7 * down + 0.9), layout="constrained")
    panels = figure.subplots(down, across, sharex=True, sharey=True, squeeze=False).ravel()
    for ax, record in zip(panels, records, strict=False):
        levels = np.array(record["levels_bits"])
        ranks: Array = np.array([rankdata(row) for row in np.array(record["values_nats"], dtype=float)])
        low, middle, high = np.percentile(ranks, [20, 50, 80], axis=0)
        ax.plot(levels, rankdata(levels), color="black", linewidth=1, linestyle=":", label="the true order")
        ax.fill_between(
            levels, low, high, color=COLOURS[5], alpha=0.4, linewidth=0, label="20–80 % of trials"
        )
        ax.plot(levels, middle, color=COLOURS[0], marker="o", markersize=4, label="median of trials")
        found = f"ρ = {record['spearman_mean']:.2f}, trials: {record['trials']}"
        ax.set_title(f"{record['estimator']}: {found}", fontsize=10)
    for ax in panels[len(records) :]:
        ax.set_visible(False)
    for ax in panels[: len(records)][-across:]:
        ax.set_xlabel("true I(D; T), bits")
        ax.tick_params(labelbottom=True)
    for ax in panels[::across]:
        ax.set_ylabel("rank of the estimate")
    first = records[0]
    pairs = sorted({record["pairs"] for record in records})
    explain(
        figure,
        "Which estimators put the eleven levels of mutual information in their order?",
        f"{first['pool']}; datasets of {first['size']} rows, {' or '.join(map(str, pairs))} pairs for an"
        " estimate; each with the prior that orders best. mi.md.",
        panels[0].get_legend_handles_labels()[0],
    )
    return figure


def write_result(record: Record, path: Path) -> None:
    """One result as JSON."""
    path.write_text(json.dumps(record) + "\n")


def keep_longer(path: Path, trials: int) -> None:
    """Refuse to put fewer trials in the place of more."""
    if path.exists() and (kept := json.loads(path.read_text())["trials"]) > trials:
        raise DataworthError(
            f"{path} has {kept} trials, and {trials} would take their place: give --trials {kept} or more, or"
            " another --out."
        )


def write_summary(folder: Path) -> None:
    """The table of all results of a directory, and a rank plot for each pool."""
    records = read_results(folder)
    (folder / "mi.md").write_text(all_tables(records))
    drawn = [r for r in records if r["design"] == "independent" and r["spearman"] is not None]
    for pool, size in dict.fromkeys((r["pool"], r["size"]) for r in drawn):
        here = [r for r in drawn if (r["pool"], r["size"]) == (pool, size)]
        here = [r for r in here if not r["intercept"]] or here  # as the paper has it, if that was computed
        best = [best_prior([r for r in here if r["estimator"] == name]) for name in SHOWN]
        if shown := [r for r in best if r is not None]:
            save_figure(rank_figure(shown), folder / f"{pool}-{size}-ranks.svg")
