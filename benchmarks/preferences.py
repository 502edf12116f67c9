"""Verdicts on curations of real preference pairs: flips, one-sided filters, duplicates; over seeds.

    python benchmarks/preferences.py --pairs DIR/rmb_helpfulness.jsonl.gz --out results/preference/audits.json

A thousand pairs and 600 test pairs of other prompts for each seed. A file that is there is continued.
"""

from __future__ import annotations

import argparse
import json
import platform
from collections import Counter
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pyarrow as pa
from sklearn.metrics import roc_auc_score

import dataworth as dw
from dataworth.data.io.preferences import read_preferences
from dataworth.embed import encode

PAIRS, TEST, FLIPPED = 1000, 600, 0.2


def dataset(rows, encoder):
    """Pairs as a dataset, by n-grams or by an encoder."""
    names = ("prompt", "chosen", "rejected")
    data = dw.read(pa.table({name: [row[k] for row in rows] for k, name in enumerate(names)}))
    return data if encoder is None else encode(data, encoder)


def flipped(rows, wrong):
    return [(p, r, c) if flip else (p, c, r) for (p, c, r), flip in zip(rows, wrong, strict=True)]


def curations(rows, rng):
    """(name, before, after)."""
    for rate in (0.1, FLIPPED, 0.4):
        yield f"flip {rate:.0%}", rows, flipped(rows, rng.random(len(rows)) < rate)
    wrong = rng.random(len(rows)) < FLIPPED
    noisy = flipped(rows, wrong)
    yield "remove the flips", noisy, [row for row, flip in zip(noisy, wrong, strict=True) if not flip]
    yield (
        "blind: keep 70 %",
        noisy,
        [noisy[i] for i in np.sort(rng.permutation(len(noisy))[: int(0.7 * len(noisy))])],
    )
    yield "blind: double", noisy, noisy + noisy
    yield "longer wins only", rows, [row for row in rows if len(row[1]) > len(row[2])]
    yield "one pair a prompt", rows, list({row[0]: row for row in rows}.values())


def drawn(every, rng, encoder):
    """Pairs, and a test set of other prompts."""
    prompts = sorted({row[0] for row in every})
    held = {prompts[i] for i in rng.permutation(len(prompts))[: len(prompts) // 3]}
    order = [every[i] for i in rng.permutation(len(every))]
    test = dataset([row for row in order if row[0] in held][:TEST], encoder)
    rows = [row for row in order if row[0] not in held][:PAIRS]
    return rows, test


def found_flips(every, seed, encoder):
    """AUROC of flipped pairs by values, and by what they say of labels."""
    rng = np.random.default_rng([17, seed])
    rows, test = drawn(every, rng, encoder)
    wrong = rng.random(len(rows)) < FLIPPED
    values = dw.values(dataset(flipped(rows, wrong), encoder), test).rows
    by = {
        "p_mislabeled": values.p_mislabeled,
        "loo_log_likelihood": -values.loo_log_likelihood,
        "value": -values.value,
    }
    valued = np.isfinite(values.value)  # rows that also stand in the test set have none
    return {name: float(roc_auc_score(wrong[valued], doubt[valued])) for name, doubt in by.items()}


def audited(every, seed, encoder):
    """The verdicts of one seed."""
    rng = np.random.default_rng([16, seed])
    rows, test = drawn(every, rng, encoder)
    yard = dw.Yardstick.fit(test)
    found = {"seed": seed, "yardstick": str(yard)}
    for name, before, after in curations(rows, rng):
        made = dw.audit(dataset(before, encoder), dataset(after, encoder), test, yardstick=yard, ignore="all")
        found[name] = {"verdict": made.verdict, "delta": made.delta, "interval": made.interval}
        found[name]["accuracy_delta"] = made.accuracy_delta
    return found


def _made_pairs(n):
    """Pairs in which the longer answer wins."""
    words = [f"word{i}" for i in range(30)]
    rng = np.random.default_rng(0)
    texts = [[" ".join(rng.choice(words, size)) for size in (6, 12, 4)] for _ in range(n)]
    return [tuple(text) for text in texts]


def _one_curation(rows, rng):
    yield "flip 20%", rows, flipped(rows, rng.random(len(rows)) < FLIPPED)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--quick", action="store_true", help="a smoke test of seconds, on made pairs")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--text-encoder")
    args = parser.parse_args()
    if args.quick:
        globals().update(PAIRS=60, TEST=60, curations=_one_curation)
        print(audited(_made_pairs(200), 0, None))
        return
    if args.pairs is None or args.out is None:
        parser.error("--pairs and --out are needed")
    every = read_preferences(args.pairs).pairs
    known = json.loads(args.out.read_text())["audits"] if args.out.exists() else []
    for seed in range(args.seeds):
        record = next((one for one in known if one["seed"] == seed), None)
        if record is None or "flips found" not in record:
            if record is None:
                known.append(record := audited(every, seed, args.text_encoder))
            record["flips found"] = found_flips(every, seed, args.text_encoder)
            told = {"schema": "dataworth/benchmark/preferences/1", "pairs": Path(args.pairs).name}
            told |= {"encoder": args.text_encoder and Path(args.text_encoder).parent.name}
            told["versions"] = {name: version(name) for name in ("numpy", "scipy", "scikit-learn")}
            told["versions"]["python"] = platform.python_version()
            args.out.write_text(json.dumps({**told, "audits": known}, indent=1) + "\n")
    for way in known[0]["flips found"]:
        print(f"flips found, AUROC by {way}: {np.mean([one['flips found'][way] for one in known]):.3f}")
    for name in (name for name, one in known[0].items() if isinstance(one, dict) and "verdict" in one):
        verdicts = Counter(record[name]["verdict"] for record in known)
        print(f"{name:20}", ", ".join(f"{verdict} {times}" for verdict, times in verdicts.most_common()))


if __name__ == "__main__":
    main()
