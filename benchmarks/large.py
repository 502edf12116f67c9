"""A whole audit of 100,000 rows × 100 features against 20,000 test rows: seconds and memory.

    python benchmarks/large.py [--rows 100000] [--features 100] [--test-rows 20000] [--quick]

Writes three parquet files to a temporary folder, runs `dataworth audit` on them as a user would, and adds up
the memory of all its processes (proportional set size, so that shared pages count once).
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq


def write(path, X, y):
    columns = {f"x{j}": X[:, j] for j in range(X.shape[1])}
    pq.write_table(pa.table(columns | {"label": y}), path)


def children(pid):
    try:
        own = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        return []
    return [pid, *(p for child in own for p in children(int(child)))]


def memory(pid):
    total = 0
    for process in children(pid):
        try:
            rollup = Path(f"/proc/{process}/smaps_rollup").read_text()
        except OSError:
            continue
        total += next(int(line.split()[1]) for line in rollup.splitlines() if line.startswith("Pss:"))
    return total / 1024


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--features", type=int, default=100)
    parser.add_argument("--test-rows", type=int, default=20_000)
    parser.add_argument("--quick", action="store_true", help="a smoke test of seconds")
    args = parser.parse_args()
    if args.quick:
        args.rows, args.features, args.test_rows = 200, 3, 100
    rng = np.random.default_rng(0)
    n, d = args.rows + args.test_rows, args.features
    mixing = rng.standard_normal((d, d)) / np.sqrt(d)
    X = rng.standard_normal((n, d)) @ mixing
    theta = rng.standard_normal(d) / np.sqrt(d)
    y = (X @ theta + 0.5 * rng.logistic(size=n) > 0).astype(int)
    bad = rng.random(args.rows) < 0.05
    noisy = np.where(bad, 1 - y[: args.rows], y[: args.rows])
    with tempfile.TemporaryDirectory() as folder:
        raw, clean, test = (Path(folder) / f"{name}.parquet" for name in ("raw", "clean", "test"))
        write(raw, X[: args.rows], noisy)
        write(clean, X[: args.rows][~bad], noisy[~bad])
        write(test, X[args.rows :], y[args.rows :])
        del X
        command = [sys.executable, "-m", "dataworth", "audit", raw, clean, "--test", test, "--json"]
        started = time.perf_counter()
        process = subprocess.Popen(command, stdout=subprocess.PIPE)
        peak = 0.0
        while process.poll() is None:
            peak = max(peak, memory(process.pid))
            time.sleep(0.1)
        seconds = time.perf_counter() - started
        with process.stdout as told:
            result = json.load(told)
    print(f"{args.rows} × {d}, {args.test_rows} test rows: {seconds:.1f} s, {peak:.0f} MB")
    print(f"{result['verdict']}: {result['delta']:+.2f} nats per block, interval {result['interval']}")


if __name__ == "__main__":
    main()
