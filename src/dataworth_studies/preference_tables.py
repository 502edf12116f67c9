"""What the preference study found: the paper's table, agreement of ranks, examples, parallel coordinates."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from dataworth.data.io.preferences import Preferences

from .cells import Record
from .preference import OUTSIDE as SETS
from .preference import STRATEGIES
from .tables import save_figure, table

OUTSIDE, INSIDE = "reward_outside", "reward_inside"
ITS_PARTS = tuple(f"reward_{name}" for name in SETS)
"""What it is the mean of, which says nothing about it."""
BOOTSTRAP = 2000
SHOWN = 160
"""Characters of an example that are shown."""


def columns(records: Sequence[Record]) -> list[str]:
    """All fields, in the order in which they first occur."""
    return list(dict.fromkeys(name for record in records for name in record))


def measures(records: Sequence[Record]) -> list[str]:
    """The numbers that a part was measured by."""
    return [name for name in columns(records) if name not in ("strategy", "part", "threshold")]


def mean_interval(values: Sequence[float]) -> tuple[float, float]:
    """Mean, and half of its 95 % interval (t over parts).

    >>> tuple(round(x, 3) for x in mean_interval([1.0, 2.0, 3.0]))
    (2.0, 2.484)
    """
    from scipy.stats import t

    x = np.asarray(values, dtype=float)
    half = t.ppf(0.975, len(x) - 1) * x.std(ddof=1) / np.sqrt(len(x)) if len(x) > 1 else np.nan
    return float(x.mean()), float(half)


def summary(records: Sequence[Record]) -> list[Record]:
    """A record for each strategy and measure."""
    found = []
    for name in measures(records):
        for strategy in STRATEGIES:
            values = [r[name] for r in records if r["strategy"] == strategy and r.get(name) is not None]
            if values:
                mean, half = mean_interval(values)
                found.append(
                    {"measure": name, "strategy": strategy, "mean": mean, "half": half, "parts": len(values)}
                )
    return found


def agreement(records: Sequence[Record], seed: int = 0) -> list[Record]:
    """Spearman's rank correlation of each measure with accuracy out of distribution, bootstrap over parts."""
    from scipy.stats import spearmanr

    judged = [record for record in records if record.get(OUTSIDE) is not None]
    rng = np.random.default_rng([seed, 0xB007])
    found: list[Record] = []
    if len(judged) < 3:
        return found
    goal = np.array([record[OUTSIDE] for record in judged])
    for name in measures(records):
        if name in (OUTSIDE, *ITS_PARTS) or any(record.get(name) is None for record in judged):
            continue
        own = np.array([record[name] for record in judged])
        draws = rng.integers(0, len(judged), (BOOTSTRAP, len(judged)))
        several = [rows for rows in draws if np.ptp(own[rows]) > 0 and np.ptp(goal[rows]) > 0]
        if np.ptp(own) == 0 or np.ptp(goal) == 0 or not several:
            continue
        drawn = [spearmanr(own[rows], goal[rows])[0] for rows in several]
        low, high = np.quantile(drawn, [0.025, 0.975])
        found.append(
            {"measure": name, "rank": float(spearmanr(own, goal)[0]), "low": float(low), "high": float(high)}
        )
    return found


def in_short(agreed: Sequence[Record]) -> str:
    """What was found in a sentence: which measure goes best with accuracy out of distribution, if any does.

    >>> print(in_short([{"measure": "pmi", "rank": 0.5, "low": 0.1, "high": 0.8}]))
    Shown: of 1 measures pmi went best with reward models out of distribution: +0.50 [+0.10, +0.80].
    >>> print(in_short([{"measure": "pmi", "rank": 0.5, "low": -0.1, "high": 0.8}]))
    Shown: none of 1 measures clearly goes with reward models out of distribution (pmi: +0.50 [-0.10, +0.80]).
    """
    if not agreed:
        return "Shown: too few parts to tell what goes with reward models out of distribution."
    best = max(agreed, key=lambda record: float(record["rank"]))
    said = f"{best['rank']:+.2f} [{best['low']:+.2f}, {best['high']:+.2f}]"
    goal = "reward models out of distribution"
    if best["low"] <= 0:
        return f"Shown: none of {len(agreed)} measures clearly goes with {goal} ({best['measure']}: {said})."
    return f"Shown: of {len(agreed)} measures {best['measure']} went best with {goal}: {said}."


