"""The yardstick: features, class order, model and prior, from the test set alone.

Subsamples of one real dataset share one θ*. If the model is under-confident, anything that sharpens its
posterior raises the score: doubling every row would look informative. So the yardstick is chosen by
held-out log-likelihood over halves of the test set, subject to the *doubling probe*

    U(2×T_a, T_b) − U(T_a, T_b) ≤ 0  on average (within its standard error),

then frozen and hashed. Nobody's data can move it, because it never sees any.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..arrays import Array
from ..data.dataset import Dataset
from ..data.labels import Classes, Numeric, learn_targets
from ..errors import DataworthError
from ..models import Linear, Softmax
from .kinds import KINDS, YardstickModel, check_modelling, maker, suited_kind
from .probes import halves
from .recipe import Basis, Recipe
from .search import MOST_PROBED, NOISES, PROBED_OF_SOFTMAX, Search, Trial, searched, splits_of

SCHEMA = "dataworth/yardstick/1"
LEAST_ROWS = 20


@dataclass(frozen=True, eq=False)
class Yardstick:
    """A frozen way of measuring. `Yardstick.fit(T)` makes one; `features`, `targets` and `model` apply it."""

    recipe: Recipe
    labels: Classes | Numeric
    model: YardstickModel
    chosen: Trial
    test_hash: str
    rows: int
    seed: int

    @classmethod
    def fit(
        cls,
        test: Dataset,
        *,
        model: str = "auto",
        inference: str = "laplace",
        prior_variance: float | None = None,
        seed: int = 0,
    ) -> Yardstick:
        """Search sizes, exponents and priors on halves of the test set.

        `inference` is how posteriors of classes are computed; numeric labels have exact ones, whatever it is.
        """
        from threadpoolctl import threadpool_limits

        if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)) or seed < 0:
            raise DataworthError(f"seed is {seed!r}; it must be a whole number, 0 or more.")
        seed = int(seed)
        check_modelling(model, inference)
        if len(test) < LEAST_ROWS:
            raise DataworthError(
                f"the test set has {len(test)} rows; a yardstick needs {LEAST_ROWS} or more."
            )
        labels = learn_targets(test)
        kind = suited_kind(labels, model)
        make = maker(kind, inference, labels)
        sample, rng = searched(test, seed)
        with threadpool_limits(1):  # how threads share a sum shows in its last bits
            basis = Basis.learn(sample)
        splits = halves(len(sample), rng, splits_of(kind))
        probed = PROBED_OF_SOFTMAX if kind == "softmax" else MOST_PROBED
        search = Search(sample, basis, labels.encode(sample.y), make, splits, probed)
        with threadpool_limits(1):
            chosen = search.run(NOISES if kind == "linear" else (None,), prior_variance)
        return cls(
            basis.recipe(chosen.size, chosen.exponent),
            labels,
            make(chosen.prior_variance, chosen.noise_variance),
            chosen,
            test.content_hash(),
            len(test),
            seed,
        )

    def features(self, data: Dataset) -> Array:
        """The dataset's features on this yardstick."""
        return self.recipe.features(data)

    def targets(self, data: Dataset, what: str = "the data") -> Array:
        """The dataset's labels as numbers."""
        return self.labels.encode(data.y, what)

    @property
    def kind(self) -> str:
        """The model's name."""
        return next(name for name, kind in KINDS.items() if isinstance(self.model, kind))

    @property
    def inference(self) -> str | None:
        """How its posteriors are computed; None if exactly."""
        if isinstance(self.model, Linear):
            return None
        return "laplace" if isinstance(self.model, Softmax) else self.model.inference

    @property
    def calibrated(self) -> bool:
        """Whether doubling data does not look informative on this yardstick."""
        return self.chosen.calibrated

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Yardstick) and self.digest == other.digest

    def __hash__(self) -> int:
        return hash(self.digest)

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON, with the digest of everything else."""
        labels = (
            {"classes": list(self.labels.names)}
            if isinstance(self.labels, Classes)
            else {"center": self.labels.center, "scale": self.labels.scale}
        )
        body = {
            "schema": SCHEMA,
            "labels": labels,
            "model": {"kind": self.kind} | vars(self.model),
            "chosen": vars(self.chosen),
            "test_hash": self.test_hash,
            "rows": self.rows,
            "seed": self.seed,
            "recipe": self.recipe.to_dict(),
        }
        return body | {"digest": _digest(body)}

    def summary(self) -> dict[str, Any]:
        """What of it belongs in every result: enough to name it, not enough to apply it."""
        return {
            "digest": self.digest,
            "model": repr(self.model),
            "calibrated": self.calibrated,
            "unit": "nats",
            **vars(self.chosen),
        }

    @property
    def digest(self) -> str:
        """A hash of all of it: equal digests measure alike."""
        return str(self.to_dict()["digest"])

    def save(self, path: str | Path) -> None:
        """Write as JSON."""
        Path(path).write_text(json.dumps(self.to_dict()) + "\n")

    @classmethod
    def load(cls, path: str | Path) -> Yardstick:
        """Read what `save` wrote; a file that was altered is refused."""
        try:
            d = json.loads(Path(path).read_text())
        except FileNotFoundError:
            raise DataworthError(
                f"there is no yardstick at {str(path)!r}; `dataworth yardstick` makes one."
            ) from None
        except (OSError, ValueError):
            raise DataworthError(
                f"{str(path)!r} is not a yardstick; `dataworth yardstick` makes one."
            ) from None
        if not isinstance(d, dict) or d.get("schema") != SCHEMA:
            raise DataworthError(f"{str(path)!r} is not a yardstick of this version ({SCHEMA}).")
        if d.pop("digest", None) != _digest(d):
            raise DataworthError(f"{str(path)!r} was changed after it was made (its digest does not match).")
        labels = d["labels"]
        kind = KINDS.get(d["model"].pop("kind"))
        if kind is None:
            raise DataworthError(f"{str(path)!r} has a model that this version does not know: update it.")
        return cls(
            Recipe.from_dict(d["recipe"]),
            Classes(tuple(labels["classes"])) if "classes" in labels else Numeric(**labels),
            kind(**d["model"]),
            Trial(**d["chosen"]),
            d["test_hash"],
            d["rows"],
            d["seed"],
        )

    def __repr__(self) -> str:
        return f"Yardstick({self})"

    def __str__(self) -> str:
        plural = "axis" if self.chosen.size == 1 else "axes"
        axes = f"{self.chosen.size} principal {plural}, variance exponent {self.chosen.exponent:g}"
        probe = "" if self.chosen.probe is None else f", doubling probe {self.chosen.probe:+.2f}"
        return f"{axes}; {self.model!r}{probe}; {self.digest[:12]}"


def _digest(body: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()
