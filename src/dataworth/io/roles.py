"""Which column of a table is the label, the group, the id, the weight, a feature, or nothing."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from dataworth.convert import column_kind, to_arrow
from dataworth.errors import DataworthError
from dataworth.wording import and_more, listed

RoleName = Literal["label", "group", "id", "weight", "feature", "ignored"]

LABEL_NAMES = ("label", "labels", "target", "y", "class", "outcome")
ID_NAMES = ("id", "ids", "row_id", "rowid", "uuid", "guid", "index")
FEATURE_KINDS = ("numeric", "boolean", "categorical", "embedding")
OPTIONS = {"label": "label= (--label)", "group": "group= (--group)", "id": "id= (--id)"}
OPTIONS |= {"weight": "weights= (--weights)", "feature": "features= (--features)"}


@dataclass(frozen=True)
class Role:
    """What one column is used as, what it holds, and why it was given that role."""

    column: str
    role: RoleName
    kind: str
    why: str


def assign_roles(
    frame: Any,
    label: str | None = None,
    features: str | Sequence[str] | None = None,
    group: str | None = None,
    id: str | None = None,
    weights: str | None = None,
) -> list[Role]:
    """One role per column of a narwhals frame, in the frame's order.

    The label is guessed only if exactly one column is named like one; group and weights are never guessed.
    `features` are names, or patterns such as `emb_*`; without them every column left over is a feature.

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
    requests: list[tuple[RoleName, str | None]] = [
        ("label", label), ("group", group), ("id", id), ("weight", weights)
    ]  # fmt: skip
    for role, column in requests:
        if column is not None:
            _require(column, names, role)
            _refuse_second(column, asked, role)
            asked[column] = role
    chosen = None if features is None else _chosen(features, names, asked)
    found: dict[str, tuple[RoleName, str]] = {column: (role, "asked for") for column, role in asked.items()}
    if label is None:
        free = [
            name for name in names if name not in asked and (chosen is None or chosen.get(name) != "named")
        ]
        found[_guess_label(free, names)] = ("label", "guessed from its name")
    for name in chosen or ():
        found.setdefault(name, ("feature", "asked for"))
    for name, guess in _guess_ids([name for name in names if name not in found], id).items():
        found[name] = guess
    rest: tuple[RoleName, str] = ("feature", "not used otherwise")
    if chosen is not None:
        rest = ("ignored", "not among the features asked for")
    roles = [
        Role(name, *_kinded(found.get(name, rest), column_kind(to_arrow(frame[name], name))))
        for name in names
    ]
    if not any(role.role == "feature" for role in roles):
        raise DataworthError(
            f"no column is left to be a feature among {listed(names, 10)}: add one, or name some with"
            f" {OPTIONS['feature']}"
        )
    return roles


def check_usable(frame: Any, roles: Sequence[Role]) -> None:
    """Refuse columns that cannot do what they are asked: dates as features, text as weights, free text.

    >>> import narwhals as nw, pyarrow as pa
    >>> frame = nw.from_native(pa.table({"a": [1, 2], "b": [b"x", b"y"], "label": [0, 1]}))
    >>> check_usable(frame, assign_roles(frame))
    Traceback (most recent call last):
        ...
    dataworth.errors.DataworthError: column 'b' (binary) cannot be a feature: leave it out with --features a
    """
    for role in roles:
        _check_kind(role)
    unfit = [r for r in roles if r.role == "feature" and r.kind not in FEATURE_KINDS]
    if unfit:
        shown = ", ".join(f"{r.column!r} ({r.kind})" for r in unfit[:5]) + and_more(len(unfit) - 5)
        noun, what, it = ("column", "a feature", "it") if len(unfit) == 1 else ("columns", "features", "them")
        how = _leave_out([r.column for r in unfit], roles, it)
        raise DataworthError(f"{noun} {shown} cannot be {what}: {how}")
    for role in roles:
        if role.role == "feature" and role.kind == "categorical":
            distinct = frame[role.column].drop_nulls().n_unique()
            if distinct > 50 and distinct > len(frame) / 2:
                raise DataworthError(
                    f"column {role.column!r} is free text or an id ({distinct} different values in"
                    f" {len(frame)} rows), but a text feature is a category: embed it, name it with --id, or"
                    f" {_leave_out([role.column], roles, 'it')}"
                )


def _check_kind(role: Role) -> None:
    fits = {
        "label": ("numeric", "boolean", "categorical"),
        "weight": ("numeric", "boolean"),
        "group": ("numeric", "boolean", "categorical", "date or time"),
        "id": ("numeric", "boolean", "categorical", "date or time"),
    }.get(role.role)
    if fits and role.kind not in fits:
        raise DataworthError(
            f"column {role.column!r} ({role.kind}) cannot be the {role.role}, which is {' or '.join(fits)}:"
            f" name another with {OPTIONS[role.role]}"
        )


def _kinded(found: tuple[RoleName, str], kind: str) -> tuple[RoleName, str, str]:
    return found[0], kind, found[1]


def _leave_out(unwanted: Sequence[str], roles: Sequence[Role], pronoun: str) -> str:
    """How to leave columns out, as far as possible as something to paste."""
    others = [r.column for r in roles if r.role == "feature" and r.column not in unwanted]
    if 0 < len(others) <= 5:
        return f"leave {pronoun} out with --features {','.join(others)}"
    return f"leave {pronoun} out by naming the others with --features (patterns such as emb_* work)"


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
    found: dict[str, tuple[RoleName, str]] = {}
    for name in free:
        if name.strip() == "" or name.startswith(("Unnamed: ", "__index_level_")):
            found[name] = ("ignored", "an index that a frame library wrote")
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
    features: str | Sequence[str], names: Sequence[str], asked: dict[str, RoleName]
) -> dict[str, Literal["named", "matched"]]:
    """The columns that the names and patterns stand for; a pattern may match columns with another role."""
    if isinstance(features, str):
        features = [features] if features in names else [part.strip() for part in features.split(",")]
    chosen: dict[str, Literal["named", "matched"]] = {}
    for wanted in features:
        if wanted.endswith("*") and wanted not in names:
            matches = [name for name in names if name.startswith(wanted[:-1])]
            if not matches:
                raise DataworthError(
                    f"no column matches the feature pattern {wanted!r}: {_hint(wanted, names)}"
                )
            for name in matches:
                chosen.setdefault(name, "matched")
        else:
            _require(wanted, names, "feature")
            _refuse_second(wanted, asked, "feature")
            chosen[wanted] = "named"
    return chosen


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