def to_markdown(records: Sequence[Record], pairs: dict[str, Preferences]) -> str:
    """The study as a page."""
    told = summary(records)
    rows = list(dict.fromkeys(record["measure"] for record in told))
    cell = {(r["measure"], r["strategy"]): f"{r['mean']:.3f} ± {r['half']:.3f}" for r in told}
    heads = [(name, lambda measure, name=name: cell.get((measure, name), "")) for name in STRATEGIES]
    agreed = agreement(records)
    lowest = [r["threshold"] for r in records if r["threshold"] is not None]
    note = f"Peaks were filled at thresholds from {min(lowest):.2f} to {max(lowest):.2f} (the paper's: 0.8)."
    return "\n\n".join(
        [
            "# Preference study",
            f"Means over parts with 95 % intervals. {note}",
            table(rows, ("measure", str), *heads),
            "Rank agreement (Spearman) with the accuracy of reward models out of distribution:",
            table(
                agreed,
                ("measure", lambda r: r["measure"]),
                ("agreement", lambda r: f"{r['rank']:+.2f} [{r['low']:+.2f}, {r['high']:+.2f}]"),
            ),
            "Examples:",
            table(
                pairs.items(),
                ("set", lambda item: item[0]),
                ("prompt", lambda item: _cut(item[1].prompts[0])),
                ("chosen", lambda item: _cut(item[1].chosen[0])),
                ("rejected", lambda item: _cut(item[1].rejected[0])),
            ),
            "",
        ]
    )


def _cut(text: str) -> str:
    said = " ".join(text.split()).replace("|", "\\|")
    return said if len(said) <= SHOWN else said[:SHOWN] + "…"


def draw(records: Sequence[Record], path: Path) -> None:
    """Parallel coordinates: the strategies by PMI, out of and in distribution, with 95 % intervals."""
    from matplotlib.figure import Figure

    axes = [
        ("pmi_evidence", "PMI, nats"),
        (OUTSIDE, "accuracy outside"),
        ("reward_inside", "accuracy inside"),
    ]
    cell = {(r["measure"], r["strategy"]): (r["mean"], np.nan_to_num(r["half"])) for r in summary(records)}
    shown = [(name, title) for name, title in axes if (name, STRATEGIES[0]) in cell]
    figure = Figure(figsize=(7, 4), layout="constrained")
    plot = figure.subplots()
    ends = {}
    for name, _ in shown:
        means, halves = np.array([cell[name, strategy] for strategy in STRATEGIES]).T
        ends[name] = float((means - halves).min()), float((means + halves).max())
    looks = zip(STRATEGIES, ("#0072b2", "#e69f00", "#009e73"), "os^", (-0.03, 0.0, 0.03), strict=True)
    for strategy, colour, marker, aside in looks:
        means, halves = np.array([cell[name, strategy] for name, _ in shown]).T
        low, wide = np.array([(start, (end - start) or 1.0) for start, end in ends.values()]).T
        heights, bars = (means - low) / wide, halves / wide
        places = np.arange(len(shown)) + aside
        plot.errorbar(places, heights, bars, color=colour, marker=marker, capsize=3, label=strategy)
    for place, (name, _) in enumerate(shown):
        for height, end, side in ((0.0, ends[name][0], "top"), (1.0, ends[name][1], "bottom")):
            plot.text(place, height + (0.02 if height else -0.02), f"{end:.3g}", ha="center", va=side)
    plot.set_xticks(range(len(shown)), [title for _, title in shown])
    plot.set_yticks([])
    plot.set_ylim(-0.12, 1.12)
    plot.set_title("Means over parts with 95 % intervals; each axis has its own scale", fontsize=10)
    figure.legend(loc="outside lower center", ncols=3, fontsize=9)
    save_figure(figure, path)
