"""The paper's convergence corollary by simulation: error ∝ 1/√k, at a rate that does not depend on d.

The world: θ ~ N(0, I), y = Xθ + N(0, 1) on a fixed random design, D and T of n rows each. There everything is
known. With canonical correlations ρᵢ of y_D and y_T,

    I(D;T) = −½ Σ log(1 − ρᵢ²)     and     s² = Var U = Σ ρᵢ²     (so s² ≤ 2 I, and s² ≤ min(d, n)),

so the constant in front, s, grows with the information (at most as √(2I)), not with the dimension as such.

1. `Linear` (bind, three fits a pair, as dw.pmi does): RMSE of the k-pair mean about the exact I, slope of
   log RMSE on log k. Beside it the same for U drawn by canonical correlations, with many more repetitions.
2. The spread by d, at n = 20 and at n = d.
3. What clipping at M does to the expectation.
4. The planner: of repetitions with k = pairs_needed(…) pairs, how many are within ε of what they estimate?
5. `Logistic` by Laplace, about its own mean over many pairs: the same slope.

python benchmarks/convergence.py [--out results/convergence.json] [--plot docs/convergence.svg] [--jobs 1]
"""

from __future__ import annotations

import argparse
import json
import platform
import time
from pathlib import Path

import joblib
import numpy as np
import scipy
from scipy import stats
from threadpoolctl import threadpool_limits

import dataworth as dw
from dataworth.evidence.pair import fit_joint
from dataworth.measure.clipping import clip
from dataworth.measure.planner import pairs_needed
from dataworth.models.base import bind

SEED = 0
N = 20
DIMENSIONS = (5, 20, 100, 400)
REPETITIONS = {10: 300, 30: 150, 100: 60, 300: 30, 1000: 12, 3000: 6}
MANY = 500
LOGISTIC = {10: 300, 30: 150, 100: 60, 300: 30, 1000: 10}
CHUNK = 500


class LinearWorld:
    """A fixed design whose information is known, and pairs from it."""

    def __init__(self, d, n):
        self.d, self.n = d, n
        self.X = np.random.default_rng([SEED, 1, d, n]).normal(size=(2 * n, d))
        self.fitter = bind(dw.Linear(1.0, 1.0, intercept=False), self.X, np.zeros(2 * n))
        covariance = np.eye(2 * n) + self.X @ self.X.T
        one, other = (np.linalg.cholesky(covariance[rows, rows]) for rows in self.halves)
        cross = covariance[self.halves]
        whitened = np.linalg.solve(one, np.linalg.solve(other, cross.T).T)
        self.rho2 = np.linalg.svd(whitened, compute_uv=False) ** 2
        # by determinants, which know nothing of correlations: the two must agree
        log_det = [
            np.linalg.slogdet(part)[1] for part in (covariance[:n, :n], covariance[n:, n:], covariance)
        ]
        self.information = 0.5 * (log_det[0] + log_det[1] - log_det[2])
        assert abs(self.information + 0.5 * np.log1p(-self.rho2).sum()) < 1e-8
        self.spread = float(np.sqrt(self.rho2.sum()))

    @property
    def halves(self):
        return slice(0, self.n), slice(self.n, 2 * self.n)

    def labels(self, rng):
        return self.X @ rng.normal(size=self.d) + rng.normal(size=2 * self.n)

    def draw(self, rng, size):
        """U without any fit: one pair of correlated normals for each ρ. For repetitions by the million."""
        rho = np.sqrt(self.rho2)[self.rho2 > 1e-15]
        values = np.empty(size)
        for start in range(0, size, 20_000):
            x, z = rng.normal(size=(2, min(20_000, size - start), len(rho)))
            y = rho * x + np.sqrt(1 - rho**2) * z
            quadratic = (rho**2 * (x**2 + y**2) - 2 * rho * x * y) / (2 * (1 - rho**2))
            values[start : start + len(x)] = self.information - quadratic.sum(axis=1)
        return values


class LogisticWorld:
    """The same for two classes: θ ~ N(0, I), P(y=1) = σ(xᵀθ)."""

    def __init__(self, d, n):
        self.d, self.n = d, n
        self.X = np.random.default_rng([SEED, 2, d, n]).normal(size=(2 * n, d))
        self.fitter = bind(dw.Logistic(1.0, intercept=False), self.X, np.zeros(2 * n))

    def labels(self, rng):
        return (rng.random(2 * self.n) < 1 / (1 + np.exp(-self.X @ rng.normal(size=self.d)))).astype(float)


