"""Do the designs *whole* and *matched* attribute a correction alike; is blind cleaning ever informative?

On sets of scikit-learn: 15 % of the labels are wrong and corrected; the share of the rise from outside, with
its standard error, by both designs. Then `drop-label-issues`, which is blind, by the design *method*.

python benchmarks/attribution_designs.py [--seeds 3] [--quick]
"""

from __future__ import annotations

import argparse

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, load_wine

import dataworth as dw
from dataworth.curation import DropLabelIssues
from dataworth.measure.intervals import over_blocks, over_pairs

WRONG = 0.15


def simulated(rng):
    """A logistic model of four features."""
    X = rng.normal(size=(600, 4))
    return X, (rng.random(600) < 1 / (1 + np.exp(-3 * (X[:, 0] - X[:, 1])))).astype(int)


def sets(rng):
    """Features and two classes, by name."""
    cancer, wine, digits = load_breast_cancer(), load_wine(), load_digits()
    return {
        "breast cancer": (cancer.data, cancer.target),
        "wine, class 1": (wine.data, (wine.target == 1).astype(int)),
        "digits, odd": (digits.data[:800], digits.target[:800] % 2),
        "simulated": simulated(rng),
    }


def split(X, y, rng, most=None):
    """Data with wrong labels, the same with right ones, and a test set."""
    order = rng.permutation(len(y))[:most]
    half = len(order) // 2
    right, test = dw.Dataset(X[order[:half]], y[order[:half]]), dw.Dataset(X[order[half:]], y[order[half:]])
    wrong = rng.permutation(half)[: round(WRONG * half)]
    labels = np.array(right.y)
    labels[wrong] = 1 - labels[wrong]
    return right.with_labels(labels), right, test


def share(found, blocks=None):
    """Outside over rise, and its standard error by linearisation: both are means over the same blocks."""
    if found.attribution is None:
        return np.nan, np.nan
    arm = "before" if found.attribution.best_baseline == "nothing" else found.attribution.best_baseline
    part, rise = found.table.change("pmi", "after", arm), found.table.change("pmi", "after", "before")
    ratio = part.mean() / rise.mean()
    rest = (part - ratio * rise) / rise.mean()
    return ratio, (over_blocks(rest) if blocks is None else over_pairs(rest, blocks)).stderr


def main():
    """One line a set and seed."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--quick", action="store_true", help="the smallest set alone, one seed: seconds")
    asked = parser.parse_args()
    for seed in range(1 if asked.quick else asked.seeds):
        rng = np.random.default_rng(seed)
        for name, (X, y) in list(sets(rng).items())[slice(1, 2) if asked.quick else slice(None)]:
            noisy, right, test = split(X, y, rng, 100 if asked.quick else None)
            yard = dw.Yardstick.fit(test, seed=seed)
            options = {"yardstick": yard, "ignore": "all", "seed": seed, "keep_data": True}
            whole = dw.audit(noisy, right, test, **options)
            row = dw.audit(noisy, right, test, design="matched", **options)
            shares = share(whole), share(row, row.case.plan.blocks)
            z = (shares[0][0] - shares[1][0]) / np.hypot(shares[0][1], shares[1][1])
            blind = dw.audit(noisy, test=test, curate=DropLabelIssues(), **options)
            print(
                f"{seed} {name:14}"
                + "".join(
                    f" | {a.design:5} {a.verdict:12} {a.delta:+6.2f}, outside {s:+.2f} ± {e:.2f}"
                    for a, (s, e) in zip((whole, row), shares, strict=True)
                )
                + f" | {z:+.1f} s.e. | drop-label-issues {blind.verdict} {blind.delta:+.2f}"
                + (
                    ""
                    if blind.attribution is None
                    else f", outside {blind.attribution.external_gain.value:+.2f}"
                ),
                flush=True,
            )


if __name__ == "__main__":
    main()
