"""The story of the demo on embedded datasets, over ten seeds: a table of verdict × seed.

Photographs: which of scikit-learn's two photographs is a patch from? Diabetes: numeric labels, and
above the median or not: weak features.

python benchmarks/verdicts.py [--seeds 10] [--inference laplace] [--quick] [--out results/verdicts.json]
"""

from __future__ import annotations

import argparse
import collections
import itertools
import json
import platform
from pathlib import Path

import numpy as np
import sklearn
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import dataworth as dw
from interval_coverage import photo_patches


def load(name):
    """Features, labels, training rows and how many labels are flipped."""
    if name == "breast cancer":
        d = load_breast_cancer()
        return d.data, d.target, 340, 50
    if name == "digits":
        d = load_digits()
        return d.data, d.target % 2, 900, 130
    if name == "photographs":
        X, y = photo_patches(stride=8)
        distinct = np.unique(X, axis=0, return_index=True)[1]
        chosen = np.random.default_rng(0).permutation(distinct)[:1000]
        return X[chosen], y[chosen], 400, 60
    d = load_diabetes()
    if name == "diabetes":
        return d.data, d.target, 260, 39
    return d.data, (d.target > np.median(d.target)).astype(int), 260, 39


def story(name, seed):
    """Each curation as (name, before, after), and the test set."""
    X, y, n, flips = load(name)
    rng = np.random.default_rng([seed, 1])
    p = rng.permutation(len(y))
    X, y = X[p], y[p]
    D, T = dw.Dataset(X[:n], y[:n]), dw.Dataset(X[n:], y[n:])
    number = len(np.unique(y)) > 2
    bad = rng.permutation(n)[:flips]
    wrong = y[:n].copy()
    wrong[bad] = rng.permutation(y[:n])[:flips] if number else 1 - wrong[bad]
    noisy = dw.Dataset(X[:n], wrong)
    good = np.setdiff1d(np.arange(n), bad)
    half = n // 2
    first = D.take(np.arange(half))
    learner = make_pipeline(StandardScaler(), Ridge() if number else LogisticRegression(max_iter=5000))
    own = learner.fit(first.X, first.y).predict(X[half:n])
    rows = np.arange(n)
    yield "filter", noisy, noisy.take(good), T
    yield "random half", D, D.take(rng.permutation(n)[:half]), T
    yield "shuffled", D, D.with_labels(rng.permutation(y[:n])), T
    yield "doubled", D, D.take(np.r_[rows, rows]), T
    yield "self-labelled", first, dw.Dataset.concat([first, dw.Dataset(X[half:n], own)]), T
    yield "new rows", first, D, T


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument(
        "--sets", nargs="+", default=["breast cancer", "digits", "photographs", "diabetes", "diabetes binary"]
    )
    parser.add_argument("--inference", default="laplace")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--quick", action="store_true", help="a smoke test of seconds")
    args = parser.parse_args()
    args.curations = None
    if args.quick:
        args.sets, args.seeds, args.curations = ["diabetes"], 1, 1
    records = []
    for name in args.sets:
        tallies = collections.defaultdict(list)
        for seed in range(args.seeds):
            yard = None
            for curation, before, after, test in itertools.islice(story(name, seed), args.curations):
                yard = yard or dw.Yardstick.fit(test, inference=args.inference, seed=seed)
                a = dw.audit(before, after, test, yardstick=yard, seed=seed, jobs=1, ignore="all")
                tallies[curation].append(a)
                record = {"set": name, "seed": seed, "curation": curation, **a.to_dict()}
                records.append({k: v for k, v in record.items() if k not in ("yardstick", "question")})
        for curation, audits in tallies.items():
            counts = collections.Counter(a.verdict for a in audits)
            shown = ", ".join(f"{v} {c}" for v, c in counts.most_common())
            deltas = " ".join(f"{a.delta:+.2f}" for a in audits)
            print(f"{name:16} {curation:14} {shown:45} Δ {deltas}", flush=True)
    if args.out:
        about = {
            "numpy": np.__version__,
            "scikit-learn": sklearn.__version__,
            "python": platform.python_version(),
        }
        args.out.parent.mkdir(parents=True, exist_ok=True)
        args.out.write_text(
            json.dumps({"about": about, "seeds": args.seeds, "audits": records}, indent=1) + "\n"
        )


if __name__ == "__main__":
    main()
