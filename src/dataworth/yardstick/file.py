"""The file of a yardstick: JSON with a checksum of every byte, and a digest of all that measures.

Anybody can compute a digest, so a digest says nothing of what a file holds: every entry is read as the type
and size that it must have, or refused with a reason.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from ..arrays import Array
from ..atomic import BLANK, atomic_write, has_checksum, parse_json, read_whole, with_checksum
from ..errors import DataworthError

R = TypeVar("R")
POSITIVE = {
    "prior_variance",
    "noise_variance",
    "reach",
    "scale",
    "gamma",
    "tempering",
    "bandwidth",
    "freedom",
}
"""Numbers that must be above 0."""


def record(d: Any, name: str, keys: set[str]) -> dict[str, Any]:
    """A map with exactly these keys."""
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
    """A dataclass of numbers from a map of its fields, each of the type that the class gives it."""
    known = {f.name: str(f.type) for f in fields(kind)}  # type: ignore[arg-type]  # any dataclass
    entry = record(d, name, set(known))
    return kind(**{field: READERS[of](entry, field) for field, of in known.items()})


def as_data(value: Any) -> Any:
    """Arrays as lists, dataclasses as maps of their fields: what the functions above read."""
    if isinstance(value, np.ndarray):
        return value.tolist()
    if is_dataclass(value):
        return {name: as_data(part) for name, part in vars(value).items()}
    return value


SCHEMA = "dataworth/yardstick/3"
MAKE = "`dataworth yardstick` makes one"


def digest_of(body: dict[str, Any]) -> str:
    """A hash of all that measures; the keyed hash of the test set can be verified by its key alone."""
    measures = {name: part for name, part in body.items() if name != "test_hash"}
    return hashlib.sha256(json.dumps(measures, sort_keys=True).encode()).hexdigest()


def write_file(path: Path, told: dict[str, Any]) -> None:
    """Write the entries of a yardstick, its digest among them."""
    text = json.dumps({"checksum": BLANK, **told}) + "\n"
    with atomic_write(path) as place:
        place.write_bytes(with_checksum(text.encode()))


def read_file(path: str | Path) -> dict[str, Any]:
    """The entries of a yardstick, without its digest: not one byte is other than it was written."""
    name = repr(str(path))
    try:
        content = read_whole(Path(path))
        d = parse_json(content)
    except FileNotFoundError:
        raise DataworthError(f"there is no yardstick at {name}; {MAKE}.") from None
    except (OSError, ValueError):
        raise DataworthError(f"{name} is not a yardstick; {MAKE}.") from None
    if not isinstance(d, dict) or d.get("schema") != SCHEMA:
        raise DataworthError(f"{name} is not a yardstick of this version ({SCHEMA}).")
    if not has_checksum(content, d.pop("checksum", None)):
        raise DataworthError(
            f"{name} was changed after it was made, or damaged (its checksum does not match): ask for it"
            " again."
        )
    if d.pop("digest", None) != digest_of(d):
        raise DataworthError(f"{name} was changed after it was made (its digest does not match).")
    return d
