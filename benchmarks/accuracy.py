"""Each form of the score × each inference against the referee: root mean squared error in nats.

Worlds: rows x ~ N(0, I), θ ~ N(0, C·I) (`prior`) or N(0, I) (`unit`: a wide prior over ordinary data), labels
from σ(θᵀx); D and T have n rows each. The truth of each pair is the referee's (annealed
importance sampling, dataworth.referee); worlds it refuses, or whose error is not below 0.05 nats, are left
out and counted.

python benchmarks/accuracy.py [--worlds 10] [--jobs 2] [--quick] [--out results/accuracy.json]
                              [--plot docs/accuracy.svg] [--keep results/accuracy.json]
"""

from __future__ import annotations

import argparse
import itertools
import json
import platform
import sys
import time
from pathlib import Path

import joblib
import numpy as np
import scipy

import dataworth as dw
from dataworth.evidence.referee import RefereeRefuses, referee
from dataworth_studies.tables import COLOURS, MARKS, explain, save_figure

FEATURES, ROWS, PRIORS, TRUTHS = (3, 10, 50), (30, 100, 200), (0.1, 1.0, 10.0, 100.0), ("prior", "unit")
LARGEST_ERROR = 0.05
TARGET = 0.028  # of each of three log evidences: together below 0.05
FORMS = {
    "evidence": {"form": "evidence"},
    "η = 0 (paper)": {"form": "eta"},
    "η = joint": {"form": "eta", "eta": "joint"},
    "η = D's": {"form": "eta", "eta": "data"},
    "product (paper)": {"form": "product"},
    "kl": {"form": "kl"},
    "sealed": {"form": "sealed"},
}
INFERENCES = ("laplace", "ep")
BARS = {0.1: 0.05, 1.0: 0.05, 10.0: 0.15, 100.0: 0.3}


def world(truth: str, d: int, n: int, C: float, seed: int):
    """D and T with one θ."""
    rng = np.random.default_rng([seed, d, n, round(1000 * C), TRUTHS.index(truth)])
    theta = rng.normal(size=d) * (np.sqrt(C) if truth == "prior" else 1.0)

    def rows():
        X = rng.normal(size=(n, d))
        return dw.Dataset(X, (rng.random(n) < 1.0 / (1.0 + np.exp(-X @ theta))).astype(int))

    D, T = rows(), rows()
    return D, T


def judge(truth: str, d: int, n: int, C: float, seed: int, earlier=None):
    """The referee's value (or its earlier one) and every form's, for one world; one class alone has none."""
    D, T = world(truth, d, n, C, seed)
    record = {"truth": truth, "d": d, "n": n, "C": C, "world": seed}
    if len(set(D.y) | set(T.y)) < 2:
        return record | {"refused": "one class"}
    if earlier is not None:
        record |= {k: v for k, v in earlier.items() if k != "forms"}
        return record | {"forms": every_form(D, T, C)}
    started = time.perf_counter()
    try:
        judged = referee(D, T, dw.Logistic(C, intercept=False), seed=seed, target=TARGET)
        record |= {"value": judged.value, "error": judged.stderr, "ess": judged.ess}
    except RefereeRefuses as refusal:
        record |= {"refused": str(refusal)}
    record["seconds"] = time.perf_counter() - started
    return record | {"forms": every_form(D, T, C)}


def every_form(D, T, C: float) -> dict[str, float]:
    return {
        f"{name}, {inference}": dw.pmi(D, T, dw.Logistic(C, inference, intercept=False), **options).value
        for inference in INFERENCES
        for name, options in FORMS.items()
    }


def rmse(records, form: str) -> float:
    """Root mean square of a form's error over the worlds that the referee could judge."""
    return float(np.sqrt(np.mean([(r["forms"][form] - r["value"]) ** 2 for r in records])))


def judged(records, **where):
    chosen = [r for r in records if all(r[k] == v for k, v in where.items())]
    return [r for r in chosen if "refused" not in r and r["error"] < LARGEST_ERROR], len(chosen)


def table(records, names) -> list[str]:
    """Markdown: one row a cell."""
    lines = ["| θ | d | n | C | judged | " + " | ".join(names) + " |", "|---" * (5 + len(names)) + "|"]
    cells = sorted({(r["truth"], r["C"], r["d"], r["n"]) for r in records})
    for truth, C, d, n in cells:
        kept, total = judged(records, truth=truth, C=C, d=d, n=n)
        values = [f"{rmse(kept, name):.3f}" if kept else "–" for name in names]
        lines.append(f"| {truth} | {d} | {n} | {C:g} | {len(kept)}/{total} | " + " | ".join(values) + " |")
    return lines


def summary(records) -> dict:
    """Pooled errors by prior variance, and over all."""
    names = list(next(r for r in records if "forms" in r)["forms"])
    out = {}
    for C in (*sorted({r["C"] for r in records}), None):
        kept, total = judged(records, **({} if C is None else {"C": C}))
        if kept:
            out["all" if C is None else f"{C:g}"] = {
                "judged": len(kept),
                "of": total,
                **{name: rmse(kept, name) for name in names},
            }
    return out


