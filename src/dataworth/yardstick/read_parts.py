"""Labels and model of a yardstick from the entries of its file, or a reason why they are none."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from ..data.labels import Classes, Numeric
from ..errors import DataworthError
from .kinds import KINDS, YardstickModel, suited_kind
from .reading import POSITIVE, items, number, plain, record


def read_labels(d: dict[str, Any]) -> Classes | Numeric:
    """Classes in their order, or numbers with their scale."""
    if isinstance(d["labels"], dict) and "classes" in d["labels"]:
        names = items(record(d, "labels", {"classes"}), "classes")
        if len({name for name in names if isinstance(name, str)}) < max(2, len(names)):
            raise DataworthError("its classes are not two or more different texts")
        return Classes(tuple(names))
    return plain(d, "labels", Numeric)


def read_model(d: dict[str, Any], labels: Classes | Numeric) -> YardstickModel:
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
    if "classes" in known and entry["classes"] not in (None, len(getattr(labels, "names", ()))):
        raise DataworthError("its model has another number of classes than its labels")
    made: YardstickModel = KINDS[name](**{key: entry[key] for key in known})
    return made
