"""Remove rows known to be bad, which is new information; or rows whose labels look wrong to cleanlab.

The second is by the letter θ → D → f(D). But confident learning assumes that some labels are wrong, and the
model that measures worth does not: where that is true, it is knowledge, and the worth may rise.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..data.dataset import Dataset, label_keys
from ..errors import DataworthError
from ..extras import needed
from ..wording import and_more, option
from .base import Method, at_least, chance, class_codes, fitted, numbers

MOST_NAMES = 10
"""Groups that a sentence names."""


@dataclass(frozen=True)
class RemoveRows(Method):
    """Drop the rows that `bad` marks (a boolean per row), or all of one `group`.

    A group is a value of the attribute or, without one, of the groups, as `describe` shows it.

    >>> RemoveRows([True, False])(Dataset([[0.0], [1.0]], [0, 1])).y.tolist()
    [1]
    >>> RemoveRows(group="shaky")(Dataset([[0.0], [1.0]], [0, 1], groups=["good", "shaky"])).y.tolist()
    [0]
    """

    bad: Any = None
    group: str | None = None

    name = "remove-rows"
    what = "remove rows known to be bad: those of a group"
    strategic = False
    why = "who knows which rows are bad knows more than the data say"
    needed = ("group",)

    def __post_init__(self) -> None:
        if (self.bad is None) == (self.group is None):
            raise DataworthError("give either bad (a boolean per row) or group (the group to remove).")

    def __call__(self, data: Dataset) -> Dataset:
        """The good rows."""
        if self.group is not None:
            return data.take(_groups(data) != str(label_keys([self.group])[0]))
        bad = np.asarray(self.bad, dtype=bool)
        if bad.shape != (len(data),):
            raise DataworthError(
                f"bad has shape {bad.shape}; it must have one entry for each of {len(data)} rows."
            )
        return data.take(~bad)

    def bound(self, data: Dataset) -> RemoveRows:
        """The same; a group that is not there is refused."""
        if self.group is not None:
            names = np.unique(_groups(data)).tolist()
            if str(label_keys([self.group])[0]) not in names:
                several = ", ".join(map(repr, names[:MOST_NAMES])) + and_more(len(names) - MOST_NAMES)
                raise DataworthError(
                    f"the data have no rows of group {str(self.group)!r}; there are {several}."
                )
        return self


def _groups(data: Dataset) -> NDArray[np.str_]:
    """The attribute of each row or, where there is none, its group."""
    values = data.groups if data.attributes is None else data.attributes
    if values is None:
        raise DataworthError(
            "the data have no groups; removing one needs a column of them: name it with "
            f"{option('attribute')} or {option('group')}."
        )
    return values


@dataclass(frozen=True)
class DropLabelIssues(Method):
    """The rows without label issues, as `cleanlab.filter.find_label_issues` finds them.

    It is given probabilities from `folds`-fold cross-validation (fewer where a class has fewer rows) of the
    learner: any scikit-learn classifier with predict_proba, by default logistic regression on standardised
    features. `rng` decides the folds.

    >>> X = np.r_[np.linspace(-3, -1, 20), np.linspace(1, 3, 20)][:, None]
    >>> y = (X[:, 0] > 0).astype(int)
    >>> y[5] = 1
    >>> len(DropLabelIssues()(Dataset(X, y)))
    39
    """

    folds: int = field(default=5, metadata=at_least(2))
    learner: Any = None

    name = "drop-label-issues"
    what = "remove rows whose labels look wrong to cleanlab"
    strategic = None
    why = (
        "it looks at the data alone; but it assumes that some labels are wrong, which the model that "
        "measures does not know: where that is true, the data may be worth more"
    )

    def __call__(self, data: Dataset, *, rng: np.random.Generator | None = None) -> Dataset:
        """The rows that stay, in their old order."""
        cleanlab = needed("cleanlab.filter", "finding label issues", "cleanlab")
        from sklearn.model_selection import StratifiedKFold

        codes = class_codes(data, "finding label issues", least=2)
        rarest = int(np.bincount(codes).min())
        if rarest < 2:
            raise DataworthError("a class has 1 row only; cross-validation needs two of each class.")
        seed = int(chance(rng).integers(2**31))
        split = StratifiedKFold(min(self.folds, rarest), shuffle=True, random_state=seed)
        X = numbers(data)
        # the probability of each class for each row, from models that did not see the row
        probabilities = np.empty((len(data), codes.max() + 1))
        for seen, held in split.split(X, codes):
            weights = None if data.weights is None else data.weights[seen]
            probabilities[held] = fitted(self.learner, X[seen], codes[seen], weights).predict_proba(X[held])
        issues = cleanlab.find_label_issues(codes, probabilities, n_jobs=1)
        return data.take(~np.asarray(issues, dtype=bool))
