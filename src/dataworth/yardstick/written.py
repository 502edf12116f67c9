"""Labels and model as a yardstick's file has them, and read from it, or a reason why they can be none."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np

from ..data.labels import Classes, Numeric
from ..errors import DataworthError
from .kinds import KINDS, YardstickModel, suited_kind
from .reading import POSITIVE, items, number, plain, record


def read_labels(d: dict[str, Any]) -> Classes | Numeric:
    """Classes, or numeric labels."""
    if isinstance(d["labels"], dict) and "classes" in d["labels"]:
        names = items(record(d, "labels", {"classes"}), "classes")
        if len({name for name in names if isinstance(name, str)}) < max(2, len(names)):
            raise DataworthError("its classes are not two or more different texts")
        return Classes(tuple(names))
    return plain(d, "labels", Numeric)


def read_model(d: dict[str, Any], labels: Classes | Numeric) -> YardstickModel:
    """The model, of a kind that suits the labels."""
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


def rounded(labels: Classes | Numeric) -> Classes | Numeric:
    """Numeric labels' centre and scale to what measuring needs.

    At full precision they would be functions of the test labels that any guess could be tried against.

    >>> rounded(Numeric(22.403571, 7.489035))
    Numeric(center=22.404, scale=7.489)
    """
    if isinstance(labels, Classes):
        return labels
    scale = float(f"{labels.scale:.3e}")
    step = 10.0 ** (np.floor(np.log10(scale)) - 3)
    return Numeric(float(f"{round(labels.center / step) * step:.12g}"), scale)
