"""What can be forged, split or hidden: attacks on sealed files, contributions, slices, runs and ladders.

    python benchmarks/forgeries.py --out results/forgeries.json

As in attacks.py: 300 rows of a real table against 400 test rows, on sets on which no rule was settled.

- sealed, noisy labels: three labels in ten are wrong; the vendor scales the mean of the sealed file up, or
  relabels the rows by a model of their own and seals those honestly. Nats a block, beside the honest file.
- ten names: what one vendor adds to another under one name, and in sum under ten (rows dealt out, or copied).
- a hidden loss: nine in ten rows of one value of an attribute are dropped, wrong labels removed elsewhere.
  How often the audit is informative, and how often that value's slice is shown to lose, if it was asked about
  (`slices=`), or not (`slices="auto"`).
- a forged run: numbers of a chunk are changed with a checksum that fits; the resumed result is the same.
- a ladder and values: values, their lowest rows dropped, values again, as long as a ladder answers; then an
  audit by the same ladder that knows nothing of the values.
"""

from __future__ import annotations

import argparse
import json
import platform
import sys
import tempfile
import time
import warnings
from collections import Counter
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.model_selection import cross_val_predict

import dataworth as dw
from attacks import SETS, audited, deal, low, noisy, without

QUIET = {"ignore": "all"}


def flipped(D, part, rng):
    names, codes = np.unique(D.y, return_inverse=True)
    codes[rng.permutation(len(D))[: round(part * len(D))]] ^= 1
    return D.with_labels(names[codes])


def scaled_means(D, T, yard, rng):
    """Values of a sealed file of noisy rows, of the same with its mean scaled up, and of rows relabelled."""
    bad = flipped(D, 0.3, rng)
    honest = dw.seal(bad, yard)
    learner = ExtraTreesClassifier(200, min_samples_leaf=5, random_state=0)
    own = dw.seal(bad.with_labels(cross_val_predict(learner, bad.X, bad.y, cv=5)), yard)
    files = {"honest": honest, "relabelled by an own model": own}
    files |= {f"mean × {k:g}": replace(honest, mean=k * honest.mean) for k in (1.25, 1.5, 2.0)}
    told = {}
    for name, one in files.items():
        try:
            told[name] = dw.score(one, T, yardstick=yard, **QUIET).value
        except dw.DataworthError:
            told[name] = None
    return {"attack": "sealed, noisy labels", "value": told}


