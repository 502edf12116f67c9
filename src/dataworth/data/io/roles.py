"""Which column of a table is the label, the group, the id, the weight, a feature, or nothing."""

from __future__ import annotations

import difflib
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypedDict, Unpack

import numpy as np

from dataworth.data.convert import column_kind, is_text
from dataworth.data.vectors import to_arrow
from dataworth.errors import DataworthError
from dataworth.wording import and_more, listed

RoleName = Literal["label", "group", "attribute", "id", "weight", "feature", "ignored", "unusable"]

Wishes = str | Sequence[str] | None

LABEL_NAMES = ("label", "labels", "target", "y", "class", "outcome")
ID_NAMES = ("id", "ids", "row_id", "rowid", "uuid", "guid", "index")
TEXTUAL = ("numeric", "boolean", "categorical", "date or time")
KINDS = {"label": TEXTUAL[:3], "weight": TEXTUAL[:2], **dict.fromkeys(("group", "attribute", "id"), TEXTUAL)}
FEATURE_KINDS = ("numeric", "boolean", "categorical", "embedding", "text", "pair")
OPTIONS = {role: f"{role}= (--{role})" for role in ("label", "group", "attribute", "id")}
OPTIONS |= {"weight": "weights= (--weights)", "feature": "features= (--features)"}
REQUESTS: dict[RoleName, str] = {"label": "label", "group": "group", "id": "id", "attribute": "attribute"}
REQUESTS["weight"] = "weights"
LIST_AS_TEXT = re.compile(r"\s*\[\s*[-+]?[0-9.]+(e[-+]?[0-9]+)?(\s*[,\s].*)?(\]|…|\.\.\.)\s*$", re.DOTALL)
AN_ID = "short text or an id"
NO_FEATURE = "a feature is a number, a category or an embedding"
MOST_SHOWN = 20
MOST_CHARACTERS = 1_000_000
"""Characters of the longest text that is read: a cell of more is a file that went astray."""
ROW_NUMBER_NAMES = ("", "rownames", "row.names", "row_names", "rownumber", "row_number", "row number")
NUMBERS_ROWS = "it only numbers or names the rows"
FEWEST_NUMBERED = 10
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


def assign_roles(frame: Any, **wishes: Unpack[Asked]) -> list[Role]:
    """One role per column of a narwhals frame, in the frame's order.

    The label is guessed only if exactly one column is named like one; groups, attributes and weights are
    never guessed.
    `features` are names, or patterns such as `emb_*`; without them every column left over is a feature,
    except those that `exclude` names. With `absent_ok`, `exclude` may name columns that are not there.

    >>> import narwhals as nw, pyarrow as pa
    >>> frame = nw.from_native(pa.table({"id": [7, 8], "age": [31, 45], "label": ["a", "b"]}))
    >>> for role in assign_roles(frame):
    ...     print(role.column, "→", role.role, "|", role.why)
    id → id | guessed from its name
    age → feature | not used otherwise
    label → label | guessed from its name
    """
    names = list(frame.columns)
    asked: dict[str, RoleName] = {}
    features, absent_ok = wishes.get("features"), wishes.get("absent_ok", False)
    for role, option in REQUESTS.items():
        column: Any = wishes.get(option)
        if column is not None:
            _require(column, names, role)
            _refuse_second(column, asked, role)
            asked[column] = role
    chosen = _chosen(features, names, asked, "feature")
    left_out = _chosen(wishes.get("exclude"), names, asked, "excluded", absent_ok)
    left_out = {name: how for name, how in left_out.items() if name not in asked}
    for name in left_out:
        if chosen.pop(name, None) == "named" and left_out[name] == "named":
            raise DataworthError(
                f"column {name!r} was asked for as feature and as excluded: drop one of them"
            )
    found: dict[str, tuple[RoleName, str]] = {column: (role, "asked for") for column, role in asked.items()}
    found |= dict.fromkeys(left_out, ("ignored", "excluded"))
    if "label" not in asked.values():
        free = [name for name in names if name not in found and chosen.get(name) != "named"]
        found[_guess_label(free, names)] = ("label", "guessed from its name")
    for name in chosen:
        found.setdefault(name, ("feature", "asked for"))
    found |= _guess_ids([name for name in names if name not in found], wishes.get("id"))
    numbering = [name for name in names if name not in found and numbers_rows(frame[name])]
    found |= dict.fromkeys(numbering, ("ignored", NUMBERS_ROWS))
    rest: tuple[RoleName, str] = ("feature", "not used otherwise")
    if features is not None:
        rest = ("ignored", "not among the features asked for")
    roles = []
    for name in names:
        role, why = found.get(name, rest)
        roles.append(Role(name, role, column_kind(to_arrow(frame[name], name)), why))
    if not any(role.role == "feature" for role in roles):
        raise DataworthError(
            f"no column is left to be a feature among {listed(names, 10)}: add one, or name some with"
            f" {OPTIONS['feature']}"
        )
    return roles


