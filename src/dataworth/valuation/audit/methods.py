"""Curation methods as callables, f(D) or f(D, T), either with a keyword rng; applied once, or to each draw.

A callable runs here, before any model does.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from ...arrays import Rows
from ...data.changes import compare
from ...data.dataset import Dataset
from ...data.leaks import MOST_LEAKED, look_for_leaks
from ...errors import DataworthError
from ...measure import (
    ONE_GROUP,
    Draw,
    Measurement,
    Plan,
    Pool,
    Prepared,
    Sample,
    group_codes,
    pair_sizes,
    pile,
    select,
)
from ...wording import option
from .arms import Arms, Curated

METHOD_PAIRS = 100
Curation = Callable[..., Dataset]


def _parameters(curate: Curation) -> tuple[list[str], bool]:
    """Positional parameters of a callable that must be given, and whether it takes a keyword rng."""
    try:
        parameters = inspect.signature(curate).parameters.values()
    except (TypeError, ValueError):
        return ["D"], False
    positional = [
        p.name
        for p in parameters
        if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) and p.default is p.empty and p.name != "rng"
    ]
    return positional, any(p.name == "rng" for p in parameters)


def wants_test(curate: Curation) -> bool:
    """Whether the callable takes the test set too; one with other than one or two arguments is refused."""
    positional, _ = _parameters(curate)
    if not callable(curate) or not 1 <= len(positional) <= 2:
        raise DataworthError("curate must be a callable f(D) or f(D, T), either with a keyword rng.")
    return len(positional) == 2


def apply(curate: Curation, data: Dataset, seen: Dataset, rng: np.random.Generator) -> Dataset:
    """Apply the callable; whatever it returns must be a Dataset with rows."""
    _, takes_rng = _parameters(curate)
    arguments = (data, seen) if wants_test(curate) else (data,)
    made = curate(*arguments, rng=rng) if takes_rng else curate(*arguments)
    if not isinstance(made, Dataset):
        raise DataworthError(f"curate returned a {type(made).__name__}; it must return a Dataset.")
    if len(made) == 0:
        raise DataworthError("curate returned a Dataset without rows; there is nothing to measure.")
    return made


def curated_whole(before: Dataset, test: Dataset, curate: Curation, seed: int) -> tuple[Dataset, Dataset]:
    """What a callable makes of all rows, and the test rows that it did not see."""
    rng = np.random.default_rng([seed, 0xC0DE])
    looks, n = wants_test(curate), len(test)
    seen, scored = halved(np.arange(n), group_codes(test.groups) if looks else None, n - n // 2, rng)
    after = apply(curate, before, test.take(np.sort(seen) if looks else []), rng)
    return after, test.take(np.sort(scored)) if looks else test


SENSES = {
    True: "which is strategic in the paper's sense, θ → D → f(D)",
    False: "which is not strategic in the paper's sense",
    None: "which may be strategic in the paper's sense or not",
}
"""What the attribute `strategic` of a curation says."""


def default_first(curate: Curation, designs: tuple[str, ...]) -> tuple[str, ...]:
    """Designs with the callable's own default at the front."""
    return tuple(sorted(designs, key=lambda design: design != getattr(curate, "design", None)))


def described(curate: Any, data: Dataset) -> tuple[dict[str, Any], tuple[str, ...]]:
    """What a callable says of itself, as plain data: at least a name; and a note on its place in the paper's
    sense, if it knows it."""
    if not hasattr(curate, "why"):
        return {"name": getattr(curate, "__name__", type(curate).__name__)}, ()
    strategic, why = curate.said(data) if hasattr(curate, "said") else (curate.strategic, curate.why)
    about = {"name": curate.name, "options": curate.options(), "strategic": strategic, "why": why}
    return about, (f"the curation is {curate}, {SENSES[strategic]}: {why}",)