def ten_names(D, T, spare, yard):
    """What a vendor adds to another, under one name and under ten."""
    other = spare.take(range(len(D) // 2))
    parts = {f"v{k}": D.take(range(k, len(D), 10)) for k in range(10)}
    copies = {f"v{k}": D for k in range(10)}
    told = {}
    for name, vendors in {"one": {"v": D}, "dealt to ten": parts, "copied ten times": copies}.items():
        found = dw.contributions({**vendors, "other": other}, T, yardstick=yard)
        told[name] = sum(one.marginal.value for one in found.vendors if one.name != "other")
    return {"attack": "ten names", "added": told}


def hidden_loss(D, T, yard, rng):
    """Rows of one value of an attribute dropped, wrong labels removed elsewhere: does a slice say so?"""
    column = int(np.argmax(D.X.var(axis=0) / (np.abs(D.X).mean(axis=0) + 1e-12)))
    cut = np.quantile(D.X[:, column], 0.75)

    def site(part):
        return np.where(part.X[:, column] > cut, "small", "large").astype(str)

    bad = flipped(D, 0.15, rng)
    rows = np.arange(len(D))
    lost = (site(D) == "small") & (rng.random(len(D)) < 0.9)
    kept = rows[(bad.y == D.y) & ~lost]
    told = {}
    for how, slices in (("asked", "site"), ("auto", "auto")):
        data = [dw.Dataset(p.X, p.y, ids=p.ids, names=list(p.names), attributes=site(p)) for p in (bad, T)]
        if how == "auto":
            data = [dw.Dataset(p.X, p.y, ids=p.ids, names=list(p.names)) for p in (bad, T)]
        options = {} if how == "asked" else {"slices": slices}
        try:
            found = dw.audit(data[0], data[0].take(kept), data[1], yardstick=yard, **options, **QUIET)
        except dw.DataworthError as error:
            told[how] = {"refused": str(error)}
            continue
        losing = [f"{one.column}: {one.value}" for one in found.slices if one.change.negative]
        own = [one.change.value for one in found.slices if one.value == "small"]
        told[how] = {"verdict": found.verdict, "losing": losing, "small": own}
    return {"attack": "a hidden loss", **told}


def forged_run(D, T, yard, folder):
    """A chunk with other numbers, and a checksum made for them: is it believed?"""
    options = {"yardstick": yard, "design": "pairs", "pairs": 60, "size": 40, "jobs": 1, **QUIET}
    truth = dw.score(D, T, run_dir=folder / "run", **options).value
    changed = 0
    for path in sorted((folder / "run").rglob("*.json*")):
        if "chunk" not in path.as_posix():
            continue
        text = path.read_text()
        path.write_text(text.replace("0.", "9.", 5))
        changed += text != path.read_text()
    again = dw.score(D, T, run_dir=folder / "run", **options).value
    return {"attack": "a forged run", "chunks": changed, "believed": bool(changed and again != truth)}


def ladder_and_values(D, T, yard, rng, folder):
    """Values as long as the ladder answers, the 12 lowest dropped each time; then an audit."""
    labels, _ = noisy(D, rng)
    before = after = D.with_labels(labels)
    book, answers = {"ladder": folder / "values.json"}, 0
    for _ in range(10):
        try:
            found = dw.values(after, T, yardstick=yard, **book)
        except dw.DataworthError:
            break
        answers += 1
        after = without(after, low(after, found, 12))
    return {"attack": "a ladder and values", "answers": answers, **audited(before, after, T, yard, **book)}


def run(name, seed, folder):
    D, T, spare = deal(name, seed)
    yard = dw.Yardstick.fit(T)
    records = [
        scaled_means(D, T, yard, np.random.default_rng([seed, 1])),
        ten_names(D, T, spare, yard),
        hidden_loss(D, T, yard, np.random.default_rng([seed, 2])),
        forged_run(D, T, yard, folder),
        ladder_and_values(D, T, yard, np.random.default_rng([seed, 3]), folder),
    ]
    return [{"set": name, "seed": seed, **one} for one in records]


def summary(records):
    def of(attack):
        return [one for one in records if one["attack"] == attack]

    def means(attack, field):
        names = dict.fromkeys(name for one in of(attack) for name in one[field])
        known = {name: [one[field].get(name) for one in of(attack)] for name in names}
        told = {}
        for name, values in known.items():
            some = [value for value in values if value is not None]
            told[name] = {"mean": round(float(np.mean(some)), 3) if some else None}
            told[name]["refused"] = len(values) - len(some)
        return told

    hidden = {
        how: {
            "verdicts": dict(Counter(one[how].get("verdict", "refused") for one in of("a hidden loss"))),
            "a slice is shown to lose": sum(bool(one[how].get("losing")) for one in of("a hidden loss")),
        }
        for how in ("asked", "auto")
    }
    ladder = of("a ladder and values")
    return {
        "sealed, noisy labels": means("sealed, noisy labels", "value"),
        "ten names": means("ten names", "added"),
        "a hidden loss": hidden,
        "a forged run": {"believed": sum(one["believed"] for one in of("a forged run"))},
        "a ladder and values": {
            "outcomes": dict(Counter(one["outcome"] for one in ladder)),
            "answers": [one["answers"] for one in ladder],
        },
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, nargs="*", default=list(range(10)))
    parser.add_argument("--sets", nargs="*", default=SETS)
    parser.add_argument("--quick", action="store_true", help="a smoke test of seconds")
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    if given.quick:
        import attacks

        given.sets, given.seeds = ["digits"], [0]
        attacks.ROWS, attacks.TEST, attacks.SPARE = 60, 80, 60
    warnings.simplefilter("ignore")
    records = []
    for seed, name in product(given.seeds, given.sets):
        started = time.time()
        with tempfile.TemporaryDirectory() as folder:
            records += run(name, seed, Path(folder))
        print(f"{name} {seed}: {time.time() - started:.0f} s", file=sys.stderr, flush=True)
        versions = {"dataworth": dw.__version__, "numpy": np.__version__, "python": platform.python_version()}
        found = {"sets": list(given.sets), "seeds": sorted({one["seed"] for one in records})}
        found |= {**summary(records), "versions": versions, "records": records}
        if given.out is not None:
            given.out.write_text(json.dumps(found, indent=1) + "\n")
    print(json.dumps({one: part for one, part in found.items() if one != "records"}, indent=1))


if __name__ == "__main__":
    main()
