"""Do 95 % intervals cover? Score and audit, designs *whole* and *pairs*, simulated and resampled real data.

    python benchmarks/interval_coverage.py [--repetitions 1000] [--data NAME] [--design NAME] [--out FILE]

whole: D is fixed, T is fresh each time; the truth is the mean over thousands of fresh blocks.
pairs: D and T are fresh each time; the truth is the mean over thousands of independent pairs. Beside it the
width of the interval from disjoint blocks of the same data, which needs no theory.

The real pool is made of overlapping patches of the two photographs that ship with scikit-learn (which
photograph is a patch from?), drawn at random: some 160,000 rows.

Patients: ten rows each that hardly differ, and one diagnosis; groups are given, so that blocks and pairs keep
them whole. "ungrouped" is the same test set without its groups: what goes wrong.

The truth has an error of its own, which matters where intervals are as narrow: "allowed" counts an interval
[v − h, v + h] as covering if |v − truth| ≤ √(h² + (1.96 · its error)²), and "nothing" one that misses by less
than what a verdict calls nothing.
"""

from __future__ import annotations

import argparse
import json
import platform
from pathlib import Path

import joblib
import numpy as np
from sklearn.datasets import load_sample_image

import dataworth as dw
from dataworth.measure.intervals import NEGLIGIBLE_A_BLOCK, over_blocks, t_quantile

FLIPPED = 0.15


def photo_patches(stride=2, size=8):
    """Each patch as mean and standard deviation of its colours: six features that do not quite suffice."""
    rows, labels = [], []
    for label, name in enumerate(("china.jpg", "flower.jpg")):
        image = load_sample_image(name) / 255.0
        windows = np.lib.stride_tricks.sliding_window_view(image, (size, size), axis=(0, 1))[
            ::stride, ::stride
        ]
        flat = windows.reshape(-1, 3, size * size)
        rows.append(np.hstack([flat.mean(axis=2), flat.std(axis=2)]))
        labels.append(np.full(len(flat), label))
    return np.vstack(rows), np.concatenate(labels)


class Photos:
    """Draws from the pool of distinct patches; data and test sets from different halves of it."""

    def __init__(self):
        X, y = photo_patches()
        _, first = np.unique(X, axis=0, return_index=True)
        order = np.random.default_rng(0).permutation(first)
        self.X, self.y = X[order], y[order]

    def draw(self, n, rng, test=False):
        half = len(self.y) // 2
        rows = rng.choice(half, n, replace=False) + half * test
        return self.X[rows], self.y[rows]


class Simulated:
    """Logistic regression with five features and one θ."""

    theta = np.array([1.5, -1.0, 0.5, 0.0, 0.0])

    def draw(self, n, rng, test=False):
        X = rng.standard_normal((n, 5))
        return X, (X @ self.theta + rng.logistic(size=n) > 0).astype(int)


class Sites(Simulated):
    """The same, with a sixth column: one of four sites, of which two go with the label."""

    def draw(self, n, rng, test=False):
        X, y = super().draw(n, rng)
        site = 2 * rng.integers(0, 2, n) + np.where(rng.random(n) < 0.75, y, 1 - y)
        return np.column_stack([X, site]), y


class Patients:
    """Patients with ten rows each: the rows of one hardly differ, and nearly all have one label."""

    ROWS, WITHIN, ODD = 10, 0.2, 0.05

    def __init__(self, grouped=True):
        self.grouped = grouped

    def draw(self, n, rng, test=False):
        patient = np.arange(n) // self.ROWS
        X = rng.standard_normal((patient[-1] + 1, 5))
        y = (X @ Simulated.theta + rng.logistic(size=len(X)) > 0).astype(int)[patient]
        y = np.where(rng.random(n) < self.ODD, 1 - y, y)
        X = X[patient] + self.WITHIN * rng.standard_normal((n, 5))
        return (X, y, patient) if self.grouped else (X, y)


def noisy_and_clean(world, n, rng):
    """A dataset with flipped labels, and the same without those rows."""
    X, y, *groups = world.draw(n, rng)
    bad = rng.random(n) < FLIPPED
    noisy = dw.Dataset(X, np.where(bad, 1 - y, y), *groups)
    return noisy, noisy.take(~bad)


