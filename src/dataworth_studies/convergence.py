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
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

import dataworth as dw
from dataworth.arrays import Array
from dataworth.evidence.pair import fit_joint
from dataworth.measure.clipping import clip
from dataworth.parallel import Engine
from dataworth.parallel.runs import map_resumable
from dataworth.parallel.threads import one_thread

from .cells import Record
from .tables import field, table

SEED = 0
N = 20
DIMENSIONS = (5, 20, 100, 400)
REPETITIONS = {10: 300, 30: 150, 100: 60, 300: 30, 1000: 12, 3000: 6}
MANY = 500
LOGISTIC = {10: 300, 30: 150, 100: 60, 300: 30, 1000: 10}
LOGISTIC_TRUTH = 15_000
CHUNK = 500
DRAWN = 1_000_000
EPSILON, DELTA, PLANNED = 1.0, 0.05, 2000
Progress = Callable[[int, int], None] | None


class LinearWorld:
    """A fixed design whose information is known, and pairs from it."""

    def __init__(self, d: int, n: int) -> None:
        self.d, self.n = d, n
        self.X = np.random.default_rng([SEED, 1, d, n]).normal(size=(2 * n, d))
        self.fitter = dw.Linear(1.0, 1.0, intercept=False).bind(self.X, np.zeros(2 * n))
        covariance = np.eye(2 * n) + self.X @ self.X.T
        parts = covariance[:n, :n], covariance[n:, n:]
        one, other = map(np.linalg.cholesky, parts)
        whitened = np.linalg.solve(one, np.linalg.solve(other, covariance[:n, n:].T).T)
        self.rho2 = np.linalg.svd(whitened, compute_uv=False) ** 2
        # by determinants, which know nothing of correlations: the two must agree
        log_det = [np.linalg.slogdet(part)[1] for part in (*parts, covariance)]
        self.information = float(0.5 * (log_det[0] + log_det[1] - log_det[2]))
        assert abs(self.information + 0.5 * np.log1p(-self.rho2).sum()) < 1e-8
        self.spread = float(np.sqrt(self.rho2.sum()))

    def labels(self, rng: np.random.Generator) -> Array:
        """Labels of D and T, with one θ."""
        return self.X @ rng.normal(size=self.d) + rng.normal(size=2 * self.n)

    def draw(self, rng: np.random.Generator, size: int) -> Array:
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

    def __init__(self, d: int, n: int) -> None:
        self.d, self.n = d, n
        self.X = np.random.default_rng([SEED, 2, d, n]).normal(size=(2 * n, d))
        self.fitter = dw.Logistic(1.0, intercept=False).bind(self.X, np.zeros(2 * n))

    def labels(self, rng: np.random.Generator) -> Array:
        """Labels of D and T, with one θ."""
        return (rng.random(2 * self.n) < 1 / (1 + np.exp(-self.X @ rng.normal(size=self.d)))).astype(float)


World = LinearWorld | LogisticWorld


def library_values(world: World, chunk: tuple[list[int], int]) -> list[float]:
    """U of pairs from a seed, each by the library's own fits of D, T and both."""
    (seed, size), n = chunk, world.n
    rng, fitter = np.random.default_rng(seed), world.fitter
    D, T = np.arange(n), np.arange(n, 2 * n)
    values = []
    with one_thread():
        for _ in range(size):
            y = world.labels(rng)
            data, test = fitter(D, targets=y[:n]), fitter(T, targets=y[n:])
            joint = fit_joint(fitter, D, T, data, test, targets=y)
            values.append(float(joint.log_z - data.log_z - test.log_z))
    return values


def many_values(world: World, tag: int, size: int, engine: Engine, progress: Progress) -> Array:
    """Library values in chunks, each with a seed of its own: the same for any number of processes."""
    sizes = [min(CHUNK, size - start) for start in range(0, size, CHUNK)]
    chunks = [([SEED, 3, tag, world.d, i], n) for i, n in enumerate(sizes)]
    parts = map_resumable(engine, library_values, chunks, shared=world, run=None, on_chunk=progress)
    return np.concatenate(parts)


