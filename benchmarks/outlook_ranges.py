"""What settled the ranges of `dw.outlook`: forecasts and what came true, on six sets that no study reports.

    python benchmarks/outlook_ranges.py [--seeds 6] [--out results/values/outlook-settled.jsonl]

300 rows, foretold at twice and four times as many, with right labels and with a fifth flipped. Printed is how
often the range held. Records hold what a range is made of, so that other rules can be tried on them. The need
for another rule was seen on the sets of `dataworth study values`; form and numbers were chosen here.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np

from dataworth import Dataset, Yardstick, outlook, score
from dataworth.valuation import growth
from dataworth_studies import value_sets

ONES = {"magic": ["g"], "phoneme": ["1", "1.0"], "satimage": ["1", "3", "7"]}
ONES |= {"spambase": ["1", "1.0"], "splice": ["N"], "ring": ["1", "1.0"]}


def records(name, seed):
    kept, laws = [], growth.Curve.laws
    growth.Curve.laws = lambda curve, block: kept.append(laws(curve, block)) or kept[-1]
    try:
        drawn = value_sets.draw(name, seed, data=300)
        T = Dataset(drawn.test_X, drawn.test_y)
        yard = Yardstick.fit(T, seed=seed)
        X = np.vstack([drawn.X, drawn.rest_X[:900]])
        clean = np.concatenate([drawn.y, drawn.rest_y[:900]])
        for rate in (0.0, 0.2):
            y, _ = value_sets.flipped(clean, rate, seed)
            outlook(Dataset(X[:300], y[:300]), T, yardstick=yard, seed=seed)
            told = kept[-1]
            for times in (2, 4):
                n = 300 * times
                true = score(Dataset(X[:n], y[:n]), T, yardstick=yard, ignore="all", seed=seed).value
                made_of = {"value": told(n), "have": float(told.value), "luck": told.luck}
                yield {"set": name, "seed": seed, "rate": rate, "times": times, **made_of, "measured": true}
    finally:
        growth.Curve.laws = laws


def held(one):
    half = np.hypot(one["luck"], growth.GAINED * (one["value"] - one["have"]))
    return abs(one["measured"] - one["value"]) <= growth.WIDE * np.sqrt(np.log2(one["times"])) * half


def main():
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=raw)
    parser.add_argument("--seeds", type=int, default=6)
    parser.add_argument("--out", type=Path, help="records; those that are there are kept")
    args = parser.parse_args()
    value_sets.KEEL.update(ONES)
    known = [json.loads(line) for line in args.out.open()] if args.out and args.out.exists() else []
    done = {(one["set"], one["seed"]) for one in known}
    for seed in range(args.seeds):
        for name in ONES:
            if (name, seed) not in done:
                known += records(name, seed)
    if args.out:
        args.out.write_text("".join(json.dumps(one) + "\n" for one in known))
    for times in (2, 4):
        for rate in (0.0, 0.2):
            own = [held(one) for one in known if one["times"] == times and one["rate"] == rate]
            print(f"{times}× rows, {rate:.0%} flipped: held in {np.mean(own):.2f} of {len(own)}")


if __name__ == "__main__":
    main()
