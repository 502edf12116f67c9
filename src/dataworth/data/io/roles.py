"""Which column of a table is the label, the group, the id, the weight, a feature, or nothing."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypedDict, Unpack

import numpy as np

from dataworth.data.convert import MOST_CATEGORIES, column_kind, is_text
from dataworth.data.io.notes import Note
from dataworth.data.vectors import to_numpy
from dataworth.wording import and_more, listed, option

RoleName = Literal["label", "group", "attribute", "id", "weight", "feature", "ignored", "unusable"]
Wishes = str | Sequence[str] | None

LABEL_NAMES = ("label", "labels", "target", "y", "class", "outcome")
ID_NAMES = ("id", "ids", "row_id", "rowid", "uuid", "guid", "index")
ID_WORDS = ("id", "ids", "uuid", "guid")
"""What a name ends with that is like an id: `customer_id`, `PassengerId`, but not `paid`."""
ROW_NUMBER_NAMES = ("", "rownames", "row.names", "row_names", "rownumber", "row_number", "row number")
NUMBERED = ("Unnamed: ", "__index_level_")
WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[0-9]+")
LIST_AS_TEXT = re.compile(r"\s*\[\s*[-+]?[0-9.]+(e[-+]?[0-9]+)?(\s*[,\s].*)?(\]|…|\.\.\.)\s*$", re.DOTALL)
TEXTUAL = ("numeric", "boolean", "categorical", "date or time")
KINDS = {
    "label": (*TEXTUAL[:3], "response"),
    "weight": TEXTUAL[:2],
    **dict.fromkeys(("group", "attribute", "id"), TEXTUAL),
}
MADE = ("pair", "text", "response")
"""Kinds of columns that reading made of others, whatever their texts look like."""
FEATURE_KINDS = (*TEXTUAL, "embedding", "text", "pair")
REQUESTS: dict[RoleName, str] = {
    "label": "label", "group": "group", "id": "id", "attribute": "attribute", "weight": "weights",
}  # fmt: skip
"""What the option is called that gives a column its role."""
MAX_SHOWN = 20
MAX_CHARACTERS = 1_000_000
"""Characters of the longest text that is read: a cell of more is a file that went astray."""
MIN_NUMBERED = 10
"""Rows from which 1, 2, … n is taken for a row number: three rows may be 1, 2, 3 by chance."""
GUESSED = "guessed from its name"
NUMBERS_ROWS = "it only numbers or names the rows"
LIKE_AN_ID = "named like an id"
NAMES_ROWS = "it seems to name the rows"
EMPTY, CONSTANT = "it is empty", "it is constant in the test set"
UNUSABLE = "a feature is a number, a category, a date, a text or an embedding"


class Asked(TypedDict, total=False):
    """Which column is to be what, as users say it; what is not said is guessed or is a feature."""

    label: str | None
    features: Wishes
    group: str | None
    attribute: str | None
    id: str | None
    weights: str | None
    exclude: Wishes
    absent_ok: bool


@dataclass(frozen=True)
class Role:
    """What one column is used as, what it holds, and why it was given that role."""

    column: str
    role: RoleName
    kind: str
    why: str

    @property
    def used(self) -> bool:
        """Whether it is anything."""
        return self.role not in ("ignored", "unusable")


def assign_roles(table: Any, problems: list[str], **wishes: Unpack[Asked]) -> list[Role]:
    """One role per column of a pyarrow table, in the table's order; what is wrong is added to `problems`.

    The label is guessed only if exactly one column is named like one; groups, attributes and weights never.
    With `absent_ok`, `exclude` and `weights` may name columns that are not there: rows then count once.
    """
    names = list(table.column_names)
    wrong: list[str] = []
    found: dict[str, tuple[RoleName, str]] = {}
    for role, wish in REQUESTS.items():
        column: Any = wishes.get(wish)
        if wish == "weights" and column not in names and wishes.get("absent_ok"):
            continue
        if column is not None and _can_be(column, role, names, found, wrong):
            found[column] = role, "asked for"
    chosen = _chosen(wishes.get("features"), names, found, "feature", wrong)
    left_out = _chosen(wishes.get("exclude"), names, found, "excluded", wrong, wishes.get("absent_ok", False))
    for name, itself in left_out.items():
        if chosen.pop(name, False) and itself:
            wrong.append(f"column {name!r} was asked for as feature and as excluded: drop one of them")
        found.setdefault(name, ("ignored", "excluded"))
    if wishes.get("label") is None:
        free = [name for name in names if name not in found and not chosen.get(name)]
        candidates = [name for name in free if name.strip().lower() in LABEL_NAMES]
        if len(candidates) == 1:
            found[candidates[0]] = "label", GUESSED
        else:
            what = f"no column is named like a label among {listed(names, 30)}"
            what = f"{listed(candidates)} could each be the label" if candidates else what
            wrong.append(f"{what}: name it with {option('label')}")
    found = dict.fromkeys(chosen, ("feature", "asked for")) | found
    # what numbers or names the rows is no feature, unless asked for
    lower = {name: name.strip().lower() for name in names if name not in found}
    numbers = [n for n in lower if lower[n] in ROW_NUMBER_NAMES or n.startswith(NUMBERED)]
    named = [name for name in lower if lower[name] in ID_NAMES]
    several = f"one of several named like an id: {option('id')} says which"
    alone = wishes.get("id") is None and len(named) == 1
    found |= dict.fromkeys(numbers, ("ignored", NUMBERS_ROWS))
    found |= dict.fromkeys(named, ("id", GUESSED) if alone else ("ignored", several))
    rest: tuple[RoleName, str] = ("feature", "not used otherwise")
    if wishes.get("features") is not None:
        rest = ("ignored", "not among the features asked for")
    each = [(field, *found.get(field.name, rest)) for field in table.schema]
    roles = [Role(field.name, role, column_kind(field), why) for field, role, why in each]
    if not any(role.role == "feature" for role in roles) and not wrong:
        wrong.append(no_feature(names))
    problems += wrong
    return roles


def no_feature(names: Sequence[str]) -> str:
    """What is said where nothing is left to learn from."""
    what = f"no column is left to be a feature among {listed(names, 10)}"
    return f"{what}: add one, or name some with {option('features')}"


def _chosen(
    wishes: Wishes,
    names: Sequence[str],
    asked: Mapping[str, tuple[RoleName, str]],
    what: str,
    problems: list[str],
    absent_ok: bool = False,
) -> dict[str, bool]:
    """The columns that names and patterns stand for; True if named itself, not by a pattern."""
    chosen: dict[str, bool] = {}
    for wanted in wishes_of(wishes or (), names):
        if wanted.endswith("*") and wanted not in names:
            matches = [name for name in names if name.startswith(wanted[:-1])]
            if not matches and not absent_ok:
                problems.append(f"no column matches the {what} pattern {wanted!r}: {_hint(wanted, names)}")
            chosen = dict.fromkeys(matches, False) | chosen
        elif (wanted in names or not absent_ok) and _can_be(wanted, what, names, asked, problems):
            chosen[wanted] = True
    return chosen


def wishes_of(wishes: str | Sequence[str], names: Sequence[str]) -> list[str]:
    """Names and patterns, which may come joined by commas."""
    if not isinstance(wishes, str):
        return list(map(str, wishes))
    return [wishes] if wishes in names else [part.strip() for part in wishes.split(",") if part.strip()]


def _can_be(
    name: str, role: str, names: Sequence[str], asked: Mapping[str, tuple[RoleName, str]], problems: list[str]
) -> bool:
    """Whether a column that is asked for is there and has no other role; else a sentence says so."""
    if name not in names:
        problems.append(f"there is no {role} column {name!r}: {_hint(name, names)}")
    elif name in asked:
        both = f"as {asked[name][0]} and as {role}"
        problems.append(f"column {name!r} was asked for {both}: give it one role")
    return name in names and name not in asked


def _hint(name: str, names: Sequence[str]) -> str:
    lower = {other.lower(): other for other in names}
    most = 1 if name.lower() in lower else 3  # the same but for its case
    close = [lower[match] for match in difflib.get_close_matches(name.lower(), lower, most)]
    return f"did you mean {' or '.join(map(repr, close))}?" if close else f"choose from {listed(names, 10)}"


def uninformative(table: Any, roles: Sequence[Role], constants: bool) -> dict[str, str]:
    """Features that nobody asked for and that say nothing of a row, with why; constants only on request."""
    found: dict[str, str] = {}
    for role in (role for role in roles if role.role == "feature" and role.why != "asked for"):
        column = table[role.column]
        present = column.drop_null() if role.kind == "categorical" else ()
        words = WORD.findall(role.column)
        if role.kind in ("numeric", "categorical", "text") and words[-1:] and words[-1].lower() in ID_WORDS:
            found[role.column] = LIKE_AN_ID
        elif role.kind == "numeric" and numbers_rows(column):
            found[role.column] = NUMBERS_ROWS
        elif role.kind in TEXTUAL and column.null_count == len(column):
            found[role.column] = EMPTY
        elif present and len(present.unique()) > max(MOST_CATEGORIES, len(present) / 2):
            found[role.column] = NAMES_ROWS
        elif constants and role.kind in TEXTUAL and is_constant(column):
            found[role.column] = CONSTANT
    return found


def numbers_rows(column: Any) -> bool:
    """Whether a column is 1, 2, … n or 0, 1, … n − 1, in any order: rows may have been shuffled."""
    n = len(column)
    # the first tells nearly always, and there may be very many columns
    if n < MIN_NUMBERED or column.null_count or not 0 <= (first := column[0].as_py()) <= n or first % 1:
        return False
    ordered = np.sort(to_numpy(column))
    return ordered[0] in (0, 1) and np.array_equal(ordered, np.arange(n) + ordered[0])


def is_constant(column: Any) -> bool:
    """Whether a pyarrow column of several rows has one value in all of them, and none missing."""
    # two rows tell nearly always, and there may be very many columns
    same = len(column) > 1 and not column.null_count and column[0] == column[1]
    return same and len(column.unique()) == 1


def with_kinds(table: Any, roles: Sequence[Role], problems: list[str]) -> list[Role]:
    """The roles, with what the columns of a typed table hold; a text too long to be one is a problem."""
    found = []
    for role in roles:
        column = table[role.column]
        kind = role.kind if role.kind in MADE else column_kind(column)
        first = column.slice(0, 5).drop_null().to_pylist() if kind == "categorical" else ()
        if first and all(LIST_AS_TEXT.match(str(text)) for text in first):
            kind = "lists written as text: embeddings need lists in Parquet or JSONL"
        elif kind in MADE or (role.role == "feature" and kind == "categorical"):
            texts = [str(text) for text in column.drop_null().unique().to_pylist()]
            kind = "text" if kind == "categorical" and is_text(texts, table.num_rows) else kind
            if kind != "categorical" and (longest := max(map(len, texts))) > MAX_CHARACTERS:
                problems.append(
                    f"column {role.column!r} has a text of {longest:,} characters, but at most"
                    f" {MAX_CHARACTERS:,} are read: cut it, or leave the row out"
                )
        found.append(role if kind == role.kind else replace(role, kind=kind))
    return found


def marked(roles: Sequence[Role], reasons: Mapping[str, str], role: RoleName) -> list[Role]:
    """The roles, with the columns that cannot be used, or are left out, marked so."""
    return [replace(r, role=role, why=reasons[r.column]) if r.column in reasons else r for r in roles]


def wrong_kinds(roles: Sequence[Role], unusable: Mapping[str, str] | None = None) -> list[str]:
    """Sentences about columns that hold what their role cannot: a label, say, or features."""
    wrong = [
        f"column {role.column!r} ({role.kind}) cannot be the {role.role}, which is"
        f" {' or '.join(KINDS[role.role][:3])}: name another with {option(REQUESTS[role.role])}"
        for role in roles
        if role.role in KINDS and role.kind not in KINDS[role.role]
    ]
    if unusable:
        shown = [f"{name!r} ({why})" for name, why in unusable.items()]
        listing = ", ".join(shown[:MAX_SHOWN]) + and_more(len(shown) - MAX_SHOWN)
        noun, what = ("column", "a feature") if len(shown) == 1 else ("columns", "features")
        how = f"leave out with {option('exclude', ','.join(unusable))}"
        how += "; images become features by dataworth embed" if "binary" in unusable.values() else ""
        wrong.append(f"{noun} {listing} cannot be {what}: {how}")
    return wrong


def role_notes(roles: Sequence[Role]) -> list[Note]:
    """What was decided of the roles of columns."""
    notes = []
    for role in roles:
        name = role.column
        if role.role == "ignored" and role.why == NUMBERS_ROWS:
            say = f"say {option('features')} to use it"
            notes.append(Note(f'column "{name}" only numbers the rows', say, plain=True))
        elif role.role == "feature" and role.kind == "pair":
            say = f"say {option('label')} to choose"
            notes.append(Note(f"pairs of responses {role.why}", say, plain=True))
        elif role.role in ("label", "id") and role.why == GUESSED:
            say = f"say {option(role.role)} to choose"
            notes.append(Note(f'{role.role} column "{name}" guessed', say, plain=True))
        elif role.why in (LIKE_AN_ID, CONSTANT, EMPTY) or role.why.startswith(NAMES_ROWS):
            named = "" if role.why in (CONSTANT, EMPTY) else f", {option('id')} or {option('group')} says so"
            notes.append(Note("left out", f"{option('features')} uses it{named}", f"{name!r} ({role.why})"))
    return notes
