"""Entries of a yardstick's file, each of the type and size that it must have, or a reason.

Anybody can compute a digest, so a digest says nothing of what a file holds.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..arrays import Array
from ..errors import DataworthError


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


def number(d: dict[str, Any], name: str, above: float = -np.inf) -> float:
    """A finite number above a bound."""
    found = float(numbers(d, name, ()))
    if found <= above:
        raise DataworthError(f"its {name} is {found:g}, not above {above:g}")
    return found


def numbers(d: dict[str, Any], name: str, shape: tuple[int, ...]) -> Array:
    """Finite numbers in the given shape."""
    wanted = " × ".join(map(str, shape)) + " finite numbers" if shape else "a finite number"
    try:
        found = np.array(d[name])
    except ValueError:  # lists of different lengths
        found = np.array(None)
    if found.size == 0 and 0 in shape:
        return np.zeros(shape)
    if found.shape != shape or found.dtype.kind not in "if" or not np.isfinite(found).all():
        raise DataworthError(f"its {name} is not {wanted}")
    return found.astype(float)