def measured(kind, before, after, test, yard, seed, **design):
    if kind == "score":
        return dw.score(before, test, yardstick=yard, seed=seed, jobs=1, ignore="all", **design)
    return dw.audit(before, after, test, yardstick=yard, seed=seed, jobs=1, ignore="all", **design)


def value_of(kind, result):
    """Value and the per-pair values of a score, or of an audit's change."""
    if kind == "score":
        return result.value, result.table.pmi[:, 0]
    return result.delta, result.table.change("pmi", "after", "before")


def coverage(intervals, values):
    """Of a truth that is the mean of many independent values; how wide, and by how much the others missed."""
    low, high = np.array(intervals).T
    truth, stderr = np.mean(values), np.std(values) / np.sqrt(len(values))
    off, half = np.abs((low + high) / 2 - truth), (high - low) / 2
    return {
        "truth": truth,
        "truth_stderr": stderr,
        "coverage": np.mean(off <= half),
        "allowed": np.mean(off <= np.hypot(half, t_quantile(1e9) * stderr)),
        "nothing": np.mean(off <= half + NEGLIGIBLE_A_BLOCK),
        "width": np.mean(high - low),
        "largest_miss": np.max(off - half, initial=0.0),
    }


def whole(kind, world, yard, repetitions, jobs, n_data=200, n_test=200, truth_blocks=8000):
    rng = np.random.default_rng([1, len(kind)])
    before, after = noisy_and_clean(world, n_data, rng)

    def one(seed, rows):
        own = np.random.default_rng([2, seed, rows])
        result = measured(kind, before, after, dw.Dataset(*world.draw(rows, own, test=True)), yard, seed)
        return value_of(kind, result), result.interval

    block = n_test / 20
    # the truth from test sets of the same size, each cut as in the design: blocks of the same size
    many = joblib.Parallel(jobs)(
        joblib.delayed(one)(10**6 + i, n_test) for i in range(int(truth_blocks * block / n_test))
    )
    runs = joblib.Parallel(jobs)(joblib.delayed(one)(i, n_test) for i in range(repetitions))
    return coverage([interval for _, interval in runs], [v[1].mean() for v, _ in many])


def slices(world, yard, repetitions, jobs, n_data=200, n_test=400, truths=120):
    """Do the intervals of all slices that are shown together hold at once? And each by itself?"""
    before, after = noisy_and_clean(world, n_data, np.random.default_rng([1, 6]))

    def one(seed):
        test = dw.Dataset(*world.draw(n_test, np.random.default_rng([5, seed]), test=True))
        found = measured("audit", before, after, test, yard, seed, slices=[test.names[-1]]).slices
        return {cut.value: (cut.change.value, *(cut.change.interval or (np.nan, np.nan))) for cut in found}

    many = joblib.Parallel(jobs)(joblib.delayed(one)(10**6 + i) for i in range(truths))
    runs = joblib.Parallel(jobs)(joblib.delayed(one)(i) for i in range(repetitions))
    covered = np.ones((len(runs), len(runs[0])), dtype=bool)
    for k, value in enumerate(runs[0]):
        truth = np.array([run[value][0] for run in many])
        error = t_quantile(1e9) * truth.std() / np.sqrt(len(truth))
        low, high = np.array([run[value][1:] for run in runs]).T
        covered[:, k] = np.abs((low + high) / 2 - truth.mean()) <= np.hypot((high - low) / 2, error)
    return {"slices": covered.shape[1], "coverage": covered.all(axis=1).mean(), "each": covered.mean()}


