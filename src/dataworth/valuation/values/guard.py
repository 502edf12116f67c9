"""Rows that test rows chose are not judged by them: an audit is made on the others, or refused.

Dropping the tenth of clean rows with the lowest values gains 3 to 23 nats on the test set that gave the
values, and loses on fresh rows. So values know the test rows that made them (`lineage`). If half of the test
set was left to judge (`values(sample_splitting=True)`), an audit of a change of those rows is made on that
half. If all of it made them, a change that follows them is refused.
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
from ...data.order import canonical
from ...errors import DataworthError
from ...wording import counted, option
from ...yardstick.yardstick import LEAST_ROWS
from .lineage import LEVEL, Lineage, kept_parts, p_by_chance, p_of_list
from .values import Values

ABOUT = "dataworth/values-file/2"
SUFFIXES = (".parquet", ".csv")
PEEK, MAX_HEAD = 300, 1 << 28
"""Bytes by which a file is recognised, and of the first line of a review log."""
BROKEN = (ValueError, KeyError, TypeError, AttributeError)
RESTORE = "restore the file from a copy, or move it away to begin anew."
COLUMNS = {"value": 1.0, "loo_log_likelihood": 1.0, "p_mislabeled": -1.0}
"""What rows can be chosen by, and the sign that brings those to be looked at to the front."""
LIST = "harmful"
WAYS = len(COLUMNS) + 1
"""Ways to choose that are looked at: by each column, and by the list."""
REVIEW = "dataworth/review/1"
"""What the first line of the log of a review says it is."""


class Stored(NamedTuple):
    """Values of rows as a file holds them, with what they are of and by: keyed hashes of rows.

    The log of a review has no values: half of the test set was left to judge whatever was changed by it.
    """

    name: str
    key: str
    lineage: Lineage
    columns: dict[str, Array]

    @classmethod
    def of(cls, values: Values) -> Stored:
        """The same of values at hand."""
        columns = {name: np.asarray(getattr(values.rows, name), dtype=float) for name in (*COLUMNS, LIST)}
        return cls("the values", values.key, values.lineage, columns)

    def chose(self, before: Dataset, after: Dataset) -> bool:
        """Whether the rows that were changed have to do with the values."""
        place, kept = self.lineage.places(before, self.key), kept_parts(before, after, compare(before, after))
        rows = np.flatnonzero(place >= 0)
        if self.lineage.sample_splitting:
            return bool((kept[rows] != 1.0).any())
        found = [self._p_of_order(name, kept[rows], place[rows]) for name in COLUMNS]
        found.append(p_of_list(kept[rows], self.columns[LIST][place[rows]] > 0))
        return WAYS * min(found) < LEVEL

    def _p_of_order(self, name: str, kept: Array, place: Any) -> float:
        order = COLUMNS[name] * self.columns[name][place]
        known = np.isfinite(order)
        return p_by_chance(kept[known], order[known])


def judges(
    before: Dataset,
    after: Dataset,
    test: Dataset,
    given: Values | str | Path | Sequence[Values | str | Path | Stored] | None,
) -> tuple[Dataset, tuple[str, ...]]:
    """The test rows that had no say in a change, and a note if they are not all.

    Raises:
        DataworthError: if too few are left.
    """
    by: list[str] = []
    free = np.ones(len(test), dtype=bool)
    for one in stored_in(given):
        chose = one.lineage.chose(test, one.key)
        if chose.any() and one.chose(before, after):
            free, by = free & ~chose, [*by, one.name]
    if not by:
        return test, ()
    if free.sum() < LEAST_ROWS:
        made = f"{len(test) - int(free.sum())} of {counted(len(test), 'test row')} made"
        raise DataworthError(
            f"the change follows {by[-1]} more than chance explains, and {made} these values: on them "
            f"it would look better than it is. Make the values with {option('sample_splitting', True)}, "
            "which leaves half of the test rows to judge, or give another test set."
        )
    names = " and ".join(dict.fromkeys(by))
    note = f"judged on the {int(free.sum())} test rows that had no say in {names}"
    return canonical(test.take(free)), (note,)


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


def about(values: Values) -> dict[str, Any]:
    """What a file of values says of itself."""
    return {"schema": ABOUT, "yardstick": values.yardstick.digest, **values.lineage.to_dict(values.key)}


def load_review(path: Path) -> Stored | None:
    """The log of a review, by its first line; None for any other file, and a sentence for a damaged one."""
    with path.open("rb") as file:
        first = file.readline(MAX_HEAD)
    if REVIEW.encode() not in first[:PEEK]:
        return None
    try:
        told = parse_json(first)
        return Stored(str(path), told["key"], Lineage.parse(told), {})
    except BROKEN:
        raise DataworthError(f"{path}: the first line of this review log is damaged: {RESTORE}") from None


def load_result(path: Path) -> Stored | None:
    """Values as JSON, of `--json` or a report; None for any other file, and a sentence for a damaged one."""
    with path.open("rb") as file:
        if f'"{Values.schema}"'.encode() not in file.read(PEEK):
            return None
    try:
        told = parse_json(read_whole(path))
        columns = {name: np.array(told["rows"][name], dtype=float) for name in (*COLUMNS, LIST)}
        return stored(path, told["lineage"], columns)
    except (OSError, *BROKEN):
        raise DataworthError(f"{path} cannot be read as values: {RESTORE}") from None


def stored(path: Path, told: dict[str, Any], columns: dict[str, Array]) -> Stored:
    """Values of a file, if its parts fit together."""
    lineage, rows = Lineage.parse(told), {len(one) for one in columns.values()}
    if {len(one) for one in (lineage.data, lineage.ids) if one is not None} != rows:
        raise ValueError("it does not fit")
    return Stored(str(path), told["key"], lineage, columns)


def load_values(path: Path) -> Stored | None:
    """A file that `save_values` wrote, or another one that says what was chosen by which test rows.

    None for any other, and a sentence for one that is damaged.
    """
    if path.suffix in OTHERS:
        return OTHERS[path.suffix](path) if path.is_file() else None
    if not beside(path).is_file():
        return None
    try:
        told = parse_json(read_whole(beside(path)))
        if not isinstance(told, dict) or told.get("schema") != ABOUT:
            return None
        table = part_of(path).table  # within the limits of every reader
        columns = {name: table[name].cast("float64").to_numpy() for name in COLUMNS}
        columns[LIST] = np.array([str(one).lower() == "true" for one in table[LIST].to_pylist()], dtype=float)
        return stored(path, told, columns)
    except (OSError, NotImplementedError, *BROKEN) as error:
        raise DataworthError(
            f"{path} cannot be read as values, with {beside(path).name} ({type(error).__name__}): "
            "make them again, or move both files away if no row was chosen by them."
        ) from None


OTHERS = {".jsonl": load_review, ".json": load_result}


def files_in(folders: Iterable[Path]) -> list[Stored]:
    """Files of values that lie in these folders."""
    paths = (path for folder in dict.fromkeys(folders) for path in sorted(folder.iterdir()))
    known = (load_values(path) for path in paths if path.suffix in (*SUFFIXES, *OTHERS) and path.is_file())
    return [one for one in known if one is not None]


def stored_in(
    given: Values | str | Path | Sequence[Values | str | Path | Stored] | None,
) -> list[Stored]:
    """Files of values, or values at hand, in one form; a sentence for what is no such file."""
    several = [given] if isinstance(given, Values | str | Path) else given or ()
    found = []
    for one in several:
        if isinstance(one, Values):
            one = Stored.of(one)
        elif not isinstance(one, Stored) and (read := load_values(Path(one))) is not None:
            one = read
        if not isinstance(one, Stored):
            how = "'dataworth values -o FILE', or the log of 'dataworth review'"
            raise DataworthError(f"{one} is no file of values: give one of {how}.")
        found.append(one)
    return found
