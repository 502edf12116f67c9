"""Files of which some rows are enough: to describe them, or to draw pairs from."""

from __future__ import annotations

from collections.abc import Iterable
from os import PathLike
from pathlib import Path
from typing import Any

from dataworth.data.io.formats import DELIMITED, suffix_of
from dataworth.data.io.parsing import unpacked_size

LARGE = 1 << 27
"""Bytes of text, or of numbers in a table, from which a file is large."""
DESCRIBED, LEAST_DESCRIBED = 100_000, 1000
"""Rows that a large file is described by; of very wide ones fewer, so that they are not large either."""
DRAWN_FROM, BLOCKS = 20_000, 100
"""Rows of a large file that pairs are drawn from, at least, and how many disjoint draws they hold.

They are a sample of the population as all rows are, so that the interval holds, whose width goes with
√(1/(m − 1) + 1/k) for m disjoint draws: of a hundred it is that of k pairs, or of the test set, which has
fewer."""


def rows_to_describe(source: Any) -> int | None:
    """How many rows of a large file are drawn to describe it; None (all) if it is not large."""
    size = _size(source)
    if size is None:
        return None
    return max(LEAST_DESCRIBED, min(DESCRIBED, LARGE // (8 * size[1])))


def rows_for_pairs(sources: Iterable[Any], size: int) -> int | None:
    """How many rows of each file pairs of a size are drawn from; None (all) if none is large."""
    if all(_size(source) is None for source in sources):
        return None
    return max(DRAWN_FROM, BLOCKS * size)


def _size(source: Any) -> tuple[int, int] | None:
    """Bytes and columns of a file, if it is large."""
    path = Path(source) if isinstance(source, str | PathLike) else None
    if path is None or not path.is_file():
        return None
    try:
        if suffix_of(path) in DELIMITED:
            size, columns = unpacked_size(path), 1
        elif suffix_of(path) == ".parquet":
            from pyarrow import parquet

            with parquet.ParquetFile(path) as file:
                columns = max(1, file.metadata.num_columns)
                size = 8 * file.metadata.num_rows * columns
        else:
            return None
    except (OSError, ValueError):  # which reading says better
        return None
    return (size, columns) if size > LARGE else None
