"""What a call of `dw.pmi` costs besides its arithmetic: 120 + 160 rows, 1,280 features and an intercept.

    python benchmarks/pmi_overhead.py [--repeats 40] [--quick]

The fits alone are timed on a pool that is ready, and so is the pool's Gram matrix, which is arithmetic too.
The rest of the call is bookkeeping: building the pool, checking it, looking for repeated rows, limiting
threads. Time is that of the processor, one thread of linear algebra, the median of calls taken in turn; so
the proportions do not depend on what else the machine does. The bar: bookkeeping is at most 40 % of the call.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

import dataworth as dw
from dataworth.evidence.pair import fit_joint
from dataworth.evidence.pool import pool_of

ROWS, FEATURES, PRIOR_VARIANCE = (120, 160), 1280, 0.01
BAR = 0.40


def world(rng: np.random.Generator, n: int, slope: np.ndarray) -> dw.Dataset:
    """Two classes, of which a little noise hides the direction."""
    X = rng.standard_normal((n, FEATURES))
    return dw.Dataset(X, (X @ slope + rng.standard_normal(n) > 0).astype(int))


def seconds(calls: dict[str, Callable[[], object]], repeats: int) -> dict[str, float]:
    """The median time of each call, in turn with the others."""
    times: dict[str, list[float]] = {name: [] for name in calls}
    for i in range(repeats + 3):  # the first are cold
        for name, call in calls.items():
            started = time.process_time()
            call()
            if i >= 3:
                times[name].append(time.process_time() - started)
    return {name: float(np.median(spent)) for name, spent in times.items()}


def main() -> None:
    """Print the split."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=40)
    parser.add_argument("--quick", action="store_true", help="a smoke test of seconds")
    args = parser.parse_args()
    repeats = 2 if args.quick else args.repeats
    rng = np.random.default_rng(0)
    slope = rng.standard_normal(FEATURES) / np.sqrt(FEATURES)
    D, T = (world(rng, n, slope) for n in ROWS)
    model = dw.Logistic(PRIOR_VARIANCE)
    fitter, rows, _ = pool_of(model, {"D": D, "T": T})

    def fits() -> float:
        parts = [fitter(own) for own in rows.values()]
        return fit_joint(fitter, *rows.values(), *parts).log_z

    def gram() -> np.ndarray:
        return fitter.X @ fitter.X.T

    spent = seconds({"whole": lambda: dw.pmi(D, T, model), "fits": fits, "gram": gram}, repeats)
    whole = spent["whole"]
    rest = whole - spent["fits"] - spent["gram"]
    for name, value in {**spent, "bookkeeping": rest}.items():
        print(f"{name:12} {1e3 * value:7.2f} ms  {value / whole:6.1%} of the call")
    print(f"bookkeeping is {rest / whole:.0%} of the call; the bar is {BAR:.0%}")
    print(f"all but the fits (the Gram matrix too): {1.0 - spent['fits'] / whole:.0%}")
    raise SystemExit(not args.quick and rest > BAR * whole)


if __name__ == "__main__":
    main()
