"""What every curation says of itself: its name, its options, and its place in the paper's sense."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar

import numpy as np

from ..arrays import Rows
from ..data.dataset import Dataset
from ..errors import DataworthError
from ..wording import counted
from .features import points, strata

SEED = 0
"""What chance is drawn from where a curation is called without a generator: f(D) is a function of D."""
ANYTHING = (lambda value: True, "")


class Method:
    """A curation by name; a frozen dataclass derives from it, and its fields are its options.

    `strategic` says whether θ → D → f(D), the paper's definition of strategic: True: it does by construction,
    so f(D) cannot know more of θ than D; False: outside knowledge comes in; None: it depends, and `why` says
    on what.

    >>> from dataworth.curation import MatchGroups, RandomSubset
    >>> str(MatchGroups()), str(RandomSubset(0.25))
    ('match-groups', 'random-subset:fraction=0.25')
    """

    name: ClassVar[str]
    what: ClassVar[str]
    strategic: ClassVar[bool | None]
    why: ClassVar[str]
    design: ClassVar[str] = "method"
    """The design of an audit that asks for none: *method*, or *whole* where rows come from a file."""
    needed: ClassVar[tuple[str, ...]] = ()
    """Options that a text must give, though Python has other ways."""
    __call__: Callable[..., Dataset]

    def __post_init__(self) -> None:
        for f in fields(self):  # type: ignore[arg-type]
            value, (holds, words) = getattr(self, f.name), f.metadata.get("limit", ANYTHING)
            if value is not None and not holds(value):
                raise DataworthError(f"{f.name} is {value!r}; it must {words}.")

    def bound(self, data: Dataset) -> Method:
        """The curation as it is meant for these data, or a sentence: asked once, before there are draws."""
        return self

    def said(self, data: Dataset) -> tuple[bool | None, str]:
        """Whether it is strategic on these data, and why."""
        return self.strategic, self.why

    def options(self) -> dict[str, Any]:
        """The options as plain data; a dataset by its size, what has no plain form by its type."""
        return {f.name: _plain(getattr(self, f.name)) for f in fields(self)}  # type: ignore[arg-type]

    def __str__(self) -> str:
        given = [f"{name}={value}" for name, value in self.options().items() if value is not None]
        return self.name + (":" if given else "") + ",".join(given)


def chance(rng: np.random.Generator | None) -> np.random.Generator:
    """The generator, or one with a fixed seed where none is given."""
    return np.random.default_rng(SEED) if rng is None else rng


def limit(holds: Callable[[Any], bool], words: str) -> dict[str, Any]:
    """What an option must be, as metadata of its field; None is no value.

    >>> from dataworth.curation import Duplicate
    >>> Duplicate(times=0)
    Traceback (most recent call last):
        ...
    dataworth.errors.DataworthError: times is 0; it must be 1 or more.
    """
    return {"limit": (holds, words)}


def at_least(least: float) -> dict[str, Any]:
    """The limit of an option that has a least value."""
    return limit(lambda value: value >= least, f"be {least} or more")


FRACTION = limit(lambda value: 0 < value <= 1, "lie above 0 and at most at 1")


def _plain(value: Any) -> Any:
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, Dataset):
        return counted(len(value), "row")
    return type(value).__name__


@dataclass(frozen=True)
class CoreSet(Method):
    """`fraction` of the rows of each class, so that the ratio of classes stays; at least one of each.

    Rows are standardised (`points`); numeric labels are taken together. `choose` says which rows stay.
    """

    choose: ClassVar[Callable[..., Rows]]
    """Places of so many of the rows of one class, by features and weights."""
    fraction: float = field(default=0.5, metadata=FRACTION)

    strategic = True
    why = "it looks at the data alone and only removes rows"

    def __call__(self, data: Dataset) -> Dataset:
        """The rows chosen, in their old order."""
        X = points(data)
        weights = np.ones(len(data)) if data.weights is None else data.weights
        chosen = [
            rows[self.choose(X[rows], weights[rows], max(1, round(self.fraction * len(rows))))]
            for rows in strata(data)
        ]
        return data.take(np.sort(np.concatenate(chosen)))
