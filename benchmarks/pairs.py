"""Verdicts on prompts with responses and on documents: what is shown, and what blind changes look like.

    python benchmarks/pairs.py --prompts DIR/rmb_helpfulness.jsonl.gz --rows 1000 --out results/pairs-rmb.json
    python benchmarks/pairs.py --docs numpy,scipy,pandas,matplotlib --rows 1000 --out results/pairs-docs.json
    python benchmarks/pairs.py --covers 200 --out results/pairs-coverage.json

Prompts: JSON lines of `prompt` and `chosen`, one answer a prompt. Documents: docstrings of packages.
A third of the rows is the test set, 500 at most. Each seed draws both anew. What the tables of docs/pairs.md
rest on: rises that are shown when mismatched responses are removed; what the verdict says of changes that use
the data alone, of clean data and of those with mismatched responses; AUROC of mismatched rows by `dw.values`.
"""

from __future__ import annotations

import argparse
import ast
import gzip
import importlib.util
import json
import platform
import time
from collections import Counter
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pyarrow as pa
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import Ridge
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import cross_val_predict

import dataworth as dw
from dataworth.data.io.conversations import halves

MISMATCHED = 0.2
LONGEST, SHORTEST = 4000, 400


def prompts_of(path):
    """One answer a prompt, in the order of the file."""
    opened = gzip.open if str(path).endswith(".gz") else open
    with opened(path, "rt") as file:
        rows = [json.loads(line) for line in file]
    found = {}
    for row in rows:
        found.setdefault(row["prompt"], row.get("chosen") or row["response"])
    return [pair for pair in found.items() if all(text.strip() for text in pair)]


def docstrings_of(packages):
    """Halves of the docstrings of packages, of 400 to 4,000 characters, each once."""
    texts = {}
    for package in packages:
        root = Path(importlib.util.find_spec(package).submodule_search_locations[0])
        for path in sorted(root.rglob("*.py")):
            if "tests" in path.parts:
                continue
            for node in ast.walk(ast.parse(path.read_text(errors="replace"))):
                if isinstance(node, ast.FunctionDef | ast.ClassDef):
                    text = ast.get_docstring(node) or ""
                    if SHORTEST <= len(text) <= LONGEST:
                        texts.setdefault(text[:200], text)
    return [pair for pair in map(halves, texts.values()) if pair[1]]


def dataset(pairs):
    prompt, response = zip(*pairs, strict=True)
    return dw.read(pa.table({"prompt": prompt, "response": response}))


def mismatch(pairs, rng):
    """A fifth of the responses dealt out anew among their prompts, and which."""
    bad = rng.permutation(len(pairs))[: round(MISMATCHED * len(pairs))]
    made = list(pairs)
    for place, other in zip(bad, np.roll(bad, 1), strict=True):
        made[place] = (pairs[place][0], pairs[other][1])
    return made, np.isin(np.arange(len(pairs)), bad)


def doubted(pairs):
    """Rows by how badly their response is predicted from their prompt by the other rows: ridge on TF-IDF."""
    vectors = []
    for texts in zip(*pairs, strict=True):
        found = TfidfVectorizer(sublinear_tf=True, min_df=2).fit_transform(texts)
        vectors.append(TruncatedSVD(min(50, found.shape[1] - 1), random_state=0).fit_transform(found))
    X, Y = vectors
    predicted = cross_val_predict(Ridge(0.1), X, Y, cv=5)
    sizes = np.linalg.norm(predicted, axis=1) * np.linalg.norm(Y, axis=1) + 1e-12
    return np.argsort((predicted * Y).sum(axis=1) / sizes)