def library_values(world, seed, size):
    """U of pairs, each by the library's own fits of D, T and both."""
    rng, fitter, n = np.random.default_rng(seed), world.fitter, world.n
    D, T = np.arange(n), np.arange(n, 2 * n)
    values = np.empty(size)
    with threadpool_limits(1):
        for i in range(size):
            y = world.labels(rng)
            data, test = fitter(D, targets=y[:n]), fitter(T, targets=y[n:])
            values[i] = fit_joint(fitter, D, T, data, test, targets=y).log_z - data.log_z - test.log_z
    return values


class Progress:
    """A line now and then."""

    def __init__(self, what):
        self.what, self.begun = what, time.monotonic()
        self.last = self.begun - 8  # the first line after 2 s

    def __call__(self, done, total):
        now = time.monotonic()
        if now - self.last > 10:
            left = (now - self.begun) / done * (total - done)
            print(f"  … {self.what}: {done / total:.0%}, about {left:.0f} s left", flush=True)
            self.last = now


def many_values(world, tag, size, jobs):
    """Library values in chunks, each with a seed of its own: the same for any number of jobs."""
    sizes = [min(CHUNK, size - start) for start in range(0, size, CHUNK)]
    tasks = (
        joblib.delayed(library_values)(world, [SEED, 3, tag, world.d, i], n) for i, n in enumerate(sizes)
    )
    report = Progress(f"{type(world).__name__}, d = {world.d}")
    parts = []
    for i, part in enumerate(joblib.Parallel(jobs, return_as="generator")(tasks)):
        parts.append(part)
        report(i + 1, len(sizes))
    return np.concatenate(parts)


def rmse_by_k(values, repetitions, truth):
    """RMSE of the k-pair mean; every k and repetition has pairs of its own."""
    found, start = {}, 0
    for k, times in repetitions.items():
        means = values[start : start + k * times].reshape(times, k).mean(axis=1)
        found[k] = float(np.sqrt(np.mean((means - truth) ** 2)))
        start += k * times
    return found


def slope_of(rmse, repetitions):
    """Weighted least squares of log RMSE on log k; the s.e. of log RMSE over R repetitions is 1/√(2R)."""
    k = np.log(list(rmse))
    weights = 2.0 * np.array([repetitions[n] for n in rmse])
    centred = k - np.average(k, weights=weights)
    slope = (weights * centred) @ np.log(list(rmse.values())) / (weights @ centred**2)
    return float(slope), float(1 / np.sqrt(weights @ centred**2))


def linear_study(jobs):
    """RMSE and slope by d: by the library's fits, and by many repetitions of canonical draws."""
    print(f"1. Linear, n = {N} rows in D and in T: RMSE of the mean of k pairs about the exact I(D;T)")
    print(
        f"{'d':>5} {'I':>7} {'s':>6} " + " ".join(f"{f'k={k}':>8}" for k in REPETITIONS) + "    slope ± s.e."
    )
    rows = []
    for d in DIMENSIONS:
        world = LinearWorld(d, N)
        values = many_values(world, 1, sum(k * r for k, r in REPETITIONS.items()), jobs)
        many = dict.fromkeys(REPETITIONS, MANY)
        drawn = world.draw(np.random.default_rng([SEED, 4, d]), sum(k * r for k, r in many.items()))
        found = {}
        for how, sample, times in (("library", values, REPETITIONS), ("drawn", drawn, many)):
            rmse = rmse_by_k(sample, times, world.information)
            slope, error = slope_of(rmse, times)
            numbers = " ".join(f"{r:8.4f}" for r in rmse.values())
            about = f"{d:5} {world.information:7.3f} {world.spread:6.3f}"
            print(f"{about} {numbers}   {slope:.3f} ± {error:.3f}  {how}")
            found[how] = {"rmse": rmse, "slope": slope, "slope_stderr": error, "repetitions": times}
        alike = stats.ks_2samp(values, drawn).pvalue
        mean_z = (values.mean() - world.information) / (world.spread / np.sqrt(len(values)))
        sd = float(values.std(ddof=1))
        print(
            f"      {len(values)} library pairs: mean − I = {values.mean() - world.information:+.4f} "
            f"({mean_z:+.1f} s.e.), s.d. {sd:.3f} (exact {world.spread:.3f}); "
            f"same law as drawn: p = {alike:.2f}",
            flush=True,
        )
        rows.append(
            {
                "d": d,
                "n": N,
                "information": world.information,
                "spread": world.spread,
                "library_pairs": len(values),
                "library_mean": float(values.mean()),
                "library_spread": sd,
                "mean_z": float(mean_z),
                "same_law_p": float(alike),
                **found,
            }
        )
    return rows


