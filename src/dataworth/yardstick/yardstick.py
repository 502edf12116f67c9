"""The yardstick: features, class order, model, prior and tempering, from the test set alone.

It is chosen by held-out log-likelihood over halves of the test set (`search`), then frozen and hashed.
Nobody's data can move it, because it never sees any.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from ..arrays import Array
from ..data.convert import Column
from ..data.dataset import Dataset
from ..data.keys import keyed_hash, opens
from ..data.labels import Classes, Labels, Vectors, learn_targets
from ..data.order import canonical
from ..errors import DataworthError
from ..models import Linear, MultiLinear, Softmax, positive_number
from ..parallel.threads import one_thread
from .candidates import Trial, rounded
from .file import MAKE, SCHEMA, as_data, digest_of, plain, read_file, record, text, whole, write_file
from .kinds import KINDS, YardstickModel, check_modelling, maker, read_labels, read_model, suited_kind
from .outputs import Outputs
from .recipe import Basis, Recipe, odd
from .search import Search, searched
from .texts import TextColumns

LEAST_ROWS = 20


@dataclass(frozen=True, eq=False, kw_only=True)
class Yardstick:
    """A frozen way of measuring. `Yardstick.fit(T)` makes one; `features`, `targets` and `model` apply it.

    Args:
        recipe: how features are made from columns.
        labels: how labels are made numbers: classes in their order, or numbers with their scale.
        model: the model, with its prior.
        chosen: what the search found of the candidate that it chose.
        test_hash: keyed hash of the test set that it was fitted to, if it was published (`published`).
        rows: rows of that test set.
        seed: of the halves that the search used.
        texts: how columns of texts become numbers, if the test set has some.

    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 2))
    >>> yard = Yardstick.fit(Dataset(X, X[:, 0] + rng.normal(size=60) > 0))
    >>> yard.kind, yard.rows
    ('logistic', 60)
    """

    recipe: Recipe
    labels: Labels
    model: YardstickModel
    chosen: Trial
    rows: int
    seed: int
    texts: TextColumns | None = None
    test_hash: str = ""

    @classmethod
    @one_thread()  # how threads share a sum shows in its last bits
    def fit(
        cls,
        test: Dataset,
        *,
        model: str = "auto",
        inference: str = "auto",
        prior_variance: float | None = None,
        seed: int = 0,
    ) -> Yardstick:
        """Search scales of columns, maps, priors and temperings on halves of the test set.

        The best held-out log-likelihood of a row wins, over a ladder of sizes; among those that are as good,
        the sharpest eye. Groups of the test set are never split between halves.

        `model` is a name in `MODELS` ("auto": the first that suits the labels); numeric labels have exact
        posteriors, whatever the `inference`; with a `prior_variance` none is searched, and rows count once.

        >>> X = np.random.default_rng(0).normal(size=(40, 2))
        >>> Yardstick.fit(Dataset(X, X[:, 0] > 0), prior_variance=1.0).model
        Logistic(prior_variance=1.0, inference='auto', intercept=True)
        """
        if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)) or seed < 0:
            raise DataworthError(f"seed is {seed!r}; it must be a whole number, 0 or more.")
        seed = int(seed)
        check_modelling(model, inference)
        if len(test) < LEAST_ROWS:
            raise DataworthError(
                f"the test set has {len(test)} rows; a yardstick needs {LEAST_ROWS} or more."
            )
        test = canonical(test)
        labels = rounded(learn_targets(test))
        kind = suited_kind(labels, model)
        texts = TextColumns.learn(test)
        written = test.outputs is None
        test = test if texts is None else texts(test)
        if isinstance(labels, Vectors) and test.outputs is not None:
            labels = Outputs.learn(test.outputs, of_texts=written)
            test = test.with_outputs(labels.own(test.outputs), test.y)
        make = maker(kind, inference, labels, intercept=not odd(test.columns))
        sample, splits = searched(test, seed, kind)
        if prior_variance is not None:
            positive_number(prior_variance, "prior_variance")
        basis = Basis.learn(sample, seed)
        search = Search(sample, basis, labels.of(sample), kind, splits, seed)
        chosen, recipe = search.run(prior_variance)
        return cls(
            recipe=recipe,
            labels=labels,
            model=make(chosen.prior_variance, chosen.noise_variance),
            chosen=chosen.rounded(),
            rows=len(test),
            seed=seed,
            texts=texts,
        )

    def numbered(self, data: Dataset, own: bool = False) -> Dataset:
        """A dataset with numbers in place of its texts; the same if it has none that the yardstick reads.

        Each column of texts becomes columns `name[0]`, `name[1]`, …; texts of responses become outputs, which
        are measured otherwise if they are the test set's own (`outputs`).

        >>> X = np.random.default_rng(0).normal(size=(40, 2))
        >>> T = Dataset(X, X[:, 0] > 0)
        >>> Yardstick.fit(T, prior_variance=1.0).numbered(T) is T
        True
        """
        if self.texts is None:
            return data
        with one_thread():
            made = self.texts(data)
        if own and data.outputs is None and made.outputs is not None and isinstance(self.labels, Outputs):
            made = made.with_outputs(self.labels.own(made.outputs), made.y)
        return made

    @property
    def columns(self) -> tuple[Column, ...]:
        """What a dataset must have to be measured."""
        return self.recipe.columns if self.texts is None else self.texts.read(self.recipe.columns)

    def features(self, data: Dataset) -> Array:
        """Features of a dataset (rows × axes), which has the test set's columns in any order, perhaps more.

        >>> X = np.random.default_rng(0).normal(size=(40, 2))
        >>> T = Dataset(X, X[:, 0] > 0)
        >>> Yardstick.fit(T, prior_variance=1.0).features(T).shape
        (40, 2)
        """
        return self.recipe.features(self.numbered(data))

    def targets(self, data: Dataset, what: str = "the data") -> Array:
        """A dataset's labels as numbers: 0, 1, … for classes, standard units for numeric labels.

        `what` is what the data are called if they are refused, for a label that the test set does not have.

        >>> X = np.random.default_rng(0).normal(size=(40, 2))
        >>> yard = Yardstick.fit(Dataset(X, np.where(X[:, 0] > 0, "yes", "no")), prior_variance=1.0)
        >>> yard.targets(Dataset(X[:2], ["yes", "no"])).tolist()
        [1.0, 0.0]
        """
        return self.labels.of(data, what)

    @property
    def kind(self) -> str:
        """The model's name."""
        return next(name for name, kind in KINDS.items() if isinstance(self.model, kind))

    @property
    def inference(self) -> str | None:
        """How its posteriors are computed; None if exactly."""
        if isinstance(self.model, Linear | MultiLinear):
            return None
        return "laplace" if isinstance(self.model, Softmax) else self.model.inference

    @property
    def tempering(self) -> float:
        """How many times rows of data count on this yardstick, beside test rows that count once."""
        return self.chosen.tempering

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Yardstick) and self.digest == other.digest

    def __hash__(self) -> int:
        return hash(self.digest)

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON, with the digest of everything else."""
        labels: dict[str, Any] = {name: as_data(part) for name, part in vars(self.labels).items()}
        if isinstance(self.labels, Classes):
            labels = {"classes": list(self.labels.names)}
        body = {
            "schema": SCHEMA,
            "labels": labels,
            "model": {"kind": self.kind} | vars(self.model),
            "chosen": vars(self.chosen),
            "test_hash": self.test_hash,
            "rows": self.rows,
            "seed": self.seed,
            "recipe": self.recipe.to_dict(),
            "texts": None if self.texts is None else self.texts.to_dict(),
        }
        return body | {"digest": digest_of(body)}

    def published(self, test: Dataset, key: str) -> Yardstick:
        """The same with a keyed hash of its test set: who has the key can show what it was fitted to.

        The key, of 16 characters or more, stays with whoever holds the test set. The digest stays the same.

        >>> X = np.random.default_rng(0).normal(size=(40, 2))
        >>> T = Dataset(X, X[:, 0] > 0)
        >>> yard = Yardstick.fit(T, prior_variance=1.0).published(T, "a key of our own")
        >>> yard.is_of(T, "a key of our own"), yard.is_of(T, "another key of us")
        (True, False)
        """
        return replace(self, test_hash=keyed_hash(test.content_hash(), key))

    def is_of(self, test: Dataset, key: str) -> bool:
        """Whether this is the test set that it was published with, under that key."""
        return opens(test.content_hash(), self.test_hash, key)

    def summary(self) -> dict[str, Any]:
        """What of it belongs in every result: enough to name it, not enough to apply it."""
        return {
            "digest": self.digest,
            "model": repr(self.model),
            "unit": "nats",
            **vars(self.chosen),
        }

    @cached_property
    def digest(self) -> str:
        """A hash of all that measures: equal digests measure alike."""
        return str(self.to_dict()["digest"])

    def save(self, path: str | Path) -> None:
        """Write as JSON; a file that exists is replaced.

        >>> import tempfile
        >>> X = np.random.default_rng(0).normal(size=(40, 2))
        >>> yard = Yardstick.fit(Dataset(X, X[:, 0] > 0), prior_variance=1.0)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     yard.save(f"{folder}/yardstick.json")
        ...     Yardstick.load(f"{folder}/yardstick.json") == yard
        True
        """
        write_file(Path(path), self.to_dict())

    @classmethod
    def load(cls, path: str | Path) -> Yardstick:
        """Read what `save` wrote; a file that was altered, or is no yardstick, is refused.

        >>> Yardstick.load("n.json")
        Traceback (most recent call last):
            ...
        dataworth.errors.DataworthError: there is no yardstick at 'n.json'; `dataworth yardstick` makes one.
        """
        d = read_file(path)
        try:
            return cls._read(d)
        except DataworthError as error:
            reason = str(error).rstrip(".")
            raise DataworthError(f"{str(path)!r} is no whole yardstick: {reason}; {MAKE}.") from None

    @classmethod
    def _read(cls, d: dict[str, Any]) -> Yardstick:
        """The yardstick of a file's entries; a reason if they are no yardstick."""
        record(d, "", {"schema", "labels", "model", "chosen", "test_hash", "rows", "seed", "recipe", "texts"})
        labels = read_labels(d)
        recipe = Recipe.from_dict(record(d, "recipe", {f.name for f in fields(Recipe)}))
        chosen = plain(d, "chosen", Trial)
        axes = "both" if recipe.projection.size else "kernel"
        kind = "axes" if recipe.kernel is None else axes
        if (chosen.kind, chosen.scale) != (kind, recipe.scale.name):
            raise DataworthError("its kind or scale is not that of its recipe")
        if (chosen.exponent is None) != (kind == "kernel") or (chosen.bandwidth is None) != (kind == "axes"):
            raise DataworthError("its exponent or bandwidth is not that of its kind")
        if (chosen.held_out_stderr or 0.0) < 0:
            raise DataworthError("its held_out_stderr is below 0")
        if chosen.size != recipe.width:
            raise DataworthError(f"its size is {chosen.size}, but {recipe.width} features are given")
        return cls(
            recipe=recipe,
            labels=labels,
            model=read_model(d, labels),
            chosen=chosen,
            test_hash=text(d, "test_hash"),
            rows=whole(d, "rows"),
            seed=whole(d, "seed"),
            texts=TextColumns.from_dict(d["texts"]),
        )

    def __repr__(self) -> str:
        return f"Yardstick({self})"

    def __str__(self) -> str:
        counted = "" if self.tempering == 1 else f", tempering {self.tempering:g}"
        return f"{self.chosen.features}; {self.model!r}{counted}; {self.digest[:12]}"
