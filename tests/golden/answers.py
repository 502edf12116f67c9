"""The answers of thirty calls on small sets: what a change of the code must not move unnoticed.

    python tests/golden/answers.py            # compare with answers.json; exit 1 if one moved
    python tests/golden/answers.py --write    # write it again: say in the commit what moved, and why

The sets are made here or come with scikit-learn. `tests/test_agreement.py` says which answers must agree.
"""

import argparse
import json
import sys
import warnings
from pathlib import Path

import numpy as np
import pandas
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, load_wine

import dataworth as dw
from dataworth.curation import RandomSubset

FILE = Path(__file__).with_suffix(".json")
TOLERANCE = 1e-9


def split_rows(X, y, rows, seed, **more):
    """A dataset of so many rows, and the rest as a test set."""
    order = np.random.default_rng(seed).permutation(len(y))
    parts = {name: np.asarray(column) for name, column in more.items()}
    pieces = order[:rows], order[rows:]
    return [dw.Dataset(X[i], y[i], **{name: column[i] for name, column in parts.items()}) for i in pieces]


def flipped(data, share, seed, classes=2):
    rng = np.random.default_rng(seed)
    y = np.array(data.y)
    rows = rng.permutation(len(y))[: round(share * len(y))]
    names = np.unique(y)
    y[rows] = [names[(np.searchsorted(names, y[i]) + 1 + rng.integers(classes - 1)) % classes] for i in rows]
    return dw.Dataset(data.X, y, groups=data.groups, weights=data.weights), rows


def tables(seed=0):
    """Six sets: two classes, many, numeric labels, texts, weights, groups; each data and test set."""
    cancer = load_breast_cancer()
    labels = np.array(["malignant", "benign"])[cancer.target]
    two = split_rows(cancer.data, labels, 250, seed)
    two[0] = flipped(two[0], 0.3, seed)[0]
    wine, iris, diabetes = load_wine(), load_iris(), load_diabetes()
    many = split_rows(wine.data, wine.target.astype(str), 70, seed)
    numeric = split_rows(diabetes.data, diabetes.target, 200, seed)
    rng = np.random.default_rng(seed)
    words = [["sun", "sea", "sand", "boat", "wave"], ["tax", "bank", "loan", "bond", "fee"]]
    kinds = rng.integers(2, size=260)
    draw = lambda k: rng.choice(words[k] if rng.random() < 0.7 else words[1 - k])  # noqa: E731
    texts = np.array([" ".join(draw(k) for _ in range(4)) for k in kinds])
    text = [
        dw.Dataset(pandas.DataFrame({"text": texts[part]}), np.array(["calm", "money"])[kinds[part]])
        for part in (slice(0, 100), slice(100, 260))
    ]
    weights = rng.uniform(0.5, 2.0, len(cancer.target))
    weighted = split_rows(cancer.data[:, :6], labels, 200, seed + 1, weights=weights)
    weighted[1] = dw.Dataset(weighted[1].X, weighted[1].y)
    mixed = np.random.default_rng(seed).permutation(len(iris.target))
    patients = np.array([f"p{i % 13}" for i in mixed])
    binary = np.where(iris.target == 1, "one", "other")
    chosen = np.isin(patients, ["p0", "p1", "p2", "p3", "p4"])
    noisy = iris.data + rng.normal(0, 0.6, iris.data.shape)
    grouped = [dw.Dataset(noisy[i], binary[i], groups=patients[i]) for i in (chosen, ~chosen)]
    made = {"two": two, "many": many, "numeric": numeric, "text": text}
    return {**made, "weights": weighted, "groups": grouped}


def value(result):
    return {"value": result.value, "interval": list(result.interval)}


def audited(result):
    attribution = result.attribution
    return {
        "verdict": result.verdict,
        "delta": result.delta,
        "interval": None if result.interval is None else list(result.interval),
        "accuracy": result.accuracy_delta,
        "excess": None if result.control is None else result.control.excess_over_random,
        "external": None if attribution is None else attribution.external_gain.value,
    }