def spread_study():
    """How the constant grows: s by d, with n fixed and with n = d."""
    print("\n2. The constant s = √Σρ², by 300 library pairs (60 at n = 400), against √(2I) and √min(d, n)")
    print(f"{'d':>5} {'n':>5} {'I':>8} {'s':>7} {'s measured':>11} {'√(2I)':>7} {'√min(d,n)':>9} {'s/I':>6}")
    rows = []
    for d, n in [(d, N) for d in DIMENSIONS] + [(d, d) for d in DIMENSIONS]:
        world = LinearWorld(d, n)
        size = 300 if n < 400 else 60
        measured = float(library_values(world, [SEED, 5, d, n], size).std(ddof=1))
        info, s = world.information, world.spread
        print(
            f"{d:5} {n:5} {info:8.3f} {s:7.3f} {measured:11.3f} {np.sqrt(2 * info):7.3f} "
            f"{np.sqrt(min(d, n)):9.3f} {s / info:6.2f}",
            flush=True,
        )
        rows.append({"d": d, "n": n, "information": info, "spread": s, "measured": measured, "pairs": size})
    return rows


def clipping_study():
    """Bias of truncation and of winsorising, by M in units of I + z·s."""
    world = LinearWorld(20, N)
    info, s = world.information, world.spread
    values = world.draw(np.random.default_rng([SEED, 6]), 1_000_000)
    error = s / np.sqrt(len(values))
    about = f"d = 20, I = {info:.2f}, s = {s:.2f} (a million pairs, s.e. {error:.4f})"
    print(f"\n3. Bias of clipping at ±M, {about}")
    print(f"{'M':>7} {'(M−I)/s':>8} {'beyond':>8} {'truncated':>10} {'winsorised':>11}")
    rows = []
    for z in (-2, -1, 0, 1, 2, 3, 4, 6):
        M = info + z * s
        cut, held = clip(values, truncate=M), clip(values, winsorise=M)
        print(f"{M:7.2f} {z:8} {cut.share:8.4f} {cut.moved[0]:+10.4f} {held.moved[0]:+11.4f}", flush=True)
        rows.append(
            {"M": M, "z": z, "share": cut.share, "truncated": cut.moved[0], "winsorised": held.moved[0]}
        )
    return {"d": 20, "n": N, "information": info, "spread": s, "pairs": len(values), "bias": rows}


def planner_study(delta=0.05, times=2000):
    """Of repetitions with k planned pairs, the fraction within ε of what they estimate, and of I."""
    world = LinearWorld(20, N)
    info, s = world.information, world.spread
    eps = 1.0
    M = info + 3 * s
    rng = np.random.default_rng([SEED, 7])
    pool = world.draw(rng, 1_000_000)
    rules = {"as it is": lambda u: u}
    rules |= {f"{r}d": lambda u, r=r: clip(u, **{r: M}).values for r in ("truncate", "winsorise")}
    plans = [
        ("normal", "as it is", {"spread": s}),
        ("normal", "as it is", {}),
        ("chebyshev", "as it is", {"spread": s}),
        ("hoeffding", "truncated", {"bound": M}),
        ("hoeffding", "winsorised", {"bound": M}),
        ("bernstein", "truncated", {"bound": M}),
        ("bernstein", "winsorised", {"bound": M}),
    ]
    print(
        f"\n4. The planner: ε = {eps:g}, δ = {delta:g}, {times} repetitions; d = 20, I = {info:.2f}, "
        f"s = {s:.2f}, M = I + 3s = {M:.2f}"
    )
    print(f"{'method':>10} {'values':>11} {'k':>6}  within ε of E [95 % chance]  within ε of I")
    rows = []
    for method, rule, known in plans:
        apply = rules[rule]
        target = float(apply(pool).mean())
        if method == "bernstein":
            known = known | {"spread": float(apply(pool).std())}
        report = Progress(f"{method}, {rule}")
        means, sizes = np.empty(times), np.empty(times, dtype=int)
        for i in range(times):
            # without a spread: that of a pilot of fifty, as users have it
            spread = known or {"spread": float(world.draw(rng, 50).std(ddof=1))}
            sizes[i] = pairs_needed(eps, delta, method=method, **spread)
            means[i] = apply(world.draw(rng, sizes[i])).mean()
            report(i + 1, times)
        own, true = (float(np.mean(np.abs(means - centre) <= eps)) for centre in (target, info))
        low, high = stats.binomtest(round(own * times), times).proportion_ci(method="exact")
        k = int(np.median(sizes))
        label = "s of 50" if not known else rule
        print(f"{method:>10} {label:>11} {k:6}  {own:.4f} [{low:.4f}, {high:.4f}]     {true:.4f}", flush=True)
        rows.append(
            {"method": method, "values": label, "k": k, "within": own, "interval": [float(low), float(high)]}
        )
        rows[-1] |= {"within_of_information": true, "expectation": target, **known}
    return {"epsilon": eps, "delta": delta, "M": M, "repetitions": times, "plans": rows}