def plot(pooled: dict, path: Path) -> None:
    """RMSE against the prior variance: a panel an inference, a line a form."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 5.2), layout="constrained")
    panels = figure.subplots(1, len(INFERENCES), sharex=True, sharey=True)
    priors = [c for c in pooled if c != "all"]
    titles = {"laplace": "Laplace's method", "ep": "expectation propagation (EP)"}
    for axes, inference in zip(panels, INFERENCES, strict=True):
        for name, colour, mark in zip(FORMS, COLOURS, MARKS, strict=True):
            values = [pooled[c][f"{name}, {inference}"] for c in priors]
            width = 3.0 if name == "evidence" else 1.3
            axes.loglog(
                [float(c) for c in priors], values, f"-{mark}", color=colour, lw=width, ms=6, label=name
            )
        axes.set_title(titles[inference], fontsize=10)
        axes.set_xlabel("prior variance C")
        axes.grid(color="#DDDDDD", linewidth=0.6)
    panels[0].set_ylabel("root mean squared error, nats")
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside right upper", frameon=False)
    counted = ", ".join(f"{pooled[c]['judged']} at C = {c}" for c in priors)
    explain(
        figure,
        "How far each form of the score is from the truth: lower is better",
        f"Simulated worlds that the referee could judge: {counted}. 3 to 50 features, 30 to 200 rows of"
        "\ndata and of test. benchmarks/accuracy.py, results/accuracy.json.",
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    save_figure(figure, path)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--worlds", type=int, default=10)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--quick", action="store_true", help="a smoke test of seconds")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--plot", type=Path)
    parser.add_argument("--keep", type=Path, help="an earlier --out: keep the referee's values in it")
    args = parser.parse_args()
    features, rows, worlds = FEATURES, ROWS, args.worlds
    if args.quick:
        features, rows, worlds, args.jobs = FEATURES[:1], ROWS[:1], 1, 1
    grid = list(itertools.product(TRUTHS, features, rows, PRIORS, range(worlds)))
    started, records = time.perf_counter(), []
    run = joblib.Parallel(args.jobs, return_as="generator_unordered", batch_size=1)
    kept = json.loads(args.keep.read_text())["records"] if args.keep else []
    known = {tuple(r[k] for k in ("truth", "d", "n", "C", "world")): r for r in kept}
    for record in run(joblib.delayed(judge)(*cell, known.get(cell)) for cell in grid):
        records.append(record)
        spent = time.perf_counter() - started
        left = spent / len(records) * (len(grid) - len(records))
        print(
            f"\r{len(records)} of {len(grid)} worlds, {spent:.0f} s, about {left:.0f} s left ",
            end="",
            file=sys.stderr,
        )
    print(file=sys.stderr)
    records.sort(key=lambda r: (r["truth"], r["C"], r["d"], r["n"], r["world"]))
    pooled = summary(records)
    main_forms = ["η = 0 (paper), laplace", "product (paper), laplace", "evidence, laplace", "evidence, ep"]
    main_forms += ["sealed, ep", "product (paper), ep"]
    print("\n".join(table(records, main_forms)), "\n")
    print("pooled by C, RMSE in nats")
    for name in next(iter(pooled.values())):
        values = (
            f"{p[name]:9.3f}" if isinstance(p[name], float) else f"{p[name]:9d}" for p in pooled.values()
        )
        print(f"{name:28}", *values)
    print(f"{'C':28}", *(f"{c:>9}" for c in pooled), "\n")
    for C, bar in BARS.items():
        cells = {(r["truth"], r["d"], r["n"]) for r in records}
        kept = [judged(records, C=C, truth=t, d=d, n=n)[0] for t, d, n in cells]
        worst = max(rmse(k, "evidence, ep") for k in kept if k)
        value = pooled[f"{C:g}"]["evidence, ep"]
        print(f"EP at C = {C:g}: RMSE {value:.3f} (bar {bar}), worst cell {worst:.3f}")
    for inference in INFERENCES:
        ratio = pooled["all"]["product (paper), " + inference] / pooled["all"]["sealed, ep"]
        print(f"product by {inference} / sealed by EP, pooled: {ratio:.2f} (bar 2)")
    ratio = pooled["all"]["product (paper), laplace"] / pooled["all"]["sealed, laplace"]
    print(f"product by laplace / sealed by laplace, pooled: {ratio:.2f}")
    if args.plot:
        plot(pooled, args.plot)
    if args.out:
        about = {"numpy": np.__version__, "scipy": scipy.__version__, "python": platform.python_version()}
        args.out.parent.mkdir(parents=True, exist_ok=True)
        body = {"command": "python benchmarks/accuracy.py", "about": about, "worlds": worlds}
        args.out.write_text(json.dumps(body | {"pooled": pooled, "records": records}) + "\n")


if __name__ == "__main__":
    main()
