"""The front door for measurements: all sources read together, led by the test set, aligned and checked."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike
from typing import Any

from dataworth.data.dataset import Dataset
from dataworth.data.io.align import Options, Read, read_together, release, sentences
from dataworth.data.io.files import columns_if_large, is_url
from dataworth.data.io.notes import Note, gathering, in_few_lines, naming, refuse_all
from dataworth.data.io.roles import wishes_of
from dataworth.data.io.streamed import Stream
from dataworth.data.labels import learn_targets
from dataworth.errors import DataworthError
from dataworth.wording import listed, option

READING = {*Options.__annotations__, "impute"} - {"absent_ok"}
"""Keywords of `read`, which functions that take files have too."""
DRAWN_FROM, BLOCKS = 20_000, 100
"""Rows of a large file that pairs are drawn from, at least, and how many disjoint draws m they hold: enough
that the interval, whose width goes with √(1/(m − 1) + 1/k), is that of k pairs or of the test set."""


@dataclass(frozen=True)
class Reading:
    """How the sources of one measurement, `what`, are read; drawn: rows of a pair, where pairs are drawn.

    streams: whether data may be read in passes; encode: applied to every Dataset, as an encoder of texts is.
    """

    what: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)
    drawn: int | None = None
    streams: bool = False
    encode: Callable[[Any], Any] | None = None

    def asked(self, data: Sequence[Any]) -> dict[str, Any]:
        """The options of `read`, checked; pairs are drawn from a sample of large files."""
        asked = dict(self.options)
        if asked.get("sample") is not None and self.what in ("audit", "curate", "values"):
            why = f"{self.what} goes by the rows of whole files, which samples do not share"
            raise DataworthError(f"{why}: leave {option('sample')} out")
        if asked.get("stream") and not self.streams:
            which = "only score, in its design whole, reads data in passes"
            raise DataworthError(f"{which}: leave {option('stream')} out")
        if asked.get("sample") is None and self.drawn is not None and self.what == "score":
            asked["sample"] = rows_for_pairs(data, self.drawn)
        return asked


def rows_for_pairs(sources: Iterable[Any], size: int) -> int | None:
    """How many rows of each file pairs of a size are drawn from; None (all) if none is large."""
    large = any(columns_if_large(source) is not None for source in sources)
    return max(DRAWN_FROM, BLOCKS * size) if large else None


@dataclass(frozen=True)
class Inputs:
    """Sources that were read together, known by their absolute path, else by identity.

    `inputs(source)` is the Dataset, or the Stream, of one.
    """

    sources: Mapping[Any, Any]
    data: Mapping[Any, Any]
    notes: Mapping[Any, tuple[Note, ...]]
    remarks: tuple[str, ...]

    def __call__(self, source: Any) -> Any:
        """What was made of a source."""
        return self.data[_key(source)]

    def lines(self) -> list[str]:
        """Notes and remarks for people: a line for each kind."""
        told = {str(self.sources[key]): notes for key, notes in self.notes.items()}
        return [*in_few_lines(told), *self.remarks]

    def reading(self) -> list[dict[str, Any]]:
        """The notes as plain data, each with its files."""
        where: dict[Note, list[str]] = {}
        for note, key in ((note, str(key)) for key, notes in self.notes.items() for note in notes):
            where.setdefault(note, []).append(key)
        return [{"what": note.what, "choice": note.choice, "files": own} for note, own in where.items()]

    def hashes(self) -> dict[str, str]:
        """Content hash of each file, by its absolute path."""
        return {str(key): data.content_hash() for key, data in self.data.items()}


def load_inputs(
    sources: Sequence[Any], test: Any = None, reading: Reading | None = None, known: Any = None
) -> Inputs:
    """Read sources together, led by the test set or by a yardstick; refuse all that is wrong, at once.

    Args:
        sources: files, frames and whatever else `read` takes; the test set among them, if it is to be read.
        test: the test set: one of the sources, or a Dataset.
        reading: how.
        known: a yardstick, which decides before any file.
    """
    reading = reading or Reading()
    each = {_key(source): source for source in sources}
    lead = list(each).index(_key(test)) if test is not None and _key(test) in each else None
    leader = test if known is None and isinstance(test, Dataset) else known
    columns = () if leader is None else leader.columns
    asked = reading.asked([source for i, source in enumerate(each.values()) if i != lead])
    # What one file has to leave out need not be in the others.
    found = read_together(
        [*each.values()], lead=lead, columns=columns, streams=reading.streams, **asked, absent_ok=True
    )
    names = {role.column for one in found for role in one.roles}
    refuse_all([*sentences(found), *_nowhere(asked, names)])
    notes = {key: tuple(one.notes) for key, one in zip(each, found, strict=True)}
    encode = reading.encode or (lambda data: data)
    data = {key: encode(one.data) for key, one in zip(each, found, strict=True)}
    remarks = tuple(_misfits(found, data, data[_key(test)] if lead is not None else test, known))
    del found
    release()
    return Inputs(each, data, notes, remarks)


def is_table(given: Any) -> bool:
    """Whether this is to be read: a file or a frame, say; arrays have no names, and Datasets are read."""
    package = type(given).__module__.split(".")[0]
    return isinstance(given, str | PathLike) or package not in ("builtins", "numpy", "dataworth")


def absolute(path: str | PathLike[str]) -> str:
    """The path, or the address, under which a file is known."""
    return str(path) if is_url(str(path)) else os.path.abspath(path)


def _key(source: Any) -> Any:
    return absolute(source) if isinstance(source, str | PathLike) else id(source)


def _nowhere(asked: Mapping[str, Any], names: Collection[str]) -> Iterator[str]:
    """Columns that are to be left out, or to be text or numbers, and are in no source."""
    for name in ("exclude", "categorical", "numeric") if names else ():
        for wanted in wishes_of(asked.get(name) or (), list(names)):
            start = wanted.removesuffix("*")
            like = name == "exclude" and wanted.endswith("*") and any(n.startswith(start) for n in names)
            if wanted not in names and not like:
                yield f"{option(name).rstrip('=')} {wanted!r} is no column of any file: check its name."


def _misfits(found: Sequence[Read], data: Mapping[Any, Any], test: Any, known: Any) -> Iterator[str]:
    """Refuse columns and labels that are not the test set's, with the file's name; yield what is ignored."""
    if known is None and not isinstance(test, Dataset):
        return
    if known is not None:
        columns, labels, what = known.columns, known.labels, "the yardstick"
    else:
        source = next((one.source for one in found if data[_key(one.source)] is test), None)
        with naming(source):
            labels = learn_targets(test)
        columns, what = test.columns, "the test set"
    wrong: list[str] = []
    names = {column.name for column in columns}
    for one in found:
        rows = data[_key(one.source)]
        rows = rows.sample if isinstance(rows, Stream) else rows
        if one.name is None or (known is None and rows is test):
            continue  # a frame has no name: whoever measures it says what it is
        with gathering(wrong), naming(one.name):
            rows.select(columns)
        with gathering(wrong):
            labels.encode(rows.y, one.name)
        if extra := [name for name in rows.names if name not in names]:
            verb = "is" if len(extra) == 1 else "are"
            yield f"{one.name}: {listed(extra)} {verb} not in {what} and {verb} ignored"
    refuse_all(one.replace("the other dataset", what).replace("the test set", what) for one in wrong)