def rmse_by_k(values: Array, repetitions: Mapping[int, int], truth: float) -> dict[int, float]:
    """RMSE of the k-pair mean; every k and repetition has pairs of its own."""
    found, start = {}, 0
    for k, times in repetitions.items():
        means = values[start : start + k * times].reshape(times, k).mean(axis=1)
        found[k] = float(np.sqrt(np.mean((means - truth) ** 2)))
        start += k * times
    return found


def slope_of(rmse: Mapping[int, float], repetitions: Mapping[int, int]) -> tuple[float, float]:
    """Weighted least squares of log RMSE on log k; the s.e. of log RMSE over R repetitions is 1/√(2R).

    >>> slope, error = slope_of({10: 1.0, 1000: 0.1}, {10: 50, 1000: 50})
    >>> round(slope, 9), round(error, 4)
    (-0.5, 0.0307)
    """
    k = np.log(list(rmse))
    weights = 2.0 * np.array([repetitions[n] for n in rmse])
    centred = k - np.average(k, weights=weights)
    slope = (weights * centred) @ np.log(list(rmse.values())) / (weights @ centred**2)
    return float(slope), float(1 / np.sqrt(weights @ centred**2))


def _rate(values: Array, repetitions: Mapping[int, int], truth: float) -> Record:
    rmse = rmse_by_k(values, repetitions, truth)
    slope, error = slope_of(rmse, repetitions)
    return {"rmse": rmse, "slope": slope, "slope_stderr": error, "repetitions": dict(repetitions)}


def _pairs(repetitions: Mapping[int, int]) -> int:
    return sum(k * times for k, times in repetitions.items())


def linear_study(engine: Engine, progress: Progress = None) -> list[Record]:
    """RMSE and slope by d: by the library's fits, and by many repetitions of canonical draws."""
    from scipy import stats

    rows = []
    for d in DIMENSIONS:
        world = LinearWorld(d, N)
        values = many_values(world, 1, _pairs(REPETITIONS), engine, progress)
        many = dict.fromkeys(REPETITIONS, MANY)
        drawn = world.draw(np.random.default_rng([SEED, 4, d]), _pairs(many))
        rows.append(
            {
                "d": d,
                "n": N,
                "information": world.information,
                "spread": world.spread,
                "library_pairs": len(values),
                "library_mean": float(values.mean()),
                "library_spread": float(values.std(ddof=1)),
                "mean_z": float((values.mean() - world.information) / (world.spread / np.sqrt(len(values)))),
                "same_law_p": float(stats.ks_2samp(values, drawn).pvalue),
                "library": _rate(values, REPETITIONS, world.information),
                "drawn": _rate(drawn, many, world.information),
            }
        )
    return rows


def spread_study(engine: Engine, progress: Progress = None) -> list[Record]:
    """How the constant grows: s by d, with n fixed and with n = d."""
    rows = []
    for d, n in [(d, N) for d in DIMENSIONS] + [(d, d) for d in DIMENSIONS]:
        world = LinearWorld(d, n)
        size = 300 if n < 400 else 60
        measured = float(np.std(library_values(world, ([SEED, 5, d, n], size)), ddof=1))
        about = {"d": d, "n": n, "information": world.information, "spread": world.spread}
        rows.append({**about, "measured": measured, "pairs": size})
    return rows


def clipping_study(engine: Engine, progress: Progress = None) -> Record:
    """Bias of truncation and of winsorising, by M in units of I + z·s."""
    world = LinearWorld(20, N)
    info, s = world.information, world.spread
    values = world.draw(np.random.default_rng([SEED, 6]), DRAWN)
    rows = []
    for z in (-2, -1, 0, 1, 2, 3, 4, 6):
        M = info + z * s
        cut, held = clip(values, truncate=M), clip(values, winsorise=M)
        rows.append(
            {"M": M, "z": z, "share": cut.share, "truncated": cut.moved[0], "winsorised": held.moved[0]}
        )
    return {"d": 20, "n": N, "information": info, "spread": s, "pairs": len(values), "bias": rows}


