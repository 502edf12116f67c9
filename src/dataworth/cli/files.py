"""Files in and out: each input read once, each output tried before the work."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from dataworth.atomic import is_device, temporary_of
from dataworth.data.convert import Column
from dataworth.data.dataset import Dataset
from dataworth.data.io.align import read_together, release, sentences
from dataworth.data.io.frames import HUB
from dataworth.data.io.given import refuse_streams
from dataworth.data.io.notes import Note, in_few_lines, refuse_all
from dataworth.data.io.roles import wishes_of
from dataworth.data.io.sources import is_url
from dataworth.data.io.streamed import Stream
from dataworth.errors import DataworthError
from dataworth.parallel import Engine
from dataworth.report.views import ending as report_ending

from .guard import say
from .options import Columns

PLOT_SUFFIXES = (".png", ".svg", ".pdf")


def absolute(path: str | Path) -> str:
    """The path under which a file is known in a configuration; a name of a hub is no path."""
    return str(path) if str(path).startswith(HUB) or is_url(str(path)) else os.path.abspath(path)


class Inputs:
    """The files of a command, each read once, all with the same columns; what was decided is said at once."""

    def __init__(self, columns: Columns, quiet: bool, engine: Engine | None = None) -> None:
        self._columns, self._quiet, self._engine = columns, quiet, engine
        self.tell: Callable[[str], None] = (lambda sentence: None) if quiet else say
        self.notes: list[dict[str, Any]] = []
        self._read: dict[str, Any] = {}

    def read(
        self,
        paths: Iterable[Path],
        test: Path | None = None,
        columns: Sequence[Column] = (),
        streams: bool = False,
    ) -> Inputs:
        """Read files together, led by the test set or a yardstick's columns; refuse all that is wrong.

        streams: what does not fit in memory is read in passes, later.
        """
        refuse_streams(self._columns.stream, streams)
        each = {absolute(path): path for path in paths}
        lead = None if test is None else list(each).index(absolute(test))
        # What one file has to leave out need not be in the others.
        found = read_together(
            list(each.values()),
            lead=lead,
            columns=columns,
            streams=streams,
            **self._columns.roles,
            absent_ok=True,
        )
        names = {role.column for one in found for role in one.roles}
        refuse_all([*sentences(found), *self._nowhere(names)])
        files: dict[Note, list[str]] = {}
        for key, one in zip(each, found, strict=True):
            for note in one.notes:
                files.setdefault(note, []).append(key)
        self.notes += [{"what": n.what, "choice": n.choice, "files": where} for n, where in files.items()]
        for line in in_few_lines({str(one.source): one.notes for one in found}):
            self.tell(line)
        for marker in self._columns.missing or ():
            if not any(f" of {marker.strip()!r} in column" in note.what for note in files):
                self.tell(f"--missing {marker!r} stands in no cell")
        self._read = {key: self._encoded(one.data) for key, one in zip(each, found, strict=True) if one.data}
        del found
        release()
        return self

    def __call__(self, path: Path) -> Any:
        """The dataset in a file that was read, or that is read in passes."""
        return self._read[absolute(path)]

    def _nowhere(self, names: Collection[str]) -> Iterator[str]:
        """Columns that are to be left out, or to be text or numbers, and are in no file."""
        for option in ("exclude", "categories", "numbers") if names else ():
            for wanted in wishes_of(getattr(self._columns, option) or (), list(names)):
                start = wanted.removesuffix("*")
                like = (
                    option == "exclude" and wanted.endswith("*") and any(n.startswith(start) for n in names)
                )
                if wanted not in names and not like:
                    yield f"--{option} {wanted!r} is no column of any file: check its name."

    def _encoded(self, data: Dataset | Stream) -> Dataset | Stream:
        """Texts as vectors, if an encoder was named."""
        if self._columns.text_encoder is None:
            return data
        if isinstance(data, Stream):
            raise DataworthError("--text-encoder takes rows in memory: read some of them, with --sample.")
        from dataworth.embed import encode

        from .progress import listen

        with listen(self._quiet, preparing="encoding texts…") as progress:
            return encode(data, self._columns.text_encoder, engine=self._engine, progress=progress)

    def hashes(self) -> dict[str, str]:
        """Content hash of each file read, by its absolute path."""
        return {path: data.content_hash() for path, data in self._read.items()}


def check_pins(hashes: Mapping[str, str], pins: Mapping[str, str]) -> None:
    """Refuse inputs that are not what a configuration was made with."""
    changed = [path for path, value in hashes.items() if pins.get(path, value) != value]
    if changed:
        raise DataworthError(
            f"{changed[0]} has changed since the run was configured: restore the file, or start a new run."
        )


def check_outputs(*paths: Path | None, plot: Path | None = None, reports: Sequence[Path] = ()) -> None:
    """Refuse outputs that cannot be written, before the work rather than after it."""
    for path in reports:
        report_ending(path)
    if plot is not None and plot.suffix.lower() not in PLOT_SUFFIXES:
        raise DataworthError(f"{plot}: a plot is one of {' '.join(PLOT_SUFFIXES)}: give it such a name.")
    for path in (path for path in (*paths, plot, *reports) if path is not None):
        folder = path.resolve().parent
        if path.is_dir():
            raise DataworthError(f"{path} is a directory, but a file is to be written: name a file in it.")
        if not folder.is_dir():
            raise DataworthError(f"{path} cannot be written, for there is no directory {folder}: create it.")
        try:
            if not is_device(path):
                temporary_of(path).touch()
                temporary_of(path).unlink()
        except OSError as error:
            why = f"{path} cannot be written ({error.strerror}): choose another place."
            raise DataworthError(why) from error
