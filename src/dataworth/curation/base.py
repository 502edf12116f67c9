"""What every curation says of itself, and rows as points and classes, for those that compare or fit them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar

import numpy as np

from ..arrays import Array, Rows
from ..data.dataset import Dataset, label_keys, summarise_labels
from ..errors import DataworthError
from ..wording import counted

SEED = 0
"""What chance is drawn from where a curation is called without a generator: f(D) is a function of D."""


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
            value, (holds, words) = getattr(self, f.name), f.metadata.get("limit", (None, ""))
            if value is not None and holds and not holds(value):
                raise DataworthError(f"{f.name} is {value!r}; it must {words}.")

    def bound(self, data: Dataset) -> Method:
        """The curation as it is meant for these data, or a sentence: asked once, before there are draws."""
        return self

    def said(self, data: Dataset) -> tuple[bool | None, str]:
        """Whether it is strategic on these data, and why."""
        return self.strategic, self.why

    def options(self) -> dict[str, Any]:
        """The options as plain data; a dataset by its size, what has no plain form by its type."""
        told = {f.name: getattr(self, f.name) for f in fields(self)}  # type: ignore[arg-type]
        for name, value in told.items():
            if isinstance(value, Dataset):
                told[name] = counted(len(value), "row")
            elif not isinstance(value, bool | int | float | str | None):
                told[name] = type(value).__name__
        return told

    def __str__(self) -> str:
        given = [f"{name}={value}" for name, value in self.options().items() if value is not None]
        return self.name + (":" if given else "") + ",".join(given)


def chance(rng: np.random.Generator | None) -> np.random.Generator:
    """The generator, or one with a fixed seed where none is given."""
    return np.random.default_rng(SEED) if rng is None else rng


def limit(holds: Callable[[Any], bool], words: str) -> dict[str, Any]:
    """What an option must be, as metadata of its field; None is no value."""
    return {"limit": (holds, words)}


def at_least(least: float) -> dict[str, Any]:
    """The limit of an option that has a least value."""
    return limit(lambda value: value >= least, f"be {least} or more")


FRACTION = limit(lambda value: 0 < value <= 1, "lie above 0 and at most at 1")


def numbers(data: Dataset, like: Dataset | None = None) -> Array:
    """Numbers with missing ones filled in by the medians of `like`, and a 0/1 column for each category."""
    like = data if like is None else like
    data, parts = data.select(like.columns), [np.zeros((len(data), 0))]
    for j, column in enumerate(like.columns):
        values = data.X[:, j]
        if column.kind in ("text", "pair"):
            raise DataworthError(
                f"column {column.name!r} holds texts, which have no distances: make vectors of them, with"
                " dataworth.embed.encode."
            )
        if column.kind == "categorical":
            parts.append((values[:, None] == np.arange(len(column.categories))).astype(float))
        else:
            known = like.X[~np.isnan(like.X[:, j]), j]
            parts.append(np.where(np.isnan(values), np.median(known) if len(known) else 0.0, values)[:, None])
    return np.hstack(parts)


def points(data: Dataset) -> Array:
    """Rows on a common scale: each number in standard deviations; two categories are one unit apart."""
    X = numbers(data)
    spread = X.std(axis=0)
    varies = spread > 1e-12 * np.abs(X).max(axis=0, initial=0.0)  # rounding alone is no spread
    scale = np.divide(1.0, spread, out=np.zeros_like(spread), where=varies)
    widths = [len(c.categories) if c.kind == "categorical" else 1 for c in data.columns]
    one_hot = np.repeat([c.kind == "categorical" for c in data.columns], widths).astype(bool)
    scale[one_hot] = np.sqrt(0.5)
    return (X - X.mean(axis=0)) * scale if len(X) else X


def strata(data: Dataset) -> list[Rows]:
    """The rows of each class, in order; numeric labels are one stratum."""
    if summarise_labels(data.y).classes is None:
        return [np.arange(len(data))]
    keys = label_keys(data.y)
    return [np.flatnonzero(keys == name) for name in np.unique(keys)]


def class_codes(data: Dataset, purpose: str, least: int = 1) -> Rows:
    """The class of each row as 0, 1, …; numeric labels, and fewer than `least` classes, are refused."""
    if summarise_labels(data.y).classes is None:
        raise DataworthError(f"the labels are numeric; {purpose} needs classes.")
    names, codes = np.unique(label_keys(data.y), return_inverse=True)
    if len(names) < least:
        raise DataworthError(f"the data have one class only; {purpose} needs two.")
    return codes


def fitted(learner: Any, X: Array, y: Any, weights: Array | None) -> Any:
    """A fresh copy of the learner, fitted; without one, logistic regression on standardised features.

    Sample weights, if there are any, are given as the learner's last step takes them.
    """
    from sklearn.base import clone
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    learner = clone(learner or make_pipeline(StandardScaler(), LogisticRegression(max_iter=5000)))
    last = "".join(f"{name}__" for name, _ in getattr(learner, "steps", [])[-1:])
    learner.fit(X, y, **({} if weights is None else {f"{last}sample_weight": weights}))
    return learner


def with_columns_of(data: Dataset, X: Array, y: Any, **others: Any) -> Dataset:
    """New rows under the data's columns: categories are the codes that the data's columns have."""
    # codes and booleans have no way through the constructor, which takes them for numbers
    return Dataset(X, y, names=data.names, allow_missing=True, **others)._with(columns=data.columns)


@dataclass(frozen=True)
class CoreSet(Method):
    """`fraction` of the rows of each class, so that the ratio of classes stays; at least one of each.

    Rows are standardised (`points`); numeric labels are taken together. `choose` gives the places of so many
    rows of one class, by features and weights.
    """

    choose: ClassVar[Callable[..., Rows]]
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