def planner_study(engine: Engine, progress: Progress = None) -> Record:
    """Of repetitions with k planned pairs, the fraction within ε of what they estimate, and of I."""
    from scipy import stats

    world = LinearWorld(20, N)
    info, s = world.information, world.spread
    M = info + 3 * s
    rng = np.random.default_rng([SEED, 7])
    pool = world.draw(rng, DRAWN)
    rules: dict[str, Callable[[Array], Array]] = {
        "as it is": lambda u: u,
        "truncated": lambda u: clip(u, truncate=M).values,
        "winsorised": lambda u: clip(u, winsorise=M).values,
    }
    plans: list[tuple[str, str, dict[str, float]]] = [
        ("normal", "as it is", {"spread": s}),
        ("normal", "as it is", {}),
        ("chebyshev", "as it is", {"spread": s}),
        ("hoeffding", "truncated", {"bound": M}),
        ("hoeffding", "winsorised", {"bound": M}),
        ("bernstein", "truncated", {"bound": M}),
        ("bernstein", "winsorised", {"bound": M}),
    ]
    rows = []
    for done, (method, rule, known) in enumerate(plans):
        apply = rules[rule]
        target = float(apply(pool).mean())
        if method == "bernstein":
            known = known | {"spread": float(apply(pool).std())}
        means, sizes = np.empty(PLANNED), np.empty(PLANNED, dtype=int)
        for i in range(PLANNED):
            # without a spread: that of a pilot of fifty, as users have it
            spread = known or {"spread": float(world.draw(rng, 50).std(ddof=1))}
            sizes[i] = dw.pairs_needed(EPSILON, DELTA, method=method, **spread)
            means[i] = apply(world.draw(rng, sizes[i])).mean()
            if progress is not None:
                progress(done * PLANNED + i + 1, len(plans) * PLANNED)
        own, true = (float(np.mean(np.abs(means - centre) <= EPSILON)) for centre in (target, info))
        low, high = stats.binomtest(round(own * PLANNED), PLANNED).proportion_ci(method="exact")
        about = {"method": method, "values": rule if known else "s of 50", "k": int(np.median(sizes))}
        about |= {"within": own, "interval": [float(low), float(high)], "within_of_information": true}
        rows.append({**about, "expectation": target, **known})
    return {"epsilon": EPSILON, "delta": DELTA, "M": M, "repetitions": PLANNED, "plans": rows}


def logistic_study(engine: Engine, progress: Progress = None) -> list[Record]:
    """The same rate where posteriors are approximate: about the mean of many other pairs."""
    rows = []
    for d in (3, 10):
        world = LogisticWorld(d, 15)
        truth = many_values(world, 8, LOGISTIC_TRUTH, engine, progress)
        values = many_values(world, 9, _pairs(LOGISTIC), engine, progress)
        mean, s = float(truth.mean()), float(truth.std(ddof=1))
        rows.append({"d": d, "n": 15, "mean": mean, "spread": s, **_rate(values, LOGISTIC, mean)})
    return rows


def _rmse_columns(repetitions: Mapping[int, int]) -> list[Any]:
    def of(k: int) -> Callable[[Record], str]:
        return lambda row: f"{row['rmse'][k]:.4f}"

    slope = ("slope", lambda row: f"{row['slope']:.3f} ± {row['slope_stderr']:.3f}")
    return [*((f"k = {k}", of(k)) for k in repetitions), slope]


def _linear_table(found: list[Record]) -> str:
    rows = [{**row, **row[how], "how": how} for row in found for how in ("library", "drawn")]
    errors = table(
        rows,
        ("d", field("d")),
        ("I", field("information", ".3f")),
        ("s", field("spread", ".3f")),
        ("pairs are", lambda row: {"library": "fitted", "drawn": "drawn"}[row["how"]]),
        *_rmse_columns(REPETITIONS),
    )
    fits = table(
        found,
        ("d", field("d")),
        ("pairs fitted", field("library_pairs")),
        ("mean − I", lambda row: f"{row['library_mean'] - row['information']:+.4f}"),
        ("in s.e.", field("mean_z", "+.1f")),
        ("s.d.", field("library_spread", ".3f")),
        ("same law as drawn, p", field("same_law_p", ".2f")),
    )
    title = f"1. Linear, n = {N} rows in D and in T: RMSE of the mean of k pairs about the exact I(D;T)"
    return "\n\n".join([title, errors, fits])


