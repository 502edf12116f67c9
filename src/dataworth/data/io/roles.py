"""Which column of a table is the label, the group, the id, the weight, a feature, or nothing."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypedDict, Unpack

import numpy as np

from dataworth.data.convert import MOST_CATEGORIES, column_kind, is_text
from dataworth.data.io.notes import CONSTANT, EMPTY, LIKE_AN_ID, NAMES_ROWS, NUMBERS_ROWS, refuse_all
from dataworth.wording import and_more, listed, option

RoleName = Literal["label", "group", "attribute", "id", "weight", "feature", "ignored", "unusable"]

Wishes = str | Sequence[str] | None

LABEL_NAMES = ("label", "labels", "target", "y", "class", "outcome")
ID_NAMES = ("id", "ids", "row_id", "rowid", "uuid", "guid", "index")
TEXTUAL = ("numeric", "boolean", "categorical", "date or time")
KINDS = {"label": TEXTUAL[:3], "weight": TEXTUAL[:2], **dict.fromkeys(("group", "attribute", "id"), TEXTUAL)}
FEATURE_KINDS = ("numeric", "boolean", "categorical", "embedding", "text", "pair", "date or time")
REQUESTS: dict[RoleName, str] = {"label": "label", "group": "group", "id": "id", "attribute": "attribute"}
REQUESTS["weight"] = "weights"
OPTIONS = {**REQUESTS, "feature": "features"}
"""What the option is called that gives a column its role."""
NO_FEATURE = "a feature is a number, a category, a date, a text or an embedding"
MOST_SHOWN = 20
MOST_CHARACTERS = 1_000_000
"""Characters of the longest text that is read: a cell of more is a file that went astray."""
ROW_NUMBER_NAMES = ("", "rownames", "row.names", "row_names", "rownumber", "row_number", "row number")
LIST_AS_TEXT = re.compile(r"\s*\[\s*[-+]?[0-9.]+(e[-+]?[0-9]+)?(\s*[,\s].*)?(\]|…|\.\.\.)\s*$", re.DOTALL)
WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[0-9]+")
MIN_NUMBERED = 10
"""Rows from which 1, 2, … n is taken for a row number: three rows may be 1, 2, 3 by chance."""


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


def assign_roles(table: Any, problems: list[str] | None = None, **wishes: Unpack[Asked]) -> list[Role]:
    """One role per column of a pyarrow table, in the table's order.

    The label is guessed only if exactly one column is named like one; groups, attributes and weights are
    never guessed. What is wrong is raised, or gathered in `problems`, so that all of it can be said at once.
    `features` are names, or patterns such as `emb_*`; without them every column left over is a feature,
    except those that `exclude` names. With `absent_ok`, `exclude` may name columns that are not there.

    >>> import pyarrow as pa
    >>> table = pa.table({"id": [7, 8], "age": [31, 45], "label": ["a", "b"]})
    >>> for role in assign_roles(table):
    ...     print(role.column, "→", role.role, "|", role.why)
    id → id | guessed from its name
    age → feature | not used otherwise
    label → label | guessed from its name
    """
    names = list(table.column_names)
    asked: dict[str, RoleName] = {}
    features, absent_ok = wishes.get("features"), wishes.get("absent_ok", False)
    given: list[str] = [] if problems is None else problems
    before = len(given)
    label_lost = False
    for role, wish in REQUESTS.items():
        column: Any = wishes.get(wish)
        if column is not None:
            wrong = _lacking(column, names, role) or _second(column, asked, role)
            given += [] if wrong is None else [wrong]
            label_lost |= wrong is not None and role == "label"
            if wrong is None:
                asked[column] = role
    chosen = _chosen(features, names, asked, "feature", given)
    left_out = _chosen(wishes.get("exclude"), names, asked, "excluded", given, absent_ok)
    left_out = {name: how for name, how in left_out.items() if name not in asked}
    for name in left_out:
        if chosen.pop(name, None) == "named" and left_out[name] == "named":
            given.append(f"column {name!r} was asked for as feature and as excluded: drop one of them")
    found: dict[str, tuple[RoleName, str]] = {column: (role, "asked for") for column, role in asked.items()}
    found |= dict.fromkeys(left_out, ("ignored", "excluded"))
    if "label" not in asked.values() and not label_lost:
        free = [name for name in names if name not in found and chosen.get(name) != "named"]
        guess, wrong = _guess_label(free, names)
        found |= {} if guess is None else {guess: ("label", "guessed from its name")}
        given += [] if wrong is None else [wrong]
    for name in chosen:
        found.setdefault(name, ("feature", "asked for"))
    found |= _guess_ids([name for name in names if name not in found], wishes.get("id"))
    rest: tuple[RoleName, str] = ("feature", "not used otherwise")
    if features is not None:
        rest = ("ignored", "not among the features asked for")
    roles = []
    for column_field in table.schema:
        role, why = found.get(column_field.name, rest)
        roles.append(Role(column_field.name, role, column_kind(column_field), why))
    if not any(role.role == "feature" for role in roles) and len(given) == before:
        given.append(no_feature(names))
    if problems is None:
        refuse_all(given)
    return roles


def no_feature(names: Sequence[str]) -> str:
    """What is said where nothing is left to learn from."""
    columns = listed(names, 10)
    return (
        f"no column is left to be a feature among {columns}: add one, or name some with {option('features')}"
    )


def uninformative(table: Any, roles: Sequence[Role], constants: bool) -> dict[str, str]:
    """Features that nobody asked for and that say nothing of a row, with why; constants only on request.

    >>> import pyarrow as pa
    >>> table = pa.table({"a": [1, 2], "b": [7, 7], "user_id": [5, 3], "y": [0, 1]})
    >>> uninformative(table, assign_roles(table), constants=True)
    {'b': 'it is constant in the test set', 'user_id': 'it is named like an id'}
    """
    found: dict[str, str] = {}
    for role in (role for role in roles if role.role == "feature" and role.why != "asked for"):
        column = table[role.column]
        why = None
        if role.kind in ("numeric", "categorical", "text") and named_like_an_id(role.column):
            why = LIKE_AN_ID
        elif role.kind == "numeric" and numbers_rows(column):
            why = NUMBERS_ROWS
        elif role.kind in TEXTUAL and column.null_count == len(column):
            why = EMPTY
        elif role.kind == "categorical" and (distinct := names_rows(column.drop_null())):
            why = f"{NAMES_ROWS}: {distinct} different short texts in {len(column)} rows"
        elif constants and role.kind in TEXTUAL and is_constant(column):
            why = CONSTANT
        found |= {} if why is None else {role.column: why}
    return found


def named_like_an_id(name: str) -> bool:
    """Whether the last word of a name is id, or another that names rows.

    >>> [named_like_an_id(name) for name in ("customer_id", "PassengerId", "user ID", "paid", "idle")]
    [True, True, True, False, False]
    """
    words = [word.lower() for word in WORD.findall(name)]
    return bool(words) and words[-1] in ("id", "ids", "uuid", "guid")


def names_rows(present: Any) -> int:
    """How many different texts name rows: more than fifty, and over half of the rows; 0 if they do not."""
    distinct = len(present.unique())
    lists = LIST_AS_TEXT.match(str(present[0].as_py()))
    return 0 if lists or distinct <= MOST_CATEGORIES or distinct <= len(present) / 2 else distinct


def numbers_rows(column: Any) -> bool:
    """Whether a column is 1, 2, … n or 0, 1, … n − 1, in any order: rows may have been shuffled.

    >>> import pyarrow as pa
    >>> table = pa.table({"a": range(12, 0, -1), "b": [1, *range(1, 12)]})
    >>> numbers_rows(table["a"]), numbers_rows(table["b"])
    (True, False)
    """
    import pyarrow.compute as pc

    n = len(column)
    if n < MIN_NUMBERED or column.null_count:
        return False
    first = column[0].as_py()  # which tells nearly always, and there may be very many columns
    if not 0 <= first <= n or first != int(first) or pc.min(column).as_py() not in (0, 1):
        return False
    ordered = np.sort(column.to_numpy())  # only then: it takes long
    return np.array_equal(ordered, np.arange(n) + ordered[0])


def is_constant(column: Any) -> bool:
    """Whether a pyarrow column of several rows has one value in all of them, and none missing."""
    # Two rows tell nearly always, and there may be very many columns.
    if len(column) < 2 or column.null_count or column[0] != column[1]:
        return False
    return len(column.unique()) == 1


def with_texts(table: Any, roles: Sequence[Role], problems: list[str]) -> list[Role]:
    """The roles, with features that are free text marked so; a text too long to be one is a problem."""
    found = list(roles)
    for i, role in enumerate(roles):
        if role.role != "feature" or role.kind not in ("categorical", "pair"):
            continue
        texts = [str(text) for text in table[role.column].drop_null().unique().to_pylist()]
        free = is_text(texts, table.num_rows) and not all(LIST_AS_TEXT.match(text) for text in texts[:5])
        if role.kind == "categorical" and not free:
            continue
        longest = max(map(len, texts))
        if longest > MOST_CHARACTERS:
            problems.append(
                f"column {role.column!r} has a text of {longest:,} characters, but at most"
                f" {MOST_CHARACTERS:,} are read: cut it, or leave the row out"
            )
        found[i] = role if role.kind == "pair" else replace(role, kind="text")
    return found


def unusable(table: Any, roles: Sequence[Role]) -> dict[str, str]:
    """Why columns that would be features cannot be: nested or binary values, lists as text.

    >>> import pyarrow as pa
    >>> table = pa.table({"a": [1, 2], "b": [b"x", b"y"], "label": [0, 1]})
    >>> unusable(table, assign_roles(table))
    {'b': 'binary'}
    """
    reasons = {}
    for role in (role for role in roles if role.role == "feature"):
        if role.kind not in FEATURE_KINDS:
            reasons[role.column] = role.kind
        elif role.kind == "categorical":
            texts = table[role.column].drop_null().slice(0, 5).to_pylist()
            if texts and all(LIST_AS_TEXT.match(str(text)) for text in texts):
                reasons[role.column] = "lists written as text: embeddings need lists in Parquet or JSONL"
    return reasons


def marked(roles: Sequence[Role], reasons: Mapping[str, str], role: RoleName) -> list[Role]:
    """The roles, with the columns that cannot be used, or are left out, marked so."""
    result = list(roles)
    for i, old in enumerate(roles):
        if why := reasons.get(old.column):
            result[i] = replace(old, role=role, why=NO_FEATURE if why == old.kind else why)
    return result


def of_unusable(reasons: Mapping[str, str]) -> str:
    """A sentence that names all columns that cannot be features, and how to leave them out."""
    shown = [f"{name!r} ({why})" for name, why in reasons.items()]
    listing = ", ".join(shown[:MOST_SHOWN]) + and_more(len(shown) - MOST_SHOWN)
    noun, what, it = ("column", "a feature", "it") if len(shown) == 1 else ("columns", "features", "them")
    how = f"leave {it} out with {option('exclude', ','.join(reasons))}"
    if "binary" in reasons.values():
        how += "; images become features by dataworth embed"
    return f"{noun} {listing} cannot be {what}: {how}"


def of_kinds(roles: Sequence[Role]) -> list[str]:
    """Sentences about a label, group, attribute, id or weight that holds something else."""
    wrong = []
    for role in roles:
        fits = KINDS.get(role.role, (role.kind,))
        if role.kind not in fits:
            wrong.append(
                f"column {role.column!r} ({role.kind}) cannot be the {role.role}, which is"
                f" {' or '.join(fits)}: name another with {option(OPTIONS[role.role])}"
            )
    return wrong


def _guess_label(free: Sequence[str], names: Sequence[str]) -> tuple[str | None, str | None]:
    """The one column that is named like a label, or what is wrong."""
    candidates = [name for name in free if name.strip().lower() in LABEL_NAMES]
    if len(candidates) == 1:
        return candidates[0], None
    if candidates:
        return None, f"{listed(candidates)} could each be the label: name it with {option('label')}"
    return None, f"no column is named like a label among {listed(names, 30)}: name it with {option('label')}"


def _guess_ids(free: Sequence[str], asked: str | None) -> dict[str, tuple[RoleName, str]]:
    """What columns that number or name the rows are: never features, unless asked for."""
    numbers = ("Unnamed: ", "__index_level_")
    rows = [n for n in free if n.strip().lower() in ROW_NUMBER_NAMES or n.startswith(numbers)]
    found: dict[str, tuple[RoleName, str]] = dict.fromkeys(rows, ("ignored", NUMBERS_ROWS))
    candidates = [name for name in free if name.strip().lower() in ID_NAMES]
    if asked is None and len(candidates) == 1:
        found[candidates[0]] = ("id", "guessed from its name")
    elif candidates:
        why = "named like an id, but another was asked for"
        if asked is None:
            why = f"one of several named like an id: name it with {option('id')}"
        found |= dict.fromkeys(candidates, ("ignored", why))
    return found


def _chosen(
    wishes: Wishes,
    names: Sequence[str],
    asked: dict[str, RoleName],
    what: str,
    problems: list[str],
    absent_ok: bool = False,
) -> dict[str, str]:
    """The columns that the names ("named") and patterns ("matched") stand for.

    A pattern may match columns with another role.
    """
    chosen: dict[str, str] = {}
    for wanted in wishes_of(wishes or (), names):
        if wanted.endswith("*") and wanted not in names:
            matches = [name for name in names if name.startswith(wanted[:-1])]
            if not matches and not absent_ok:
                problems.append(f"no column matches the {what} pattern {wanted!r}: {_hint(wanted, names)}")
            chosen = dict.fromkeys(matches, "matched") | chosen
        elif wanted in names or not absent_ok:
            wrong = _lacking(wanted, names, what) or _second(wanted, asked, what)
            problems += [] if wrong is None else [wrong]
            chosen |= {} if wrong is not None else {wanted: "named"}
    return chosen


def wishes_of(wishes: str | Sequence[str], names: Sequence[str]) -> list[str]:
    """Names and patterns, which may come joined by commas."""
    if not isinstance(wishes, str):
        return list(map(str, wishes))
    return [wishes] if wishes in names else [part.strip() for part in wishes.split(",") if part.strip()]


def _lacking(name: str, names: Sequence[str], role: str) -> str | None:
    if name in names:
        return None
    hint = _hint(name, names)
    also = "; data and test set both need it" if role == "label" and not hint.endswith("?") else ""
    return f"there is no {role} column {name!r}: {hint}{also}"


def _hint(name: str, names: Sequence[str]) -> str:
    lower = {other.lower(): other for other in names}
    same = name.lower() in lower  # but for its case
    close = [lower[match] for match in difflib.get_close_matches(name.lower(), lower, n=1 if same else 3)]
    if close:
        return f"did you mean {' or '.join(repr(match) for match in close)}?"
    return f"choose from {listed(names, 10)}"


def _second(column: str, asked: dict[str, RoleName], role: str) -> str | None:
    if column not in asked:
        return None
    return f"column {column!r} was asked for as {asked[column]} and as {role}: give it one role"
