"""What answers reveal of a test set's labels: the search of tests/label_search.py on real tables.

    python benchmarks/reveals.py --out results/reveals.json

The adversary has the test rows without labels, the yardstick, 300 rows of the same table, and 50 questions.
Told are proportions of labels that are right: by the best model that the adversary can make without answers
(of the columns or of the yardstick's features), and after the search in public answers by a ladder (all
commands, on a long way up from wrong labels; `refused` are the questions that it did not answer), in public
answers without one, to rows with random labels, and in exact values, which only the owner sees. Last, labels
guessed by the published yardstick: of 12 guesses the one whose yardstick is nearest. `--quick`: a smoke test.
"""

from __future__ import annotations

import argparse
import json
import platform
import sys
import tempfile
import time
import warnings
from itertools import product
from pathlib import Path

import numpy as np
from sklearn.ensemble import ExtraTreesClassifier, HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import dataworth as dw
from attacks import SETS, deal

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
from label_search import Equations, better_and_better, equation, less_and_less_wrong, questions, searched

QUESTIONS, GUESSES = 50, 12


def own_model(D, T, yard):
    """P(y = 1) of every test row by the best model that the adversary can make without an answer.

    On columns, on the features of the yardstick, which is published, or the mean of all: by cross-validation.
    """
    y = (D.y == np.unique(D.y)[1]).astype(int)
    plain, mapped = (D.X, T.X), (yard.features(D), yard.features(T))
    kinds = [
        (make_pipeline(StandardScaler(), LogisticRegression(max_iter=500)), plain),
        (HistGradientBoostingClassifier(max_iter=80, random_state=0), plain),
        (ExtraTreesClassifier(300, min_samples_leaf=2, random_state=0), plain),
        *((LogisticRegression(C=C, max_iter=500), mapped) for C in (0.1, 1.0, 10.0)),
    ]
    seen = [cross_val_predict(kind, X, y, cv=5, method="predict_proba")[:, 1] for kind, (X, _) in kinds]
    ahead = [kind.fit(X, y).predict_proba(Z)[:, 1] for kind, (X, Z) in kinds]
    seen, ahead = ([np.clip(p, 0.01, 0.99) for p in (*some, np.mean(some, axis=0))] for some in (seen, ahead))
    return ahead[int(np.argmin([log_loss(y, p) for p in seen]))]


class Asker:
    """Asks questions, and keeps the equations that answers are."""

    def __init__(self, T, yard, p, ladder):
        self.T, self.p, self.refused, self.found = T, p, 0, []
        self.options = {"yardstick": yard, "ladder": ladder, "ignore": "all"}

    def ask(self, command, data, terms):
        """One command on data; terms: of each public number, datasets with their signs in its value."""
        options = dict(self.options)
        if command is dw.contributions:  # which makes no checks
            del options["ignore"]
        try:
            shown = command(*data, self.T, **options).public()
        except dw.DataworthError:
            self.refused += 1
            return False
        for one in shown.numbers:  # of a ranking the best alone
            parts = [
                (sign, *equation(D, self.T, options["yardstick"], self.p)) for sign, D in terms[one.name]
            ]
            slopes, constant = (sum(part[0] * part[i] for part in parts) for i in (1, 2))
            step = one.interval[1] - one.value
            self.found.append((slopes, constant, one.value, step**2 / 12))
        return True

    def equations(self):
        return Equations(*(np.array(column) for column in zip(*self.found, strict=True)))