def _spread_table(found: list[Record]) -> str:
    title = "2. The constant s = √Σρ², against √(2I) and √min(d, n)"
    return f"{title}\n\n" + table(
        found,
        *((name, field(name)) for name in ("d", "n")),
        ("I", field("information", ".3f")),
        ("s", field("spread", ".3f")),
        ("s measured", field("measured", ".3f")),
        ("pairs", field("pairs")),
        ("√(2I)", lambda row: f"{np.sqrt(2 * row['information']):.3f}"),
        ("√min(d, n)", lambda row: f"{np.sqrt(min(row['d'], row['n'])):.3f}"),
        ("s/I", lambda row: f"{row['spread'] / row['information']:.2f}"),
    )


def _clipping_table(found: Record) -> str:
    title = f"3. Bias of clipping at ±M, d = 20, I = {found['information']:.2f}, s = {found['spread']:.2f}"
    return f"{title}, {found['pairs']} pairs\n\n" + table(
        found["bias"],
        ("M", field("M", ".2f")),
        ("(M − I)/s", field("z")),
        ("beyond", field("share", ".4f")),
        ("truncated", field("truncated", "+.4f")),
        ("winsorised", field("winsorised", "+.4f")),
    )


def _planner_table(found: Record) -> str:
    about = f"ε = {found['epsilon']:g}, δ = {found['delta']:g}, M = I + 3s = {found['M']:.2f}"
    return f"4. The planner: {about}, {found['repetitions']} repetitions\n\n" + table(
        found["plans"],
        *((name, field(name)) for name in ("method", "values", "k")),
        ("within ε of E", field("within", ".4f")),
        ("95 %", lambda row: f"[{row['interval'][0]:.4f}, {row['interval'][1]:.4f}]"),
        ("within ε of I", field("within_of_information", ".4f")),
    )


def _logistic_table(found: list[Record]) -> str:
    title = f"5. Logistic by Laplace, n = 15: RMSE of the mean of k pairs about that of {LOGISTIC_TRUTH:,}"
    return f"{title} others\n\n" + table(
        found,
        ("d", field("d")),
        ("mean", field("mean", ".3f")),
        ("s", field("spread", ".3f")),
        *_rmse_columns(LOGISTIC),
    )


STUDIES: dict[str, tuple[Callable[[Engine, Progress], Any], Callable[[Any], str]]] = {
    "linear": (linear_study, _linear_table),
    "spread": (spread_study, _spread_table),
    "clipping": (clipping_study, _clipping_table),
    "planner": (planner_study, _planner_table),
    "logistic": (logistic_study, _logistic_table),
}
"""Each study: how it is run, and how what it found is shown."""


def convergence_figure(found: Mapping[str, Any]) -> Any:
    """RMSE by k, log–log, one line a dimension; in grey s/√k."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.0, 4.2), layout="constrained")
    axes = figure.subplots()

    def show(row: Record, rmse: Mapping[int, float], mark: str, colour: str, label: str) -> None:
        k = np.array(list(rmse))
        axes.plot(k, row["spread"] / np.sqrt(k), color="#BBBBBB", linewidth=1, zorder=1)
        axes.plot(k, list(rmse.values()), mark, color=colour, label=label, zorder=2)

    for row, colour, mark in zip(
        found["linear"], ("#0072B2", "#D55E00", "#009E73", "#CC79A7"), "os^D", strict=False
    ):
        label = f"d = {row['d']}: I = {row['information']:.1f}, slope {row['library']['slope']:.2f}"
        show(row, row["library"]["rmse"], mark, colour, label)
    for row, mark in zip(found["logistic"], "xP", strict=True):
        label = f"Logistic, d = {row['d']}, slope {row['slope']:.2f}"
        show(row, row["rmse"], mark, "#000000", label)
    axes.set(xscale="log", yscale="log", xlabel="pairs, k", ylabel="RMSE of the mean PMI, nats")
    axes.set_title("The error falls as 1/√k in every dimension (grey: s/√k)", loc="left", fontsize=11)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, fontsize=9)
    return figure
