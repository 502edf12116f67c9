"""Several files that are one table: a directory, a pattern, a saved dataset of Hugging Face."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from dataworth.atomic import parse_json, read_whole
from dataworth.data.io.delimited import Delimited
from dataworth.data.io.formats import (
    CELL,
    DELIMITED,
    SUFFIXES,
    Part,
    part_of_file,
    part_of_parquet,
    suffix_of,
)
from dataworth.data.io.images import SPLITS
from dataworth.data.io.parsing import TIMES_ITS_TEXT, unpacked_size
from dataworth.data.io.sampled import SEED, sample_note
from dataworth.data.memory import TooLarge, refuse_too_large
from dataworth.errors import DataworthError
from dataworth.wording import listed, option


def files_of_directory(directory: Path) -> list[Path]:
    """The files of a directory that hold its rows; several splits are refused, never joined."""
    if (directory / "dataset_dict.json").is_file():  # saved by DatasetDict.save_to_disk
        splits = _named_in(directory / "dataset_dict.json", lambda said: said["splits"])
        if len(splits) > 1:
            raise DataworthError(
                f"this holds the splits {', '.join(splits)}: name one, as in {directory / splits[0]}"
            )
        return files_of_directory(directory / splits[0])
    if (directory / "state.json").is_file():  # by Dataset.save_to_disk, beside which caches may lie
        names = _named_in(
            directory / "state.json", lambda said: [one["filename"] for one in said["_data_files"]]
        )
        return [directory / name for name in names]
    found = [
        file for file in sorted(directory.rglob("*")) if file.is_file() and not file.name.startswith(".")
    ]
    for suffix in (".parquet", ".arrow", *(s for s in SUFFIXES if s not in (".parquet", ".arrow", ".json"))):
        if files := [file for file in found if file.name.lower().endswith(suffix)]:
            return files
    raise DataworthError("this is a directory without tables, but a file is expected: name a file")


def _named_in(file: Path, find: Callable[[Any], Any]) -> list[str]:
    """Names of files beside a file that says them; none may lead elsewhere."""
    try:
        names = find(parse_json(read_whole(file)))
    except (OSError, ValueError, KeyError, TypeError, IndexError, AttributeError):
        names = None
    good = isinstance(names, list) and names and all(isinstance(name, str) and name for name in names)
    if not good or any(Path(name).name != name for name in names):
        raise DataworthError(f"{file.name} names no files beside it: save the dataset again")
    return list(names)


def part_of_shards(path: Path, files: Sequence[Path], how: Delimited) -> Part:
    """Files with the same columns as one table."""
    import pyarrow as pa

    splits = {split for file in files if (split := _split_of(file, path)) is not None}
    if len(splits) > 1:
        raise DataworthError(f"its files are of the splits {', '.join(sorted(splits))}: name those of one")
    if how.sample is not None and all(suffix_of(file) == ".parquet" for file in files):
        return part_of_parquet(str(path), [_opened(file) for file in files], how)
    text = all(suffix_of(file) in DELIMITED for file in files)
    if how.sample is None:
        _refuse_too_large(files)
    elif not text:
        how = replace(how, sample=None)  # drawn from all of them, once they are one
    parts = []
    for file in files:
        try:
            parts.append(part_of_file(file, how))
        except TooLarge:
            raise
        except DataworthError as error:
            raise DataworthError(f"{file.name}: {error}") from error
    first = parts[0].table.column_names
    for file, part in zip(files, parts, strict=True):
        if odd := set(first) ^ set(part.table.column_names):
            raise DataworthError(
                f"{files[0].name} and {file.name} differ in {listed(sorted(odd))}: name files of one table"
            )
    words = [
        name
        for name in first
        if len({_family(part.table[name].type) for part in parts} - {"null"}) > 1
        and parts[0].again is not None
    ]
    if words:  # a number here and text there: as text, for what types columns to decide once
        texts = replace(how, as_text=(*how.as_text, *words))
        parts = [part.again(texts) for part in parts if part.again is not None]
    own = replace(parts[0].how, notes=())
    if how.sample is not None:
        own = replace(own, total=_thin(parts, how.sample))
    try:
        table = pa.concat_tables([part.table.select(first) for part in parts], promote_options="permissive")
    except pa.ArrowException as error:
        raise DataworthError("its files have columns of different types: make them the same") from error
    notes = list(dict.fromkeys(note for part in parts for note in part.notes))
    if own.total is not None and own.total > table.num_rows:
        notes = [note for note in notes if "drawn at random" not in note.what]
        notes.append(sample_note(table.num_rows, own.total))
    made = Part(str(path), table, parts[0].typed, notes, own)
    if parts[0].again is not None:
        made.again = lambda wanted: part_of_shards(path, files, wanted)
    return made


def _refuse_too_large(files: Sequence[Path]) -> None:
    """A sentence before files are read that do not fit in memory together."""
    needed = 0.0
    for file in files:
        if suffix_of(file) == ".parquet":
            with _opened(file) as opened:
                needed += CELL * opened.metadata.num_rows * opened.metadata.num_columns
        elif suffix_of(file) in DELIMITED:
            needed += TIMES_ITS_TEXT * unpacked_size(file)
    refuse_too_large(needed, "reading all of it", f"read some rows, with {option('sample', 100000)}")


def _thin(parts: Sequence[Part], rows: int) -> int:
    """Leave so many rows of parts that are samples of as many, each row as likely; how many there were."""
    import pyarrow as pa

    totals = [part.table.num_rows if part.how.total is None else part.how.total for part in parts]
    rng = np.random.default_rng([SEED, sum(totals)])
    kept = rng.multivariate_hypergeometric(totals, min(rows, sum(totals)))
    for part, count in zip(parts, kept, strict=True):
        chosen = np.sort(rng.choice(part.table.num_rows, int(count), replace=False))
        part.table = part.table.take(pa.array(chosen))
    return sum(totals)


def _opened(file: Path) -> Any:
    import pyarrow as pa
    from pyarrow import parquet

    try:
        return parquet.ParquetFile(file)
    except (OSError, pa.ArrowException) as error:
        raise DataworthError(f"{file.name}: this cannot be read as .parquet: check it") from error


def _family(kind: Any) -> str:
    import pyarrow as pa

    t = pa.types
    if t.is_null(kind):
        return "null"
    return "number" if t.is_integer(kind) or t.is_floating(kind) else str(kind)


def _split_of(file: Path, under: Path) -> str | None:
    """The split that a name such as train-00000-of-00002.parquet or test/part-1.csv tells."""
    try:
        place = str(file.relative_to(under))
    except ValueError:
        place = file.name
    words = re.split(r"[^a-z]+", place.lower())
    return next((word for word in words if word in SPLITS), None)
