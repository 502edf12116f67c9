"""How much a yardstick sees, and whether it can be fooled, on real sets at several sizes of the data.

*Sees*: nats a fresh row, log p(block | D) / its rows over fresh blocks as large as the test set's, D of 300
rows, the yardstick fitted to 400 test rows. With `--against FILE` (written by another version of the
library: run this script with that one on PYTHONPATH) the difference is told, with its error over blocks.

*Fooled*: changes that tell nothing new (double, label by one's own model, shrink to class means, drop what
one's own model doubts) of 40, 120, 300 and 1,000 clean rows: the rise in nats a row.

python benchmarks/eye.py [--sets reporting] [--splits 0 1] [--null] [--against FILE] [--out FILE] [--quick]
"""

from __future__ import annotations

import argparse
import json
import platform
from functools import partial
from pathlib import Path
from unittest.mock import patch

import numpy as np
from sklearn.metrics import roc_auc_score

import dataworth as dw
from dataworth.measure import plans
from real_changes import dataset, labels_of, regression, trust
from real_sets import REPORTING, SETTLING, draw

SIZES = (40, 120, 300, 1000)


def seen(name, split):
    """log p(block | D) a row, of every fresh block."""
    drawn = draw(name, split)
    data, test, fresh = (dw.Dataset(*part) for part in (drawn.data, drawn.test, drawn.fresh))
    options = {"yardstick": dw.Yardstick.fit(test, seed=split), "seed": split, "jobs": 1, "ignore": "all"}
    rows = round(len(test) / len(dw.score(data, test, **options).table.pmi))
    with patch.object(plans, "MOST_BLOCKS", len(fresh) // rows):
        table = dw.score(data, fresh, **options).table
    learner = regression().fit(data.X, data.y)
    return {
        "set": name,
        "split": split,
        "nats": ((table.pmi[:, 0] + table.reference) / rows).tolist(),
        "auc": roc_auc_score(fresh.y, learner.predict_proba(fresh.X)[:, 1]),
    }


def null_changes(X, y):
    """Before and after, by name: nobody knew anything."""
    n, data = len(y), dataset(X, y)
    yield "double", data, data.take(np.tile(np.arange(n), 2))
    half = n // 2
    labels = labels_of(regression(), X[:half], y[:half], X[half:])
    yield "self-label", dataset(X[:half], y[:half]), dataset(X, np.append(y[:half], labels))
    ids = np.array([f"r{i}" for i in range(n)])
    middle = np.vstack([X[y == c].mean(axis=0) for c in (0, 1)])[y]
    yield "shrink", dataset(X, y, ids=ids), dataset(X + 0.3 * (middle - X), y, ids=ids)
    yield "filter", data, data.take(np.sort(np.argsort(trust(regression(), X, y))[n // 10 :]))


def fooled(name, split):
    """The rise of every null change at every size that the set is large enough for."""
    for size in SIZES:
        drawn = draw(name, split, data=size)
        X, y = drawn.data
        if len(y) < size or min(np.bincount(y[: size // 2], minlength=2)) < 5:
            continue
        test = dw.Dataset(*drawn.test)
        yard = dw.Yardstick.fit(test, seed=split)
        for change, before, after in null_changes(X, y):
            found = dw.audit(before, after, test, yardstick=yard, seed=split, jobs=1, ignore="all")
            yield {
                "set": name,
                "split": split,
                "size": size,
                "change": change,
                "rise": found.delta,
                "stderr": found.stderr,
                "verdict": found.verdict,
            }


def main():
    """Run, print, and write."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sets", nargs="+", default=["reporting"], help="reporting, settling, or names")
    parser.add_argument("--splits", nargs="+", type=int, default=[0, 1])
    parser.add_argument("--null", action="store_true", help="the changes that tell nothing new")
    parser.add_argument("--against", type=Path)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--quick", action="store_true", help="a smoke test of seconds")
    args = parser.parse_args()
    if args.quick:
        args.sets, args.splits = ["digits"], [0]
        globals().update(SIZES=(40,), draw=partial(draw, data=40, test=60, fresh=60))
    named = {"reporting": REPORTING, "settling": SETTLING}
    sets = [one for name in args.sets for one in named.get(name, (name,))]
    work = [(name, split) for name in sets for split in args.splits]
    if args.null:
        found = [record for one in work for record in fooled(*one)]
        for size in SIZES:
            for change in dict.fromkeys(r["change"] for r in found):
                some = [r for r in found if r["size"] == size and r["change"] == change]
                up = [r["set"] for r in some if r["rise"] > 2 * r["stderr"] + 1e-6]
                called = sum(r["verdict"] == "informative" for r in some)
                told = f"up beyond 2 s.e. {len(up)} of {len(some)}, informative {called}"
                print(f"{size:5} {change:12} {told} {up}")
    else:
        found = [seen(*one) for one in work]
        other = {(r["set"], r["split"]): r["nats"] for r in read(args.against)}
        for r in found:
            nats, then = np.array(r["nats"]), other.get((r["set"], r["split"]))
            line = f"{r['set']:14} {r['split']} {nats.mean():+.4f}"
            if then is not None:
                change = nats - np.array(then)
                line += f" before {np.mean(then):+.4f} change {change.mean():+.4f}"
                line += f" ± {change.std(ddof=1) / np.sqrt(len(change)):.4f}"
            print(line, f"AUC of regression {r['auc']:.3f}")
    if args.out:
        about = {"numpy": np.__version__, "python": platform.python_version(), "dataworth": dw.__version__}
        args.out.write_text(
            json.dumps({"about": about, "splits": args.splits, "records": found}, indent=1) + "\n"
        )


def read(file):
    """Records that another version wrote."""
    return json.loads(file.read_text())["records"] if file else []


if __name__ == "__main__":
    main()
