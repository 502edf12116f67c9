"""Files in and out: each input read once, each output written whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from dataworth.data.dataset import Dataset
from dataworth.data.io import read_with_roles
from dataworth.data.io.roles import NUMBERS_ROWS, wishes_of
from dataworth.errors import DataworthError

from .guard import say
from .options import Columns

PLOT_SUFFIXES = (".png", ".svg", ".pdf")
GUESSED = "guessed from its name"


def absolute(path: str | Path) -> str:
    """The path under which a file is known in a configuration."""
    return os.path.abspath(path)


class Inputs:
    """Reads files with the same columns, each once; what was guessed is said when all are read.

    Of `ungrouped` the group column is left out, if it has one: groups are sources of the other files.
    """

    def __init__(self, columns: Columns, quiet: bool, ungrouped: Path | None = None) -> None:
        self._columns, self._quiet, self._ungrouped = columns, quiet, ungrouped
        self.tell: Callable[[str], None] = (lambda sentence: None) if quiet else say
        self._read: dict[str, Dataset] = {}
        self._names: set[str] = set()
        self._numbering: set[str] = set()
        self._guesses: dict[tuple[str, str], list[str]] = {}

    def __call__(self, path: Path) -> Dataset:
        """The dataset in a file."""
        key = absolute(path)
        if key not in self._read:
            # What one file has to leave out need not be in the others.
            wanted = self._columns.roles
            if path == self._ungrouped and wanted["group"] is not None:
                left_out = ",".join(filter(None, (wanted["exclude"], wanted["group"])))
                wanted |= {"group": None, "exclude": left_out}
            self._read[key], roles = read_with_roles(path, **wanted, absent_ok=True)
            self._names |= {role.column for role in roles}
            for role in roles:
                guess = None
                if role.why == NUMBERS_ROWS:
                    self._numbering.add(role.column)
                    guess = f'column "{role.column}" only numbers the rows in', "say --features to use it"
                elif role.role == "feature" and role.kind == "pair":
                    guess = f"pairs of responses {role.why} in", "say --label to choose"
                elif role.role in ("label", "id") and role.why == GUESSED:
                    guess = f'{role.role} column "{role.column}" guessed in', f"say --{role.role} to choose"
                if guess is not None:
                    self._guesses.setdefault(guess, []).append(str(path))
            self._read[key] = self._encoded(self._read[key])
        return self._read[key]

    def _encoded(self, data: Dataset) -> Dataset:
        """Texts as vectors, if an encoder was named."""
        if self._columns.text_encoder is None:
            return data
        from dataworth.embed import encode

        from .progress import listen

        with listen(self._quiet, preparing="encoding texts…") as progress:
            return encode(data, self._columns.text_encoder, progress=progress)

    def finish(self) -> None:
        """Say what was guessed; refuse to exclude what is in no file.

        A column that only numbers the rows of one file is left out of all: a part of the rows shows gaps.
        """
        for key, data in self._read.items():
            kept = [column for column in data.columns if column.name not in self._numbering]
            self._read[key] = data.select(kept) if 0 < len(kept) < data.n_features else data
        exclude = self._columns.exclude
        for wanted in [] if exclude is None else wishes_of(exclude, list(self._names)):
            start = wanted.removesuffix("*")
            if wanted not in self._names and not (
                wanted.endswith("*") and any(name.startswith(start) for name in self._names)
            ):
                raise DataworthError(f"--exclude {wanted!r} is no column of any file: check its name.")
        for (what, choice), paths in self._guesses.items():
            self.tell(f"{what} {', '.join(paths)}; {choice}")
        self._guesses.clear()

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


def check_outputs(*paths: Path | None, plot: Path | None = None) -> None:
    """Refuse outputs that cannot be written, before the work rather than after it."""
    if plot is not None and plot.suffix.lower() not in PLOT_SUFFIXES:
        raise DataworthError(f"{plot}: a plot is one of {' '.join(PLOT_SUFFIXES)}: give it such a name.")
    for path in (path for path in (*paths, plot) if path is not None):
        folder = path.resolve().parent
        if path.is_dir():
            raise DataworthError(f"{path} is a directory, but a file is to be written: name a file in it.")
        if not folder.is_dir():
            raise DataworthError(f"{path} cannot be written, for there is no directory {folder}: create it.")
        try:
            if not _is_device(path):
                _temporary(path).touch()
                _temporary(path).unlink()
        except OSError as error:
            why = f"{path} cannot be written ({error.strerror}): choose another place."
            raise DataworthError(why) from error


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A file to write that takes the place of `path` when all is written."""
    if _is_device(path):  # /dev/stdout is written to, not replaced
        yield path
        return
    temporary = _temporary(path)
    try:
        yield temporary
        os.replace(temporary, path.resolve())
    finally:
        temporary.unlink(missing_ok=True)


def _temporary(path: Path) -> Path:
    target = path.resolve()  # so that a link stays a link
    return target.with_name(f".{target.name}.{os.getpid()}.tmp")


def _is_device(path: Path) -> bool:
    return path.exists() and not path.is_file()
