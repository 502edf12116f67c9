"""Remove rows whose labels look wrong to cleanlab: a filter as people use it, without an oracle.

By the letter θ → D → f(D): nothing but the data decides. But confident learning assumes that some labels are
wrong, and that a model of the others can tell. The model that measures worth has no wrong labels in it, so
this assumption, where it is true, is knowledge that it lacks, and the worth may rise.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..data.dataset import Dataset
from ..errors import DataworthError
from ..wording import counted, needs_extra
from .base import Method, at_least, chance
from .features import class_codes, fitted, numbers


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
        try:
            from cleanlab.filter import find_label_issues
        except ImportError as error:
            raise DataworthError(needs_extra("finding label issues", "cleanlab")) from error
        from sklearn.model_selection import StratifiedKFold

        codes = class_codes(data, "finding label issues", least=2)
        rarest = int(np.bincount(codes).min())
        if rarest < 2:
            raise DataworthError(
                f"a class has {counted(rarest, 'row')} only; cross-validation needs two of each class."
            )
        seed = int(chance(rng).integers(2**31))
        split = StratifiedKFold(min(self.folds, rarest), shuffle=True, random_state=seed)
        X = numbers(data)
        # the probability of each class for each row, from models that did not see the row
        probabilities = np.empty((len(data), codes.max() + 1))
        for seen, held in split.split(X, codes):
            weights = None if data.weights is None else data.weights[seen]
            probabilities[held] = fitted(self.learner, X[seen], codes[seen], weights).predict_proba(X[held])
        issues = find_label_issues(codes, probabilities, n_jobs=1)
        return data.take(~np.asarray(issues, dtype=bool))
