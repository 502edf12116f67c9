"""Files of a command: the names of their data, and outputs that are tried before the work."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from dataworth.atomic import is_device, temporary_of
from dataworth.data.io.files import SUFFIXES
from dataworth.data.sealed import SUFFIX
from dataworth.errors import DataworthError

PLOT_SUFFIXES = (".png", ".svg", ".pdf")


def names_of(paths: Sequence[Path]) -> list[str]:
    """File names without their suffixes; the whole path where two would have the same name."""
    twice = [str(path) for path, times in Counter(map(str, paths)).items() if times > 1]
    if twice:
        raise DataworthError(f"{twice[0]} is given more than once: give each dataset once.")
    endings = sorted((*SUFFIXES, SUFFIX), key=len, reverse=True)
    found = [next((s for s in endings if path.name.lower().endswith(s)), "") for path in paths]
    stems = [path.name[: len(path.name) - len(suffix)] for path, suffix in zip(paths, found, strict=True)]
    return [stem if stems.count(stem) == 1 else str(path) for stem, path in zip(stems, paths, strict=True)]


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
