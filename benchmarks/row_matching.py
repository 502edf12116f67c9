"""The bars of row matching: copies found, time taken, no row taken for another.

    python benchmarks/row_matching.py [--rows 1000000] [--out results/row_matching.json] [--quick]

Copies of 400 rows in single precision and as text with 7 and 6 digits, at 10 to 10,000 columns; 100,000 × 100
against 20,000; random rows, none of which is another's copy; and rows of real tables whose columns were
moved, without ids, beside as many new rows.
"""

from __future__ import annotations

import argparse
import json
import time
from itertools import product
from pathlib import Path

import numpy as np

from dataworth.data.changes import compare
from dataworth.data.dataset import Dataset
from dataworth.data.rows import same_rows
from real_sets import load

SETS = ("letter", "penbased", "texture", "twonorm", "segment", "banana")
ROWS, SEEDS = (30, 100, 300), 10


def scaled(X):
    return (X - X.mean(axis=0)) / (X.std(axis=0) + 1e-12)


MOVES = {
    "other units": lambda X, Z, rng: X * np.exp(rng.normal(size=X.shape[1])) + rng.normal(size=X.shape[1]),
    "moments of others": lambda X, Z, rng: scaled(X) * Z.std(axis=0) + Z.mean(axis=0),
    "logarithms": lambda X, Z, rng: np.log1p(X - X.min(axis=0)),
    "shaken by a tenth": lambda X, Z, rng: 2.0 * X + 0.1 * X.std(axis=0) * rng.normal(size=X.shape),
    "columns mixed": lambda X, Z, rng: X + 0.05 * scaled(X) @ rng.normal(size=2 * X.shape[1:]),
    "a fifth gone": lambda X, Z, rng: 2.54 * X + 1.0,
    "the largest fifth gone": lambda X, Z, rng: 2.54 * X + 1.0,
    "new rows": lambda X, Z, rng: Z[: len(X)],
}


def moved(sets, sizes, seeds):
    """Of rows that were moved, how many are found, and taken for another; of new rows, how many for old."""
    found = {}
    for name, rows, how, seed in product(sets, sizes, MOVES, range(seeds)):
        X, rng = load(name)[0], np.random.default_rng([seed, rows])
        own, others = np.split(X[rng.permutation(len(X))[: 2 * rows]], 2)
        new, kept = MOVES[how](own, others, rng), rng.permutation(rows)
        if "gone" in how:
            order = kept if how.startswith("a ") else np.argsort(own[:, own.std(axis=0).argmax()])
            kept = rng.permutation(order[: round(0.8 * rows)])
        before, after = Dataset(own, np.zeros(rows)), Dataset(new[kept], np.zeros(len(kept)))
        origin = compare(before, after).origin
        same = 0 if how == "new rows" else int((own[origin] == own[kept]).all(axis=1)[origin >= 0].sum())
        row = found.setdefault(how, {"rows": 0, "found": 0, "mistaken": 0})
        row["rows"] += len(kept)
        row["found"] += same
        row["mistaken"] += int((origin >= 0).sum()) - same
    return found


def as_text(X, digits):
    """The numbers as a text file with so many digits would hold them."""
    return np.array([[float(f"{value:.{digits}g}") for value in row] for row in X])


def main():
    """Print the four tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--quick", action="store_true", help="a smoke test of seconds")
    args = parser.parse_args()
    widths, large = (10, 160, 1_280, 10_000), 100_000
    if args.quick:
        args.rows, widths, large = 2_000, (10,), 1_000
    rng = np.random.default_rng(0)
    print("columns  float32  7 digits  6 digits   (of 400 rows)")
    for columns in widths:
        X = rng.normal(size=(400, columns))
        data = Dataset(X, np.zeros(400))
        copies = (X.astype(np.float32), as_text(X, 7), as_text(X, 6))
        kept = [compare(data, Dataset(copy, np.zeros(400))).kept for copy in copies]
        print(f"{columns:7}  {kept[0]:7}  {kept[1]:8}  {kept[2]:8}")

    X, part = rng.normal(size=(large, 100)), large // 5
    data, some = Dataset(X, np.zeros(large)), Dataset(X[:part].astype(np.float32), np.zeros(part))
    started = time.process_time()
    own, other = same_rows(data, some)
    took = time.process_time() - started
    print(f"{large:,} × 100 against {part:,}: {int((own[:part] == other).sum())} found in {took:.1f} s CPU")

    for columns in (5, 20):
        data = Dataset(rng.normal(size=(args.rows, columns)), np.zeros(args.rows))
        for digits in (6, 5):
            started = time.process_time()
            false = args.rows - len(np.unique(same_rows(data, digits=digits)[0]))
            took = time.process_time() - started
            print(f"{args.rows} random rows × {columns}, {digits} digits: {false} false, {took:.1f} s CPU")

    asked = {"sets": ["digits"], "sizes": [30], "seeds": 1} if args.quick else {}
    told = {"sets": SETS, "sizes": ROWS, "seeds": SEEDS} | asked
    told["moved"] = moved(**told)
    for how, row in told["moved"].items():
        part, wrong = row["found"] / row["rows"], row["mistaken"]
        print(f"{how:24} {part:6.1%} of {row['rows']} rows found, {wrong} taken for another")
    if args.out is not None:
        args.out.write_text(json.dumps(told, indent=1) + "\n")


if __name__ == "__main__":
    main()
