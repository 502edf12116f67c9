"""The file of a suite: which data are measured on which test set, and what must hold. It is data, no code."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import Any

import typer

from dataworth.atomic import read_whole
from dataworth.errors import DataworthError
from dataworth.measure.options import TAKES, Options

from ..options import Columns, as_words
from .thresholds import Thresholds

SUITE = "dataworth.toml"
HEAD = "HEAD"
MAX_BYTES = 1_000_000
"""Bytes of a suite at most."""
MAX_AUDITS = 1000
FILES = ("data", "before", "test")
TOP = ("base", "defaults", "audit")
PATHS = ("yardstick", "values", "ladder")
"""Options that name files."""
NOT_IN_SUITES = {"key", "stream", "sample", "slices"}
COLUMNS = tuple(one.name for one in fields(Columns) if one.name not in NOT_IN_SUITES)
OPTIONS = tuple(
    one.name
    for one in fields(Options)
    if one.name in TAKES["audit"].__annotations__
    and one.metadata["panel"] in (None, "Checks", "Guard")
    and one.name not in NOT_IN_SUITES
)
THRESHOLDS = tuple(one.name for one in fields(Thresholds))
KNOWN = (*FILES, *THRESHOLDS, *COLUMNS, *OPTIONS)
"""What an audit of a suite can say. `slices` is a threshold: slices that may not fall."""


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One audit of a suite, as it is written: paths are relative to the suite's folder.

    before: the data before the change; None: the same file in the base revision; False: there is none.
    columns, options: as `Job` takes them.
    """

    name: str
    data: str
    test: str
    before: str | bool | None
    thresholds: Thresholds
    columns: Columns
    options: Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class Suite:
    """A suite: where it is, the revision that data are compared with, and its audits."""

    path: Path
    base: str
    entries: tuple[Entry, ...]

    @property
    def folder(self) -> Path:
        """Where its paths begin."""
        return self.path.parent

    def named(self, names: list[str]) -> tuple[Entry, ...]:
        """The audits of these names, all without; a sentence for a name that is none."""
        known = {one.name: one for one in self.entries}
        for name in names:
            if name not in known:
                raise DataworthError(f"{self.path} has no audit {name!r}{_meant(name, [*known])}.")
        return tuple(known[name] for name in dict.fromkeys(names)) if names else self.entries


def read_suite(path: Path, allow_code: bool = False) -> Suite:
    """A suite from a file.

    Raises: DataworthError for what is none, names code (unless that is allowed), or would write elsewhere.
    """
    if not path.exists():
        how = "'dataworth init' writes one from the files that it finds"
        raise DataworthError(f"{path}: there is no suite here: {how}.")
    try:
        told: dict[str, Any] = tomllib.loads(read_whole(path, MAX_BYTES).decode())
    except (ValueError, RecursionError) as error:
        why = "it is nested too deeply" if isinstance(error, RecursionError) else error
        raise DataworthError(
            f"{path} is not TOML ({why}): give a suite, as 'dataworth init' writes."
        ) from None
    _refuse_unknown(told, TOP, f"{path}")
    base = told.get("base", HEAD)
    if not isinstance(base, str) or not base or base.startswith("-"):
        raise DataworthError(f"{path}: base is {base!r}; give a revision of git, such as 'origin/main'.")
    defaults, audits = (_table(told.get(name, {}), f"{path}: {name}") for name in ("defaults", "audit"))
    _refuse_unknown(defaults, KNOWN, f"{path}: [defaults]")
    if not audits:
        raise DataworthError(f"{path} has no audit: add a table [audit.NAME] with data and test.")
    if len(audits) > MAX_AUDITS:
        raise DataworthError(
            f"{path} has {len(audits)} audits; {MAX_AUDITS} at most are run: make two of it."
        )
    entries = []
    for name, given in audits.items():
        where = f"{path}: [audit.{name}]"
        own = _table(given, where)
        _refuse_unknown(own, KNOWN, where)
        entries.append(_entry(name, {**_plain(defaults), **_plain(own)}, where, path, allow_code))
    return Suite(path=path, base=base, entries=tuple(entries))


