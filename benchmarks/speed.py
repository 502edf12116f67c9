"""How fast a pair is evaluated, beside the loops that people write, and how cost grows.

    python benchmarks/speed.py [--quick] [--parts cells,audit] [--embeddings F.npz] [--out results/speed.json]

Everything is measured in one run, with one BLAS thread: ours and the two reference loops take turns, pair by
pair. Times are medians over pairs; ratios are ratios of medians. Each is given by the wall clock and by CPU
time, which are the same on a quiet machine.

The paper's loop: scikit-learn's LogisticRegression fitted on D, T and D∪T (the intercept is a column of
ones, under the same prior as the rest), the dense d×d Hessian XᵀSX + I/C and its slogdet. The smarter loop:
the same fits, and the n×n determinant instead. Both get the fastest solver and tolerance whose PMI is within
1e-3 nats of ours (which the tests hold to 1e-6 against many-digit arithmetic); the settings are printed.

Data without --embeddings (an npz with X and y): Gaussian factors with a power-law spectrum and two classes
along one direction, mixed into features and cut off at zero, which is what pooled activations of a
convolutional network look like (non-negative, half of them zero, correlated, ‖x‖² in the hundreds at 1,280
features); one label in fifty is flipped. Half of the pool is for D, half for T. A count of features d
includes the intercept.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import time
import warnings
from functools import partial
from pathlib import Path
from statistics import median

import numpy as np
import scipy
import sklearn
from rich.console import Console
from rich.progress import track
from rich.table import Table
from sklearn.linear_model import LogisticRegression
from threadpoolctl import threadpool_limits

import dataworth
from dataworth.errors import DataworthError
from dataworth.evidence.pair import fit_joint
from dataworth.measure.designs import AFTER, BEFORE, DATA, Arm, Pairs, Pile, Sample, select
from dataworth.measure.evaluate import evaluate
from dataworth.models import Logistic
from dataworth.parallel import Local

CELLS = ((100, 100, 100, 100.0), (120, 160, 1281, 0.01), (120, 160, 1281, 1e4), (480, 480, 1281, 0.01))
EP_CELLS = ((100, 100, 100, 1.0), (100, 100, 100, 100.0), (120, 160, 1281, 0.01), (120, 160, 1281, 1e4))
USUAL = CELLS[1]
QUICK = ((30, 30, 10, 1.0),)
POOL = 2000
RATIOS = ("× paper's", "× smarter")
CLOSE = 1e-3  # nats: what a reference loop must reach
TOLERANCES = tuple(10.0**-e for e in range(4, 13))
CONSOLE = Console(stderr=True)


# --- data ------------------------------------------------------------------------------------------------


def activations(rows, features, rng, spectrum=0.75, separation=2.5, flipped=0.02):
    """Non-negative features with a power-law spectrum; two classes, 0 and 1."""
    factors = min(features, 256)
    scale = np.arange(1, factors + 1) ** -spectrum
    scale /= np.linalg.norm(scale)
    direction = scale * rng.standard_normal(factors)
    y = (rng.random(rows) < 0.5).astype(float)
    z = rng.standard_normal((rows, factors))
    z += np.outer(2.0 * y - 1.0, separation * direction / np.linalg.norm(direction))
    X = 0.5 * (z * scale) @ rng.standard_normal((factors, features))
    X += 0.3 * rng.standard_normal(features) + 0.1 * rng.standard_normal((rows, features))
    return np.maximum(X, 0.0), np.where(rng.random(rows) < flipped, 1.0 - y, y)


def load_pool(args, d):
    """A pool of rows with d − 1 features: the first half for D, the second for T."""
    rng = np.random.default_rng([args.seed, d])
    if args.embeddings is None:
        return activations(POOL, d - 1, rng)
    with np.load(args.embeddings) as file:
        X, y = file["X"].astype(float), file["y"].ravel()
    rows = rng.permutation(len(X))[:POOL]
    columns = np.sort(np.argsort(-X[rows].var(axis=0), kind="stable")[: d - 1])  # those that vary most
    return X[rows][:, columns], (y[rows] == np.unique(y)[-1]).astype(float)


def draw_pairs(n, m, count, rng, rows):
    half = rows // 2
    return [
        (rng.choice(half, n, replace=False), half + rng.choice(rows - half, m, replace=False))
        for _ in range(count)
    ]


# --- what is compared ------------------------------------------------------------------------------------


def our_pmi(fitter, data, test):
    """As `evaluate` does it."""
    data_fit, test_fit = fitter(data), fitter(test)
    return fit_joint(fitter, data, test, data_fit, test_fit).log_z - data_fit.log_z - test_fit.log_z


def reference_log_z(X, y, C, solver, tol, wide):
    model = LogisticRegression(C=C, solver=solver, tol=tol, max_iter=100_000, fit_intercept=False).fit(X, y)
    theta = model.coef_[0]
    f = X @ theta
    p = 1.0 / (1.0 + np.exp(-f))
    s = p * (1.0 - p)
    fit = -np.logaddexp(0.0, np.where(y > 0, -f, f)).sum() - 0.5 * theta @ theta / C
    if wide:
        scaled = np.sqrt(s)[:, None] * X
        return fit - 0.5 * np.linalg.slogdet(np.eye(len(X)) + C * (scaled @ scaled.T))[1]
    hessian = X.T @ (s[:, None] * X) + np.eye(len(theta)) / C
    return fit - 0.5 * (np.linalg.slogdet(hessian)[1] + len(theta) * np.log(C))


def reference_pmi(X, y, C, setting, wide, data, test):
    parts = (np.concatenate([data, test]), data, test)
    both, first, second = (reference_log_z(X[rows], y[rows], C, *setting, wide) for rows in parts)
    return both - first - second


def clock(work):
    """Wall and CPU seconds of a call, and its value."""
    wall, cpu = time.perf_counter(), time.process_time()
    value = work()
    return time.perf_counter() - wall, time.process_time() - cpu, value


def settle(X, y, C, wide, pairs, truths, label):
    """The fastest setting of a reference loop that is close to the truth, and its largest error."""
    solvers = ["lbfgs", "newton-cg"]
    if X.shape[1] < sum(map(len, pairs[0])):
        solvers.append("newton-cholesky")  # d×d, so only where rows are more
    found = []
    for solver in track(solvers, f"{label}: settling", console=CONSOLE, transient=True):
        closest = (np.inf, np.inf, None)
        for tol in TOLERANCES:
            setting = (solver, tol)
            runs = [clock(lambda p=p, s=setting: reference_pmi(X, y, C, s, wide, *p)) for p in pairs]
            error = max(abs(value - truth) for (*_, value), truth in zip(runs, truths, strict=True))
            closest = min(closest, (error, min(cpu for _, cpu, _ in runs), setting))
            if error < CLOSE:
                break
        found.append(closest)
    reached = [f for f in found if f[0] < CLOSE]
    error, _, setting = min(reached, key=lambda f: f[1]) if reached else min(found)
    return setting, error


# --- parts -----------------------------------------------------------------------------------------------


def measure_cells(args):
    results = []
    for n, m, d, C in CELLS:
        label = f"{n}+{m}, d={d}, C={C:g}"
        X, y = load_pool(args, d)
        pairs = draw_pairs(n, m, args.pairs, np.random.default_rng([args.seed, n, m, d]), len(y))
        bind, _, fitter = clock(lambda C=C, X=X, y=y: Logistic(prior_variance=C).bind(X, y))
        ones = np.hstack([X, np.ones((len(X), 1))])
        truths = [our_pmi(fitter, *pair) for pair in pairs]
        tried = pairs[: args.settle]
        plain, _ = settle(ones, y, C, False, tried, truths[: args.settle], f"{label}, the paper's loop")
        smart, _ = settle(ones, y, C, True, tried, truths[: args.settle], f"{label}, the smarter loop")
        loops = {
            "ours": lambda *pair, f=fitter: our_pmi(f, *pair),
            "paper": lambda *pair, C=C, s=plain, X=ones, y=y: reference_pmi(X, y, C, s, False, *pair),
            "smart": lambda *pair, C=C, s=smart, X=ones, y=y: reference_pmi(X, y, C, s, True, *pair),
        }
        runs = {name: [] for name in loops}
        for pair in track(pairs, label, console=CONSOLE, transient=True):
            for name, loop in loops.items():
                runs[name].append(clock(lambda loop=loop, pair=pair: loop(*pair)))
        errors = {
            name: max(abs(run[2] - truth) for run, truth in zip(runs[name], truths, strict=True))
            for name in ("paper", "smart")
        }
        wall = {name: median(run[0] for run in taken) for name, taken in runs.items()}
        cpu = {name: median(run[1] for run in taken) for name, taken in runs.items()}
        results.append(
            {"data_rows": n, "test_rows": m, "d": d, "C": C, "pairs": len(pairs), "bind_seconds": bind}
            | {"accuracy": float(np.mean([fitter.accuracy(fitter(a), b) for a, b in tried]))}
            | {f"{name}_seconds": value for name, value in wall.items()}
            | {f"{name}_cpu_seconds": value for name, value in cpu.items()}
            | {f"over_{name}": wall[name] / wall["ours"] for name in errors}
            | {f"over_{name}_cpu": cpu[name] / cpu["ours"] for name in errors}
            | {f"{name}_error": value for name, value in errors.items()}
            | {"paper_setting": list(plain), "smart_setting": list(smart)}
        )
    show(
        "One pair: ours and two reference loops (ms by wall clock; ratios by wall clock / by CPU time)",
        ("cell", "bind s", "accuracy", "ours", "paper's loop", "smarter loop", *RATIOS),
        [
            (
                f"{r['data_rows']}+{r['test_rows']}, d={r['d']}, C={r['C']:g}",
                f"{r['bind_seconds']:.2f}",
                f"{r['accuracy']:.3f}",
                f"{1e3 * r['ours_seconds']:.2f}",
                *(describe(r, name) for name in ("paper", "smart")),
                *(f"{r[f'over_{name}']:.1f} / {r[f'over_{name}_cpu']:.1f}" for name in ("paper", "smart")),
            )
            for r in results
        ],
    )
    return results


def describe(result, name):
    solver, tol = result[f"{name}_setting"]
    seconds, error = result[f"{name}_seconds"], result[f"{name}_error"]
    return f"{1e3 * seconds:.1f} ({solver}, {tol:.0e}; off by {error:.0e})"


def measure_growth(args):
    """Ours alone: with n at d = 1281, with d at 120+160, and the memory of k pairs."""
    cells = [(n, n, 1281, 0.01) for n in (60, 120, 240, 480, 960)]
    cells += [(120, 160, d, 0.01) for d in (50, 100, 400, 1281, 2561)]
    if args.quick:
        cells = CELLS
    results = []
    for n, m, d, C in track(cells, "growth with n and d", console=CONSOLE, transient=True):
        X, y = load_pool(args, d)
        if X.shape[1] != d - 1:
            continue  # the embeddings given have fewer features
        fitter = Logistic(prior_variance=C).bind(X, y)
        pairs = draw_pairs(n, m, max(5, args.pairs // 4), np.random.default_rng([args.seed, n, d]), len(y))
        runs = [clock(lambda f=fitter, p=p: our_pmi(f, *p)) for p in pairs]
        wall, cpu = (median(run[i] for run in runs) for i in (0, 1))
        results.append({"data_rows": n, "test_rows": m, "d": d, "C": C, "seconds": wall, "cpu_seconds": cpu})
    show(
        "Growth with n and d (C = 0.01)",
        ("n", "d", "ms", "CPU ms"),
        [
            (
                f"{r['data_rows']}+{r['test_rows']}",
                f"{r['d']}",
                f"{1e3 * r['seconds']:.2f}",
                f"{1e3 * r['cpu_seconds']:.2f}",
            )
            for r in results
        ],
    )
    return results


def measure_memory(args):
    """Peak memory of `evaluate` for ever more pairs, each in a process of its own."""
    results = []
    grid = (100, 1000, 4000)
    for k in track(grid, "memory", console=CONSOLE, transient=True):
        command = [sys.executable, __file__, "--child-memory", str(k), "--seed", str(args.seed)]
        output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        results.append(json.loads(output.splitlines()[-1]))
    rows = [(f"{r['k']}", f"{r['peak_mb']:.1f}", f"{r['table_mb']:.2f}") for r in results]
    first, last = results[0], results[-1]
    grown = 1024 * (last["peak_mb"] - first["peak_mb"]) / (last["k"] - first["k"])
    show(f"Memory of evaluate: {grown:.2f} kB for each further pair", ("pairs", "peak MB", "table MB"), rows)
    return results


def child_memory(args):
    fitter, design = score_design(args, 100, 100, 100, 100.0)
    with threadpool_limits(1):
        table = evaluate(design, fitter, args.child_memory, Local(1))
    size = sum(v.nbytes for v in vars(table).values() if isinstance(v, np.ndarray)) / 2**20
    print(json.dumps({"k": args.child_memory, "peak_mb": peak_memory(), "table_mb": size}))


def peak_memory():
    status = Path("/proc/self/status")
    if status.exists():  # of this program alone; getrusage also knows what forked it
        line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        return int(line.split()[1]) / 1024
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def measure_cores(args):
    """`evaluate` with one process and with two, which must start first; once they run, they are kept."""
    k, results = 1000, []
    for n, m, d, C in (USUAL, CELLS[2]):
        fitter, design = score_design(args, n, m, d, C)
        evaluate(design, fitter, 4, Local(1))
        taken = {}
        rounds = (("two, starting", 2), ("one", 1), ("two", 2), ("one", 1), ("two", 2))
        for name, jobs in track(rounds, f"{k} pairs, one core and two", console=CONSOLE, transient=True):
            seconds = clock(lambda f=fitter, p=design, j=jobs: evaluate(p, f, k, Local(j)))[0]
            taken[name] = min(taken.get(name, np.inf), seconds)
        ratios = {"ratio": taken["one"] / taken["two"]}
        ratios["ratio_starting"] = taken["one"] / taken["two, starting"]
        cell = {"data_rows": n, "test_rows": m, "d": d, "C": C, "k": k}
        results.append(cell | {name.replace(", ", "_"): s for name, s in taken.items()} | ratios)
    show(
        f"{k} pairs on one core and on two (seconds)",
        ("cell", "one", "two", "two, starting them", "ratio", "with starting"),
        [
            (
                f"{r['data_rows']}+{r['test_rows']}, d={r['d']}, C={r['C']:g}",
                *(f"{r[name]:.2f}" for name in ("one", "two", "two_starting", "ratio", "ratio_starting")),
            )
            for r in results
        ],
    )
    return results


def score_design(args, n, m, d, C, arms=None):
    X, y = load_pool(args, d)
    half = len(y) // 2
    data, test = Sample(np.arange(half)), Sample(np.arange(half, len(y)))
    strata = y.astype(np.intp)
    make = arms or score_arms
    fitter = Logistic(prior_variance=C).bind(X, y)
    piles = Pile(data, strata[:half]), Pile(test, strata[half:])
    return fitter, Pairs(*piles, n, m, args.seed, partial(make, data))


def score_arms(data, rows, rng):
    return {DATA: select(data, rows)}


def audit_arms(data, rows, rng):
    """Before; a tenth removed; as many removed at random; and a tenth drawn anew."""
    tenth = len(rows) // 10
    fresh = np.setdiff1d(np.arange(len(data.rows)), rows)
    changed = np.concatenate([rows[tenth:], rng.choice(fresh, tenth, replace=False)])
    return {
        BEFORE: select(data, rows),
        AFTER: select(data, rows[tenth:]),
        Arm("control"): select(data, rng.permutation(rows)[tenth:]),
        Arm("candidate"): select(data, changed),
    }


def measure_audit(args):
    """Four arms on one T against one arm, the same pairs, taking turns."""
    results = []
    for n, m, d, C in CELLS:
        fitter, score = score_design(args, n, m, d, C)
        audit = score_design(args, n, m, d, C, audit_arms)[1]
        runs = {"score": [], "audit": []}
        for _ in track(range(1 if args.quick else 11), "audit and score", console=CONSOLE, transient=True):
            for name, design in (("score", score), ("audit", audit)):
                runs[name].append(clock(lambda f=fitter, p=design: evaluate(p, f, 8, Local(1))))
        wall, cpu = ({k: median(run[i] for run in v) / 8 for k, v in runs.items()} for i in (0, 1))
        results.append(
            {"data_rows": n, "test_rows": m, "d": d, "C": C}
            | {f"{name}_seconds": value for name, value in wall.items()}
            | {"ratio": wall["audit"] / wall["score"], "ratio_cpu": cpu["audit"] / cpu["score"]}
        )
    show(
        "An audit of four arms and a score with the same pairs (ms a pair; ratio by wall clock / CPU)",
        ("cell", "score", "audit", "ratio"),
        [
            (
                f"{r['data_rows']}+{r['test_rows']}, d={r['d']}, C={r['C']:g}",
                f"{1e3 * r['score_seconds']:.2f}",
                f"{1e3 * r['audit_seconds']:.2f}",
                f"{r['ratio']:.2f} / {r['ratio_cpu']:.2f}",
            )
            for r in results
        ],
    )
    return results


def measure_ep(args):
    """EP and Laplace, taking turns."""
    results = []
    for n, m, d, C in EP_CELLS:
        X, y = load_pool(args, d)
        try:
            fitters = {name: Logistic(C, inference=name).bind(X, y) for name in ("laplace", "ep")}
        except DataworthError as error:
            print(f"\nEP against Laplace: skipped ({error})")
            return []
        pairs = draw_pairs(n, m, args.pairs, np.random.default_rng([args.seed, n, d]), len(y))
        runs = {name: [] for name in fitters}
        label = f"EP, {n}+{m}, d={d}, C={C:g}"
        for pair in track(pairs, label, console=CONSOLE, transient=True):
            for name, fitter in fitters.items():
                runs[name].append(clock(lambda f=fitter, p=pair: our_pmi(f, *p)))
        wall, cpu = ({k: median(run[i] for run in v) for k, v in runs.items()} for i in (0, 1))
        results.append(
            {"data_rows": n, "test_rows": m, "d": d, "C": C}
            | {f"{name}_seconds": value for name, value in wall.items()}
            | {"ratio": wall["ep"] / wall["laplace"], "ratio_cpu": cpu["ep"] / cpu["laplace"]}
        )
    show(
        "EP and Laplace (ms a pair; ratio by wall clock / CPU)",
        ("cell", "Laplace", "EP", "ratio"),
        [
            (
                f"{r['data_rows']}+{r['test_rows']}, d={r['d']}, C={r['C']:g}",
                f"{1e3 * r['laplace_seconds']:.2f}",
                f"{1e3 * r['ep_seconds']:.2f}",
                f"{r['ratio']:.1f} / {r['ratio_cpu']:.1f}",
            )
            for r in results
        ],
    )
    return results


PARTS = {
    "cells": measure_cells,
    "growth": measure_growth,
    "memory": measure_memory,
    "cores": measure_cores,
    "audit": measure_audit,
    "ep": measure_ep,
}


# --- output ----------------------------------------------------------------------------------------------


def show(title, columns, rows):
    table = Table(title=title, title_justify="left")
    for column in columns:
        table.add_column(column, justify="left" if column == "cell" else "right")
    for row in rows:
        table.add_row(*row)
    print()
    Console(width=190).print(table)


def machine():
    """What a reader needs to compare; nothing that names the machine."""
    cpus = Path("/proc/cpuinfo")
    lines = cpus.read_text().splitlines() if cpus.exists() else []
    model = next((line.split(":")[1].strip() for line in lines if line.startswith("model name")), "unknown")
    return {
        "processor": model,
        "cores": os.cpu_count(),
        "system": platform.system(),
        "load_average": os.getloadavg()[0] if hasattr(os, "getloadavg") else None,
    }


def main():
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=raw)
    parser.add_argument("--quick", action="store_true", help="a smoke test of seconds, in this process")
    parser.add_argument("--parts", default=",".join(PARTS), help="default: %(default)s")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--embeddings", type=Path, help="npz with X (rows × features) and y (two classes)")
    parser.add_argument("--out", type=Path, help="write the results to this JSON file")
    parser.add_argument("--child-memory", type=int, help=argparse.SUPPRESS)
    args = parser.parse_args()
    args.pairs, args.settle = (2, 1) if args.quick else (40, 8)
    if args.quick:
        globals().update(CELLS=QUICK, EP_CELLS=QUICK, POOL=200)
        args.parts = ",".join(name for name in args.parts.split(",") if name not in ("memory", "cores"))
    warnings.filterwarnings("ignore", category=sklearn.exceptions.ConvergenceWarning)
    if args.child_memory:
        child_memory(args)
        return
    before = machine()
    with threadpool_limits(1):
        results = {name: PARTS[name](args) for name in args.parts.split(",")}
    if args.out:
        record = {
            "seed": args.seed,
            "data": "synthetic activations" if args.embeddings is None else args.embeddings.stem,
            "quick": args.quick,
            "versions": {
                "python": platform.python_version(),
                **{m.__name__: m.__version__ for m in (np, scipy, sklearn, dataworth)},
            },
            "machine": before,
        }
        args.out.parent.mkdir(parents=True, exist_ok=True)
        args.out.write_text(json.dumps(record | results, indent=2) + "\n")


if __name__ == "__main__":
    main()
