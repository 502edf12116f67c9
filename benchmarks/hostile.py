"""Random hostile problems: how many digits of log Z survive, Laplace's and EP's?

1–12 rows, 1–12 features; twin rows and near-twins, contradicting labels, one class, separable classes; half
of them with columns scaled by 1e-8 … 1e7, half with weights of 1e-3 … 1e5; prior variances of 1e-6 … 1e8.

Laplace: the fit of all rows, cold and started from the fits of two halves as PMI's joint fit is, against
60-digit arithmetic; bound 1e-6 + 1e-8·|log Z|. "silently": outside, with no warning that Newton's method did
not converge. EP (the first third of the problems), whose many-digit reference is far slower: does it settle,
do cold and started fits agree, and do geometries: n×n, d×d and square-root up to C·w‖x‖² = 1e9, beyond which
the package never forms products of rows; there square-root in two coordinates.

A family known to leave the bound comes after: near-twins, 6 rows × 10 features, columns 1e-8 … 1e7, C = 9e7.

All of it takes some 4 minutes of one core's time.

python benchmarks/hostile.py [--problems 3000] [--seed 0] [--quick] [--out results/hostile.json]
"""

from __future__ import annotations

import argparse
import json
import platform
import sys
import time
import warnings
from pathlib import Path
from typing import NamedTuple

import numpy as np
import scipy

import dataworth as dw
from dataworth.inference.geometry import GRAM_LIMIT, Dual, Primal, graded_features
from dataworth.inference.sites import find_moments
from dataworth.models import Logistic

# the many-digit reference belongs to the tests, which are no package: one copy of it, found by its place
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
from reference import laplace_log_z, tolerance, with_ones

KINDS = ("plain", "twins", "near-twins", "contradicting", "one class", "separable")
QUANTILES = (0.5, 0.9, 0.99, 1.0)
ORDINARY = 1e5
"""C·w‖x‖² up to which every geometry has digits to spare."""
KNOWN = 200
"""Problems of the family known to leave the bound."""


class Problem(NamedTuple):
    """Rows, labels, weights and prior variance, with what was done to them."""

    kind: str
    scaled: bool
    weighted: bool
    X: np.ndarray
    y: np.ndarray
    weights: np.ndarray
    C: float

    def size(self) -> float:
        """The largest C·w‖x‖², the intercept's column included."""
        squares = (with_ones(self.X) ** 2).sum(axis=1)
        return float(self.C * max(1.0, self.weights.max()) * squares.max())


def problem(seed: int, i: int) -> Problem:
    """The i-th problem; pure in (seed, i)."""
    rng = np.random.default_rng([seed, i])
    kind, n, d = KINDS[i % len(KINDS)], int(rng.integers(1, 13)), int(rng.integers(1, 13))
    scaled, weighted = rng.random(2) < 0.5
    X, y = rows(rng, kind, n, d)
    if scaled:
        X = X * 10.0 ** rng.uniform(-8, 7, d)
    weights = 10.0 ** rng.uniform(-3, 5, n) if weighted else np.ones(n)
    return Problem(kind, bool(scaled), bool(weighted), X, y, weights, float(10.0 ** rng.uniform(-6, 8)))


