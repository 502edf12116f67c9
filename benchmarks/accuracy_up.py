"""Accuracy up, information down: a chapter of the demo, over ten seeds.

Is a digit odd or even (scikit-learn's digits)? From 400 rows labelled by people those go that a logistic
regression of the other four fifths gets wrong. Its cross-validated accuracy on what is left is what a user
would look at; 900 fresh rows say what became of the information, and of the regression's accuracy there.

python benchmarks/accuracy_up.py [--seeds 10] [--first 0] [--out results/accuracy-up.json]
"""

from __future__ import annotations

import argparse
import json
import platform
from pathlib import Path

import numpy as np
import sklearn
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import dataworth as dw
from dataworth.valuation.demo import Digits, tidy
from dataworth.wording import in_words


def chapter(seed):
    """The numbers of one seed."""
    digits = Digits.load(np.random.default_rng([seed, 0xDE30]))
    before = digits.labelled
    after, own = tidy(before)
    found = dw.audit(before, after, digits.test, seed=seed, jobs=1, ignore="all")
    model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=2000))
    fresh = [model.fit(d.X, d.y).score(digits.test.X, digits.test.y) for d in (before, after)]
    return {
        "seed": seed,
        "rows": [len(before), len(after)],
        "cross-validated accuracy": own,
        "accuracy on fresh rows": fresh,
        "delta a test row": found.per_row,
        "delta": found.delta,
        "interval": found.interval,
        "verdict": found.verdict,
    }


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    rows = []
    for seed in range(args.first, args.first + args.seeds):
        rows.append(chapter(seed))
        (before, after), told = rows[-1]["cross-validated accuracy"], in_words(rows[-1]["delta a test row"])
        print(
            f"seed {seed}: cross-validation {before:.1%} → {after:.1%}; {told}; {rows[-1]['verdict']}",
            flush=True,
        )
    own, fresh = (
        np.array([np.diff(row[f"{what}"])[0] for row in rows])
        for what in ("cross-validated accuracy", "accuracy on fresh rows")
    )
    summary = {
        "seeds": len(rows),
        "cross-validated accuracy rose": int((own > 0).sum()),
        "its mean change": float(own.mean()),
        "accuracy on fresh rows, mean change": float(fresh.mean()),
        "accuracy on fresh rows rose": int((fresh > 0).sum()),
        "information fell": sum(row["delta"] < 0 for row in rows),
        "information shown to fall": sum(row["interval"][1] < 0 for row in rows),
        "delta a test row, mean": float(np.mean([row["delta a test row"] for row in rows])),
    }
    print(json.dumps(summary, indent=1))
    if args.out:
        about = {"dataworth": dw.__version__, "numpy": np.__version__, "scikit-learn": sklearn.__version__}
        about |= {"python": platform.python_version(), "data": "sklearn.datasets.load_digits, odd or even"}
        body = {"command": "python benchmarks/accuracy_up.py", "about": about, "first seed": args.first}
        args.out.parent.mkdir(parents=True, exist_ok=True)
        args.out.write_text(json.dumps(body | {"summary": summary, "audits": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
