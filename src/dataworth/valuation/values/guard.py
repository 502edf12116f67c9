"""Rows that a test set chose are not to be judged by it: an audit of them is refused.

Dropping the tenth of clean rows with the lowest values gains 3 to 23 nats on the test set that gave the
values, and loses on fresh rows; `cross_fit` of `values` measures what leaving them out changes.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ...arrays import Array
from ...atomic import atomic_write, parse_json, read_whole, write_csv
from ...data.changes import compare
from ...data.dataset import Dataset
from ...data.io.files import part_of
from ...data.keys import is_key, keyed_hash, new_key, opens
from ...data.order import canonical
from ...errors import DataworthError
from .values import Values, fingerprint

ABOUT = "dataworth/values-file/1"
SUFFIXES = (".parquet", ".csv")
COLUMNS = {"value": 1.0, "log_label": 1.0, "p_wrong": -1.0}
"""What rows can be chosen by, and the sign that brings those to be looked at to the front."""
CHOSEN = 0.8
"""Proportion of the removed rows that must be the first of a column for it to have chosen them."""


class Stored(NamedTuple):
    """Values of rows as a file holds them, with what it is about: keyed hashes of data and test set."""

    source: str
    about: dict[str, Any]
    columns: dict[str, Array]

    @classmethod
    def of(cls, values: Values) -> Stored:
        """The same of values at hand."""
        columns = {name: np.asarray(getattr(values.rows, name), dtype=float) for name in COLUMNS}
        return cls("the values", about(values), columns)

    def is_of(self, data: Dataset, test: Dataset) -> bool:
        """Whether these are the data and the test set of the file."""
        return all(
            opens(fingerprint(part), self.about[name], self.about["key"])
            for name, part in (("data", data), ("test", canonical(test)))
        )


def about(values: Values) -> dict[str, Any]:
    """What a file of values says of itself; the hashes say nothing to who has not the data and the file."""
    key = new_key()
    data, test = (keyed_hash(one, key) for one in values.hashes)
    return {"schema": ABOUT, "yardstick": values.yardstick.digest, "key": key, "data": data, "test": test}


def save_values(values: Values, path: Path) -> None:
    """Write one row a row, and what the file is about beside it."""
    import pyarrow as pa
    from pyarrow import parquet

    if path.suffix == ".csv":
        write_csv(path, values.table_rows())
    else:
        table = pa.Table.from_pylist(values.table_rows())
        with atomic_write(path) as place:
            parquet.write_table(table, place, write_page_checksum=True)
    with atomic_write(beside(path)) as place:
        place.write_text(json.dumps(about(values)) + "\n")


def beside(path: Path) -> Path:
    """Where a file's `about` stands."""
    return path.with_name(f"{path.name}.about.json")


def load_values(path: Path) -> Stored | None:
    """A file that `save_values` wrote; None for any other."""
    try:
        told = parse_json(read_whole(beside(path)))
        known = all(isinstance(told[name], str) for name in ("data", "test")) and is_key(told["key"])
        if told.get("schema") != ABOUT or not known:
            return None
        table = part_of(path).table  # within the limits of every reader
        columns = {name: table[name].cast("float64").to_numpy() for name in COLUMNS}
        return Stored(str(path), told, columns)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, NotImplementedError):
        return None


def files_in(folders: Iterable[Path]) -> list[Stored]:
    """Files of values that lie in these folders."""
    paths = (path for folder in dict.fromkeys(folders) for path in sorted(folder.iterdir()))
    found = (load_values(path) for path in paths if path.suffix in SUFFIXES and path.is_file())
    return [stored for stored in found if stored is not None]


def chosen_by(stored: Stored, before: Dataset, after: Dataset) -> str | None:
    """The column whose first rows are those that are gone; None if there is none."""
    origin = compare(before, after).origin
    gone = np.setdiff1d(np.arange(len(before)), origin[origin >= 0])
    if not len(gone) or len(gone) == len(before):
        return None
    for name, sign in COLUMNS.items():
        order = np.argsort(np.nan_to_num(sign * stored.columns[name], nan=np.inf), kind="stable")
        if np.isin(gone, order[: len(gone)]).sum() >= CHOSEN * len(gone):
            return name
    return None


def refuse_chosen(
    before: Dataset, after: Dataset, test: Dataset, given: Values | str | Path | Sequence[Stored] | None
) -> None:
    """A sentence, if values chose the removed rows by this very test set."""
    for one in stored_in(given):
        if one.is_of(before, test) and (column := chosen_by(one, before, after)) is not None:
            raise DataworthError(
                f"the removed rows are those that {one.source} puts first by {column}, which was made with "
                "this test set: on it the change would look better than it is. Give another test set, or "
                "measure the change with 'dataworth values --cross-fit 5'."
            )


def stored_in(given: Values | str | Path | Sequence[Stored] | None) -> list[Stored]:
    """Files of values, or values at hand, in one form; a sentence for what is no such file."""
    if isinstance(given, Values):
        return [Stored.of(given)]
    if not isinstance(given, str | Path):
        return list(given or ())
    if (found := load_values(Path(given))) is None:
        raise DataworthError(f"{given} is no file of values: give one of 'dataworth values -o FILE'.")
    return [found]
