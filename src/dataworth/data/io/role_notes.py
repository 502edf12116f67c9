"""What is said of the roles that columns were given without being asked for."""

from __future__ import annotations

from collections.abc import Sequence

from dataworth.data.io import roles as role_of
from dataworth.data.io.columns import DATES, MIXED, left_out
from dataworth.data.io.notes import Kind, Note
from dataworth.data.io.roles import Role
from dataworth.wording import option

LEFT_OUT = Kind("left out", "features", "names what to use")


def all_notes(notes: Sequence[Note], roles: Sequence[Role]) -> list[Note]:
    """What was decided of a file, `notes`, and of the roles of its columns; of one column one note."""
    told = {note.column for note in notes if note.column}
    dates = [role for role in roles if role.column in told and role.kind == "date or time"]
    names = [role for role in roles if role.column in told and role.why.startswith(role_of.NAMES_ROWS)]
    whys = {role.column: role.why for role in names}
    own = [
        left_out(note, whys[note.column]) if note.kind == MIXED and note.column in whys else note
        for note in notes
    ]
    return [*own, *_role_notes([role for role in roles if role not in [*dates, *names]])]


def _role_notes(roles: Sequence[Role]) -> list[Note]:
    """What was decided of the roles of columns."""
    notes = []
    for role in roles:
        name = role.column
        if role.role == "ignored" and role.why == role_of.NUMBERS_ROWS:
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
        elif role.why == role_of.LIKE_AN_ID:
            what = f"column {name!r} is named like an id and is left out"
            says = f"{option('id', name)} or {option('group', name)} says what it is"
            says = f"{option('features')} uses it, {says}"
            notes.append(Note(what, says, kind=LEFT_OUT, about=f"{name!r} (named like an id)"))
        elif role.why.startswith(role_of.NAMES_ROWS):
            what = f"column {name!r} is left out, for {role.why}"
            says = f"{option('features')} uses it, {option('id', name)} names rows by it"
            notes.append(Note(what, says, kind=LEFT_OUT, about=f"{name!r} ({role_of.NAMES_ROWS})"))
        elif role.why in (role_of.CONSTANT, role_of.EMPTY):
            what, about = f"column {name!r} is left out, for {role.why}", f"{name!r} ({role.why})"
            notes.append(Note(what, f"{option('features')} uses it", kind=LEFT_OUT, about=about))
        elif role.role == "feature" and role.kind == "date or time":
            what = f"column {name!r} is a date: its days, day of the year and weekday are features"
            says = f"{option('exclude', name)} leaves it out"
            notes.append(Note(what, says, plain=True, kind=DATES, about=repr(name)))
    return notes
