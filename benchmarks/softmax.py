"""Softmax on ten-class digits: one PMI of 500 + 500 rows at 65 coefficients a class, and a yardstick.

    python benchmarks/softmax.py [--out results/softmax.json] [--yardstick] [--quick]

Times are of wall clock and of the processor (one thread); a busy machine shows in the first alone.
"""

from __future__ import annotations

import argparse
import json
import platform
import time
from importlib.metadata import version
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits
from threadpoolctl import threadpool_limits

import dataworth as dw
from dataworth.yardstick.yardstick import Yardstick

SEED = 0
REPEATS = 3


def timed(call):
    """The result, and the least wall-clock and processor seconds of a few calls."""
    wall, own = [], []
    for _ in range(REPEATS):
        begun, used = time.perf_counter(), time.process_time()
        result = call()
        wall.append(time.perf_counter() - begun)
        own.append(time.process_time() - used)
    return result, {"seconds": round(min(wall), 3), "processor_seconds": round(min(own), 3)}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--yardstick", action="store_true", help="also fit one on 900 rows: a minute")
    parser.add_argument("--quick", action="store_true", help="a smoke test of seconds")
    args = parser.parse_args()
    size, priors = (60, (1.0,)) if args.quick else (500, (0.01, 1.0, 100.0, 1e4))
    digits = load_digits()
    order = np.random.default_rng(SEED).permutation(len(digits.target))
    X, y = digits.data[order] / 16.0, digits.target[order]
    D, T = dw.Dataset(X[:size], y[:size]), dw.Dataset(X[size : 2 * size], y[size : 2 * size])
    rows = []
    with threadpool_limits(1):
        for C in priors:
            for model in (dw.Softmax(C),):
                found, seconds = timed(lambda model=model: dw.pmi(D, T, model))
                rows.append({"model": repr(model), "value": round(found.value, 4), **seconds})
                print(rows[-1])
        result = {
            "schema": "dataworth/benchmark/softmax/1",
            "data": "scikit-learn digits, pixels / 16, permuted: rows 0–499 against 500–999",
            "coefficients_a_class": X.shape[1] + 1,
            "classes": 10,
            "seed": SEED,
            "bar": "one PMI in less than 2 s",
            "pmi": rows,
        }
        if args.yardstick:
            begun, used = time.perf_counter(), time.process_time()
            yard = Yardstick.fit(dw.Dataset(X[-900:], y[-900:]))
            result["yardstick"] = {
                "rows": 900,
                "seconds": round(time.perf_counter() - begun, 1),
                "processor_seconds": round(time.process_time() - used, 1),
                "chosen": str(yard),
            }
            print(result["yardstick"])
    result["versions"] = {name: version(name) for name in ("dataworth", "numpy", "scipy", "scikit-learn")}
    result["versions"]["python"] = platform.python_version()
    if args.out:
        args.out.parent.mkdir(exist_ok=True)
        args.out.write_text(json.dumps(result, indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