def apply_to_draws(
    prepared: Measurement, before: Dataset, curate: Curation
) -> tuple[Pool, Plan, list[Curated]]:
    """A method's draws: their rows in one pool, their plan, and what became of each.

    Rows that the method made stand below the others in the pool.
    """
    opts, yardstick, test = prepared.options, prepared.yardstick, prepared.test
    looks = wants_test(curate)
    # a method that looks at T gets one half of Tᵢ and is scored on the other: twice the rows are drawn
    times = 2 if looks else 1
    pairs = METHOD_PAIRS if opts.pairs is None else opts.pairs
    sizes = pair_sizes(len(before), len(test) // times, pairs, opts.size)
    start, fresh = len(before) + len(test), []
    own = pile(prepared, before, Sample(np.arange(len(before)), before.weights))
    held = pile(prepared, test, Sample(np.arange(len(before), start), test.weights))
    if looks:
        # what it may match in both are attributes: a small draw without one of them could not be matched
        own = own._replace(strata=by_attribute(own.strata, before))
        held = held._replace(strata=by_attribute(held.strata, test))
    blocks = min(own.blocks(sizes.data), held.blocks(sizes.test * times, times), sizes.blocks)
    draws: list[Draw] = []
    curated: list[Curated] = []
    copied = 0
    for i in range(sizes.pairs):
        rng = np.random.default_rng([opts.seed, 0xF00D, i])
        drawn = own.some(sizes.data, rng)
        shown = held.some(sizes.test * times, rng, times)
        seen, scored = halved(shown, held.groups, sizes.test, rng) if looks else (shown[:0], shown)
        part = before.take(drawn)
        try:
            made = apply(curate, part, test.take(seen), rng).select(yardstick.recipe.columns)
        except DataworthError as error:
            # what the whole data have, a draw of a few of their rows may lack; else this raises by itself
            curated_whole(before, test, curate, opts.seed)
            larger = f"{option('size')} or {option('design', 'whole')} makes it larger"
            hint = f"in a draw of {len(part)} of {len(before)} rows; {larger}"
            if before.groups is not None:
                hint = f"in a draw of whole groups, {len(part)} of {len(before)} rows: use"
                hint += f" {option('design', 'whole')}"
            raise DataworthError(f"{str(error).removesuffix('.')} ({hint}).") from error
        change = compare(part, made)
        # what the method made must not hold the very rows it is scored on
        leaks = look_for_leaks(test.take(scored), made.take(change.own))
        if leaks.data.any():
            copied += int(leaks.test.sum())
            made = made.take(np.delete(np.arange(len(made)), change.own[leaks.data]))
            change = compare(part, made)
        arms = Arms.of(change, select(own.sample, drawn), start, made.weights)
        if len(change.own):
            fresh.append(made.take(change.own))
            start += len(change.own)
        draws.append(Draw(arms.with_control(rng), select(held.sample, scored)))
        curated.append(Curated(part, made, arms))
        if opts.progress is not None:
            opts.progress.update(i + 1, sizes.pairs)
    if copied > MOST_LEAKED * sizes.pairs * sizes.test:
        raise DataworthError(
            f"the method's output holds {copied / (sizes.pairs * sizes.test):.0%} of the test rows it is "
            "scored on: a method must not see those."
        )
    parts = {"before": before, "test": test} | ({"made": Dataset.concat(fresh)} if fresh else {})
    plan = sizes.plan(Prepared(tuple(draws)), blocks)
    if getattr(curate, "design", "method") == "whole":
        more = float(np.mean([len(one.after) for one in curated])) - sizes.data
        note = (
            f"{more:.0f} rows were added to each draw of {sizes.data}: {more / sizes.data:.1f} for each row, "
            f"where all data have {more / len(before):.1f}; the design whole adds them once, to all rows"
        )
        plan = replace(plan, notes=(note,))
    return Pool.build(yardstick, parts, opts.own_model), plan, curated


def halved(shown: Rows, groups: Rows | None, scored: int, rng: np.random.Generator) -> tuple[Rows, Rows]:
    """Test rows to see and test rows to be scored on; rows that belong together stay together."""
    if groups is None:
        shown = rng.permutation(shown)
        return shown[: len(shown) - scored], shown[len(shown) - scored :]
    order = rng.permutation(np.unique(groups[shown]))
    if len(order) < 2:
        raise DataworthError(ONE_GROUP)
    first = np.isin(groups[shown], order[: len(order) // 2])
    return shown[first], shown[~first]


def by_attribute(cells: Rows, data: Dataset) -> Rows:
    """Strata split by attribute, where rows have one."""
    if data.attributes is None:
        return cells
    _, attributes = np.unique(data.attributes, return_inverse=True)
    _, split = np.unique(cells * len(data) + attributes, return_inverse=True)
    return split
