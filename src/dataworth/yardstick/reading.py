"""Entries of a yardstick's file, each of the type and size that it must have, or a reason.

Anybody can compute a digest, so a digest says nothing of what a file holds.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from typing import Any, TypeVar

import numpy as np

from ..arrays import Array
from ..errors import DataworthError

R = TypeVar("R")
POSITIVE = {"prior_variance", "noise_variance", "reach", "scale", "gamma", "tempering", "bandwidth"}
"""Numbers that must be above 0."""


def record(d: Any, name: str, keys: set[str]) -> dict[str, Any]:
    """A map with exactly these keys.

    >>> record({"a": {"b": 1}}, "a", {"b", "c"})
    Traceback (most recent call last):
        ...
    dataworth.errors.DataworthError: its a has no 'c'
    """
    entry = d[name] if name else d
    if not isinstance(entry, dict):
        raise DataworthError(f"its {name} is no map")
    for missing in sorted(keys - set(entry)):
        raise DataworthError(f"its {name} has no {missing!r}" if name else f"it has no {missing!r}")
    for further in sorted(set(entry) - keys):
        raise DataworthError(f"its {further!r} is unknown")
    return entry


def items(d: dict[str, Any], name: str) -> list[Any]:
    """A list."""
    if not isinstance(d[name], list):
        raise DataworthError(f"its {name} is no list")
    return list(d[name])


def text(d: dict[str, Any], name: str) -> str:
    """A text."""
    if not isinstance(d[name], str):
        raise DataworthError(f"its {name} is no text")
    return str(d[name])


def whole(d: dict[str, Any], name: str) -> int:
    """A whole number, 0 or more."""
    if type(d[name]) is not int or d[name] < 0:
        raise DataworthError(f"its {name} is no whole number, 0 or more")
    return int(d[name])


def number(d: dict[str, Any], name: str) -> float:
    """A finite number, above 0 if it is one that must be."""
    found = float(numbers(d, name, ()))
    if name in POSITIVE and found <= 0:
        raise DataworthError(f"its {name} is {found:g}, not above 0")
    return found


def optional(d: dict[str, Any], name: str) -> float | None:
    """A finite number, or none."""
    return None if d[name] is None else number(d, name)


def numbers(d: dict[str, Any], name: str, shape: tuple[int, ...]) -> Array:
    """Finite numbers in the given shape."""
    wanted = " × ".join(map(str, shape)) + " finite numbers" if shape else "a finite number"
    try:
        found = np.array(d[name])
    except ValueError:  # lists of different lengths
        found = np.array(None)
    if 0 in shape and d[name] == np.zeros(shape).tolist():
        return np.zeros(shape)
    if found.shape != shape or found.dtype.kind not in "if" or not np.isfinite(found).all():
        raise DataworthError(f"its {name} is not {wanted}")
    return found.astype(float)


READERS: dict[str, Callable[..., Any]] = {
    "int": whole,
    "str": text,
    "float": number,
    "float | None": optional,
}


def plain(d: dict[str, Any], name: str, kind: type[R]) -> R:
    """A dataclass of numbers from a map of its fields, each of the type that the class gives it.

    >>> from ..data.labels import Numeric
    >>> plain({"labels": {"center": 1, "scale": 2.5}}, "labels", Numeric)
    Numeric(center=1.0, scale=2.5)
    """
    known = {f.name: str(f.type) for f in fields(kind)}  # type: ignore[arg-type]  # any dataclass
    entry = record(d, name, set(known))
    return kind(**{field: READERS[of](entry, field) for field, of in known.items()})
