"""Which models a yardstick can have, and which suits the labels."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from typing import Any

from ..data.labels import MOST_CLASSES, Classes, Labels, Numeric, Vectors
from ..errors import DataworthError
from ..models import INFERENCES, Linear, Logistic, MultiLinear, Softmax
from .file import POSITIVE, items, number, plain, record
from .outputs import NAMES, Outputs

KINDS: dict[str, type[Any]] = {
    "logistic": Logistic,
    "linear": Linear,
    "softmax": Softmax,
    "multilinear": MultiLinear,
}
"""Models by name. One more is one more line, if it has a `prior_variance` and an `intercept`."""
MODELS = ("auto", *KINDS)
YardstickModel = Logistic | Linear | Softmax | MultiLinear


def check_modelling(model: object, inference: object) -> None:
    """Known names of a model and of an inference, or a sentence."""
    if not isinstance(model, str):
        raise DataworthError(
            f"model is a {type(model).__name__}; give a name here, {', '.join(MODELS)}: the yardstick makes "
            "the model, with prior_variance if you give it (dw.pmi takes models themselves)."
        )
    if model not in MODELS:
        raise DataworthError(f"model is {model!r}; known models: {', '.join(MODELS)}.")
    if inference not in INFERENCES:
        raise DataworthError(f"inference is {inference!r}; known inferences: {', '.join(INFERENCES)}.")


def suited_kind(labels: Labels, model: str = "auto") -> str:
    """The name of the model that is asked for, or the first that suits the labels; or a sentence."""
    if isinstance(labels, Numeric):
        suited = ["linear"]
    elif isinstance(labels, Vectors):
        suited = ["multilinear"]
    else:
        takes = ("two classes", "classes") if len(labels.names) == 2 else ("classes",)
        suited = [name for name, kind in KINDS.items() if kind.takes in takes]
    if model not in ("auto", *suited):
        raise DataworthError(f"model is {model!r}, but the test set's labels suit {', '.join(suited)}.")
    return suited[0] if model == "auto" else model


def maker(
    kind: str, inference: str, labels: Labels, intercept: bool = True
) -> Callable[[float, float | None], YardstickModel]:
    """Makes models of a kind from a prior variance and, for numeric labels, a noise variance."""
    if kind == "softmax" and inference == "ep":
        raise DataworthError(f"inference is {inference!r}, but softmax knows laplace alone: drop it.")
    known = {f.name for f in fields(KINDS[kind])}
    given: dict[str, Any] = {"inference": inference, "intercept": intercept}
    if isinstance(labels, Classes):
        given["classes"] = len(labels.names)  # fixed: a dataset that lacks a class measures as others do
    given = {name: value for name, value in given.items() if name in known}

    def make(prior_variance: float, noise: float | None) -> YardstickModel:
        own = given if noise is None else given | {"noise_variance": noise}
        made: YardstickModel = KINDS[kind](prior_variance=prior_variance, **own)
        return made

    return make


def read_labels(d: dict[str, Any]) -> Labels:
    """Classes in their order, numbers with their scale, or the axes of vectors."""
    if isinstance(d["labels"], dict) and "axes" in d["labels"]:
        return Outputs.from_dict(record(d, "labels", NAMES))
    if isinstance(d["labels"], dict) and "classes" in d["labels"]:
        names = items(record(d, "labels", {"classes"}), "classes")
        different = len({name for name in names if isinstance(name, str)})
        if different < max(2, len(names)) or different > MOST_CLASSES:
            raise DataworthError(f"its classes are not 2 to {MOST_CLASSES} different texts")
        return Classes(tuple(names))
    return plain(d, "labels", Numeric)


def read_model(d: dict[str, Any], labels: Labels) -> YardstickModel:
    """A model that suits the labels."""
    given = d["model"]
    name = given.get("kind") if isinstance(given, dict) else None
    if not isinstance(name, str) or name not in KINDS:
        raise DataworthError("its model is one that this version does not know")
    known = {f.name for f in fields(KINDS[suited_kind(labels, name)])}
    entry = record(d, "model", known | {"kind"})
    for variance in known & POSITIVE:
        number(entry, variance)
    if not isinstance(entry["intercept"], bool):
        raise DataworthError("its intercept is neither true nor false")
    if "outputs" in known and entry["outputs"] is not None:
        raise DataworthError("its model has a number of outputs of its own")
    if "classes" in known and entry["classes"] not in (None, len(getattr(labels, "names", ()))):
        raise DataworthError("its model has another number of classes than its labels")
    made: YardstickModel = KINDS[name](**{key: entry[key] for key in known})
    return made
