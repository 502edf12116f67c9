"""The file of a yardstick: JSON with a checksum of every byte, and a digest of all that measures."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from ..atomic import BLANK, atomic_write, has_checksum, parse_json, read_whole, with_checksum
from ..errors import DataworthError

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
    if "checksum" not in d:
        raise DataworthError(f"{name} has no checksum, as earlier versions wrote it: make it again; {MAKE}.")
    if not has_checksum(content, d.pop("checksum")):
        raise DataworthError(
            f"{name} was changed after it was made, or damaged (its checksum does not match): ask for it"
            " again."
        )
    if d.pop("digest", None) != digest_of(d):
        raise DataworthError(f"{name} was changed after it was made (its digest does not match).")
    return d