def calls():
    sets, made = tables(), {}
    for name, (data, test) in sets.items():
        half = len(data) // 2
        given = data, test, {"a": data.take(range(half)), "b": data.take(range(half, len(data)))}
        made[f"score/{name}"] = lambda d, t, p: value(dw.score(d, t)), given
        made[f"values/{name}"] = lambda d, t, p: {"value": dw.values(d, t).total.value}, given
        if name != "groups":
            adds = lambda d, t, p: {"value": dw.contributions(p, t).total.value}  # noqa: E731
            made[f"contributions/{name}"] = adds, given
        made[f"rank/{name}"] = lambda d, t, p: {one.name: one.value for one in dw.rank(p, t)}, given
    data, test = sets["two"]
    labels = np.array(["malignant", "benign"])[load_breast_cancer().target]
    clean, _ = split_rows(load_breast_cancer().data, labels, 250, 0)
    fixed = dw.Dataset(data.X, np.asarray(clean.y))
    kept = data.take(np.flatnonzero(np.asarray(clean.y) == np.asarray(data.y)))
    numeric, numeric_test = sets["numeric"]
    drawn, yard = {"pairs": 40, "size": 40}, dw.Yardstick.fit(test)
    audits = {
        "whole/filter": lambda: dw.audit(data, kept, test),
        "whole/correct": lambda: dw.audit(data, fixed, test),
        "whole/half": lambda: dw.audit(data, data.take(range(125)), test),
        "matched/filter": lambda: dw.audit(data, kept, test, design="matched", **drawn),
        "proportional/filter": lambda: dw.audit(data, kept, test, design="proportional", **drawn),
        "equal-size/filter": lambda: dw.audit(data, kept, test, design="equal-size", **drawn),
        "matched/correct": lambda: dw.audit(data, fixed, test, design="matched", **drawn),
        "method/half": lambda: dw.audit(data, test=test, curate=RandomSubset(0.5), **drawn),
        "whole/numeric": lambda: dw.audit(numeric.take(range(60)), numeric, numeric_test),
    }
    made |= {f"audit/{name}": (lambda call: audited(call()), (call,)) for name, call in audits.items()}
    made["sealed/two"] = lambda: value(dw.score(dw.seal(data, yard), test, yardstick=yard)), ()
    made["pairs/two"] = lambda: value(dw.score(data, test, **drawn)), ()
    curve = lambda: dw.forecast(data, test, rows=500).curve  # noqa: E731
    made["forecast/two"] = lambda: {"value": [one.value for one in curve() if one.measured][-1]}, ()
    return made


def answers(only=""):
    return {name: call(*given) for name, (call, given) in calls().items() if only in name}


def moved(old, new, tolerance=TOLERANCE):
    if isinstance(old, dict) and isinstance(new, dict):
        return [
            f"{key}: {problem}"
            for key in sorted({*old, *new})
            for problem in moved(old.get(key), new.get(key), tolerance)
        ]
    if isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        return [one for a, b in zip(old, new, strict=True) for one in moved(a, b, tolerance)]
    if isinstance(old, float | int) and isinstance(new, float | int):
        return [] if abs(old - new) <= tolerance * max(1.0, abs(old)) else [f"{old!r} → {new!r}"]
    return [] if old == new else [f"{old!r} → {new!r}"]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--only", default="", help="answers whose name holds this text")
    given = parser.parse_args()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        new = json.loads(json.dumps(answers(given.only)))
    if given.write:
        FILE.write_text(json.dumps(new, indent=1, sort_keys=True) + "\n")
        return 0
    old = {name: one for name, one in json.loads(FILE.read_text()).items() if given.only in name}
    problems = moved(old, new)
    print("\n".join(problems) or f"{len(new)} answers, none moved")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
