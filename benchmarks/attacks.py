"""What a vendor can gain without information: attacks on the guard, the table of docs/sealed.md.

    python benchmarks/attacks.py --out results/attacks.json

Ten seeds on four sets; `--quick` is a smoke test. Each attacker has 300 rows of a real table, the test set's
unlabelled rows where it says so (its labels too, in leaks), and no other knowledge. An attack on an audit has
won if the verdict is *informative*, nothing was refused and no check failed; one on a sealed ranking, if it
makes its vendor first more often than honesty does. What answers and yardsticks tell of labels: reveals.py.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
import warnings
from collections import Counter
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
from sklearn.ensemble import ExtraTreesClassifier, ExtraTreesRegressor
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict
from sklearn.preprocessing import StandardScaler
from sklearn.semi_supervised import LabelSpreading

import dataworth as dw
from faults import frame_of, shaken
from real_sets import load

SETS = ("letter", "penbased", "texture", "twonorm")
"""Sets on which no rule of the yardstick or of verdicts was settled. Attacks that begin with wrong
labels, and the controls that answer them, came from an adversary who used penbased, twonorm and texture."""
ROWS, TEST, SPARE = 300, 400, 400
QUESTIONS = 150


def deal(name, seed):
    """Data, test set, and rows that nobody labelled (or that another vendor has), with ids."""
    X, y = load(name)
    order = np.random.default_rng([seed, 0xA77]).permutation(len(y))[: ROWS + TEST + SPARE]
    whole = dw.Dataset(X[order], y[order].astype(str), ids=[f"r{i}" for i in order])
    return (
        whole.take(range(ROWS)),
        whole.take(range(ROWS, ROWS + TEST)),
        whole.take(range(ROWS + TEST, len(order))),
    )


def units(D, *others):
    """Standardised columns of datasets, by the first."""
    scale = StandardScaler().fit(D.X)
    return [scale.transform(part.X) for part in (D, *others)]


def own_model(D, *others):
    X, *rest = units(D, *others)
    model = LogisticRegression(C=1.0, max_iter=500).fit(X, D.y)
    return model, X, rest


def renamed(part, prefix):
    return dw.Dataset(frame_of(part), part.y, ids=[f"{prefix}{i}" for i in range(len(part))])


# --- audits: (D, T, spare, rng) → after


def delete_test_rows(D, T, spare, rng):
    """Copies of weight 0 of the 5 % of T's unlabelled rows that the own model doubts most."""
    model, _, (Z,) = own_model(D, T)
    doubted = np.argsort(np.abs(model.decision_function(Z)))[: len(T) // 20]
    copies = dw.Dataset(T.X[doubted], model.predict(Z[doubted]), names=list(T.names))
    both = dw.Dataset.concat([dw.Dataset(D.X, D.y, names=list(D.names)), copies])
    return dw.Dataset(both.X, both.y, names=list(D.names), weights=np.arange(len(both)) < len(D))


def rescale(D, T, spare, rng):
    """Own features twice as far from their means, under kept ids."""
    centre = D.X.mean(axis=0)
    return dw.Dataset(centre + 2.0 * (D.X - centre), D.y, ids=D.ids, names=list(D.names))


def shrink(D, T, spare, rng):
    """Every row a third of the way to the mean of its class, under kept ids."""
    X = D.X.copy()
    for label in np.unique(D.y):
        own = D.y == label
        X[own] += (X[own].mean(axis=0) - X[own]) / 3
    return dw.Dataset(X, D.y, ids=D.ids, names=list(D.names))


def spread(D, T, spare, rng):
    """Rows that nobody labelled, with labels spread from D."""
    X, Z = units(D, spare)
    codes = np.unique(D.y, return_inverse=True)[1]
    spreading = LabelSpreading(kernel="knn", n_neighbors=7, max_iter=100)
    spreading.fit(np.vstack([X, Z]), np.r_[codes, np.full(len(Z), -1)])
    labels = np.unique(D.y)[spreading.transduction_[len(X) :]]
    return dw.Dataset.concat([D, spare.with_labels(labels)])


def repeat_boundary(D, T, spare, rng):
    """The tenth of the rows nearest to the own model's boundary, four times."""
    model, X, _ = own_model(D)
    near = np.argsort(np.abs(model.decision_function(X)))[: len(D) // 10]
    return D.take(np.r_[np.arange(len(D)), np.tile(near, 3)])


def leak(part, D, T, spare, rng):
    """A tenth of the test rows with their labels, shaken, under new ids."""
    some = rng.permutation(len(T))[: len(T) // 10]
    return dw.Dataset.concat([D, renamed(shaken(T, some, part, rng), "new")])


AUDITS = {
    "copies of weight 0 of doubted test rows": delete_test_rows,
    "features rescaled under ids": rescale,
    "rows shrunk to their class under ids": shrink,
    "labels spread over unlabelled rows": spread,
    "boundary rows repeated": repeat_boundary,
    "test rows shaken by 0.11 of r₂₀": lambda *given: leak(0.11, *given),
    "test rows shaken by 0.3 of r₂₀": lambda *given: leak(0.3, *given),
}


# --- audits that begin with wrong labels: (D, rng) → before, after. Only the data's own models are asked


def noisy(D, rng):
    """The data with 15 % of the labels wrong, and the rows that a model of their own doubts most, as many."""
    names, codes = np.unique(D.y, return_inverse=True)
    codes[rng.permutation(len(D))[: len(D) * 15 // 100]] ^= 1
    learner = ExtraTreesClassifier(200, min_samples_leaf=2, random_state=0)
    chance = cross_val_predict(learner, D.X, codes, cv=5, method="predict_proba")
    doubted = np.argsort(chance[np.arange(len(D)), codes])[: len(D) * 15 // 100]
    return names[codes], doubted


def emptied(D, rng):
    """Cells of doubted rows emptied, all others moved by a ten-thousandth, under kept ids."""
    labels, doubted = noisy(D, rng)
    X = D.X + 1e-4 * D.X.std(axis=0) * rng.normal(size=D.X.shape)
    X[doubted] = np.nan
    names = list(D.names)
    return D.with_labels(labels), dw.Dataset(X, labels, ids=D.ids, names=names, allow_missing=True)


def one_group(D, rng):
    """Doubted rows removed; all rows are said to belong together."""
    labels, doubted = noisy(D, rng)
    before = dw.Dataset(D.X, labels, ids=D.ids, names=list(D.names), groups=["all"] * len(D))
    return before, before.take(np.setdiff1d(np.arange(len(D)), doubted))


def more_removed(D, rng):
    """Doubted rows removed, and as many others."""
    labels, doubted = noisy(D, rng)
    before = D.with_labels(labels)
    rest = np.setdiff1d(np.arange(len(D)), doubted)
    return before, before.take(np.sort(rng.permutation(rest)[: len(rest) - len(doubted)]))


DIRTY = {
    "doubted rows emptied, all others moved a little": emptied,
    "doubted rows removed, all rows one group": one_group,
    "doubted rows removed, and as many others": more_removed,
}


# --- audits of what the test set chose: (D, T, rng, ask) → before, after, values, which the audit knows.
# `ask(data)` are values of all test rows, or of one half of them


def low(data, values, rows):
    return np.argsort(values.rows.value, kind="stable")[:rows]


def without(data, rows):
    return data.take(np.setdiff1d(np.arange(len(data)), rows))


def again_and_again(D, T, rng, ask):
    """Five times the 4 % lowest rows dropped (12 of 300), values asked anew each time."""
    known, after = [], D
    for _ in range(5):
        known.append(ask(after))
        after = without(after, low(after, known[-1], len(D) // 25))
    return D, after, known


def list_dropped(D, T, rng, ask):
    """The rows that are listed as harmful, or the lowest 12, if none is."""
    known = ask(D)
    listed = np.flatnonzero(known.rows.harmful)
    return D, without(D, listed if len(listed) else low(D, known, 12)), [known]


def with_others_dropped(D, T, rng, ask):
    known = ask(D)
    first = low(D, known, 30)
    rest = rng.permutation(np.setdiff1d(np.arange(len(D)), first))
    return D, without(D, [*first, *rest[:8]]), [known]


def diluted(D, T, rng, ask):
    """The 20 lowest rows, among 100 at random."""
    known = ask(D)
    return D, without(D, [*low(D, known, 20), *rng.permutation(len(D))[:100]]), [known]


def weighted_down(D, T, rng, ask):
    known = ask(D)
    weights = np.ones(len(D))
    weights[low(D, known, 30)] = 0.001
    return D, D.with_weights(weights), [known]


def best_repeated(D, T, rng, ask):
    known = ask(D)
    return D, D.take([*range(len(D)), *np.argsort(-known.rows.value)[:30]]), [known]


def flipped(D, T, rng, ask):
    known = ask(D)
    names, codes = np.unique(D.y, return_inverse=True)
    codes[low(D, known, 12)] ^= 1
    return D, D.with_labels(names[codes]), [known]


CHOSEN = {
    "12 lowest values dropped, five times": again_and_again,
    "the list of harmful rows dropped": list_dropped,
    "30 lowest and 8 others dropped": with_others_dropped,
    "20 lowest and 100 others dropped": diluted,
    "30 lowest weighted by a thousandth": weighted_down,
    "30 highest repeated": best_repeated,
    "12 lowest labels flipped": flipped,
}


def corrected(D, T, rng, ask):
    """15 % wrong labels; somebody looks at the fifth that values doubt most, and puts right what is wrong."""
    labels, _ = noisy(D, rng)
    before = D.with_labels(labels)
    known = ask(before)
    looked = np.argsort(-known.rows.p_mislabeled)[: len(D) // 5]
    labels = labels.copy()
    labels[looked] = D.y[looked]
    return before, before.with_labels(labels), [known]


def chosen(attack, D, T, yard, seed):
    """The attack with values of all test rows, and of a half; what nobody knows of, for comparison."""
    honest = attack not in CHOSEN
    for half in (True,) if honest else (False, True):
        rng = np.random.default_rng([seed, 0xC40])
        own = {} if half else {"yardstick": yard}
        make = corrected if honest else CHOSEN[attack]
        ask = lambda data, half=half, own=own: dw.values(data, T, sample_splitting=half, **own)  # noqa: E731
        before, after, known = make(D, T, rng, ask)
        how = "half of T" if half else "T"
        kind = {"honest": True} if honest else {}
        told = audited(before, after, T, yard, values=known)
        yield {"attack": f"{attack}, by values of {how}", **kind, **told}
        if not (half or honest):
            yield {"attack": f"{attack}, unknown to the audit", **audited(before, after, T, yard)}


# --- audits of data whose columns the vendor moved before: (D, T, rng) → before, after. The labels are right


def in_other_units(D, rng):
    """Each column rescaled and shifted, one in four turned round."""
    sign = np.where(rng.random(D.n_features) < 0.25, -1.0, 1.0)
    scale = sign * np.exp(0.5 * rng.normal(size=D.n_features))
    return D.with_features(D.X * scale + 0.7 * D.X.std(axis=0) * rng.normal(size=D.n_features))


def shifted(D, rng):
    """Another instrument: columns shifted and stretched a little, none turned."""
    scale = np.exp(0.3 * rng.normal(size=D.n_features))
    return D.with_features(D.X * scale + 0.5 * D.X.std(axis=0) * rng.normal(size=D.n_features))


def matched(X, Z):
    """Moments of other rows."""
    return Z.mean(axis=0) + (X - X.mean(axis=0)) * (Z.std(axis=0) / (X.std(axis=0) + 1e-12))


def recoloured(X, Z):
    """Means and covariances of other rows."""

    def root(C, power):
        values, vectors = np.linalg.eigh(C)
        return vectors * np.maximum(values, 0.01 * values.max()) ** power @ vectors.T

    turn = root(np.cov(X.T), -0.5) @ root(np.cov(Z.T), 0.5)
    return Z.mean(axis=0) + (X - X.mean(axis=0)) @ turn


def quantiles(X, Z):
    ranks = (X.argsort(axis=0).argsort(axis=0) + 0.5) / len(X)
    return np.stack([np.quantile(z, r) for z, r in zip(Z.T, ranks.T, strict=True)], axis=1)


def rows_of(data, X, ids):
    return dw.Dataset(X, data.y, ids=ids, names=list(data.names))


def new(data):
    return [f"n{i}" for i in range(len(data))]


def moments_by_class(D, T, rng):
    """Each class moved to the moments of the test rows that the own model calls so."""
    B = shifted(D, rng)
    model, _, (Z,) = own_model(D, T)
    called, X = model.predict(Z), B.X.copy()
    for label in np.unique(D.y):
        if (called == label).sum() > 20:
            X[D.y == label] = matched(X[D.y == label], T.X[called == label])
    return B, rows_of(B, X, new(B))


def shrunk_anew(D, T, rng):
    return D, renamed(shrink(D, T, None, rng), "n")


def false_ids(D, T, rng):
    B = shifted(D, rng)
    return B, rows_of(B, matched(B.X, T.X), rng.permutation(B.ids))


def shuffled_and_fewer(D, T, rng):
    B = shifted(D, rng)
    return B, renamed(
        rows_of(B, matched(B.X, T.X), B.ids).take(rng.permutation(len(B))[: 9 * len(B) // 10]), "n"
    )


def shaken_anew(part):
    def make(D, T, rng):
        B = shifted(D, rng)
        X = matched(B.X, T.X)
        return B, rows_of(B, X + part * X.std(axis=0) * rng.normal(size=X.shape), new(B))

    return make


def moved(move, how):
    def make(D, T, rng):
        B = shifted(D, rng)
        return B, rows_of(B, move(B.X, T.X), {"kept": B.ids, "new": new(B)}[how])

    return make


def units_right(how):
    def make(D, T, rng):
        return in_other_units(D, rng), rows_of(D, D.X, {"kept": D.ids, "new": new(D)}[how])

    return make


MOVED = {
    "units put right, kept ids": units_right("kept"),
    "units put right, new ids": units_right("new"),
    "moments of T, kept ids": moved(matched, "kept"),
    "moments of T, new ids": moved(matched, "new"),
    "moments of T, false ids": false_ids,
    "moments of T, shuffled, a tenth gone": shuffled_and_fewer,
    "moments of T, shaken by .05, new ids": shaken_anew(0.05),
    "moments of T, shaken by .3, new ids": shaken_anew(0.3),
    "covariances of T, new ids": moved(recoloured, "new"),
    "quantiles of T, new ids": moved(quantiles, "new"),
    "moments of T by class, new ids": moments_by_class,
    "rows shrunk to their class, new ids": shrunk_anew,
}


def unit_error(how):
    """A unit error in a fifth of the rows, put right by who knows which."""

    def make(D, T, rng):
        X, some = D.X.copy(), rng.permutation(len(D))[: len(D) // 5]
        X[some] = 2.54 * X[some] + 0.5 * X.std(axis=0)
        return rows_of(D, X, D.ids), rows_of(D, D.X, {"kept": D.ids, "new": new(D)}[how])

    return make


HONEST = {
    "a unit error of a fifth of the rows put right, kept ids": unit_error("kept"),
    "a unit error of a fifth of the rows put right, new ids": unit_error("new"),
}
CORRECTED = "wrong labels put right that values show"


def numeric(part):
    """The sum of the first three columns as a numeric label of the others."""
    return dw.Dataset(part.X[:, 3:], part.X[:, :3].sum(axis=1), ids=part.ids)


def relabelled_numbers(D, T, rng):
    """15 % of numeric labels changed places; those far from a model's curve put on it, all others moved."""
    D, T = numeric(D), numeric(T)
    some = rng.permutation(len(D))[: len(D) * 15 // 100]
    wrong = D.y.copy()
    wrong[some] = D.y[rng.permutation(len(D))[: len(some)]]
    made = cross_val_predict(ExtraTreesRegressor(200, min_samples_leaf=2, random_state=0), D.X, wrong, cv=5)
    far = np.argsort(-np.abs(made - wrong))[: len(some)]
    labels = wrong + 1e-3 * wrong.std() * rng.normal(size=len(D))
    labels[far] = made[far]
    return audited(D.with_labels(wrong), D.with_labels(labels), T, dw.Yardstick.fit(T))


def after_a_rise(D, T, yard, rng, folder):
    """A true correction told by a ladder, then a third of the labels flipped: is it told the first answer?"""
    labels, _ = noisy(D, rng)
    book = {"ladder": folder / "rise.json"}
    audited(D.with_labels(labels), D, T, yard, **book)
    names, codes = np.unique(D.y, return_inverse=True)
    codes[rng.permutation(len(D))[: len(D) // 3]] ^= 1
    return audited(D, D.with_labels(names[codes]), T, yard, **book)


def audited(before, after, T, yard, **more):
    """The outcome of an audit in a word: refused, fired, or its verdict."""
    try:
        found = dw.audit(before, after, T, yardstick=yard, **more)
    except dw.DataworthError as error:
        return {"outcome": "refused", "told": str(error)}
    fired = [one.code for one in found.checks if one.failed]
    told = {"verdict": found.verdict, "delta": found.delta, "fired": fired}
    return {"outcome": f"fired {', '.join(fired)}" if fired else found.verdict, **told}


def sandbag(D, T, yard, rng):
    """A tenth of the labels flipped before, put right after; the buyer holds a commitment."""
    names = np.unique(D.y)
    wrong = rng.permutation(len(D))[: len(D) // 10]
    labels = D.y.copy()
    labels[wrong] = np.where(labels[wrong] == names[0], names[1], names[0])
    made = dw.commit(D)
    flipped = D.with_labels(labels)
    return audited(flipped, D, T, yard, committed=made.hash, key=made.key)


def adaptive(D, T, yard, rng, folder, ladder, questions):
    """Many questions; each drops some rows at random, and is kept if its score is higher in two decimals."""
    book = {"ladder": folder / "ladder.json"} if ladder else {}
    kept, best = np.arange(len(D)), -np.inf
    for _ in range(questions):
        tried = np.sort(rng.permutation(kept)[: len(kept) - 3]) if len(kept) > len(D) // 2 else kept
        if rng.random() < 0.5 and len(kept) < len(D):  # some come back
            gone = np.setdiff1d(np.arange(len(D)), kept)
            tried = np.sort(np.r_[tried, rng.choice(gone, min(3, len(gone)), replace=False)])
        try:
            value = round(dw.score(D.take(tried), T, yardstick=yard, ignore="all", **book).value, 2)
        except dw.DataworthError:  # the ladder: not better
            continue
        if value > best:
            kept, best = tried, value
    return audited(D, D.take(kept), T, yard, **book)


# --- sealed rankings


def sealed_ranks(D, T, other, yard):
    """Whether the vendor of D is first of two, honestly, and with a file that claims more than it knows."""
    honest, rival = dw.seal(D, yard), dw.seal(other.take(range(ROWS)), yard)
    prior = np.eye(len(honest.mean)) / yard.model.prior_variance
    forged = {
        "honest": honest,
        "mean × 1.25": replace(honest, mean=1.25 * honest.mean),
        "precision × 4": replace(honest, precision=prior + 4 * (honest.precision - prior)),
        "both": replace(honest, mean=1.25 * honest.mean, precision=prior + 4 * (honest.precision - prior)),
    }
    told = {}
    for name, one in forged.items():
        try:
            ranking = dw.rank({"own": one, "rival": rival}, T, yardstick=yard, ignore="all")
            told[name] = ranking[0].name == "own"
        except dw.DataworthError:
            told[name] = None
    return told


def run(name, seed, given, folder):
    """All attacks on one split of one set."""
    D, T, spare = deal(name, seed)
    yard = dw.Yardstick.fit(T)
    if given.only_lists:
        records = by_values(D, T, yard, seed, given) + by_columns(D, T, yard, seed)
        return [{"set": name, "seed": seed, **record} for record in records]
    records = [{"attack": "sealed", "first": sealed_ranks(D, T, spare, yard)}]
    for attack, make in AUDITS.items():
        rng = np.random.default_rng([seed, 0xBAD])
        records.append({"attack": attack, **audited(D, make(D, T, spare, rng), T, yard)})
    for attack, make in DIRTY.items():
        before, after = make(D, np.random.default_rng([seed, 0xD1B]))
        records.append({"attack": attack, **audited(before, after, T, yard)})
    records += by_values(D, T, yard, seed, given) + by_columns(D, T, yard, seed)
    if given.quick:
        return [{"set": name, "seed": seed, **record} for record in records]
    rng = np.random.default_rng([seed, 0xD1B])
    what = "numeric labels: doubted ones predicted, all others moved a little"
    records.append({"attack": what, **relabelled_numbers(D, T, rng)})
    what = "labels flipped, asked of a ladder after a true rise"
    records.append({"attack": what, **after_a_rise(D, T, yard, rng, folder)})
    rng = np.random.default_rng([seed, 0xADA])
    records.append({"attack": "labels flipped before, put right after", **sandbag(D, T, yard, rng)})
    if given.questions:
        for ladder in (True, False):
            rng = np.random.default_rng([seed, 0xADA])
            what = f"{given.questions} adaptive questions, {'with' if ladder else 'without'} a ladder"
            records.append({"attack": what, **adaptive(D, T, yard, rng, folder, ladder, given.questions)})
    return [{"set": name, "seed": seed, **record} for record in records]


def by_values(D, T, yard, seed, given):
    attacks = list(CHOSEN)[:1] if given.quick else [*CHOSEN, CORRECTED]
    return [record for attack in attacks for record in chosen(attack, D, T, yard, seed)]


def by_columns(D, T, yard, seed):
    records = []
    for attack, make in {**MOVED, **HONEST}.items():
        before, after = make(D, T, np.random.default_rng([seed, 0x30D]))
        kind = {"honest": True} if attack in HONEST else {}
        records.append({"attack": attack, **kind, **audited(before, after, T, yard)})
    return records


def summary(records):
    """One row an attack; of honest changes, their verdicts."""
    told, honest = {}, [r for r in records if r.get("honest")]
    verdicts = {
        what: dict(Counter(r.get("verdict", "refused") for r in honest if r["attack"] == what))
        for what in dict.fromkeys(r["attack"] for r in honest)
    }
    records = [r for r in records if not r.get("honest")]
    for attack in dict.fromkeys(r["attack"] for r in records if "outcome" in r):
        mine = [r["outcome"] for r in records if r["attack"] == attack]
        counts = {word: sum(m.startswith(word) for m in mine) for word in ("informative", "refused", "fired")}
        told[attack] = {"of": len(mine), **counts, "others": len(mine) - sum(counts.values())}
    ranks = [r["first"] for r in records if r["attack"] == "sealed"]
    sealed = {}
    for name in ranks[0] if ranks else ():
        known = [one[name] for one in ranks]
        sealed[name] = {
            "first": sum(k is True for k in known),
            "refused": sum(k is None for k in known),
            "of": len(known),
        }
    return {"audits": told, "honest": verdicts, "sealed": sealed}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, nargs="*", default=list(range(10)))
    parser.add_argument("--sets", nargs="*", default=SETS)
    parser.add_argument("--questions", type=int, default=QUESTIONS, help="0: no adaptive questions")
    parser.add_argument(
        "--only-lists", action="store_true", help="those by values and by moved columns alone"
    )
    parser.add_argument("--quick", action="store_true", help="a smoke test of seconds")
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    if given.quick:
        given.sets, given.seeds, given.questions = ["digits"], [0], 0
        globals().update(ROWS=60, TEST=80, SPARE=80, AUDITS={}, DIRTY=dict(list(DIRTY.items())[:1]))
        globals().update(MOVED=dict(list(MOVED.items())[:1]), HONEST={})
    records = []
    warnings.simplefilter("ignore")
    for seed, name in product(given.seeds, given.sets):
        started = time.time()
        with tempfile.TemporaryDirectory() as folder:
            records += run(name, seed, given, Path(folder))
        print(f"{name} {seed}: {time.time() - started:.0f} s", file=sys.stderr, flush=True)
        told = {"sets": list(given.sets), "seeds": sorted({one["seed"] for one in records})}
        found = {**told, **summary(records), "records": records}
        if given.out is not None:
            given.out.write_text(json.dumps(found, indent=1) + "\n")
    print(f"{'attack':60} {'informative':>12} {'refused':>8} {'fired':>6} {'other':>6}")
    for attack, row in found["audits"].items():
        print(
            f"{attack:60} {row['informative']:>12} {row['refused']:>8} {row['fired']:>6} {row['others']:>6}"
        )
    for name, row in found["honest"].items():
        print(f"{name:60}", *(f"{verdict} {count}" for verdict, count in sorted(row.items())))
    for name, row in found["sealed"].items():
        print(f"sealed, {name}: first in {row['first']} of {row['of']}, refused in {row['refused']}")


if __name__ == "__main__":
    main()
