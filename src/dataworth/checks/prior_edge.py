"""DW008: did the yardstick's search end at the edge of what it tries?

Prior variances C′ from 0.001 to 3,160 (of coefficients when rows count once), and noise variances from 0.03
of the labels'. Where the chosen value is the last one tried, a few beyond it are tried; it fires if the best
of them is better by more than 1.92 held-out nats, so that the chosen one is not plausible beside it.

Noise as large as the labels' own variance is no edge: nothing lies beyond.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ..measure import Case
from ..models import Linear
from ..yardstick.candidates import NOISES
from ..yardstick.kinds import YardstickModel
from ..yardstick.search import PRIORS, ROWS
from .base import Check, Seen, not_run
from .prior_range import HALF_DECADE, PLAUSIBLE, Halves, fit_work, fits_of

STEPS = 4
"""Half-decades beyond an edge that are tried: far enough to see what a slow rise comes to."""
AFFORDABLE = 3e9
"""Multiplications that may be spent on it without being asked, at 20 Newton steps a fit: half a second."""
NEWTON = 20
Candidate = tuple[str, YardstickModel]


def look(case: Case) -> Seen:
    """Candidates beyond every edge that the chosen yardstick stands at."""
    yard = case.yardstick
    if yard.chosen.held_out_stderr is None:
        return not_run("the yardstick was made by hand, not searched for")
    edges = edges_of(case)
    if not edges:
        return Seen(False, 0.0, "neither prior nor noise is the last one tried")
    rows = min(len(case.test), ROWS)
    spent = fits_of(case) * NEWTON * (1 + STEPS * len(edges)) * fit_work(case, rows, yard.chosen.size)
    if spent > AFFORDABLE and not case.options.thorough:
        where = " and ".join(edges)
        return not_run(f"at the edge ({where}), but trying beyond is costly: --thorough (thorough=True) does")
    parts = Halves.of(case)
    X = yard.features(parts.sample)
    here = parts.held_out(yard.model, X)
    found = [(parts.held_out(model, X) - here, what) for what, model in beyond(case, edges)]
    gain, what = max(found, default=(0.0, ""))
    if not gain > PLAUSIBLE:
        detail = f"{', '.join(edges)} at the edge; the best beyond it gains {gain:.2g} nats"
        detail += f", allowed up to {PLAUSIBLE}"
        return Seen(False, gain, detail)
    told = f"{what} is better by {gain:.1f} nats, held out on halves of the test set"
    return Seen(True, gain, f"{told}, allowed up to {PLAUSIBLE}")


def searched_prior(case: Case) -> float:
    """C′ of the search's grid: w·C, or C/s²."""
    chosen = case.yardstick.chosen
    return chosen.prior_variance * chosen.tempering / (chosen.noise_variance or 1.0)


def edges_of(case: Case) -> list[str]:
    """What of the chosen yardstick is the last value tried."""
    prior, edges = searched_prior(case), []
    at_edge = any(abs(prior / edge - 1.0) < 1e-9 for edge in (PRIORS[0], PRIORS[-1]))
    if case.options.prior_variance is None and at_edge:
        edges.append("prior")
    if case.yardstick.chosen.noise_variance == NOISES[0]:
        edges.append("noise")
    return edges


def beyond(case: Case, edges: list[str]) -> Iterator[Candidate]:
    """Names and models of what stands beyond the edges."""
    model = case.yardstick.model
    if "prior" in edges:
        way = HALF_DECADE if searched_prior(case) > 1 else 1 / HALF_DECADE
        for step in range(1, STEPS + 1):
            variance = model.prior_variance * way**step
            yield f"prior variance {variance:.3g}", replace(model, prior_variance=variance)
    if "noise" in edges and isinstance(model, Linear):
        for step in range(1, STEPS + 1):
            noise = NOISES[0] / HALF_DECADE**step
            yield f"noise variance {noise:.2g}", replace(model, noise_variance=noise)


CHECK = Check(
    "DW008",
    "prior-edge",
    "the yardstick's search ended at the edge of what it tries: a better one lies beyond",
    "give prior_variance= (--prior-variance), or scale the features and labels",
    look,
    needs="test",
    prior=True,
)
