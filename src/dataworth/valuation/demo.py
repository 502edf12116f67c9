"""The demo: seven things one can do to handwritten digits, and what they do to the information.

Is a digit odd or even? 100 labelled digits, a fifth of them wrong; 797 more, labelled by people, for later;
900 to test on (scikit-learn's, 8×8 pixels). Each digit came through one of two scanners. In the test set
nearly all odd digits came through the first and nearly all even ones through the second; in the data mostly
the other way. The pixels do not show the scanner, but for one chapter: there digits are noisy, and three
pixels of the margin are lighter in one scanner. Rows removed until scanner and label go together as in the
test set raise the benchmark, and lose what is known of digits whose scanner does not tell.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ..arrays import Flags
from ..curation import AddRows, Duplicate, MatchGroups, RandomSubset, RemoveRows, SelfLabel
from ..data.dataset import Dataset
from ..measure import Progress
from ..wording import in_words
from ..yardstick.yardstick import Yardstick
from .audit.audit import Audit, audit
from .audit.methods import Curation
from .result import Shown
from .score import Score, score

SCHEMA = "dataworth/demo/1"
DATA_ROWS, TEST_ROWS, TIDIED_ROWS = 100, 900, 400
FLIPPED = 20
ALIGNED_IN_TEST, ALIGNED_IN_DATA = 0.9, 0.3
"""Share of digits whose scanner goes with their label."""
MARGIN, NOISE = [0, 32, 39], 4.0
"""Pixels that are white in every digit, and the standard deviation of noise, where pixels go from 0 to 16."""
DRAWS = 24
"""Draws of the method: the digits make eight datasets of that size that share no row, and more draws tell
hardly more."""
STORIES = {
    "filter mislabelled rows": f"{FLIPPED} of {DATA_ROWS} labels are wrong; "
    "somebody who knows removes those rows",
    "match the test set's groups": f"from {TIDIED_ROWS} noisy digits whose margin shows the scanner, rows go "
    "until scanner × label has the test set's ratios",
    "remove rows at random": "two thirds of the rows go, whichever: "
    "not a dataset but a method, judged over many draws",
    "double every row": "the raw rows, twice",
    "add self-labelled rows": "{more} further digits, labelled by a model trained on the raw rows",
    "add new rows": "the same {more} digits, labelled by people",
    "drop what its own model gets wrong": f"from {TIDIED_ROWS} digits labelled by people, "
    "those go that a model of the others gets wrong",
}
"""The curations, and what is done in each; `more` are the further digits."""


@dataclass(frozen=True)
class Chapter:
    """One curation: its name, what was done, and what the audit says.

    `own_accuracy`: the accuracy that the data's own five-fold cross-validation shows, before and after, where
    that is what a user would have looked at.
    """

    name: str
    story: str
    audit: Audit
    own_accuracy: tuple[float, float] | None = None

    @property
    def told(self) -> str:
        """The story, and what cross-validation and fresh rows, or test set and balanced test set, say of it
        where they disagree."""
        if self.audit.verdict == "strategic" and (free := self.audit.balanced) is not None:
            here, there = 100 * self.audit.accuracy_delta, 100 * free.accuracy
            said = f"test accuracy {here:+.0f} points, {there:+.0f} where the scanner does not tell"
            return f"{self.story}: {said}"
        if self.own_accuracy is None:
            return self.story
        before, after = self.own_accuracy
        points, fresh = 100 * (after - before), in_words(self.audit.per_row).partition(": ")[2]
        said = f"{abs(points):.0f} points {'more' if points > 0 else 'less'}, fresh rows {fresh}"
        return f"{self.story}: cross-validation on what is left says {said}"

    def to_dict(self, bits: bool = False) -> dict[str, Any]:
        """Plain data for JSON."""
        own = {} if self.own_accuracy is None else {"own_accuracy": list(self.own_accuracy)}
        return {"name": self.name, "story": self.told, **own, **self.audit.to_dict(bits)}


@dataclass(frozen=True)
class Demo(Shown):
    """All chapters, and what the raw digits are worth."""

    audits: tuple[Chapter, ...]
    seed: int
    raw: Score | None = None

    def to_dict(self, bits: bool = False) -> dict[str, Any]:
        """Plain data for JSON."""
        audits = [chapter.to_dict(bits) for chapter in self.audits]
        raw = {} if self.raw is None else {"raw": self.raw.to_dict(bits)}
        return {"schema": SCHEMA, "seed": self.seed, "audits": audits, **raw}


class Digits(NamedTuple):
    """The digits of the demo: labelled data, further rows, the test set."""

    data: Dataset
    more: Dataset
    test: Dataset

    @classmethod
    def load(cls, rng: np.random.Generator) -> Digits:
        """Shuffle scikit-learn's digits and deal them out."""
        from sklearn.datasets import load_digits

        X, digits = load_digits(return_X_y=True)
        order = rng.permutation(len(X))
        X, odd, in_test = X[order], digits[order] % 2, np.arange(len(X)) < TEST_ROWS
        aligned = rng.random(len(X)) < np.where(in_test, ALIGNED_IN_TEST, ALIGNED_IN_DATA)
        scanner = np.where(aligned, odd, 1 - odd).astype(str)
        whole = Dataset(X, np.where(odd == 1, "odd", "even"), attributes=scanner)
        test, data, more = np.split(np.arange(len(X)), [TEST_ROWS, TEST_ROWS + DATA_ROWS])
        return cls(whole.take(data), whole.take(more), whole.take(test))