def numbers_rows(series: Any) -> bool:
    """Whether a column is 1, 2, … n or 0, 1, … n − 1, in any order: rows may have been shuffled.

    >>> import narwhals as nw, pyarrow as pa
    >>> frame = nw.from_native(pa.table({"a": range(12, 0, -1), "b": [1, *range(1, 12)]}))
    >>> numbers_rows(frame["a"]), numbers_rows(frame["b"])
    (True, False)
    """
    n = len(series)
    if n < FEWEST_NUMBERED or not series.dtype.is_numeric():
        return False
    ordered = np.sort(series.to_numpy())
    return ordered[0] in (0, 1) and np.array_equal(ordered, np.arange(n) + ordered[0])


def with_texts(frame: Any, roles: Sequence[Role]) -> list[Role]:
    """The roles, with features that are free text marked so; a text too long to be one is refused."""
    found = list(roles)
    for i, role in enumerate(roles):
        if role.role != "feature" or role.kind not in ("categorical", "pair"):
            continue
        texts = [str(text) for text in frame[role.column].drop_nulls().unique().to_list()]
        free = is_text(texts, len(frame)) and not all(LIST_AS_TEXT.match(text) for text in texts[:5])
        if role.kind == "categorical" and not free:
            continue
        longest = max(map(len, texts))
        if longest > MOST_CHARACTERS:
            raise DataworthError(
                f"column {role.column!r} has a text of {longest:,} characters, but at most"
                f" {MOST_CHARACTERS:,} are read: cut it, or leave the row out"
            )
        found[i] = role if role.kind == "pair" else replace(role, kind="text")
    return found


def unusable(frame: Any, roles: Sequence[Role]) -> dict[str, str]:
    """Why columns that would be features cannot be: dates, nested or binary values, ids, lists as text.

    >>> import narwhals as nw, pyarrow as pa
    >>> frame = nw.from_native(pa.table({"a": [1, 2], "b": [b"x", b"y"], "label": [0, 1]}))
    >>> unusable(frame, assign_roles(frame))
    {'b': 'binary'}
    """
    reasons = {}
    for role in (role for role in roles if role.role == "feature"):
        if role.kind not in FEATURE_KINDS:
            reasons[role.column] = role.kind
        elif role.kind == "categorical":
            texts = frame[role.column].drop_nulls()
            distinct = texts.n_unique()
            if len(texts) and all(LIST_AS_TEXT.match(str(text)) for text in texts.head(5).to_list()):
                reasons[role.column] = "lists written as text: embeddings need lists in Parquet or JSONL"
            elif distinct > 50 and distinct > len(frame) / 2:
                reasons[role.column] = f"{AN_ID}: {distinct} different values in {len(frame)} rows"
    return reasons


def marked(roles: Sequence[Role], reasons: Mapping[str, str]) -> list[Role]:
    """The roles, with the columns that cannot be used marked so."""
    result = list(roles)
    for i, role in enumerate(roles):
        if why := reasons.get(role.column):
            result[i] = replace(role, role="unusable", why=NO_FEATURE if why == role.kind else why)
    return result


