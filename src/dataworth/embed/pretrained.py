"""Models of `transformers` by name or directory; what goes wrong is said in one sentence."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr
from io import StringIO
from pathlib import Path
from typing import Any

from dataworth.errors import DataworthError
from dataworth.extras import short

INSTEAD = {"vision model": ", or use efficientnet-lite0"}
"""What to do where a model cannot be had, beside giving another."""


def fetched(kind: Any, name: str, what: str, **options: Any) -> Any:
    """From the disk if it is there, so that the hub is asked only for what is new."""
    why = f"model {name!r} is no directory, and no {what} that the Hugging Face hub gives"
    if here := Path(name).is_dir():
        why = f"the directory {name!r} holds no complete {what} of transformers"
    try:
        try:
            return kind.from_pretrained(name, local_files_only=True, **options)
        except OSError:
            if here:
                raise
            return kind.from_pretrained(name, **options)
    except (OSError, ValueError, KeyError, ImportError) as error:
        raise DataworthError(
            f"{why} ({short(error)}…): check the name, download the model elsewhere and give its directory"
            f"{INSTEAD.get(what, '')}."
        ) from error


def fingerprint(place: Path) -> str | None:
    """The hash of what a directory or file holds, which may be trained further under the same name."""
    if not place.exists():
        return None
    digest = hashlib.sha256()
    for file in sorted(path for path in place.iterdir() if path.is_file()) if place.is_dir() else [place]:
        digest.update(file.name.encode() + b"\0")
        with file.open("rb") as content:
            digest.update(hashlib.file_digest(content, "sha256").digest())
    return digest.hexdigest()


@contextmanager
def quietly(code: Any) -> Iterator[None]:
    """Without the bars and advice of the libraries, whose failures we put in one sentence."""
    before, bars = logging.root.manager.disable, code.utils.logging.is_progress_bar_enabled()
    logging.disable(logging.ERROR)
    code.utils.logging.disable_progress_bar()
    try:
        with redirect_stderr(StringIO()):  # bars that cannot be switched off
            yield
    finally:
        logging.disable(before)
        if bars:
            code.utils.logging.enable_progress_bar()
