"""Curation methods as callables: f(D) or f(D, T), either with a keyword rng."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from ...arrays import Rows
from ...data.dataset import Dataset
from ...errors import DataworthError
from ...measure.sizes import ONE_GROUP

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
    order = rng.permutation(len(test))
    seen: Rows = np.zeros(0, dtype=np.intp)
    if wants_test(curate):
        seen, order = order[: len(test) // 2], order[len(test) // 2 :]
    if len(seen) and test.groups is not None:  # rows that belong together stay together
        names = rng.permutation(np.unique(test.groups))
        if len(names) < 2:
            raise DataworthError(ONE_GROUP)
        first = np.isin(test.groups, names[::2])
        seen, order = np.flatnonzero(first), np.flatnonzero(~first)
    after = apply(curate, before, test.take(np.sort(seen)), rng)
    return after, test.take(np.sort(order))


SENSES = {
    True: "which is strategic in the paper's sense, θ → D → f(D)",
    False: "which is not strategic in the paper's sense",
    None: "which may be strategic in the paper's sense or not",
}
"""What the attribute `strategic` of a curation says."""


def bound(curate: Curation, data: Dataset) -> Curation:
    """The callable as it is meant for the whole data, or a sentence if it makes no sense for them."""
    return curate.bound(data) if hasattr(curate, "bound") and hasattr(curate, "why") else curate


def default_first(curate: Curation, designs: tuple[str, ...]) -> tuple[str, ...]:
    """Designs with the callable's own default at the front.

    >>> default_first(len, ("method", "whole"))
    ('method', 'whole')
    """
    own = [design for design in designs if design == getattr(curate, "design", None)]
    return (*own, *(design for design in designs if design not in own))


def _said(curate: Any, data: Dataset) -> tuple[bool | None, str]:
    return curate.said(data) if hasattr(curate, "said") else (curate.strategic, curate.why)


def described(curate: Curation, data: Dataset) -> dict[str, Any]:
    """What a callable says of itself, as plain data: at least a name.

    >>> described(len, Dataset([[0.0]], [0]))
    {'name': 'len'}
    """
    if not hasattr(curate, "why"):
        return {"name": getattr(curate, "__name__", type(curate).__name__)}
    strategic, why = _said(curate, data)
    about = {"name": curate.name, "options": curate.options()}  # type: ignore[attr-defined]
    return {**about, "strategic": strategic, "why": why}


def sense(curate: Curation, data: Dataset) -> tuple[str, ...]:
    """A note on the callable's place in the paper's sense, if it knows it."""
    if not hasattr(curate, "why"):
        return ()
    strategic, why = _said(curate, data)
    return (f"the curation is {curate}, {SENSES[strategic]}: {why}",)
