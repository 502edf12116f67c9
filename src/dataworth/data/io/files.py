"""Whatever holds a table, as one: files, directories, patterns and addresses by their suffix, and frames.

Several files with the same columns are one table. A sample is drawn from the batches of all of them: every
set of n rows is as likely as any other, and memory does not grow with the files.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from glob import glob
from itertools import chain, product
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from pyarrow import parquet

from dataworth.data.convert import refuse_twice
from dataworth.data.io import sizes
from dataworth.data.io.delimited import Delimited, sniff, text_batches
from dataworth.data.io.notes import Note, naming
from dataworth.data.io.sizes import Size
from dataworth.data.io.tables import READERS, cleaned, read_excel, table_of
from dataworth.data.sealed import is_sealed
from dataworth.errors import DataworthError
from dataworth.limits import refuse_columns, refuse_too_large, refuse_unpacked
from dataworth.wording import counted, listed, option

DELIMITED = {
    ".csv": ",", ".csv.gz": ",", ".tsv": "\t", ".tsv.gz": "\t", ".tab": "\t", ".txt": None, ".txt.gz": None,
}  # fmt: skip
"""Suffixes of delimited text, with the separator that each promises."""
STREAMED = (*DELIMITED, ".parquet")
"""Suffixes of files of which some rows can be read without the others."""
SUFFIXES = (*DELIMITED, *READERS, ".parquet", ".xlsx")
NO_ROWS = "the file has no rows: write some to it"
LARGE = 1 << 27
"""Bytes of text, or of numbers in a table, from which a file is large."""
CELLS, MAX_ROWS = 1 << 20, 1 << 15
"""Cells, and rows, that are worked on together: 8 MB of numbers."""
BUFFER = 1 << 20
"""Bytes of a column that are fetched together, so that a row group of gigabytes is not."""
SEED = 0x5A3B1E
SPLITS = {"train", "training", "test", "testing", "val", "valid", "validation", "dev"}
URL = re.compile(r"[a-z][a-z0-9+]+:/{1,3}(?=[^/])")
"""A scheme; a path has lost one of its two slashes. A single letter would be a drive."""


@dataclass
class Part:
    """A table on its way to a Dataset.

    typed: whether its format has types; total: of how many rows these were drawn, if they were; cleaned:
    columns in which a cell was taken for missing because the user said so.
    """

    table: Any
    typed: bool
    notes: list[Note]
    how: Delimited
    total: int | None = None
    cleaned: set[str] = field(default_factory=set)


class _Content(NamedTuple):
    """What a file holds: names of columns, rows when they are asked for, and what reading decided."""

    names: list[str]
    batches: Callable[[], Iterable[Any]]
    how: Delimited
    notes: Sequence[Note] = ()


def part_of(source: Any, how: Delimited | None = None) -> Part:
    """The table of a source, or a sample of its rows, with what was decided to read it."""
    how = how or Delimited()
    if isinstance(source, str | PathLike):
        part = _part_of_files(str(source), how)
    else:
        table, notes = table_of(source)
        part = _assembled([_Content(table.column_names, table.to_batches, how, notes)], True, how)
    part.table, found = cleaned(part.table, how.na_values)
    for name, marker, count in found:
        about = f"{name!r} ({marker!r}, {counted(count, 'cell')})"
        says = f"{option('na_values')} says what is"
        part.notes.append(Note("read as missing, as asked", says, about, plain=True))
        part.cleaned.add(name)
    return part


def _part_of_files(name: str, how: Delimited) -> Part:
    files = files_of(name)
    # train-00000-of-00002.parquet, or test/part-1.csv
    below = [path.relative_to(name) if path.is_relative_to(name) else path.name for path in map(Path, files)]
    told = [[word for word in re.split(r"[^a-z]+", str(one).lower()) if word in SPLITS] for one in below]
    if len(splits := {words[0] for words in told if words}) > 1:
        raise DataworthError(f"its files are of the splits {', '.join(sorted(splits))}: name those of one")
    suffixes = list(map(_checked_suffix, files))
    whole = [(f, s) for f, s in zip(files, suffixes, strict=True) if how.sample is None or s not in STREAMED]
    needed = 0
    for file, suffix in whole:
        with naming(Path(file).name if len(files) > 1 else None), reading(suffix):
            size = size_of(file, suffix)
            refuse_unpacked(size.stored, size.unpacked, _some_rows(suffix))
            needed += size.needed
        refuse_too_large(needed, "reading all of it", _some_rows(suffix))
    found: list[_Content] = []
    for file, suffix in zip(files, suffixes, strict=True):
        with naming(Path(file).name if len(files) > 1 else None), reading(suffix):
            found.append(_content(file, suffix, how))
            refuse_columns(len(found[-1].names))
            if odd := set(found[0].names) ^ set(found[-1].names):
                both = f"{Path(files[0]).name} and {Path(file).name}"
                raise DataworthError(f"{both} differ in {listed(sorted(odd))}: name files of one table")
    with reading(suffixes[0]):
        part = _assembled(found, suffixes[0] not in (*DELIMITED, ".xlsx"), how)
        # A damaged file can point outside itself, which would end the process later, not raise.
        part.table.validate(full=True)
    return part


def _some_rows(suffix: str) -> str:
    """What to do where a file is too large to be read whole."""
    streamed = suffix in STREAMED
    return f"read some rows, with {option('sample', 100_000)}" if streamed else "give a part of it"


def _assembled(found: Sequence[_Content], typed: bool, how: Delimited) -> Part:
    """What several files hold as one table, or a sample of its rows."""
    notes = list(dict.fromkeys(note for one in found for note in one.notes))
    names, total = found[0].names, None
    refuse_twice(names)
    if how.sample is not None:
        table, total = sample_of_batches(chain.from_iterable(one.batches() for one in found), how.sample)
        if total > table.num_rows:
            told = f"{table.num_rows:,} of its {total:,} rows were drawn at random"
            notes.append(Note(told, f"{option('sample')} changes how many"))
    else:
        each = [own for one in found if (own := [batch for batch in one.batches() if batch.num_rows])]
        if not each:
            raise DataworthError(NO_ROWS)
        tables = [pa.Table.from_batches(batches).select(names) for batches in each]
        try:
            table = pa.concat_tables(tables, promote_options="permissive") if tables[1:] else tables[0]
        except pa.ArrowInvalid as error:
            raise DataworthError("its files have columns of different types: make them the same") from error
    return Part(table, typed, notes, replace(found[0].how, sample=None), total)


def _content(file: str, suffix: str, how: Delimited) -> _Content:
    if suffix in DELIMITED:
        found, notes = sniff(Path(file), how, DELIMITED[suffix])
        return _Content(list(found.columns), lambda: text_batches(file, found), found, notes)
    if suffix == ".parquet":
        with opened(file) as parquet_file:
            names = parquet_file.schema_arrow.names
        together = None if how.sample is None else rows_together(len(names))
        return _Content(names, lambda: parquet_batches(file, together), how)
    notes = []
    table = read_excel(Path(file), how.sheet, notes) if suffix == ".xlsx" else READERS[suffix](Path(file))
    return _Content(table.column_names, table.to_batches, how, notes)


def sample_of_batches(batches: Iterable[Any], rows: int) -> tuple[Any, int]:
    """The rows with the n smallest of independent random keys, in their order; and how many there were."""
    rng = np.random.default_rng(SEED)
    kept: list[Any] = []
    total, keys, highest = 0, np.zeros(0), np.inf
    for batch in chain(batches, [None]):
        if batch is not None:
            own = rng.random(batch.num_rows)
            total += batch.num_rows
            low = np.flatnonzero(own < highest)
            kept.append(pa.Table.from_batches([batch.take(pa.array(low))]))
            keys = np.concatenate([keys, own[low]])
        if len(keys) > (rows if batch is None else 2 * rows):
            best = np.sort(np.argpartition(keys, rows)[:rows])
            table = pa.concat_tables(kept, promote_options="permissive")
            kept, keys = [table.take(pa.array(best)).combine_chunks()], keys[best]
            highest = keys.max()
    if total == 0:
        raise DataworthError(NO_ROWS)
    return pa.concat_tables(kept, promote_options="permissive"), total


def files_of(name: str) -> list[str]:
    """The files of a path, a pattern, a directory or an address; the name itself if there are none."""
    if is_url(name):
        with reading(".parquet"):
            system, place = _system(name)
            found = sorted(system.glob(f"{place}/**.parquet" if system.isdir(place) else place)) or [place]
        if not all(file.endswith(".parquet") for file in found):
            raise DataworthError("only Parquet is read from an address: name .parquet files, or copy it here")
        return [system.unstrip_protocol(file) for file in found]
    path = Path(name)
    if not path.is_dir():
        return [name] if path.exists() else sorted(glob(name, recursive=True)) or [name]
    # Hugging Face leaves caches beside the rows
    paths = [p for p in sorted(path.rglob("*")) if p.is_file() and not p.name.startswith((".", "cache-"))]
    for suffix in (".parquet", ".arrow", *(s for s in SUFFIXES if s not in (".parquet", ".arrow", ".json"))):
        if files := [str(file) for file in paths if file.name.lower().endswith(suffix)]:
            return files
    vectors = "dataworth embed FOLDER -o vectors.parquet makes one of images"
    raise DataworthError(f"this is a directory without tables: name a file ({vectors})")


def is_url(name: str) -> bool:
    """Whether a name is that of a file on some file system that fsspec knows, such as s3://bucket/a.parquet."""
    return bool(URL.match(name))


