"""What reading decided by itself, with the option that decides otherwise; and all that stands in its way."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from os import PathLike
from typing import Any, NamedTuple

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


MIXED, MIXED_OUT = (Kind(start, "numbers", "reads numbers") for start in ("read as text", "left out"))
AS_TEXT = ", and is read as text"
DATES = Kind("dates, of which days, day of the year and weekday are features", "exclude", "leaves them out")
LEFT_OUT = Kind("left out", "features", "names what to use")
NUMBERS_ROWS = "it only numbers or names the rows"
LIKE_AN_ID = "it is named like an id"
NAMES_ROWS = "it seems to name the rows"
EMPTY, CONSTANT = "it is empty", "it is constant in the test set"

MAX_TOLD = 8
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
            ": " + ", ".join(list(told.values())[:MAX_TOLD]) + and_more(len(told) - MAX_TOLD) if told else ""
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
    for note in notes:
        if not note.plain:
            start = "" if name is None else f"{name}: "
            warnings.warn(f"{start}{note}", ReadingWarning, stacklevel=3)


def all_notes(notes: Sequence[Note], roles: Sequence[Any]) -> list[Note]:
    """What was decided of a file, `notes`, and of the roles of its columns; of one column one note."""
    told = {note.column for note in notes if note.column}
    dates = [role for role in roles if role.column in told and role.kind == "date or time"]
    names = [role for role in roles if role.column in told and role.why.startswith(NAMES_ROWS)]
    whys = {role.column: role.why for role in names}
    own = [
        left_out(note, whys[note.column]) if note.kind == MIXED and note.column in whys else note
        for note in notes
    ]
    return [*own, *_role_notes([role for role in roles if role not in [*dates, *names]])]


def _role_notes(roles: Sequence[Any]) -> list[Note]:
    """What was decided of the roles of columns."""
    notes = []
    for role in roles:
        name = role.column
        if role.role == "ignored" and role.why == NUMBERS_ROWS:
            notes.append(
                Note(
                    f'column "{name}" only numbers the rows',
                    f"say {option('features')} to use it",
                    plain=True,
                )
            )
        elif role.role == "feature" and role.kind == "pair":
            notes.append(
                Note(f"pairs of responses {role.why}", f"say {option('label')} to choose", plain=True)
            )
        elif role.role in ("label", "id") and role.why == "guessed from its name":
            notes.append(
                Note(f'{role.role} column "{name}" guessed', f"say {option(role.role)} to choose", plain=True)
            )
        elif role.why == LIKE_AN_ID:
            what = f"column {name!r} is named like an id and is left out"
            says = f"{option('id', name)} or {option('group', name)} says what it is"
            says = f"{option('features')} uses it, {says}"
            notes.append(Note(what, says, kind=LEFT_OUT, about=f"{name!r} (named like an id)"))
        elif role.why.startswith(NAMES_ROWS):
            what = f"column {name!r} is left out, for {role.why}"
            says = f"{option('features')} uses it, {option('id', name)} names rows by it"
            notes.append(Note(what, says, kind=LEFT_OUT, about=f"{name!r} ({NAMES_ROWS})"))
        elif role.why in (CONSTANT, EMPTY):
            what, about = f"column {name!r} is left out, for {role.why}", f"{name!r} ({role.why})"
            notes.append(Note(what, f"{option('features')} uses it", kind=LEFT_OUT, about=about))
        elif role.role == "feature" and role.kind == "date or time":
            what = f"column {name!r} is a date: its days, day of the year and weekday are features"
            says = f"{option('exclude', name)} leaves it out"
            notes.append(Note(what, says, plain=True, kind=DATES, about=repr(name)))
    return notes


def left_out(note: Note, why: str) -> Note:
    """The note of a column that is read as text, if that text is then left out."""
    what = f"{note.what.removesuffix(AS_TEXT)}, and is left out, for {why}"
    return replace(note, what=what, plain=False, kind=MIXED_OUT)