def pairs(kind, world, yard, repetitions, jobs, n_data=320, n_test=320, size=40, k=100, truth_pairs=4000):
    def truth_of(seed):
        own = np.random.default_rng([3, seed])
        # one independent pair: the smallest design that draws all of it, twice (a pair needs two draws)
        before, after = noisy_and_clean(world, size, own)
        result = measured(
            kind, before, after, dw.Dataset(*world.draw(size, own, test=True)), yard, seed, pairs=2, size=size
        )
        return value_of(kind, result)[1][0]

    def one(seed):
        own = np.random.default_rng([4, seed])
        before, after = noisy_and_clean(world, n_data, own)
        test = dw.Dataset(*world.draw(n_test, own, test=True))
        result = measured(kind, before, after, test, yard, seed, pairs=k, size=size)
        disjoint = disjoint_values(kind, before, after, test, yard, size, own)
        return result.interval, disjoint

    def disjoint_values(kind, before, after, test, yard, size, own):
        """One value per disjoint block of both sets."""
        order, held, values = own.permutation(len(before)), own.permutation(len(test)), []
        for i in range(min(len(before), len(test)) // size):
            part = before.take(order[i * size : (i + 1) * size])
            keys = {row.tobytes() for row in part.X}
            kept = after.take(np.array([row.tobytes() in keys for row in after.X]))
            block = test.take(held[i * size : (i + 1) * size])
            result = measured(kind, part, kept, block, yard, i, pairs=2, size=size)
            values.append(value_of(kind, result)[1][0])
        return over_blocks(np.array(values)).interval

    values = np.array(joblib.Parallel(jobs)(joblib.delayed(truth_of)(i) for i in range(truth_pairs)))
    runs = joblib.Parallel(jobs)(joblib.delayed(one)(i) for i in range(repetitions))
    disjoint = coverage([r[1] for r in runs], values)
    return {
        **coverage([r[0] for r in runs], values),
        "disjoint_coverage": disjoint["coverage"],
        "disjoint_width": disjoint["width"],
    }


WORLDS = {
    "simulated": Simulated,
    "photographs": Photos,
    "patients": Patients,
    "ungrouped": lambda: Patients(grouped=False),
    "sites": Sites,
}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repetitions", type=int, default=1000)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--data", choices=WORLDS, help="one of them (default: all)")
    parser.add_argument("--design", choices=("whole", "pairs"), help="one of them (default: both)")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--quick", action="store_true", help="a smoke test of seconds")
    args = parser.parse_args()
    few = {}
    if args.quick:
        args.repetitions, args.jobs, args.data = 2, 1, next(iter(WORLDS))
        few = {"whole": {"truth_blocks": 20}, "pairs": {"k": 4, "truth_pairs": 2, "n_data": 80, "n_test": 80}}
    results = []
    for name in [args.data] if args.data else WORLDS:
        world = WORLDS[name]()
        rows = 60 if args.quick else 400
        yard = dw.Yardstick.fit(dw.Dataset(*world.draw(rows, np.random.default_rng(0), test=True)))
        if isinstance(world, Sites):
            few_truths = {"truths": 2} if args.quick else {}
            told = slices(world, yard, args.repetitions, args.jobs, **few_truths)
            results.append({"data": name, "what": "slices", "design": "whole"} | told)
            print(
                f"{name:12} {told['slices']} slices at once {told['coverage']:.1%}, each {told['each']:.1%}"
            )
            continue
        for kind in ("score", "audit"):
            for design, study, n in (
                ("whole", whole, args.repetitions),
                ("pairs", pairs, args.repetitions // 2),
            ):
                if args.design not in (None, design):
                    continue
                sizes = {"n_data": 400, "n_test": 400} if isinstance(world, Patients) else {}
                sizes |= few.get(design, {})
                found = {k: float(v) for k, v in study(kind, world, yard, n, args.jobs, **sizes).items()}
                error = t_quantile(1e9) * np.sqrt(0.05 * 0.95 / n)
                results.append({"data": name, "what": kind, "design": design, "repetitions": n, **found})
                print(
                    f"{name:12} {kind:6} {design:6} coverage {found['coverage']:.1%} (±{error:.1%} chance),"
                    f" allowed {found['allowed']:.1%}, nothing {found['nothing']:.1%},"
                    f" width {found['width']:.3f}",
                    end="",
                )
                if design == "pairs":
                    print(
                        f"; disjoint {found['disjoint_coverage']:.1%} width {found['disjoint_width']:.3f}",
                        end="",
                    )
                print(flush=True)
    if args.out:
        about = {"numpy": np.__version__, "python": platform.python_version(), "dataworth": dw.__version__}
        args.out.parent.mkdir(parents=True, exist_ok=True)
        told = json.dumps({"about": about, "results": results}, indent=1, default=float)
        args.out.write_text(told + "\n")


if __name__ == "__main__":
    main()