def refuse_unusable(reasons: Mapping[str, str]) -> None:
    """A sentence that names all columns that cannot be features, and how to leave them out."""
    if reasons:
        shown = [f"{name!r} ({why})" for name, why in reasons.items()]
        listing = ", ".join(shown[:MOST_SHOWN]) + and_more(len(shown) - MOST_SHOWN)
        noun, what, it = ("column", "a feature", "it") if len(shown) == 1 else ("columns", "features", "them")
        how = f"leave {it} out with {exclusion(list(reasons))}"
        if any(why.startswith(AN_ID) for why in reasons.values()):
            how += "; an id can also be named with --id"
        if "binary" in reasons.values():
            how += "; images become features by dataworth embed"
        raise DataworthError(f"{noun} {listing} cannot be {what}: {how}")


def exclusion(names: Sequence[str]) -> str:
    """The option that leaves the columns out, ready to copy.

    >>> exclusion(["when", "full name"])
    "--exclude 'when,full name'"
    """
    return f"--exclude {shlex.quote(','.join(names))}"


def check_kinds(roles: Sequence[Role]) -> None:
    """Refuse a label, group, attribute, id or weight that holds something else."""
    for role in roles:
        fits = KINDS.get(role.role, (role.kind,))
        if role.kind not in fits:
            raise DataworthError(
                f"column {role.column!r} ({role.kind}) cannot be the {role.role}, which is"
                f" {' or '.join(fits)}: name another with {OPTIONS[role.role]}"
            )


def _guess_label(free: Sequence[str], names: Sequence[str]) -> str:
    candidates = [name for name in free if name.strip().lower() in LABEL_NAMES]
    if len(candidates) > 1:
        raise DataworthError(f"{listed(candidates)} could each be the label: name it with {OPTIONS['label']}")
    if not candidates:
        raise DataworthError(
            f"no column is named like a label among {listed(names, 10)}: name it with {OPTIONS['label']}"
        )
    return candidates[0]


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
            why = f"one of several named like an id: name it with {OPTIONS['id']}"
        found |= dict.fromkeys(candidates, ("ignored", why))
    return found


def _chosen(
    wishes: Wishes, names: Sequence[str], asked: dict[str, RoleName], what: str, absent_ok: bool = False
) -> dict[str, str]:
    """The columns that the names ("named") and patterns ("matched") stand for.

    A pattern may match columns with another role.
    """
    chosen: dict[str, str] = {}
    for wanted in wishes_of(wishes or (), names):
        if wanted.endswith("*") and wanted not in names:
            matches = [name for name in names if name.startswith(wanted[:-1])]
            if not matches and not absent_ok:
                raise DataworthError(
                    f"no column matches the {what} pattern {wanted!r}: {_hint(wanted, names)}"
                )
            chosen = dict.fromkeys(matches, "matched") | chosen
        elif wanted in names or not absent_ok:
            _require(wanted, names, what)
            _refuse_second(wanted, asked, what)
            chosen[wanted] = "named"
    return chosen


def wishes_of(wishes: str | Sequence[str], names: Sequence[str]) -> list[str]:
    """Names and patterns, which may come joined by commas."""
    if not isinstance(wishes, str):
        return list(wishes)
    return [wishes] if wishes in names else [part.strip() for part in wishes.split(",") if part.strip()]


def _require(name: str, names: Sequence[str], role: str) -> None:
    if name not in names:
        raise DataworthError(f"there is no {role} column {name!r}: {_hint(name, names)}")


def _hint(name: str, names: Sequence[str]) -> str:
    lower = {other.lower(): other for other in names}
    same = name.lower() in lower  # but for its case
    close = [lower[match] for match in difflib.get_close_matches(name.lower(), lower, n=1 if same else 3)]
    if close:
        return f"did you mean {' or '.join(repr(match) for match in close)}?"
    return f"choose from {listed(names, 10)}"


def _refuse_second(column: str, asked: dict[str, RoleName], role: str) -> None:
    if column in asked:
        raise DataworthError(
            f"column {column!r} was asked for as {asked[column]} and as {role}: give it one role"
        )
