"""The bars of row matching: copies found, time taken, no row taken for another.

    python benchmarks/row_matching.py [--rows 1000000] [--quick]

Copies of 400 rows in single precision and as text with 7 and 6 digits, at 10 to 10,000 columns; 100,000 × 100
against 20,000; and random rows, none of which is another's copy.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

from dataworth.data.changes import compare
from dataworth.data.dataset import Dataset
from dataworth.data.rows import same_rows


def as_text(X, digits):
    """The numbers as a text file with so many digits would hold them."""
    return np.array([[float(f"{value:.{digits}g}") for value in row] for row in X])


def main():
    """Print the three tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
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


if __name__ == "__main__":
    main()
