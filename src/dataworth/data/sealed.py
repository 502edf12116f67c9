"""The codec of sealed files: two arrays and some facts, in the safetensors format.

    8 bytes: length of the header, little-endian │ the header, JSON │ the numbers, float64

`mean` is d numbers, `precision` d × d, and the facts are JSON within the header's metadata, a checksum of
every byte of the file among them: it finds damage, not forgery. A sealed file comes from somebody else: no
sentence of a refusal repeats a piece of it.
"""

from __future__ import annotations

import errno
import json
import re
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..arrays import Array
from ..atomic import BLANK, atomic_write, has_checksum, read_whole, with_checksum
from ..errors import DataworthError

SUFFIX = ".safetensors"
SCHEMA = "dataworth/sealed/2"
METADATA = "dataworth"
"""The one entry of the header's metadata, so that equal contents are equal bytes."""
ARRAYS = ("mean", "precision")
MOST_HEADER = 1_000_000
MOST_COEFFICIENTS = 5_000
"""A precision of that many coefficients takes 200 MB."""
MOST_ROWS = 2**53
HASH = re.compile("[0-9a-f]{64}")
VERSION = re.compile(r"[0-9A-Za-z.+-]{1,40}")


class Contents(NamedTuple):
    """What a sealed file holds."""

    mean: Array
    precision: Array
    facts: dict[str, Any]


def is_sealed(path: Path) -> bool:
    """Whether a path is that of a sealed file, by its suffix."""
    return path.name.lower().endswith(SUFFIX)


def write_sealed(path: str | Path, contents: Contents) -> None:
    """Write a sealed file; equal contents make equal files."""
    from safetensors.numpy import save

    arrays = {name: np.ascontiguousarray(getattr(contents, name)) for name in ARRAYS}
    told = {"checksum": BLANK, "schema": SCHEMA, **contents.facts}
    facts = json.dumps(told, sort_keys=True, allow_nan=False)  # the checksum comes first
    with atomic_write(Path(path)) as place:
        place.write_bytes(with_checksum(save(arrays, {METADATA: facts})))


def read_sealed(path: str | Path) -> Contents:
    """What `write_sealed` wrote; anything else is one sentence that begins with the file."""
    if not isinstance(path, str | Path):
        raise DataworthError(f"a {type(path).__name__} is no path: give that of a sealed file, as text.")
    try:
        return _read(Path(path))
    except _BadFile as bad:
        raise DataworthError(f"{path}: {bad}; ask for a file made by 'dataworth seal'.") from None


class _BadFile(Exception):
    """What is wrong with a file."""


def _must(good: bool, otherwise: str) -> None:
    if not good:
        raise _BadFile(otherwise)


def _read(path: Path) -> Contents:
    from safetensors import SafetensorError
    from safetensors.numpy import load

    raw = _bytes_of(path)
    length = int.from_bytes(raw[:8], "little")
    _must(len(raw) >= 8 and length <= min(MOST_HEADER, len(raw) - 8), "not a sealed file, or cut short")
    try:  # what the arrays are; whether they fill the file, safetensors checks
        header = json.loads(raw[8 : 8 + length].decode(), object_pairs_hook=_distinct)
        _must(header.keys() == {"__metadata__", *ARRAYS}, "not a sealed file (a mean, a precision, metadata)")
        _must(header["__metadata__"].keys() == {METADATA}, "its metadata are not those of a sealed file")
        told = json.loads(header["__metadata__"][METADATA], object_pairs_hook=_distinct)
        _must(told.pop("schema") == SCHEMA, f"not a sealed file of this version ({SCHEMA})")
        whole = has_checksum(raw, told.pop("checksum"))
        _must(whole, "damaged, or changed after it was made (its checksum does not match)")
        facts, arrays = _checked(told), load(raw)
    except (SafetensorError, ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError):
        raise _BadFile("not a valid sealed file") from None
    mean, precision = (arrays[name] for name in ARRAYS)
    _must(mean.dtype == precision.dtype == np.float64, "its numbers are not of type F64")
    d = mean.size
    _must(1 <= d <= MOST_COEFFICIENTS, f"its mean is not a vector of 1 to {MOST_COEFFICIENTS} numbers")
    shaped = mean.shape == (d,) and precision.shape == (d, d)
    _must(shaped, f"its precision is not {d} × {d}, as its mean of {d} numbers asks for")
    finite = bool(np.isfinite(mean).all() and np.isfinite(precision).all())
    _must(finite, "its mean or precision is not finite")
    _must(np.array_equal(precision, precision.T), "its precision is not symmetric")
    return Contents(mean, precision, facts)


def _bytes_of(path: Path) -> bytes:
    """The file, if it is one and of a size that a sealed file can have."""
    if not path.exists():
        raise DataworthError(f"there is no file {str(path)!r}: check its name.")
    _must(path.is_file(), "a directory, not a sealed file" if path.is_dir() else "not a regular file")
    most = 8 + MOST_HEADER + 8 * (MOST_COEFFICIENTS + MOST_COEFFICIENTS**2)
    try:
        return read_whole(path, most)
    except OSError as error:
        large = f"larger than a sealed file of {MOST_COEFFICIENTS} coefficients can be"
        _must(error.errno != errno.EFBIG, large)
        raise DataworthError(f"{path} cannot be read ({error.strerror}): check its permissions.") from error


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A JSON object, if no name stands in it twice."""
    if len(dict(pairs)) < len(pairs):
        raise ValueError
    return dict(pairs)


def _checked(facts: dict[str, Any]) -> dict[str, Any]:
    """The facts, each of its type and within its range; counts are rows of each class, all of them."""

    def whole(value: Any, least: int) -> bool:
        return type(value) is int and least <= value <= MOST_ROWS

    counts: Any = facts.get("counts")
    rows, weight = facts.get("rows"), facts.get("weight", -1)
    told = isinstance(counts, dict) and all(whole(n, 0) for n in counts.values())
    patterns = {"version": VERSION, "yardstick": HASH, "commitment": HASH}
    checks = {
        **{n: type(v := facts.get(n)) is str and p.fullmatch(v) is not None for n, p in patterns.items()},
        "rows": whole(rows, 1),
        "weight": type(weight) in (int, float) and 0 <= weight <= MOST_ROWS,
        "counts": "counts" in facts and (counts is None or (told and sum(counts.values()) == rows)),
    }
    wrong = [name for name, good in checks.items() if not good]
    which = f"its {wrong[0]} is missing or not what it should be" if wrong else "it says more than it may"
    _must(not wrong and facts.keys() == checks.keys(), f"not a sealed file of dataworth ({which})")
    return facts