def changes(clean, rng):
    """(what it is, name, before, rows or rows with other responses after)."""
    n, everyone = len(clean), np.arange(len(clean))
    fifth, size = n // 5, np.array([len(response) for _, response in clean])
    noisy, wrong = mismatch(clean, rng)
    yield "true", "mismatched removed", noisy, np.flatnonzero(~wrong)
    yield "harm", "mismatched added", clean, noisy
    yield "blind, noisy", "worst residuals removed", noisy, np.sort(doubted(noisy)[fifth:])
    yield "blind, noisy", "as many at random removed", noisy, np.sort(rng.permutation(n)[fifth:])
    yield "null", "doubled", clean, np.concatenate([everyone, everyone])
    yield "half", "half at random", clean, np.sort(rng.permutation(n)[: n // 2])
    yield "blind, clean", "fifth at random removed", clean, np.sort(rng.permutation(n)[fifth:])
    yield "blind, clean", "worst residuals removed", clean, np.sort(doubted(clean)[fifth:])
    yield "blind, clean", "twentieth of worst residuals removed", clean, np.sort(doubted(clean)[n // 20 :])
    yield "blind, clean", "shortest removed", clean, np.sort(np.argsort(size)[fifth:])
    yield "blind, clean", "longest removed", clean, np.sort(np.argsort(-size)[fifth:])
    yield (
        "blind, clean",
        "random fifth doubled",
        clean,
        np.concatenate([everyone, rng.permutation(n)[:fifth]]),
    )
    yield "new", "half grown to all", clean[: n // 2], clean


def audited(every, rows, seed):
    """The audits of one seed."""
    rng = np.random.default_rng([0xFA125, seed])
    order = [every[i] for i in rng.permutation(len(every))]
    held = min(500, len(order) // 3)
    pairs, started = order[held : held + rows], time.perf_counter()
    yard = dw.Yardstick.fit(T := dataset(order[:held]))
    test, found = yard.numbered(T, own=True), []
    noisy = wrong = None
    for kind, name, before, after in changes(pairs, rng):
        D = yard.numbered(dataset(before))
        whole = isinstance(after, list)
        made = dw.audit(
            D, yard.numbered(dataset(after)) if whole else D.take(after), test, yardstick=yard, ignore="all"
        )
        told = {"kind": kind, "name": name, "verdict": made.verdict, "delta": made.delta}
        told |= {"interval": made.interval, "t": made.delta / made.stderr if made.stderr else 0.0}
        made = made.attribution
        found.append({**told, "best_baseline": made and made.best_baseline})
        if kind == "true":
            noisy, wrong = D, np.ones(len(before), dtype=bool)
            wrong[after] = False
    values = dw.values(noisy, test, yardstick=yard).rows
    by = {"p_mislabeled": values.p_mislabeled, "loo_log_likelihood": -values.loo_log_likelihood}
    known = np.isfinite(values.value)
    auroc = {name: float(roc_auc_score(wrong[known], doubt[known])) for name, doubt in by.items()}
    told = {"seed": seed, "rows": len(pairs), "test_rows": held, "yardstick": str(yard), "auroc": auroc}
    return {**told, "seconds": time.perf_counter() - started, "audits": found}


def covered(seeds, rows=200, test=200, pool=4000):
    """How often the interval of a change holds the mean over the whole pool, of simulated vectors."""
    rng = np.random.default_rng(0xC0FE)
    model = dw.MultiLinear(prior_variance=0.3, freedom=8.0, scale=4.0, outputs=4)
    X = rng.normal(size=(rows + test + pool, 5))
    whole = dw.Dataset(X, model.simulate(rng, X))
    D, T = whole.take(range(rows)), whole.take(range(rows, rows + test))
    rest = whole.take(range(rows + test, len(whole)))
    yard, half = dw.Yardstick.fit(T), D.take(range(rows // 2))
    options = {"yardstick": yard, "ignore": "all"}
    truth = dw.audit(D, half, rest, **options).per_row
    held = []
    for _ in range(seeds):
        some = rest.take(np.sort(rng.permutation(pool)[:test]))
        made = dw.audit(D, half, some, **options)
        scale = made.per_row / made.delta
        held.append(made.interval[0] * scale <= truth <= made.interval[1] * scale)
    return {"repetitions": seeds, "covered": float(np.mean(held)), "truth_per_row": truth}


def told(records):
    """What of each kind of change was said, over seeds."""
    found = {}
    for record in records:
        for audit in record["audits"]:
            found.setdefault((audit["kind"], audit["name"]), []).append(audit)
    for (kind, name), audits in found.items():
        up = sum(audit["interval"][0] > 1e-9 for audit in audits)  # rounding is no rise
        verdicts = ", ".join(f"{v} {n}" for v, n in Counter(a["verdict"] for a in audits).most_common())
        t = np.median([audit["t"] for audit in audits])
        print(f"{kind:13} {name:38} rise shown {up}/{len(audits)}, median t {t:+.1f}: {verdicts}")
    for way in ("p_mislabeled", "loo_log_likelihood"):
        print(f"AUROC of mismatched rows by {way}: {np.mean([r['auroc'][way] for r in records]):.3f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--prompts", type=Path)
    parser.add_argument("--docs", help="packages, joined by commas")
    parser.add_argument("--rows", type=int, default=1000)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--covers", type=int, help="measure coverage, on so many test sets")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--quick", action="store_true", help="a smoke test of seconds, on docstrings")
    args = parser.parse_args()
    if args.quick:
        globals().update(changes=lambda clean, rng: [("true", "half", clean, np.arange(len(clean) // 2))])
        told([audited(docstrings_of(["sklearn"])[:150], 80, 0)])
        return
    if args.out is None or not (args.prompts or args.docs or args.covers):
        parser.error("--out and one of --prompts, --docs and --covers are needed")
    about = {"schema": "dataworth/benchmark/pairs/1", "rows": args.rows}
    about["data"] = args.docs or (args.prompts and args.prompts.name)
    names = [*(args.docs.split(",") if args.docs else []), "numpy", "scipy", "scikit-learn"]
    about["versions"] = {name: version(name) for name in dict.fromkeys(names)}
    about["versions"]["python"] = platform.python_version()
    if args.covers:
        args.out.write_text(json.dumps({**about, **(found := covered(args.covers))}, indent=1) + "\n")
        print(found)
        return
    every = prompts_of(args.prompts) if args.prompts else docstrings_of(args.docs.split(","))
    known = json.loads(args.out.read_text())["records"] if args.out.exists() else []
    for seed in range(len(known), args.seeds):
        known.append(audited(every, args.rows, seed))
        args.out.write_text(json.dumps({**about, "pool": len(every), "records": known}, indent=1) + "\n")
    told(known)


if __name__ == "__main__":
    main()
