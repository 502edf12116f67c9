"""A key of this user, by which runs know what they wrote themselves.

Whoever sends a run directory could send chunks with it that nobody computed. A checksum does not tell, for
anybody can compute one. A keyed one tells, if the key is not in the directory.
"""

from __future__ import annotations

import os
import secrets
from pathlib import Path

from platformdirs import user_data_path

from dataworth.atomic import atomic_write
from dataworth.errors import DataworthError

BYTES = 32


def key_path() -> Path:
    """`DATAWORTH_KEY`, or a file where the platform keeps a user's data."""
    usual = user_data_path("dataworth", appauthor=False) / "key"
    return Path(os.environ.get("DATAWORTH_KEY") or usual)


def own_key() -> bytes:
    """The key, made when it is first needed; a sentence if it can neither be read nor made."""
    path = key_path()
    try:
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            with atomic_write(path) as place:
                place.touch(0o600)
                place.write_bytes(secrets.token_bytes(BYTES))
        key = path.read_bytes()
    except (OSError, DataworthError) as error:
        raise DataworthError(
            f"the key by which a run knows its own work cannot be kept in {path}: name another file with the "
            "environment variable DATAWORTH_KEY."
        ) from error
    if len(key) != BYTES:
        raise DataworthError(f"{path} is no key of {BYTES} bytes: delete it, and another is made.")
    return key
