"""DW008: did the yardstick's search end at the edge of what it tries?

Prior variances from 1e-4 to 1000, noise variances from 0.03 of the labels', as many principal axes as a sixth
of the test rows. Where the chosen value is the last one tried, a few beyond it are tried here; it fires if
the best of them is better by more than 1.92 held-out nats, so that the chosen one is not plausible beside it.

Noise as large as the labels' own variance is no edge: nothing lies beyond. Fewer axes than one neither.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from threadpoolctl import threadpool_limits

from ..arrays import Array
from ..measure.case import Case
from ..models import Linear, Model
from ..yardstick.recipe import Basis
from ..yardstick.search import NOISES, PRIORS, ROWS, SIZES
from .base import Check, Seen, not_run
from .plausible import HALF_DECADE, PLAUSIBLE, Halves, fit_work, fits_of

STEPS = 4
"""Half-decades beyond an edge that are tried: far enough to see what a slow rise comes to."""
AFFORDABLE = 3e9
"""Multiplications that may be spent on it without being asked, at 20 Newton steps a fit: half a second."""
NEWTON = 20
Candidate = tuple[str, Model, Array]


def look(case: Case) -> Seen:
    """Candidates beyond every edge that the chosen yardstick stands at."""
    yard = case.yardstick
    if yard.chosen.probe is None:
        return not_run("the yardstick was made by hand, not searched for")
    edges = edges_of(case)
    if not edges:
        return Seen(False, 0.0, "neither prior, noise nor number of axes is the last one tried")
    rows = min(len(case.test), ROWS)
    features = yard.chosen.size * (2 if "size" in edges else 1)
    spent = fits_of(case) * NEWTON * (2 + STEPS * len(edges)) * fit_work(case, rows, features)
    if spent > AFFORDABLE and not case.options.thorough:
        where = " and ".join(edges)
        return not_run(f"at the edge ({where}), but trying beyond is costly: --thorough (thorough=True) does")
    parts = Halves.of(case)
    here = parts.held_out(yard.model, yard.features(parts.sample))
    found = [(parts.held_out(model, X) - here, what) for what, model, X in beyond(case, parts, edges)]
    gain, what = max(found, default=(0.0, ""))
    if not gain > PLAUSIBLE:
        detail = f"{', '.join(edges)} at the edge; the best beyond it gains {gain:.2g} nats"
        return Seen(False, gain, detail)
    return Seen(True, gain, f"{what} is better by {gain:.1f} nats, held out on halves of the test set")


def edges_of(case: Case) -> list[str]:
    """What of the chosen yardstick is the last value tried."""
    chosen = case.yardstick.chosen
    edges = []
    if case.options.prior_variance is None and chosen.prior_variance in (PRIORS[0], PRIORS[-1]):
        edges.append("prior")
    if chosen.noise_variance == NOISES[0]:
        edges.append("noise")
    most = max(1, min(case.yardstick.rows, ROWS) // 6)
    if chosen.size == max(k for k in SIZES if k <= most):
        edges.append("size")
    return edges


def beyond(case: Case, parts: Halves, edges: list[str]) -> Iterator[Candidate]:
    """Names, models and features of what stands beyond the edges."""
    yard = case.yardstick
    model, chosen = yard.model, yard.chosen
    X = yard.features(parts.sample)
    if "prior" in edges:
        way = HALF_DECADE if chosen.prior_variance == PRIORS[-1] else 1 / HALF_DECADE
        for step in range(1, STEPS + 1):
            variance = chosen.prior_variance * way**step
            yield f"prior variance {variance:.3g}", replace(model, prior_variance=variance), X
    if "noise" in edges and isinstance(model, Linear):
        for step in range(1, STEPS + 1):
            noise = NOISES[0] / HALF_DECADE**step
            yield f"noise variance {noise:.2g}", replace(model, noise_variance=noise), X
    if "size" in edges:
        with threadpool_limits(1), np.errstate(all="ignore"):
            basis = Basis.learn(parts.sample.select(yard.recipe.columns))
        size = min(2 * chosen.size, basis.rank)
        if size > chosen.size:
            wider = basis.recipe(size, chosen.exponent).features(parts.sample)
            for variance in (chosen.prior_variance, chosen.prior_variance / HALF_DECADE):
                yield f"{size} principal axes", replace(model, prior_variance=variance), wider


CHECK = Check(
    "DW008",
    "prior-edge",
    "the yardstick's search ended at the edge of what it tries: a better one lies beyond",
    "give --prior-variance, scale the features, or bring more test rows (they allow more axes)",
    look,
    needs="test",
    prior=True,
)
