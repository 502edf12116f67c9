"""Several files that are one table: a directory, a pattern, a saved dataset of Hugging Face."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from dataworth.data.io.delimited import Delimited
from dataworth.data.io.formats import SUFFIXES, Part, part_of_file
from dataworth.data.io.images import SPLITS
from dataworth.data.io.whole import parse_json, read_whole
from dataworth.errors import DataworthError
from dataworth.wording import listed


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
    parts = []
    for file in files:
        try:
            parts.append(part_of_file(file, how))
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
    try:
        table = pa.concat_tables([part.table.select(first) for part in parts], promote_options="permissive")
    except pa.ArrowException as error:
        raise DataworthError("its files have columns of different types: make them the same") from error
    notes = list(dict.fromkeys(note for part in parts for note in part.notes))
    own = replace(parts[0].how, notes=())
    made = Part(str(path), table, parts[0].typed, notes, own)
    if parts[0].again is not None:
        made.again = lambda wanted: part_of_shards(path, files, wanted)
    return made


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