def rows(rng: np.random.Generator, kind: str, n: int, d: int):
    """Features of size 1, and labels."""
    X, y = rng.normal(size=(n, d)), (rng.random(n) < 0.5).astype(float)
    if kind in ("twins", "near-twins", "contradicting"):
        X = X[rng.integers(0, (n + 1) // 2, n)]
    if kind == "near-twins" or (kind == "contradicting" and rng.random() < 0.5):
        X = X * (1.0 + 10.0 ** rng.uniform(-12, -1) * rng.normal(size=(n, d)))
    if kind == "contradicting":
        y = np.arange(n) % 2.0
    elif kind == "one class":
        y = np.full(n, float(rng.random() < 0.5))
    elif kind == "separable":
        y = (X @ rng.normal(size=d) > 0).astype(float)
    return X, y


def known(seed: int, i: int) -> Problem:
    """The i-th of the family that is known to leave the bound."""
    rng = np.random.default_rng([seed, 0xBAD, i])
    X = rng.normal(size=(6, 10))[rng.integers(0, 3, 6)]
    X = X * (1.0 + 10.0 ** rng.uniform(-12, -1) * rng.normal(size=(6, 10)))
    y = (rng.random(6) < 0.5).astype(float)
    return Problem("known", True, False, X * 10.0 ** rng.uniform(-8, 7, 10), y, np.ones(6), 9e7)


def fit_twice(p: Problem, inference: str):
    """The fitter, and the fit of all rows: cold, and started from every other row and the rest."""
    fitter = Logistic(p.C, inference).bind(p.X, p.y)
    everything = np.arange(len(p.y))
    parts = [part for part in (everything[::2], everything[1::2]) if len(part)]
    start = tuple(fitter(part, weights=p.weights[part]) for part in parts)
    return fitter, fitter(everything, weights=p.weights), fitter(everything, start, weights=p.weights)


def judge_laplace(p: Problem) -> dict:
    """Errors of both fits against 60 digits, in nats and in bounds."""
    try:
        _, cold, warm = fit_twice(p, "laplace")
    except (dw.DataworthError, np.linalg.LinAlgError) as error:
        return {"refused": str(error)}
    try:
        truth = laplace_log_z(with_ones(p.X), p.y, p.weights, p.C)
    except AssertionError as error:
        return {"no reference": str(error)}
    bound = tolerance(truth)
    return {
        "log_z": truth,
        "error": abs(cold.log_z - truth),
        "in bounds": abs(cold.log_z - truth) / bound,
        "started, in bounds": abs(warm.log_z - truth) / bound,
        "started − cold": abs(warm.log_z - cold.log_z),
        "started − cold, in bounds": abs(warm.log_z - cold.log_z) / bound,
        "converged": bool(cold.state.solution.converged and warm.state.solution.converged),
    }


def judge_ep(p: Problem) -> dict:
    """Whether it converges, and how far started and cold fits and the geometries are apart."""
    try:
        fitter, cold, warm = fit_twice(p, "ep")
    except (dw.DataworthError, np.linalg.LinAlgError) as error:
        return {"refused": str(error)}
    state = cold.state
    X = fitter.X[state.ids]
    if p.size() <= GRAM_LIMIT:
        ways = {"n×n": Dual(p.C * X @ X.T), "d×d": Primal(X, p.C)}
    else:
        ways = {"graded": Primal(graded_features(X)[0], p.C, root=True)}
    ways["square root"] = Primal(X, p.C, root=True)
    values, failed = [], []
    for name, geometry in ways.items():
        try:
            fit = find_moments(geometry, state.counts)
        except np.linalg.LinAlgError:
            failed.append(name)
            continue
        if fit.converged:
            values.append(fit.log_z)
        else:
            failed.append(name)
    return {
        "log_z": cold.log_z,
        "converged": bool(state.solution.converged and warm.state.solution.converged),
        "started − cold": abs(warm.log_z - cold.log_z),
        "geometries": max(values) - min(values) if len(values) > 1 else None,
        "geometries failed": failed,
        "rounds": int(state.solution.iterations),
    }


def quantiles(values) -> list[float] | None:
    return np.quantile(values, QUANTILES).tolist() if len(values) else None


def shown(values: list[float] | None) -> str:
    return "–" if values is None else " ".join(f"{v:9.1e}" for v in values)


def laplace_row(records) -> dict:
    """What of some problems lies outside, and the worst."""
    fitted = [r["laplace"] for r in records if "error" in r["laplace"]]
    return {
        "problems": len(records),
        "outside": sum(r["in bounds"] > 1 for r in fitted),
        "outside, started": sum(r["started, in bounds"] > 1 for r in fitted),
        "outside, silently": sum(
            max(r["in bounds"], r["started, in bounds"]) > 1 and r["converged"] for r in fitted
        ),
        "refused": sum("refused" in r["laplace"] for r in records),
        "not converged": sum(not r["converged"] for r in fitted),
        "no reference": sum("no reference" in r["laplace"] for r in records),
        "worst, nats": max((r["error"] for r in fitted), default=0.0),
        "worst, bounds": max((r["in bounds"] for r in fitted), default=0.0),
    }


def ep_row(records) -> dict:
    records = [r for r in records if "ep" in r]
    fitted = [r["ep"] for r in records if "log_z" in r["ep"]]
    agree = [r["geometries"] for r in fitted if r["geometries"] is not None]
    failures = [name for r in fitted for name in r["geometries failed"]]
    return {
        "problems": len(records),
        "refused": len(records) - len(fitted),
        "not converged": sum(not r["converged"] for r in fitted),
        "geometries failed": {name: failures.count(name) for name in sorted(set(failures))},
        "geometries": quantiles(agree),
        "geometries, relative": quantiles(
            [r["geometries"] / max(1.0, abs(r["log_z"])) for r in fitted if r["geometries"] is not None]
        ),
        "started − cold": quantiles([r["started − cold"] for r in fitted if r["converged"]]),
    }


def groups(records) -> dict:
    """By kind, by what was done to them, and all."""
    chosen = {kind: [r for r in records if r["kind"] == kind] for kind in KINDS}
    chosen["columns scaled"] = [r for r in records if r["scaled"]]
    chosen["weighted"] = [r for r in records if r["weighted"]]
    chosen["neither"] = [r for r in records if not (r["scaled"] or r["weighted"])]
    return chosen | {"all": records}


def bands(records) -> dict:
    """By C·w‖x‖²."""
    return {
        "C·w‖x‖² ≤ 1e5": [r for r in records if r["size"] <= ORDINARY],
        "… ≤ 1e9": [r for r in records if ORDINARY < r["size"] <= GRAM_LIMIT],
        "beyond": [r for r in records if r["size"] > GRAM_LIMIT],
    }


def report(body: dict) -> None:
    print("Laplace against 60 digits; outside: beyond 1e-6 + 1e-8·|log Z|")
    print(f"{'':15} problems outside started silently refused not-conv.  worst, nats  in bounds")
    for name, row in body["laplace"].items():
        print(
            f"{name:15} {row['problems']:8} {row['outside']:7} {row['outside, started']:7} "
            f"{row['outside, silently']:8} {row['refused']:7} {row['not converged']:9} "
            f"{row['worst, nats']:12.1e} {row['worst, bounds']:10.3g}"
        )
    if missing := body["laplace"]["all"]["no reference"]:
        print(f"without a reference (it did not converge): {missing}")
    heads = " ".join(f"{f'{q:.0%}' if q < 1 else 'most':>9}" for q in QUANTILES)
    print(f"\n{'quantiles':32} {heads}")
    print(f"{'Laplace: |started − cold|, nats':32} {shown(body['started − cold'])}")
    print(f"{'Laplace: the same, in bounds':32} {shown(body['started − cold, in bounds'])}")
    for name, row in body["ep"].items():
        print(f"\nEP, {name}: {row['problems']} problems, {row['refused']} refused, ", end="")
        print(
            f"{row['not converged']} not converged; geometries failed: {row['geometries failed'] or 'none'}"
        )
        print(f"{'  geometries apart, nats':32} {shown(row['geometries'])}")
        print(f"{'  the same, over max(1, |log Z|)':32} {shown(row['geometries, relative'])}")
        print(f"{'  |started − cold|, nats':32} {shown(row['started − cold'])}")
    print("\nthe known family, quantiles of the error")
    print(f"{'  nats':32} {shown(body['known family']['error'])}")
    print(f"{'  in bounds':32} {shown(body['known family']['in bounds'])}")


def outside(record) -> bool:
    """Whether either of Laplace's fits is."""
    found = record["laplace"]
    return max(found.get("in bounds", 0.0), found.get("started, in bounds", 0.0)) > 1.0


def settled(record) -> bool:
    """Whether all fits converged."""
    return all(record[name].get("converged", False) for name in ("laplace", "ep") if name in record)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--problems", type=int, default=3000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--quick", action="store_true", help="a smoke test of seconds")
    args = parser.parse_args()
    if args.quick:
        args.problems = 6
        globals().update(KNOWN=1)
    warnings.simplefilter("ignore", RuntimeWarning)  # what does not converge is counted
    total = args.problems + KNOWN
    started, records, family, last = time.perf_counter(), [], [], 0.0
    for i in range(total):
        p = problem(args.seed, i) if i < args.problems else known(args.seed, i - args.problems)
        place = i if i < args.problems else i - args.problems
        record = {"i": place, "kind": p.kind, "scaled": p.scaled, "weighted": p.weighted, "size": p.size()}
        record |= {"rows": len(p.y), "features": p.X.shape[1], "C": p.C, "laplace": judge_laplace(p)}
        if 3 * i < args.problems:
            record["ep"] = judge_ep(p)
        (records if i < args.problems else family).append(record)
        spent = time.perf_counter() - started
        if spent - last > 1.0 or i + 1 == total:
            last = spent
            print(f"\r{i + 1} of {total} problems, {spent:.0f} s ", end="", file=sys.stderr)
    print(file=sys.stderr)
    fitted = [r["laplace"] for r in records if "error" in r["laplace"]]
    body = {
        "command": "python benchmarks/hostile.py",
        "about": {"dataworth": dw.__version__, "numpy": np.__version__, "scipy": scipy.__version__}
        | {"python": platform.python_version()},
        "problems": args.problems,
        "seed": args.seed,
        "laplace": {name: laplace_row(chosen) for name, chosen in groups(records).items()}
        | {"known family": laplace_row(family)},
        "quantiles": QUANTILES,
        "started − cold": quantiles([r["started − cold"] for r in fitted]),
        "started − cold, in bounds": quantiles([r["started − cold, in bounds"] for r in fitted]),
        "ep": {name: ep_row(chosen) for name, chosen in bands(records).items()},
        "known family": {
            name: quantiles([r["laplace"][name] for r in family if name in r["laplace"]])
            for name in ("error", "in bounds")
        },
        "outside": [r for r in records + family if outside(r)],
        "refused or not converged": [r for r in records if not settled(r)],
    }
    report(body)
    if args.out:
        args.out.parent.mkdir(parents=True, exist_ok=True)
        args.out.write_text(json.dumps(body, indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