def logistic_study(jobs):
    """The same rate where posteriors are approximate: about the mean of many other pairs."""
    print("\n5. Logistic by Laplace, n = 15: RMSE of the mean of k pairs about the mean of 15,000 others")
    print(
        f"{'d':>5} {'mean':>7} {'s':>6} " + " ".join(f"{f'k={k}':>8}" for k in LOGISTIC) + "    slope ± s.e."
    )
    rows = []
    for d in (3, 10):
        world = LogisticWorld(d, 15)
        truth = many_values(world, 8, 15_000, jobs)
        values = many_values(world, 9, sum(k * r for k, r in LOGISTIC.items()), jobs)
        rmse = rmse_by_k(values, LOGISTIC, truth.mean())
        slope, error = slope_of(rmse, LOGISTIC)
        mean, s = float(truth.mean()), float(truth.std(ddof=1))
        numbers = " ".join(f"{r:8.4f}" for r in rmse.values())
        print(f"{d:5} {mean:7.3f} {s:6.3f} {numbers}   {slope:.3f} ± {error:.3f}", flush=True)
        rows.append({"d": d, "n": 15, "mean": mean, "spread": s, "rmse": rmse, "repetitions": LOGISTIC})
        rows[-1] |= {"slope": slope, "slope_stderr": error}
    return rows


def draw_figure(found, path):
    """RMSE by k, log–log, one line a dimension; in grey s/√k."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.0, 4.2), layout="constrained")
    axes = figure.subplots()
    marks = zip(("#0072B2", "#D55E00", "#009E73", "#CC79A7"), "os^D", strict=True)
    for row, (colour, mark) in zip(found["linear"], marks, strict=True):
        rmse = row["library"]["rmse"]
        k = np.array(list(rmse))
        label = f"d = {row['d']}: I = {row['information']:.1f}, slope {row['library']['slope']:.2f}"
        axes.plot(k, row["spread"] / np.sqrt(k), color="#BBBBBB", linewidth=1, zorder=1)
        axes.plot(k, list(rmse.values()), mark, color=colour, label=label, zorder=2)
    for row, mark in zip(found["logistic"], "xP", strict=True):
        k = np.array(list(row["rmse"]))
        label = f"Logistic, d = {row['d']}, slope {row['slope']:.2f}"
        axes.plot(k, row["spread"] / np.sqrt(k), color="#BBBBBB", linewidth=1, zorder=1)
        axes.plot(k, list(row["rmse"].values()), mark, color="#000000", markersize=5, label=label, zorder=2)
    axes.set(xscale="log", yscale="log", xlabel="pairs, k", ylabel="RMSE of the mean PMI, nats")
    axes.set_title("The error falls as 1/√k in every dimension (grey: s/√k)", loc="left", fontsize=11)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, fontsize=9)
    figure.savefig(path, dpi=150, metadata={"Date": None} if path.suffix == ".svg" else None)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--plot", type=Path)
    args = parser.parse_args()
    begun = time.monotonic()
    found = {
        "linear": linear_study(args.jobs),
        "spread": spread_study(),
        "clipping": clipping_study(),
        "planner": planner_study(),
        "logistic": logistic_study(args.jobs),
    }
    print(f"{time.monotonic() - begun:.0f} s", flush=True)
    if args.plot:
        draw_figure(found, args.plot)
    if args.out:
        about = {"dataworth": dw.__version__, "numpy": np.__version__, "scipy": scipy.__version__}
        about |= {"python": platform.python_version(), "seed": SEED}
        args.out.parent.mkdir(parents=True, exist_ok=True)
        args.out.write_text(json.dumps({"about": about, **found}, indent=1) + "\n")


if __name__ == "__main__":
    main()
