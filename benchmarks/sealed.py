"""Sealed scoring: seconds at d = 1,281, distance from the evidence, and what a file gives away.

Three questions:

- seconds: a yardstick of 1,280 features and an intercept, vendors of 500 rows, 400 test rows: to seal and
  save the rows of one, and to rank two sealed vendors and an open one, reading the files included. Bar: 10 s
  (on a busy machine the processor's seconds say more).
- distance: the sealed value of a block (EP) less the evidence of the same pair, by EP and by Laplace, RMSE in
  nats over the blocks of several worlds drawn from the model.
- leaks: how much of the rows a file gives away: the share of a row's length that lies in the range of
  P − I/C, for n rows on d coefficients; and the cosine between a row and the leading direction of the change
  of P when that row is added (two files of the same vendor, one row apart).

python benchmarks/sealed.py [--seed 0] [--quick] [--out results/sealed.json]
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import tempfile
import time
from pathlib import Path

import numpy as np
import safetensors
import scipy

import dataworth as dw
from dataworth.data.labels import Classes
from dataworth.valuation.sealed import Sealed, seal
from dataworth.yardstick.recipe import Recipe
from dataworth.yardstick.search import Trial

FEATURES, ROWS, TEST_ROWS = 1280, 500, 400
BAR = 10.0
WORLDS = [(3, 30), (3, 300), (10, 50), (10, 500), (20, 100)]
REPEATS = 5
LEAKS = [(40, 5), (40, 20), (40, 40), (40, 400)]


def by_hand(k, prior_variance, inference="laplace"):
    """A yardstick that takes k features as they are."""
    columns = dw.Dataset(np.zeros((1, k)), [0]).columns
    model = dw.Logistic(prior_variance, inference)
    return dw.Yardstick(
        recipe=Recipe.plain(columns),
        labels=Classes(("0", "1")),
        model=model,
        chosen=Trial(size=k, exponent=1.0, prior_variance=prior_variance, held_out=0.0),
        test_hash="0" * 64,
        rows=40,
        seed=0,
    )


def world(k, sizes, prior_variance, rng):
    """Datasets of the given sizes that share one θ drawn from the prior."""
    theta, intercept = np.sqrt(prior_variance) * rng.normal(size=k), np.sqrt(prior_variance) * rng.normal()
    parts = []
    for n in sizes:
        X = rng.normal(size=(n, k))
        chance = 1.0 / (1.0 + np.exp(-(X @ theta + intercept)))
        parts.append(dw.Dataset(X, (rng.random(n) < chance).astype(int)))
    return parts


def seconds(rng):
    yard = by_hand(FEATURES, 1.0 / FEATURES)
    a, b, c, test = world(FEATURES, (ROWS, ROWS, ROWS, TEST_ROWS), 1.0 / 50, rng)
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        seal(b, yard).save(place / "b.safetensors")
        began, worked = time.perf_counter(), time.process_time()
        seal(a, yard).save(place / "a.safetensors")
        sealed = time.perf_counter()
        candidates = {name: Sealed.load(place / f"{name}.safetensors") for name in "ab"}
        ranking = dw.rank({**candidates, "c": c}, test, yardstick=yard)
        ranked, worked = time.perf_counter(), time.process_time() - worked
        size = (place / "a.safetensors").stat().st_size
    return {
        "coefficients": FEATURES + 1,
        "rows": ROWS,
        "test_rows": TEST_ROWS,
        "file_megabytes": size / 1e6,
        "seal_seconds": sealed - began,
        "rank_seconds": ranked - sealed,
        "sum_seconds": ranked - began,
        "bar_seconds": BAR,
        "sum_processor_seconds": worked,
        "machine": {"cores": os.cpu_count(), "load_average": os.getloadavg()[0]},
        "values": {one.name: one.value for one in ranking},
    }


def distance(k, n, rng):
    """RMSE of sealed values against the evidence, over blocks."""
    errors = {"ep": [], "laplace": []}
    for _ in range(REPEATS):
        data, test = world(k, (n, 200), 1.0, rng)
        yard = by_hand(k, 1.0)
        sealed = dw.score(seal(data, yard), test, yardstick=yard).table.pmi
        for inference, found in errors.items():
            opened = dw.score(data, test, yardstick=by_hand(k, 1.0, inference), ignore="all").table.pmi
            found.append(sealed - opened)
    return {"features": k, "rows": n} | {
        f"rmse_against_evidence_{name}": float(np.sqrt(np.mean(np.square(found))))
        for name, found in errors.items()
    }


def leak(k, n, rng):
    """How much of a row lies in the range of P − I/C, and how well a row added later is seen."""
    (data,) = world(k, (n + 1,), 1.0, rng)
    yard = by_hand(k, 1.0)
    before, after = seal(data.take(range(n)), yard), seal(data, yard)
    rows = np.column_stack([data.X, np.ones(n + 1)])
    values, vectors = np.linalg.eigh(before.precision - np.eye(k + 1))
    span = vectors[:, values > 1e-9 * values.max()]
    inside, stranger = rows[0], np.append(rng.normal(size=k), 1.0)
    change = np.linalg.eigh(after.precision - before.precision)
    leading = change.eigenvectors[:, np.abs(change.eigenvalues).argmax()]
    return {
        "coefficients": k + 1,
        "rows": n,
        "directions": span.shape[1],
        "row_in_range": float(np.linalg.norm(span.T @ inside) / np.linalg.norm(inside)),
        "stranger_in_range": float(np.linalg.norm(span.T @ stranger) / np.linalg.norm(stranger)),
        "cosine_of_added_row": float(abs(leading @ rows[-1]) / np.linalg.norm(rows[-1])),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--quick", action="store_true", help="a smoke test of seconds")
    args = parser.parse_args()
    if args.quick:
        globals().update(FEATURES=20, ROWS=60, WORLDS=WORLDS[:1], REPEATS=1, LEAKS=LEAKS[:1])
    rng = np.random.default_rng(args.seed)
    found = {
        "seconds": seconds(rng),
        "distance": [distance(k, n, rng) for k, n in WORLDS],
        "leaks": [leak(k, n, rng) for k, n in LEAKS],
    }
    print(json.dumps(found, indent=1))
    if args.out:
        about = {"dataworth": dw.__version__, "numpy": np.__version__, "scipy": scipy.__version__}
        about |= {"safetensors": safetensors.__version__, "python": platform.python_version()}
        args.out.parent.mkdir(parents=True, exist_ok=True)
        body = {"command": "python benchmarks/sealed.py", "about": about, "seed": args.seed}
        args.out.write_text(json.dumps(body | found, indent=1) + "\n")


if __name__ == "__main__":
    main()
