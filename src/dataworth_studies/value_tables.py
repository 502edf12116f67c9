"""What the study of values found, as tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from .cells import Record
from .tables import table
from .values import RATES


def to_markdown(found: Mapping[str, Sequence[Record]]) -> str:
    """All parts that were run."""
    show = {
        "labels": labels,
        "intervals": intervals,
        "sources": sources,
        "forecast": forecasts,
        "attacks": attacks,
    }
    return "\n\n".join(show[part](records) for part, records in found.items() if records) + "\n"


def labels(records: Sequence[Record]) -> str:
    """Wrong labels: area under the ROC curve and average precision, mean over seeds and then sets."""
    sets = sorted({record["key"]["set"] for record in records})
    parts = []
    for rate in RATES:
        by_set = {name: [r[f"{rate:g}"] for r in records if r["key"]["set"] == name] for name in sets}
        ways = list(next(iter(by_set.values()))[0]["ways"])
        means = {
            way: np.array([np.mean([one["ways"][way] for one in by_set[name]], axis=0) for name in sets])
            for way in ways
        }
        order = sorted(ways, key=lambda way: -float(means[way][:, 1].mean()))
        columns: list[Any] = [
            ("way", str),
            ("mean AUROC", lambda way, m=means: f"{m[way][:, 0].mean():.3f}"),
            ("mean AP", lambda way, m=means: f"{m[way][:, 1].mean():.3f}"),
        ]
        for k, name in enumerate(sets):
            columns.append((name, lambda way, k=k, m=means: f"{m[way][k, 0]:.3f} / {m[way][k, 1]:.3f}"))
        parts.append(f"Wrong labels, {rate:.0%} flipped (AUROC / AP):\n\n{table(order, *columns)}")
        every = [one for cells in by_set.values() for one in cells]
        for what in ("listed", "doubted"):
            total, wrong = sum(one[what] for one in every), sum(one[f"{what}, wrong"] for one in every)
            false = f"{1 - wrong / total:.2f}" if total else "–"
            parts.append(
                f"{rate:.0%} flipped, rows {what}: {total / len(every):.1f} a run, not flipped {false}."
            )
    clean = [record["clean listed"] for record in records]
    parts.append(f"Clean data: {np.mean(clean):.2f} rows listed a run ({len(clean)} runs).")
    return "\n\n".join(parts)


def intervals(records: Sequence[Record]) -> str:
    """Coverage of row intervals over fresh test sets."""
    rows = [{"set": r["key"]["set"], "flipped": rate, **r[rate]} for r in records for rate in ("0", "0.1")]
    names = ("covered", "listed", "listed, mean value above 0", "listed, label wrong")
    columns: list[Any] = [("set", lambda r: r["set"]), ("flipped", lambda r: r["flipped"])]
    columns += [(name, lambda r, name=name: f"{r[name]:.3f}") for name in names]
    mean = np.mean([r["covered"] for r in rows])
    told = f"Intervals of row values (95 %), ten fresh test sets: {mean:.3f} on the mean."
    return f"{told}\n\n{table(rows, *columns)}"


def sources(records: Sequence[Record]) -> str:
    """One annotator of five with 30 % wrong labels."""
    found, false = sum(r["found"] for r in records), sum(r["false"] for r in records)
    return f"Sources: found in {found} of {len(records)}, false {false} of {4 * len(records)}."


def forecasts(records: Sequence[Record]) -> str:
    """Errors of forecasts."""
    rows = []
    for rate in ("0", "0.2"):
        for times in ("2", "4"):
            ends = [record[rate][times] for record in records]
            error = [abs(e["extrapolated"] - e["measured"]) / max(abs(e["measured"]), 0.5) for e in ends]
            rows.append(
                (
                    rate,
                    times,
                    float(np.median(error)),
                    float(np.mean([e["covered"] for e in ends])),
                    len(ends),
                )
            )
    columns: list[Any] = [
        ("flipped", lambda r: r[0]),
        ("rows", lambda r: f"{r[1]}×"),
        ("median error", lambda r: f"{r[2]:.1%}"),
        ("90 % ranges that held", lambda r: f"{r[3]:.2f}"),
        ("runs", lambda r: r[4]),
    ]
    return f"Forecast:\n\n{table(rows, *columns)}"


def attacks(records: Sequence[Record]) -> str:
    """What an attacker gets, as a multiple of what honesty gives."""
    names = [name for name in records[0] if name not in ("key", "who", "honest")]
    rows = []
    for name in names:
        pairs = np.array([(r[name]["marginal"], r["honest"]["marginal"]) for r in records])
        ratio = pairs[:, 0].sum() / pairs[:, 1].sum()
        off = pairs[:, 0] - ratio * pairs[:, 1]
        error = float(off.std(ddof=1)) * np.sqrt(len(off)) / pairs[:, 1].sum()
        kept = np.mean([r[name]["order"] == r["honest"]["order"] for r in records])
        rows.append((name, ratio, error, float(kept)))
    columns: list[Any] = [
        ("attack", lambda r: r[0]),
        ("paid, as a multiple of honest", lambda r: f"{r[1]:.3f} ± {r[2]:.3f}"),
        ("order of the others kept", lambda r: f"{r[3]:.2f}"),
    ]
    return f"Attacks on a split, {len(records)} seeds:\n\n{table(rows, *columns)}"