def _plain(given: Mapping[str, Any]) -> dict[str, Any]:
    return {key.replace("-", "_"): value for key, value in given.items()}


def _table(given: Any, where: str) -> dict[str, Any]:
    if not isinstance(given, dict):
        raise DataworthError(f"{where} is {given!r}; it must be a table of names and values.")
    return given


def _refuse_unknown(given: Mapping[str, Any], known: tuple[str, ...], where: str) -> None:
    for key in given:
        if key.replace("-", "_") not in known:
            raise DataworthError(f"{where} has the key {key!r}, which means nothing{_meant(key, known)}.")


def _meant(name: str, known: Any) -> str:
    near = get_close_matches(name, known, 1)
    return f": did you mean {near[0]!r}?" if near else f"; known here: {', '.join(list(known)[:40])}"


def _entry(name: str, given: dict[str, Any], where: str, suite: Path, allow_code: bool) -> Entry:
    if not name.strip() or not name.isprintable() or len(name) > 100:
        raise DataworthError(f"{where}: the name of an audit is a short text that can be printed.")
    for key, value in given.items():
        each = value if isinstance(value, list) else [value]
        if not all(isinstance(one, str | bool | int | float) for one in each) or not each:
            raise DataworthError(
                f"{where}: {key} is {value!r}; give a text, a number, true or false, or a list."
            )
        if any(isinstance(one, str) and "\0" in one for one in each):
            raise DataworthError(f"{where}: {key} has a character of code 0 in it: leave it out.")
    files = {key: given.pop(key, None) for key in FILES}
    for key in ("data", "test"):
        if not isinstance(files[key], str) or not files[key]:
            raise DataworthError(f"{where} has {key} = {files[key]!r}; give the path of a file.")
    before = files["before"]
    if not (before is None or before is False or (isinstance(before, str) and before)):
        raise DataworthError(f"{where} has before = {before!r}; give the path of a file, or false for none.")
    thresholds = Thresholds.parse({key: given.pop(key) for key in THRESHOLDS if key in given}, where)
    for key in PATHS:
        if isinstance(given.get(key), str):
            given[key] = str(suite.absolute().parent / given[key])
    refuse_reaching_out(given, where, suite.absolute().parent, allow_code)
    found = _parsed(given, where)
    columns = Columns(**{one: found[one] for one in vars(Columns())})
    options = {one: found[one] for one in Options.__dataclass_fields__ if one in found}
    if thresholds.slices:
        options["slices"] = ",".join(thresholds.slices)
    own: dict[str, Any] = {"columns": columns, "options": options, "thresholds": thresholds}
    return Entry(name=name, data=str(files["data"]), test=str(files["test"]), before=before, **own)


def refuse_reaching_out(given: Mapping[str, Any], where: str, folder: Path, allow_code: bool) -> None:
    """A sentence, if an audit would run code of its author's, or write outside of the suite's folder."""
    if not {"model", "text_encoder", "ladder"} & given.keys():
        return
    from ..job import refuse_code, refuse_outside

    if not allow_code:
        refuse_code(given, where)
    refuse_outside(given, where, folder.resolve())


@cache
def _audit() -> Any:
    """The command whose options an audit has; they are made once."""
    from ..app import app

    return typer.main.get_command(app).commands["audit"]  # type: ignore[attr-defined]


def _parsed(given: Mapping[str, Any], where: str) -> dict[str, Any]:
    """Options as the command line would have parsed them."""
    words = ["--test=x", *(f"{one}" for one in as_words(given)), "--", "x", "x"]
    try:
        found = _audit().make_context("audit", words).params
    except Exception as error:  # click's, which some versions of typer bring under another name
        if not hasattr(error, "format_message"):
            raise
        raise DataworthError(f"{where}: {error.format_message()}") from None
    return {name: None if value == () else value for name, value in found.items()}
