"""How fast the mean PMI settles: its root mean squared error about its own large-k mean, against k.

The rate is k^(−½) whatever the dimension of the data, because the error of a mean over independent pairs
knows nothing of it: the claim to which estimators that learn a density have no counterpart.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from dataworth import Logistic
from dataworth.arrays import Array
from dataworth.parallel import Engine
from dataworth.parallel.runs import map_resumable

from .cells import Record, at_least
from .estimators.pmi import MeanPMI
from .known_mi import Randomness, check_pool, make_pairs
from .pools import ImagePool
from .tables import field, table

BITS = 0.5
COUNTS = (10, 20, 50, 100, 200, 500, 1000)
CHUNK = 500


def error_curve(
    pool: ImagePool,
    size: int,
    prior_variance: float,
    pairs: int,
    seed: int,
    engine: Engine,
    progress: Callable[[int, int], None] | None = None,
) -> Record:
    """RMSE over disjoint batches of k pairs, for several k, and the slope of its logarithm."""
    check_pool(pool.y, size)
    at_least(10 * COUNTS[2], pairs=pairs)
    at_least(0, seed=seed)
    shared = (pool.X, pool.y, MeanPMI(Logistic(prior_variance, intercept=False)), size, seed)
    chunks = [min(CHUNK, pairs - start) for start in range(0, pairs, CHUNK)]
    values = np.concatenate(
        map_resumable(engine, _values, list(enumerate(chunks)), shared=shared, run=None, on_chunk=progress)
    )
    errors = rmse_by_count(values, COUNTS)
    slope, stderr = log_slope(errors, len(values))
    return {
        "pool": pool.name,
        "features": pool.X.shape[1],
        "size": size,
        "prior_variance": prior_variance,
        "bits": BITS,
        "pairs": len(values),
        "seed": seed,
        "mean": float(values.mean()),
        "rmse": {str(k): e for k, e in errors.items()},
        "slope": slope,
        "slope_stderr": stderr,
    }


def _values(shared: tuple[Array, Array, MeanPMI, int, int], chunk: tuple[int, int]) -> list[float]:
    X, y, estimator, size, seed = shared
    which, pairs = chunk
    # other pairs for another number of features: slopes that share them would share their noise
    rng = np.random.default_rng([seed, 0xE44, X.shape[1], which])
    chance = Randomness.draw(rng, pairs, size)
    return [float(v) for v in estimator.values(make_pairs(X, y, BITS, chance))]


def rmse_by_count(values: Array, counts: Sequence[int]) -> dict[int, float]:
    """Root mean squared error of means of k values, for counts with ten disjoint batches or more.

    Batch means lie nearer to the mean of all n, which holds them, than to the truth: by a factor 1 − k/n of
    the mean square, which is divided out.

    >>> found = rmse_by_count(np.random.default_rng(0).normal(size=100_000), (10, 1000))
    >>> {k: round(e * k**0.5, 1) for k, e in found.items()}
    {10: 1.0, 1000: 1.0}
    """
    found = {}
    for k in counts:
        batches = len(values) // k
        if batches >= 10:
            means = values[: batches * k].reshape(batches, k).mean(axis=1)
            found[k] = float(np.sqrt(np.mean((means - values.mean()) ** 2) / (1.0 - k / len(values))))
    return found


def log_slope(errors: Mapping[int, float], values: int) -> tuple[float, float]:
    """Slope of log error against log k by generalised least squares, and its standard error.

    Small batches make up the large ones: for n normal values Cov(log e_k, log e_l) = min(k, l) / (2n).

    >>> slope, _ = log_slope({10: 0.5, 40: 0.25, 160: 0.125}, 10_000)
    >>> round(slope, 6)
    -0.5
    """
    k = np.array(list(errors), dtype=float)
    design = np.column_stack([np.ones(len(k)), np.log(k)])
    weighted = np.linalg.solve(np.minimum.outer(k, k) / (2.0 * values), design)
    covariance = np.linalg.inv(design.T @ weighted)
    slope = (covariance @ weighted.T @ np.log(list(errors.values())))[1]
    return float(slope), float(np.sqrt(covariance[1, 1]))


def error_figure(found: Sequence[Record]) -> Any:
    """Error against k, both logarithmic, with the line of slope −½ through the first point."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(4.6, 3.4), layout="constrained")
    ax = figure.subplots()
    for f in found:
        counts, errors = np.array([int(k) for k in f["rmse"]]), np.array(list(f["rmse"].values()))
        ax.loglog(counts, errors, marker="o", label=f"{f['features']} features: slope {f['slope']:.2f}")
        ax.loglog(counts, errors[0] * (counts / counts[0]) ** -0.5, color="black", lw=0.6, ls=":")
    ax.set_xlabel("pairs, k")
    ax.set_ylabel("error of the mean PMI, nats")
    ax.legend(frameon=False)
    return figure


def to_markdown(found: Sequence[Record]) -> str:
    """One line a number of features."""

    def rmse(k: str) -> Callable[[Record], str]:
        return lambda f: f"{f['rmse'][k]:.3f}"

    return table(
        found,
        *((name, field(name)) for name in ("pool", "features", "pairs")),
        *((f"k = {k}", rmse(k)) for k in found[0]["rmse"]),
        ("slope", lambda f: f"{f['slope']:.3f} ± {f['slope_stderr']:.3f}"),
    )
