"""What a study found, printed and kept: the directory, tables in it, and what made them."""

from __future__ import annotations

import json
import platform
import shlex
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib.metadata import version
from itertools import pairwise
from pathlib import Path
from typing import Any

PACKAGES = ("dataworth", "numpy", "scipy", "scikit-learn", "joblib", "pyarrow", "narwhals")
"""Packages whose versions are kept beside a result."""


@contextmanager
def telling(quiet: bool, preparing: str) -> Iterator[Callable[[int, int], None] | None]:
    """Whoever is to hear how far the work is, as `progress(done, total)`; None if nobody is."""
    from dataworth.cli.progress import listen

    with listen(quiet, preparing=preparing) as listener:
        yield None if listener is None else listener.update


def check_quick(quick: bool, given: bool, option: str) -> None:
    """A quick look takes the embedded digits: refuse what asks for other data."""
    from dataworth import DataworthError

    if quick and given:
        raise DataworthError(f"--quick runs the embedded digits: drop {option} and --data, or drop --quick.")


def keep(
    folder: Path | None, name: str, text: str, rows: Sequence[Any], columns: Sequence[str], seed: int
) -> None:
    """Print the text; keep it with the rows and what made them, if there is where."""
    from dataworth_studies.tables import write_csv

    print(text)
    if folder is not None:
        (folder / f"{name}.md").write_text(text)
        write_csv(rows, columns, folder / f"{name}.csv")
        write_about(folder, name, seed)


def make_folder(out: Path | None) -> Path | None:
    """The directory for results, made if it is not there."""
    from dataworth import DataworthError

    if out is None:
        return None
    if out.exists() and not out.is_dir():
        raise DataworthError(f"--out {str(out)!r} is a file: give a directory.")
    out.mkdir(parents=True, exist_ok=True)
    return out


def write_about(out: Path, name: str, seed: int) -> None:
    """What made the results: command, seed, versions; directories are this machine's business."""
    record = {"command": own_command(sys.argv), "seed": seed, "versions": versions()}
    (out / f"{name}.about.json").write_text(json.dumps(record, indent=2, ensure_ascii=False) + "\n")


def versions() -> dict[str, str]:
    """The versions of Python and of the packages that determine a number."""
    return {"python": platform.python_version(), **{package: version(package) for package in PACKAGES}}


def own_command(words: Sequence[str]) -> str:
    """The command without directories of this machine: where it keeps its data is no part of a result.

    >>> own_command(["/bin/dataworth", "study", "mi", "--data", "d", "--out=/home/me/found"])
    'dataworth study mi --data DIR --out=DIR'
    """
    told = []
    for before, word in pairwise(words):
        option, equals, value = word.partition("=")
        if before == "--data" or Path(word).is_absolute():
            told.append("DIR")
        elif equals and (option == "--data" or Path(value).is_absolute()):
            told.append(f"{option}=DIR")
        else:
            told.append(word)
    return shlex.join(["dataworth", *told])
