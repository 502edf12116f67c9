"""What reading decided by itself, with the option that decides otherwise; and all that stands in its way."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import dataclass

from dataworth.errors import DataworthError, Problems


class ReadingWarning(UserWarning):
    """What `dw.read` decided by itself; the command line says the same before it starts."""


@dataclass(frozen=True)
class Note:
    """One decision: what was done, and which option changes it. One that is `plain` is no surprise.

    >>> str(Note("columns are separated by ';'", "--sep changes that"))
    "columns are separated by ';'; --sep changes that"
    """

    what: str
    choice: str
    plain: bool = False

    def __str__(self) -> str:
        return f"{self.what}; {self.choice}"


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
