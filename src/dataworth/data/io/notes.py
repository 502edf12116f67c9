"""What reading decided by itself, with the option that decides otherwise; and all that stands in its way."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from dataworth.errors import DataworthError, Problems
from dataworth.wording import and_more, counted, option


class ReadingWarning(UserWarning):
    """What `dw.read` decided by itself; the command line says the same before it starts."""


class Kind(NamedTuple):
    """Notes that one line tells together: how it begins, the option that changes it, and how."""

    start: str
    option: str
    does: str


@dataclass(frozen=True)
class Note:
    """One decision: what was done, and which option changes it. One that is `plain` is no surprise.

    kind: what other notes it is told with; about: which column it is then, with an example; cells: how many;
    column: the one that it is about, where other notes would be.

    >>> str(Note("columns are separated by ';'", "sep= changes that"))
    "columns are separated by ';'; sep= changes that"
    """

    what: str
    choice: str
    plain: bool = False
    kind: Kind | None = None
    about: str = ""
    cells: int = 0
    column: str = ""

    def __str__(self) -> str:
        return f"{self.what}; {self.choice}"


MOST_TOLD = 8
"""Columns that a line names."""


def in_few_lines(notes: Mapping[str, Sequence[Note]]) -> list[str]:
    """The notes of files, by their names: a line for each kind, with all its columns; others as they are.

    >>> kind = Kind("read as dates", "exclude", "leaves them out")
    >>> some = [Note("a holds dates", "x", kind=kind, about=f"{name!r}") for name in "ab"]
    >>> in_few_lines({"d.csv": some, "t.csv": some[:1]})
    ["read as dates: 'a', 'b'; exclude= leaves them out"]
    """
    kinds: dict[Kind | Note, dict[str, int]] = {}
    files: dict[Kind | Note, dict[str, None]] = {}
    for name, found in notes.items():
        for note in found:
            key = note.kind or note
            seen = kinds.setdefault(key, {})
            seen[note.about] = seen.get(note.about, 0) + note.cells
            files.setdefault(key, {})[name] = None
    lines = []
    for key, about in kinds.items():
        where = f" in {', '.join(files[key])}"
        if isinstance(key, Note):
            lines.append(f"{key.what}{where}; {key.choice}")
            continue
        where = "" if len(files[key]) == len(notes) else where
        told: dict[str, str] = {}
        for text, cells in about.items():
            if cells:
                told[text] = f"{text[:-1]}, {counted(cells, 'cell')})"
            elif text:  # of a column with another example in another file, the first is told
                told.setdefault(text.partition(" (")[0], text)
        listing = (
            ": " + ", ".join(list(told.values())[:MOST_TOLD]) + and_more(len(told) - MOST_TOLD)
            if told
            else ""
        )
        lines.append(f"{key.start}{listing}{where}; {option(key.option)} {key.does}")
    return lines


def refuse_all(sentences: Iterable[str]) -> None:
    """Raise what was found, if anything: one sentence as it is, several together.

    >>> refuse_all([])
    >>> refuse_all(["one", "two", "one"])
    Traceback (most recent call last):
        ...
    dataworth.errors.Problems: 2 problems: (1) one; (2) two
    """
    found = list(dict.fromkeys(sentences))
    if len(found) == 1:
        raise DataworthError(found[0])
    if found:
        raise Problems(found)


def warn(notes: Iterable[Note], name: str | None) -> None:
    """Say in Python what was decided, unless it is no surprise."""
    for note in notes:
        if not note.plain:
            start = "" if name is None else f"{name}: "
            warnings.warn(f"{start}{note}", ReadingWarning, stacklevel=3)