def _system(name: str) -> tuple[Any, str]:
    """The file system of an address, and the path there; a path has lost a slash of the address."""
    scheme, _, rest = name.partition(":")
    slashes = "///" if scheme == "file" else "//"
    try:
        import fsspec

        return fsspec.core.url_to_fs(f"{scheme}:{slashes}{rest.lstrip('/')}")
    except ImportError as error:
        raise DataworthError(f"an address needs another package ({error}): pip install it") from error


def opened(file: str, **options: Any) -> Any:
    """A Parquet file, here or elsewhere."""
    system, path = _system(file) if is_url(file) else (None, file)
    place = system.open(path, "rb") if system else path
    return parquet.ParquetFile(place, page_checksum_verification=True, **options)


def rows_together(columns: int) -> int:
    """How many rows of so many columns are worked on together."""
    return max(8, min(MAX_ROWS, CELLS // max(1, columns)))


def parquet_batches(
    file: str, together: int | None = None, groups: Sequence[int] | None = None, columns: Any = None
) -> Iterator[Any]:
    """The rows of a Parquet file, all or so many together; of some row groups and columns, or of all.

    Its own batches, not a dataset of pyarrow, which would add columns for directories like "part=1". Texts
    that may be long and stand in a dictionary are read as that, and unfolded if they are not too long.
    """
    stored = stored_size(file)
    with opened(file) as plain:
        types, folded = plain.schema_arrow, sizes.folded_columns(stored, plain.metadata)
        groups = range(plain.num_row_groups) if groups is None else groups
    wanted = types if columns is None else pa.schema([types.field(name) for name in columns], types.metadata)
    within = tuple(f"{name}." for name in wanted.names)
    _refuse_nested(file, stored, groups, [one for one in folded.nested if one.startswith(within)])
    few: Any = {} if together is None else {"buffer_size": BUFFER}
    with opened(file, read_dictionary=folded.flat, **few) as source:
        if together is None:
            tables = iter([source.read_row_groups(groups, columns=columns)])
        else:
            options: Any = {"row_groups": groups, "columns": columns, "use_threads": False}
            tables = (pa.Table.from_batches([one]) for one in source.iter_batches(together, **options))
        for table in tables:
            if folded.flat:
                sizes.refuse_unfolded(stored, [table])
                table = table.cast(pa.schema([wanted.field(n) for n in table.column_names], wanted.metadata))
            yield from table.to_batches()


def _refuse_nested(file: str, stored: int, groups: Iterable[int], columns: list[str]) -> None:
    """A sentence, if texts within lists unfold to too much.

    pyarrow reads them folded by row groups, and not where their dictionary was given up: most differ then.
    """
    if not columns:
        return
    with opened(file, read_dictionary=columns) as source:

        def tables() -> Iterator[Any]:
            for group, column in product(groups, columns):
                with suppress(pa.ArrowNotImplementedError):
                    yield source.read_row_group(group, columns=[column])

        sizes.refuse_unfolded(stored, tables())


def stored_size(file: str) -> int:
    """Bytes of a file, here or elsewhere."""
    if is_url(file):
        system, path = _system(file)
        return int(system.size(path))
    return Path(file).stat().st_size


@contextmanager
def reading(suffix: str) -> Iterator[None]:
    """Whatever goes wrong in a file is a sentence."""
    try:
        yield
    except DataworthError:
        raise
    except MemoryError as error:
        why = "it asks for more memory than there is: it is damaged, or has too many rows for this machine"
        raise DataworthError(why) from error
    except Exception as error:  # a damaged file can make a parser raise anything
        why = " ".join(str(error).split())[:160] or type(error).__name__
        said = f"this cannot be read as {suffix} ({why}): check that the file is complete"
        if isinstance(error, UnicodeDecodeError) or "UTF8" in why.replace("-", "").upper():
            name = error.encoding if isinstance(error, UnicodeDecodeError) else "UTF-8"
            how = f"say which it is with {option('encoding')}" if suffix in DELIMITED else "save it as UTF-8"
            said = f"this is not {name} text: {how}"
        elif "allow_pickle" in why:  # numpy's advice, which would run whatever code the file holds
            said = f"this cannot be read as {suffix} (it is no archive of plain arrays): save it again"
        elif "straddling" in why:
            said = "a line is longer than 16 MB: cut its texts, or leave the row out"
        elif why.startswith("Empty"):
            said = "the file is empty: write rows to it"
        raise DataworthError(said) from error


def _checked_suffix(file: str) -> str:
    """The suffix of a file that can be read."""
    path, suffix, here = Path(file), suffix_of(Path(file)), not is_url(file)
    if is_sealed(path):
        raise DataworthError("these are sealed data, without rows: give rows (only score and rank take it)")
    if here and not path.exists():
        raise DataworthError("there is no such file: check the path")
    if here and not path.is_file():
        raise DataworthError("this is a pipe or a device, which may have no end: save it as a file")
    if here and not suffix:
        hint = "save it as .xlsx" if path.suffix.lower() == ".xls" else "convert the file, or rename it"
        raise DataworthError(f"the suffix is not one of {' '.join(SUFFIXES)}: {hint}")
    return suffix


def suffix_of(path: Path) -> str:
    """The longest known suffix, so that .csv.gz is not taken for .gz."""
    name = path.name.lower()
    return max((suffix for suffix in SUFFIXES if name.endswith(suffix)), key=len, default="")


SIZES: dict[str, Callable[[Path], Size]] = {
    **dict.fromkeys((".jsonl", ".jsonl.gz", ".ndjson"), sizes.size_of_lines),
    ".json": sizes.size_of_json,
    **dict.fromkeys((".feather", ".arrow"), sizes.size_of_arrow),
}
"""What measures files that hold their cells not as plain text."""


def size_of(file: str, suffix: str) -> Size:
    """How much a file asks for; a sentence if it is packed, and unpacks to more than it may."""
    if suffix == ".parquet":
        with opened(file) as source:
            return sizes.size_of_parquet(stored_size(file), source.metadata)
    size = SIZES.get(suffix, sizes.size_of_text)(Path(file))
    refuse_unpacked(size.stored, size.unpacked, sizes.UNPACK)
    return size


def columns_if_large(source: Any) -> int | None:
    """How many columns a large file has (1, if that is not known); None if it is not large."""
    path = Path(source) if isinstance(source, str | PathLike) else Path()
    size = Size(0, 0, 1, 0)
    if path.is_file() and (suffix := suffix_of(path)) in STREAMED:
        with suppress(DataworthError), reading(suffix):  # reading says what is wrong
            size = size_of(str(path), suffix)
    return size.columns if size.unpacked > LARGE else None