def scanned(data: Dataset, rng: np.random.Generator) -> Dataset:
    """The digits with noise, and the scanner to be seen in the margin."""
    X = data.X + NOISE * rng.normal(size=data.X.shape)
    lighter = np.where(np.asarray(data.attributes) == "1", 12.0, 4.0)
    X[:, MARGIN] = lighter[:, None] + NOISE * rng.normal(size=(len(X), len(MARGIN)))
    return data.with_features(X)


def tidy(data: Dataset) -> tuple[Dataset, tuple[float, float]]:
    """The rows that a logistic regression of the other four fifths gets right, and its accuracy on the data
    and on them."""
    right = own_right(data)
    kept = data.take(right)
    return kept, (float(right.mean()), float(own_right(kept).mean()))


def own_right(data: Dataset) -> Flags:
    """Which rows a logistic regression of the other four fifths gets right."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import cross_val_predict
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=2000))
    return np.asarray(cross_val_predict(model, data.X, data.y, cv=5) == data.y)


def demo(seed: int = 0, progress: Progress | None = None, keep_data: bool = False) -> Demo:
    """Run the audits; the same seed gives the same numbers. `keep` keeps their rows."""
    rng = np.random.default_rng([seed, 0xDE30])
    data, more, test = Digits.load(rng)
    yard = Yardstick.fit(test, seed=seed)
    bad = np.isin(np.arange(DATA_ROWS), rng.permutation(DATA_ROWS)[:FLIPPED])
    raw = data.with_labels(np.where(bad, np.where(data.y == "odd", "even", "odd"), data.y))
    clean = RemoveRows(bad)(raw)
    everything = AddRows(more)(data)
    labelled = everything.take(range(TIDIED_ROWS))
    tidied, own_accuracy = tidy(labelled)
    seen, held = scanned(labelled, rng), scanned(test, rng)
    matched = MatchGroups()(seen, held, rng=rng)
    curated: list[tuple[Dataset, Dataset | Curation]] = [
        (raw, clean),
        (seen, matched),
        (everything, RandomSubset(1 / 3)),
        (raw, Duplicate(2)(raw)),
        (raw, SelfLabel(more)(raw)),
        (raw, AddRows(more)(raw)),
        (labelled, tidied),
    ]
    told: list[Chapter] = []
    for (name, story), (before, made) in zip(STORIES.items(), curated, strict=True):
        method = not isinstance(made, Dataset)
        after: dict[str, Any] = {"curate": made, "pairs": DRAWS} if method else {"after": made}
        where: dict[str, Any] = {"test": test, "yardstick": yard} if before is not seen else {"test": held}
        result = audit(before, seed=seed, keep_data=keep_data, **where, **after)
        own = own_accuracy if made is tidied else None
        told.append(Chapter(name, story.format(more=len(more)), result, own))
        if progress is not None:
            progress.update(len(told), len(STORIES))
    return Demo(tuple(told), seed, score(raw, test, yardstick=yard, ignore="all"))
