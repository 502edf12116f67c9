"""Curations by name, with options: NAME or NAME:key=value,key=value."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from dataclasses import MISSING, fields
from typing import Any, NamedTuple

from ..data.dataset import Dataset
from ..errors import DataworthError
from .added_rows import AddRows, Fake, SelfLabel, Synthesize
from .base import Method
from .density import Peak, Smooth
from .duplicates import Deduplicate, Duplicate, NearDeduplicate
from .matching import MatchGroups, Reweight
from .removed_rows import DropLabelIssues, RemoveRows
from .subsets import Herding, KCentre, RandomSubset, Resample

METHODS: tuple[type[Method], ...] = (RemoveRows, DropLabelIssues, MatchGroups, Reweight, Deduplicate)
METHODS += (NearDeduplicate, Duplicate, Resample, RandomSubset, KCentre, Herding, Smooth, Peak)
METHODS += (AddRows, SelfLabel, Synthesize, Fake)
NAMES = {method.name: method for method in METHODS}
"""Every curation that a command line can name."""

READERS: dict[str, Callable[[str], Any]] = {"int": int, "float": float, "str": str}
KINDS = {"Dataset": "file", **{kind + may: kind for kind in READERS for may in ("", " | None")}}
PLACEHOLDERS = {"group": "NAME"}
WORDS = {"int": "a whole number", "float": "a number"}


class Option(NamedTuple):
    """An option that can be given as text; `kind` is "file" for a dataset."""

    kind: str
    default: Any


def options_of(name: str) -> dict[str, Option]:
    """The options of a curation that can be given as text, in order."""
    fields_of: Any = fields(_method(name))  # type: ignore[arg-type]
    every = {f.name: Option(KINDS.get(str(f.type), ""), f.default) for f in fields_of}
    return {key: option for key, option in every.items() if option.kind}


def by_name(name: str, **options: Any) -> Method:
    """The curation of that name with these options.

    >>> by_name("random-subset", fraction=0.25)
    RandomSubset(fraction=0.25)
    """
    try:
        return _method(name)(**options)
    except TypeError as error:  # an option that it does not have, or that it needs
        raise DataworthError(f"{name}: {error}.") from None


def parse(text: str, read: Callable[[str], Dataset] | None = None) -> Method:
    """The curation that a text names; `read` makes a dataset of a file's name.

    >>> parse("near-deduplicate:distance=0.1")
    NearDeduplicate(distance=0.1)
    """
    name, given = split(text)
    readers, values = {**READERS, "file": read}, dict[str, Any]()
    for key, value in given.items():
        kind = options_of(name)[key].kind
        if (reader := readers[kind]) is None:
            raise DataworthError(f"{name} takes a file as {key}; there is no way to read one here.")
        try:
            values[key] = reader(value)
        except ValueError:
            if kind not in WORDS:
                raise
            raise DataworthError(f"{name}: {key} is {value!r}; it must be {WORDS[kind]}.") from None
    return by_name(name, **values)


def split(text: str) -> tuple[str, dict[str, str]]:
    """Name and options, as text; what does not exist is refused."""
    name, colon, rest = text.partition(":")
    method = _method(name.strip())
    name, known = method.name, options_of(method.name)
    given: dict[str, str] = {}
    for part in rest.split(",") if colon else []:
        key, equals, value = (piece.strip() for piece in part.partition("="))
        if not (key and equals and value):
            raise DataworthError(f"{part!r} is no option of a curation: give {name}:key=value,key=value.")
        if key not in known:
            has = f"its options are {', '.join(known)}" if known else "it has none"
            raise DataworthError(f"{name} has no option {key!r}; {has}.")
        if key in given:
            raise DataworthError(f"{name} is given the option {key} twice: give it once.")
        given[key] = value
    for key, option in known.items():
        if (option.default is MISSING or key in method.needed) and key not in given:
            raise DataworthError(f"{name} needs the option {key}: give {name}:{written(key, option)}.")
    return name, given


def written(key: str, option: Option) -> str:
    """An option with its default, or with a word for what it takes."""
    if option.default is not None and option.default is not MISSING:
        return f"{key}={option.default}"
    return f"{key}={'FILE' if option.kind == 'file' else PLACEHOLDERS.get(key, key.upper())}"


def files_of(text: str) -> list[str]:
    """The files that a text names."""
    name, given = split(text)
    return [value for key, value in given.items() if options_of(name)[key].kind == "file"]


def with_files(text: str, place: Callable[[str], str]) -> str:
    """The same text with other names for its files; options in the order of the curation's."""
    name, given = split(text)
    known = {key: option.kind for key, option in options_of(name).items() if key in given}
    parts = [f"{key}={place(given[key]) if kind == 'file' else given[key]}" for key, kind in known.items()]
    return name + (":" if parts else "") + ",".join(parts)


def _method(name: str) -> type[Method]:
    if found := NAMES.get(name.lower()):
        return found
    close = " or ".join(map(repr, difflib.get_close_matches(name.lower(), NAMES, n=2)))
    what = f": did you mean {close}?" if close else f"; there are {', '.join(NAMES)}."
    raise DataworthError(f"there is no curation {name!r}{what}")
