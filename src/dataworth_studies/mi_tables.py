"""The MI study's results as a table beside the paper's, and as rank plots."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from dataworth.errors import DataworthError

from .known_mi import Array
from .tables import markdown_table, save_figure

Record = dict[str, Any]
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
HEADERS = (
    "pool",
    "features",
    "size",
    "design",
    "estimator",
    "C",
    "k",
    "trials",
    "ρ",
    "lowest → highest, nats",
    "s.e., nats",
    "paper",
    "CPU s",
)


SHOWN = ("evidence", "eta", "centred", "lmi", "mine", "mine-theta", "monte-carlo")
"""Estimators of a rank plot, each with the prior that orders best."""


def read_results(folder: Path) -> list[Record]:
    """All results of a directory, in the order of their names."""
    found = [json.loads(path.read_text()) for path in sorted(folder.glob("*.json"))]
    return [record for record in found if record.get("schema") == "dataworth/study-mi/1"]


def level_means(records: Sequence[Record]) -> str:
    """The estimates themselves, mean over trials, where there is no order to show and no test for zero."""
    rows = []
    for r in records:
        tested = r["estimator"] == "centred" and 0.0 in r["levels_bits"]
        if r["spearman"] is None and not tested:
            means = np.array(r["values_nats"], dtype=float).mean(axis=0)
            rows += [
                (
                    r["pool"],
                    str(r["size"]),
                    r["estimator"],
                    _prior(r),
                    f"{bits:g}",
                    str(r["trials"]),
                    f"{mean:.4f}",
                )
                for bits, mean in zip(r["levels_bits"], means, strict=True)
            ]
    return _table(("pool", "size", "estimator", "C", "bits", "trials", "estimate, nats"), rows)


def all_tables(records: Sequence[Record]) -> str:
    """Every table that has a line."""
    makers = (beside_paper, same_pairs, zero_table, level_means, to_markdown)
    tables = [make(records) for make in makers]
    return "\n\n".join(table for table in tables if table) + "\n"


def to_markdown(records: Sequence[Record]) -> str:
    """One line an estimator, prior, pool, size and design."""
    rows = []
    for r in (r for r in records if r["spearman"] is not None):
        rows.append(
            (
                r["pool"],
                str(r["features"]),
                str(r["size"]),
                r["design"],
                r["estimator"],
                _prior(r),
                str(r["details"][0][0].get("pairs", r["pairs"])),  # some take fewer than they are given
                str(r["trials"]),
                _correlation(r),
                _steps(r),
                _error(r),
                _papers(r),
                f"{r['cpu_seconds_per_estimate']:.1f}",
            )
        )
    return _table(HEADERS, rows)


def beside_paper(records: Sequence[Record]) -> str:
    """As the paper has it (independent draws, 100 rows, no intercept): ρ (trials), the C that orders best."""
    full = [
        r
        for r in records
        if (r["design"], r["size"], r["intercept"]) == ("independent", 100, False) and r["spearman"]
    ]
    full = [r for r in full if r["pool"] in PAPER]
    pools = [pool for pool in PAPER if any(r["pool"] == pool for r in full)]
    rows = []
    for name in dict.fromkeys(r["estimator"] for r in full):
        cells = []
        for pool in pools:
            best = best_prior([r for r in full if (r["estimator"], r["pool"]) == (name, pool)])
            cells += [
                "" if best is None else f"{_correlation(best)} ({best['trials']})",
                str(PAPER[pool].get(name, "")),
            ]
        rows.append((name, *cells))
    return _table(("ρ (trials)", *(text for pool in pools for text in (pool, "paper"))), rows)


def best_prior(records: Sequence[Record]) -> Record | None:
    """The result that orders best; one that failed is the last."""
    ordered = [r for r in records if r["spearman_mean"] is not None]
    return max(ordered or records, key=lambda r: r["spearman_mean"] or 0.0, default=None)


def _table(headers: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table, or nothing if it has no line."""
    return markdown_table(headers, rows) if rows else ""


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
            groups.setdefault((r["pool"], str(r["size"]), _prior(r)), {})[r["estimator"]] = r
    rows = []
    for key, found in groups.items():
        trials = min(r["trials"] for r in found.values())
        means = [
            f"{np.mean(np.array(found[name]['spearman'][:trials], dtype=float)):.3f}" if name in found else ""
            for name in FORMS
        ]
        if len(found) > 1:
            rows.append((*key, str(trials), *means))
    return _table(("same pairs", "size", "C", "trials", *FORMS), rows)


def _prior(record: Record) -> str:
    prior = record["prior_variance"]
    if prior is None or isinstance(prior, str):
        return prior or ""
    return f"{prior:g}{' + intercept' if record['intercept'] else ''}"


def zero_table(records: Sequence[Record]) -> str:
    """Centred PMI where there is no mutual information: it should be within its error of zero."""
    rows = []
    for r in (r for r in records if r["estimator"] == "centred" and 0.0 in r["levels_bits"]):
        place = r["levels_bits"].index(0.0)
        for trial, (value, error) in enumerate(zip(r["values_nats"], r["stderr_nats"], strict=True)):
            details = r["details"][trial][place]
            rows.append(
                (
                    r["pool"],
                    str(r["size"]),
                    _prior(r),
                    str(trial),
                    f"{value[place]:+.4f} ± {error[place]:.4f}",
                    f"{value[place] / error[place]:+.2f}",
                    f"{details['variance_ratio']:.1f}",
                    f"{details['explained_by_shares']:.0%}",
                )
            )
    headers = (
        "pool",
        "size",
        "C",
        "trial",
        "centred PMI at 0 bits, nats",
        "in s.e.",
        "variance, plain / centred",
        "of centred's, explained by shares",
    )
    return _table(headers, rows)


def rank_figure(records: Sequence[Record]) -> Any:
    """True rank of λ against the rank an estimator gives it: the median over trials, and 20 to 80 %."""
    from matplotlib.figure import Figure
    from scipy.stats import rankdata

    figure = Figure(figsize=(3.2 * len(records), 3.4), layout="constrained")
    axes = np.atleast_1d(figure.subplots(1, len(records), sharey=True))
    for ax, record in zip(axes, records, strict=True):
        levels = np.array(record["levels_bits"])
        ranks: Array = np.array([rankdata(row) for row in np.array(record["values_nats"], dtype=float)])
        low, middle, high = np.percentile(ranks, [20, 50, 80], axis=0)
        ax.fill_between(levels, low, high, alpha=0.3, linewidth=0)
        ax.plot(levels, middle, marker="o", markersize=3)
        ax.plot(levels, rankdata(levels), color="black", linewidth=0.6, linestyle=":")
        ax.set_xlabel("true I(D; T), bits")
        prior = f", C = {_prior(record)}" if _prior(record) else ""
        ax.set_title(f"{record['pool']}: {record['estimator']}{prior}", fontsize=9)
    axes[0].set_ylabel("rank of the estimate (20–80 % of trials)")
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