def by_ladder(T, yard, p, D, asked, folder):
    """Scores; of data of which these are answered also an audit and contributions."""
    asker, left = Asker(T, yard, p, folder / "ladder.json"), list(asked)
    count = 0
    while left and count < QUESTIONS:
        one, count = left.pop(0), count + 1
        if asker.ask(dw.score, (one,), {"value": [(1, one)]}):
            other = left[-1] if left else D
            half = {"a": one.take(range(len(one) // 2)), "b": one.take(range(len(one) // 2, len(one)))}
            asker.ask(dw.audit, (other, one), {"change": [(1, one), (-1, other)]})
            terms = {"a": [(1, one), (-1, half["b"])], "b": [(1, one), (-1, half["a"])]}
            asker.ask(dw.contributions, (half,), terms)
            count += 3
    return asker


def guessed_by_yardstick(T, yard, p, rng):
    """The guess of the labels whose yardstick is nearest to the published one."""
    names, guesses = np.unique(T.y), []
    for _ in range(GUESSES):
        labels = names[(rng.random(len(T)) < p).astype(int)]
        told = dw.Yardstick.fit(T.with_labels(labels)).chosen
        gap = abs(told.held_out - yard.chosen.held_out) + (told.kind != yard.chosen.kind)
        guesses.append((gap, float(np.mean(labels == T.y))))
    return {"guess": float(np.mean([g[1] for g in guesses])), "nearest": min(guesses)[1]}


def run(name, seed, folder, free_too, by_yardstick):
    D, T, _ = deal(name, seed)
    yard = dw.Yardstick.fit(T)
    p = own_model(D, T, yard)
    y, rng = (T.y == np.unique(T.y)[1]).astype(int), np.random.default_rng([seed, 0x1ABE1])
    upwards = [*less_and_less_wrong(D, QUESTIONS // 2, rng), *better_and_better(D, QUESTIONS // 2)]
    asked = [*questions(D, QUESTIONS, rng)]

    def right(known):
        return float(np.mean(searched(p, known) == y))

    asker = by_ladder(T, yard, p, D, upwards, folder)
    found = {"own model": float(np.mean((p > 0.5) == y)), "ladder": right(asker.equations())}
    found |= {"refused": asker.refused, "numbers": len(asker.found)}
    free, exact = [], []
    for one in asked if free_too else ():
        result = dw.score(one, T, yardstick=yard, ignore="all")
        (shown,), known = result.public().numbers, equation(one, T, yard, p)
        free.append((*known, shown.value, (shown.interval[1] - shown.value) ** 2 / 12))
        exact.append((*known, result.value, 0.01))
    for what, told in (("public", free), ("exact", exact)) if free_too else ():
        found[what] = right(Equations(*(np.array(column) for column in zip(*told, strict=True))))
    if by_yardstick:
        found["yardstick"] = guessed_by_yardstick(T, yard, p, rng)
    return {"set": name, "seed": seed, "rows": len(T), **found}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, nargs="*", default=list(range(10)))
    parser.add_argument("--sets", nargs="*", default=SETS)
    parser.add_argument("--free", type=int, default=10, help="seeds asked without a ladder, too")
    parser.add_argument("--yardsticks", type=int, default=1, help="seeds whose yardstick is tried")
    parser.add_argument("--quick", action="store_true", help="a smoke test of seconds")
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    if given.quick:
        import attacks

        given.sets, given.seeds, given.yardsticks = ["digits"], [0], 0
        attacks.ROWS, attacks.TEST, attacks.SPARE = 60, 80, 1
        globals().update(QUESTIONS=4)
    warnings.simplefilter("ignore")
    records = []
    for seed, name in product(given.seeds, given.sets):
        started = time.time()
        with tempfile.TemporaryDirectory() as folder:
            records.append(run(name, seed, Path(folder), seed < given.free, seed < given.yardsticks))
        print(f"{name} {seed}: {time.time() - started:.0f} s", records[-1], file=sys.stderr, flush=True)
        told = {}
        for one in ("ladder", "public", "exact"):
            gains = 100 * np.array([r[one] - r["own model"] for r in records if one in r])
            if len(gains):
                error = float(gains.std(ddof=1) / np.sqrt(len(gains))) if len(gains) > 1 else None
                told[one] = {"splits": len(gains), "gain": float(gains.mean()), "standard error": error}
        found = {
            "questions": QUESTIONS,
            "own model": float(np.mean([r["own model"] for r in records])),
            "labels gained, points": told,
            "versions": {
                "dataworth": dw.__version__,
                "numpy": np.__version__,
                "python": platform.python_version(),
            },
            "records": records,
        }
        if given.out is not None:
            given.out.write_text(json.dumps(found, indent=1) + "\n")
    print({one: part for one, part in found.items() if one != "records"})


if __name__ == "__main__":
    main()
