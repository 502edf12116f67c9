"""How often does an audit accuse, or praise, a curation that is mere chance?

A random half of a dataset is audited as if it were a curation, in the design *whole*. The blind controls are
random halves too, so selection (after − control) is none. At 95 %, two-sided, it should be called positive or
negative in 5 % of audits, or fewer: the interval covers fresh test sets as well as other halves. Of the
verdicts, "costly" and "inconclusive" are right; "informative", "strategic" and "harmful" are false alarms.

Simulated worlds: P(y=1|x) = σ(s·(x₀ − x₁)), x standard normal with d features, data and test fresh each time.
Digits: odd or even, split afresh each time; half as many repetitions, since each takes three times as long.
One yardstick a world, from a first test set that is not used again (digits: split again), serves throughout.

All of it took 5½ minutes of processor time on two busy shared cores.

python benchmarks/false_alarms.py [--repetitions 200] [--seed 0] [--quick] [--out results/false_alarms.json]
"""

from __future__ import annotations

import argparse
import collections
import json
import platform
import sys
import time
from pathlib import Path

import numpy as np
import sklearn
from sklearn.datasets import load_digits

import dataworth as dw
from dataworth.valuation.audit.verdict import VERDICTS

ALARMS = ("informative", "strategic", "harmful")
DIGITS_ROWS = 900


class Simulated:
    """Rows from the logistic model itself."""

    def __init__(self, d: int, sharpness: float, n: int) -> None:
        self.d, self.sharpness, self.n = d, sharpness, n

    def draw(self, rng: np.random.Generator) -> tuple[dw.Dataset, dw.Dataset]:
        """Data and test set, equally large."""
        X = rng.normal(size=(2 * self.n, self.d))
        y = (self.sharpness * (X[:, 0] - X[:, 1]) + rng.logistic(size=2 * self.n) > 0).astype(int)
        return dw.Dataset(X[: self.n], y[: self.n]), dw.Dataset(X[self.n :], y[self.n :])


class Digits:
    """Odd or even, split at random."""

    def __init__(self) -> None:
        d = load_digits()
        self.X, self.y = d.data, d.target % 2

    def draw(self, rng: np.random.Generator) -> tuple[dw.Dataset, dw.Dataset]:
        """900 rows of data; the rest is the test set."""
        p = rng.permutation(len(self.y))
        train, test = p[:DIGITS_ROWS], p[DIGITS_ROWS:]
        return dw.Dataset(self.X[train], self.y[train]), dw.Dataset(self.X[test], self.y[test])


def worlds() -> dict:
    return {
        "d=3 s=3 n=200": Simulated(3, 3.0, 200),
        "d=10 s=3 n=100": Simulated(10, 3.0, 100),
        "digits n=900": Digits(),
    }


def audit_half(world, yard, seed: int, number: int, i: int) -> dict:
    """The i-th audit of a world: a random half of its data."""
    rng = np.random.default_rng([seed, number, i + 1])
    before, test = world.draw(rng)
    after = before.take(np.sort(rng.permutation(len(before))[: len(before) // 2]))
    seed = int(rng.integers(2**31))
    a = dw.audit(before, after, test, yardstick=yard, design="whole", seed=seed, jobs=1, ignore="all")
    low, high = a.control.excess_interval
    return {
        "delta": a.delta,
        "selection": a.control.excess_over_random,
        "interval": [low, high],
        "verdict": a.verdict,
    }


def share(hits: int, of: int) -> dict:
    """A share with its binomial standard error."""
    p = hits / max(of, 1)
    return {"count": hits, "share": p, "stderr": float(np.sqrt(p * (1 - p) / max(of, 1)))}


def in_half_widths(audit: dict) -> float:
    """Selection over half the width of its interval: ½ or so, rms, if that is just wide enough."""
    low, high = audit["interval"]
    return 2.0 * audit["selection"] / (high - low)


def summarise(audits: list[dict]) -> dict:
    n = len(audits)
    above = sum(a["interval"][0] > 0 for a in audits)
    below = sum(a["interval"][1] < 0 for a in audits)
    verdicts = collections.Counter(a["verdict"] for a in audits)
    return {
        "audits": n,
        "selection positive": share(above, n),
        "selection negative": share(below, n),
        "selection either": share(above + below, n),
        "verdicts": {v: share(verdicts[v], n) for v in VERDICTS},
        "selection in half-widths, rms": float(np.sqrt(np.mean([in_half_widths(a) ** 2 for a in audits]))),
        "false alarms": share(sum(verdicts[v] for v in ALARMS), n),
    }


def percent(part: dict) -> str:
    return f"{part['share']:6.1%} ±{part['stderr']:.1%}"


def report(tables: dict) -> None:
    print("share of audits (± binomial standard error; none of n: below 3/n at 95 %)")
    print("selection: positive or negative at 95 %, either in 5 % of audits at most, if all is well")
    print(f"{'':16}{'positive':>15}{'negative':>15}{'either':>15}" + "".join(f"{v:>15}" for v in ALARMS))
    for name, row in tables.items():
        parts = [row[f"selection {side}"] for side in ("positive", "negative", "either")]
        parts += [row["verdicts"][v] for v in ALARMS]
        print(f"{name:16}" + "".join(f"{percent(part):>15}" for part in parts))
    print()
    for name, row in tables.items():
        others = {v: p["count"] for v, p in row["verdicts"].items() if p["count"]}
        listed = ", ".join(f"{v} {c}" for v, c in sorted(others.items(), key=lambda o: -o[1]))
        rms = row["selection in half-widths, rms"]
        print(f"{name:16} {row['audits']:4} audits: {listed}; selection {rms:.2f} half-widths rms")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--repetitions", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--quick", action="store_true", help="a smoke test of seconds")
    args = parser.parse_args()
    chosen = worlds()
    if args.quick:
        args.repetitions, chosen = 1, dict(list(chosen.items())[:1])
    found: dict[str, list[dict]] = {}
    for number, (name, world) in enumerate(chosen.items()):
        started = time.perf_counter()
        _, own = world.draw(np.random.default_rng([args.seed, number, 0]))
        yard = dw.Yardstick.fit(own, seed=args.seed)
        found[name] = []
        repetitions = max(1, args.repetitions // (2 if isinstance(world, Digits) else 1))
        for i in range(repetitions):
            found[name].append(audit_half(world, yard, args.seed, number, i))
            spent = time.perf_counter() - started
            left = spent / (i + 1) * (repetitions - i - 1)
            text = f"\r{name}: {i + 1} of {repetitions}, {spent:.0f} s, about {left:.0f} s left "
            print(text, end="", file=sys.stderr)
        print(file=sys.stderr)
    tables = {name: summarise(audits) for name, audits in found.items()}
    tables["all"] = summarise([a for audits in found.values() for a in audits])
    report(tables)
    if args.out:
        about = {"dataworth": dw.__version__, "numpy": np.__version__, "scikit-learn": sklearn.__version__}
        about["python"] = platform.python_version()
        body = {"command": "python benchmarks/false_alarms.py", "about": about}
        body |= {"repetitions": args.repetitions, "seed": args.seed, "tables": tables, "audits": found}
        args.out.parent.mkdir(parents=True, exist_ok=True)
        args.out.write_text(json.dumps(body, indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
