"""Yardsticks kept between calls: the second audit on a test set, or a gate in CI, need not search again.

A yardstick is a function of the test set, a few options and the code, so a file by their hash is the same to
the last digit. Files that are damaged are fitted again; a directory that cannot be written costs time only.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import scipy

from ..atomic import cache_directory
from ..data.dataset import Dataset
from ..errors import DataworthError
from ..version import __version__
from ..yardstick.file import SCHEMA
from ..yardstick.yardstick import Yardstick

MOST_NUMBERS = 200_000
"""Numbers of a recipe's axes up to which it is kept: reading more would take as long as a search."""
MOST_FILES = 200
"""Yardsticks that are kept; of more, those that were used last."""


def fit_or_load(test: Dataset, cache: bool | str | PathLike[str], **how: Any) -> tuple[Yardstick, bool]:
    """`Yardstick.fit(test, **how)`, and whether it was found in the cache: True for the user's, or a path.

    >>> import tempfile
    >>> X = np.random.default_rng(0).normal(size=(40, 2))
    >>> T = Dataset(X, X[:, 0] > 0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     (one, first), (two, second) = (fit_or_load(T, folder, prior_variance=1.0) for _ in range(2))
    >>> one == two, first, second
    (True, False, True)
    """
    if cache is False:
        return Yardstick.fit(test, **how), False
    directory = cache_directory() / "yardsticks" if cache is True else Path(cache)
    place = directory / f"{_key(test, how)}.json"
    with contextlib.suppress(DataworthError, OSError):
        found = Yardstick.load(place)
        place.touch()
        return found, True
    made = Yardstick.fit(test, **how)
    if made.recipe.directions.size <= MOST_NUMBERS:
        with contextlib.suppress(DataworthError, OSError):
            directory.mkdir(parents=True, exist_ok=True)
            made.save(place)
            files = sorted(directory.glob("*.json"), key=lambda file: -file.stat().st_mtime)
            for old in files[MOST_FILES:]:
                old.unlink(missing_ok=True)
    return made, False


def _key(test: Dataset, how: dict[str, Any]) -> str:
    """A hash of what determines a yardstick, in the order of rows and columns that are given."""
    columns = [[one.name, one.kind, list(one.categories)] for one in test.columns]
    versions = [__version__, SCHEMA, np.__version__, scipy.__version__]
    known = json.dumps([versions, how, columns, test.content_hash()], sort_keys=True)
    return hashlib.sha256(known.encode()).hexdigest()
