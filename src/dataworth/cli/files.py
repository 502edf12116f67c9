"""Files of a command: the names of their data, and outputs that are tried before the work."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from dataworth.atomic import is_device, temporary_of
from dataworth.data.io.files import SUFFIXES
from dataworth.data.sealed import SUFFIX
from dataworth.errors import DataworthError

PLOT_SUFFIXES = (".png", ".svg", ".pdf")


def names_of(paths: Sequence[Path]) -> list[str]:
    """File names without their suffixes; the whole path where two would have the same name.

    >>> names_of([Path("x/a.csv"), Path("y/a.csv"), Path("b.csv.gz")])
    ['x/a.csv', 'y/a.csv', 'b']
    """
    twice = [str(path) for path, times in Counter(map(str, paths)).items() if times > 1]
    if twice:
        raise DataworthError(f"{twice[0]} is given more than once: give each dataset once.")
    stems = [_stem(path) for path in paths]
    return [stem if stems.count(stem) == 1 else str(path) for stem, path in zip(stems, paths, strict=True)]


def _stem(path: Path) -> str:
    suffix = max((s for s in (*SUFFIXES, SUFFIX) if path.name.lower().endswith(s)), key=len, default="")
    return path.name[: len(path.name) - len(suffix)]


def check_pins(hashes: Mapping[str, str], pins: Mapping[str, str]) -> None:
    """Refuse inputs that are not what a configuration was made with."""
    changed = [path for path, value in hashes.items() if pins.get(path, value) != value]
    if changed:
        raise DataworthError(
            f"{changed[0]} has changed since the run was configured: restore the file, or start a new run."
        )


def check_outputs(*paths: Path | None, plot: Path | None = None, reports: Sequence[Path] = ()) -> None:
    """Refuse outputs that cannot be written, before the work rather than after it."""
    if reports:
        from dataworth.report.views import ending

        for path in reports:
            ending(path)
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
