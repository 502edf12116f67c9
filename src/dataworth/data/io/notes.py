"""What reading decided by itself, with the option that decides otherwise; and all that stands in its way."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from os import PathLike
from typing import Any

from dataworth.errors import DataworthError, Problems
from dataworth.wording import and_more

MAX_TOLD = 8
"""Columns that a line names."""


class ReadingWarning(UserWarning):
    """What `dw.read` decided by itself; the command line says the same before it starts."""


@dataclass(frozen=True)
class Note:
    """One decision, and the option that decides otherwise; Python does not warn of one that is `plain`."""

    decision: str
    choice: str
    about: str = ""
    plain: bool = False

    @property
    def what(self) -> str:
        """What was done, with what."""
        return f"{self.decision}: {self.about}" if self.about else self.decision

    def __str__(self) -> str:
        return f"{self.what}; {self.choice}"


def in_few_lines(notes: Mapping[str, Sequence[Note]]) -> list[str]:
    """The notes of files, by their names: a line for each decision, with all its columns."""
    kinds: dict[tuple[str, str], dict[str, list[Note]]] = {}
    for name, found in notes.items():
        for note in found:
            kinds.setdefault((note.decision, note.choice), {}).setdefault(name, []).append(note)
    lines = []
    for (decision, choice), files in kinds.items():
        about: dict[str, str] = {}
        for note in chain(*files.values()):  # of several examples of one column, the first is told
            about.setdefault(note.about.partition(" (")[0], note.about)
        told = list(filter(None, about.values()))
        listing = f": {', '.join(told[:MAX_TOLD])}{and_more(len(told) - MAX_TOLD)}" if told else ""
        where = "" if told and len(files) == len(notes) else f" in {', '.join(files)}"
        lines.append(f"{decision}{listing}{where}; {choice}")
    return lines


def refuse_all(sentences: Iterable[str]) -> None:
    """Raise what was found, if anything: one sentence as it is, several together."""
    if found := list(dict.fromkeys(sentences)):
        raise Problems(found) if found[1:] else DataworthError(found[0])


@contextmanager
def gathering(problems: list[str]) -> Iterator[None]:
    """Add the sentences of what is raised to others, so that all are told at once."""
    try:
        yield
    except Problems as error:
        problems += error.sentences
    except DataworthError as error:
        problems.append(str(error))


@contextmanager
def naming(source: Any) -> Iterator[None]:
    """Begin every sentence about a file with the file: a command may have read several."""
    try:
        yield
    except DataworthError as error:
        if not isinstance(source, str | PathLike):
            raise
        raise DataworthError(f"{source}: {error}") from error.__cause__


def warn(notes: Iterable[Note], name: str | None) -> None:
    """Say in Python what was decided, unless it is no surprise."""
    for note in (note for note in notes if not note.plain):
        told = str(note) if name is None else f"{name}: {note}"
        warnings.warn(told, ReadingWarning, stacklevel=3)
