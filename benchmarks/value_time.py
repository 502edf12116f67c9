"""What the values of 100,000 rows cost, beside cleanlab's ranking and KNN-Shapley on the same features.

    python benchmarks/value_time.py [--rows 100000] [--quick] [--out results/value-time.json]

100 columns, 10,000 test rows, labels of a logistic model of which one in twenty is wrong. Each way runs in a
process of its own, with one thread of linear algebra: CPU seconds, seconds and the largest memory, and the
area under the ROC curve of the wrong labels. KNN-Shapley does a test row at a time: a hundredth of them is
timed, and the time is multiplied.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import subprocess
import sys
import time
from importlib.metadata import version
from pathlib import Path

import numpy as np

import dataworth as dw

WAYS = ("values", "cleanlab", "KNN-Shapley")
COLUMNS, TEST, WRONG, PART = 100, 10_000, 0.05, 100


def world(rows, seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((rows + TEST, COLUMNS))
    theta = 2.0 * rng.standard_normal(COLUMNS) / np.sqrt(COLUMNS)
    y = (X @ theta + rng.logistic(size=len(X)) > 0).astype(int)
    wrong = rng.random(rows) < WRONG
    return X[:rows], np.where(wrong, 1 - y[:rows], y[:rows]), X[rows:], y[rows:], wrong


def one(way, rows, seed):
    """Measured in this process."""
    from sklearn.metrics import roc_auc_score

    from dataworth_studies.value_peers import Task, cleanlab, knn_shapley

    X, y, test_X, test_y, wrong = world(rows, seed)
    begun, wall, times = time.process_time(), time.perf_counter(), 1
    if way == "values":
        doubt = dw.values(dw.Dataset(X, y), dw.Dataset(test_X, test_y)).rows.p_mislabeled
    elif way == "cleanlab":
        doubt = cleanlab(Task(X, y, test_X, test_y, 1.0, seed))
    else:
        times = PART
        doubt = knn_shapley(Task(X, y, test_X[::PART], test_y[::PART], 1.0, seed))
    return {
        "cpu_seconds": times * (time.process_time() - begun),
        "seconds": times * (time.perf_counter() - wall),
        "megabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "auc": float(roc_auc_score(wrong, doubt)),
    }


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--way", choices=WAYS, help=argparse.SUPPRESS)
    parser.add_argument("--out", type=Path, help="write the results to this JSON file")
    parser.add_argument("--quick", action="store_true", help="a smoke test of seconds")
    args = parser.parse_args()
    if args.quick:
        globals().update(COLUMNS=3, TEST=200)
        for way in WAYS:
            print(way, one(way, 300, args.seed))
        return
    if args.way:
        print(json.dumps(one(args.way, args.rows, args.seed)))
        return
    found = {}
    for way in WAYS:
        words = [sys.executable, __file__, "--way", way, "--rows", args.rows, "--seed", args.seed]
        alone = os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
        told = subprocess.run([*map(str, words)], env=alone, capture_output=True, text=True, check=True)
        found[way] = json.loads(told.stdout)
        cost = f"{found[way]['cpu_seconds']:8.1f} CPU s {found[way]['megabytes']:6.0f} MB"
        print(f"{way:12} {cost}  AUC of wrong labels {found[way]['auc']:.3f}", flush=True)
    if args.out:
        about = {name: version(name) for name in ("numpy", "scipy", "scikit-learn", "dataworth")}
        record = {"rows": args.rows, "columns": COLUMNS, "test rows": TEST, "seed": args.seed}
        record |= {"versions": {"python": platform.python_version(), **about}, "ways": found}
        args.out.write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()
