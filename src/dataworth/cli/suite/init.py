"""A suite written from the files of a directory: test sets, data that belong to them, and their labels."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dataworth.atomic import atomic_write
from dataworth.data.io import describe
from dataworth.data.io.files import SUFFIXES
from dataworth.errors import DataworthError

from ..options import HELD_OUT
from .file import SUITE
from .thresholds import FAILING, MAX_ROWS_LOST

TESTS = {"test", "testing", "holdout", "heldout", "eval", "evaluation", "benchmark"}
DATA = {"train", "training", "data", "curated", "clean", "cleaned", "filtered", "after", "new"}
RAW = {"raw", "before", "original", "orig", "source", "old"}
NEITHER = {"val", "valid", "validation", "dev"}
"""Words in names of files; validation sets are neither data nor test sets here."""
DEEPEST, MAX_FILES = 3, 200
KEPT_ROWS = 0.8
"""Proportion of the present rows that `min_rows` asks for, in a suite that is written."""


@dataclass(frozen=True)
class Found:
    """One audit to be written: files, relative to the directory, and what was seen in them."""

    name: str
    data: Path
    test: Path
    before: Path | None
    rows: int
    label: str | None
    likely: tuple[str, ...] = ()
    id: str | None = None


def write_suite(folder: Path, force: bool = False) -> tuple[Path, list[Found]]:
    """Write a suite for the files in a directory; a sentence if there are none that make one."""
    target = folder / SUITE
    if not folder.is_dir():
        raise DataworthError(f"{folder} is no directory: name the one that the data are in.")
    if target.exists() and not force:
        raise DataworthError(f"{target} exists already: --force replaces it.")
    found = find(folder)
    with atomic_write(target) as place:
        place.write_text(written(found), encoding="utf-8")
    return target, found


def find(folder: Path) -> list[Found]:
    """What can be audited in a directory."""
    files = sorted(_data_files(folder))[:MAX_FILES]
    if not files:
        raise DataworthError(
            f"there are no data files in {folder}: dataworth reads {' '.join(sorted(SUFFIXES))}; start from "
            "the directory that they are in."
        )
    tests = [one for one in files if _words(one) & TESTS]
    if not tests:
        listed = ", ".join(map(str, files[:5]))
        raise DataworthError(
            f"no file in {folder} is named like a test set (test, holdout, eval) among {listed}. {HELD_OUT}"
        )
    others = [one for one in files if one not in tests and not _words(one) & NEITHER]
    made = [one for test in tests for one in _belonging(folder, test, others)]
    if not made:
        raise DataworthError(
            f"no file beside {', '.join(map(str, tests[:5]))} has the same columns: give data and test set "
            "the same columns, or write the suite by hand (data, test and label of each audit)."
        )
    return _with_names(made)


def _data_files(folder: Path) -> Iterator[Path]:
    for place, folders, names in os.walk(folder):
        inside = Path(place).relative_to(folder)
        deeper = len(inside.parts) < DEEPEST
        folders[:] = sorted(one for one in folders if deeper and one[0] not in "._" and one != "node_modules")
        for name in sorted(names):
            suffix = next((one for one in SUFFIXES if name.lower().endswith(one)), None)
            if suffix and suffix != ".txt" and name[0] not in "._" and not name.endswith(".about.json"):
                yield inside / name


def _words(path: Path) -> set[str]:
    """Words of a file's name; of its directory too, where the file's own say nothing (test/part-0.csv)."""
    return set(re.split(r"[^a-z]+", path.name.split(".")[0].lower()))


def _stem(path: Path) -> str:
    """What a name has beside the words that say which part it is."""
    words = re.split(r"[^a-z0-9]+", path.name.split(".")[0].lower())
    return "-".join(one for one in words if one and one not in {*TESTS, *DATA, *RAW, *NEITHER})


def _belonging(folder: Path, test: Path, others: Sequence[Path]) -> Iterator[Found]:
    """Data of a test set: files near it whose columns have all of its, a raw one as `before` of another."""
    about = _described(folder / test)
    if about is None:
        return
    columns = _columns(about)
    near = [one for one in others if one.parent == test.parent]
    alike = [one for one in near if _stem(one) == _stem(test)] or near
    fitting: dict[Path, Any] = {}
    for one in alike:
        seen = _described(folder / one)
        if seen is not None and columns <= _columns(seen):
            fitting[one] = seen
    raw = [one for one in fitting if _words(one) & RAW]
    data = [one for one in fitting if one not in raw] or raw
    for one in data:
        before = next((each for each in raw if each != one and _stem(each) == _stem(one)), None)
        before = before or (raw[0] if len(raw) == 1 and raw[0] != one else None)
        roles = {role.role: role.column for role in about.roles}
        label, named = roles.get("label"), roles.get("id")
        likely = () if label else _likely(about)
        yield Found("", one, test, before, fitting[one].rows, label, likely, named)


def _described(path: Path) -> Any:
    with suppress(DataworthError, OSError):
        return describe(path)
    return None


def _columns(about: Any) -> set[str]:
    return {role.column for role in about.roles if role.used}


def _likely(about: Any) -> tuple[str, ...]:
    """Columns that may be the label where none is named like one: categories, else the last ones."""
    features = [role for role in about.roles if role.role == "feature"]
    likely = [role for role in features if role.kind in ("categorical", "boolean")] or features
    return tuple(role.column for role in likely[:-6:-1])


def _with_names(made: Sequence[Found]) -> list[Found]:
    """Each with a name of its own: its file's, with its directory where two files are called the same."""
    stems = [one.data.name.split(".")[0] for one in made]
    named: list[Found] = []
    for one, stem in zip(made, stems, strict=True):
        name = stem if stems.count(stem) == 1 else "-".join((*one.data.parent.parts, stem))
        name = re.sub(r"[^A-Za-z0-9_-]+", "-", name).strip("-") or "data"
        while name in {other.name for other in named}:
            name += "-2"
        named.append(Found(**{**vars(one), "name": name}))
    return named


def text(value: object) -> str:
    """A text of TOML."""
    escaped = str(value).replace("\\", "\\\\").replace('"', '\\"')
    return '"' + "".join(c if c.isprintable() else f"\\u{ord(c):04x}" for c in escaped) + '"'


def written(found: Sequence[Found]) -> str:
    """The suite, with comments that say what can be added."""
    labels = {one.label for one in found}
    tests = {one.test for one in found}
    common: Mapping[str, Any] = {
        **({"test": tests.copy().pop().as_posix()} if len(tests) == 1 else {}),
        **({"label": labels.copy().pop()} if len(labels) == 1 and None not in labels else {}),
    }
    lines = [
        "# What must hold before a change of these data is merged: 'dataworth check' runs it, in CI too.",
        "# Paths are relative to this file. 'dataworth check' compares each file with itself in `base`, a",
        "# revision of git, and measures what changed; --base on the command line goes first.",
        'base = "HEAD"',
        "",
        "[defaults]  # of every audit below",
        *(f"{key} = {text(value)}" for key, value in common.items()),
        f"fail_on = [{', '.join(map(text, FAILING))}]  # verdicts that fail",
        f"max_rows_lost = {MAX_ROWS_LOST}  # a costly change fails if it loses more of the rows than this",
        '# group = "patient"        # column of rows that belong together: patient, document, prompt',
        '# attribute = "site"       # column that should not matter',
        '# slices = ["site"]        # no value of these columns may lose information',
        "# min_of_ceiling = 0.5     # least share of what the test set's own rows tell of each other",
        "# checks = [\"all\"]         # checks that must pass; see 'dataworth checks'",
    ]
    for one in found:
        own = {
            "data": one.data.as_posix(),
            **({} if one.before is None else {"before": one.before.as_posix()}),
            **({} if "test" in common else {"test": one.test.as_posix()}),
            **({} if "label" in common or one.label is None else {"label": one.label}),
        }
        lines += ["", f"[audit.{one.name}]"]
        lines += [f"{key} = {text(value)}" for key, value in own.items()]
        if one.likely:
            other = ", ".join(map(text, one.likely[1:]))
            also = f", or one of {other}" if other else ""
            lines.append(f"# label = {text(one.likely[0])}  # which column is the label? This one{also}?")
        if one.id is not None:
            lines.append(f"# id = {text(one.id)}  # rows are named by it")
        least = int(KEPT_ROWS * one.rows)
        lines.append(f"min_rows = {least}  # it has {one.rows} now")
        if one.before is None:
            lines.append('# before = "raw.csv"  # in place of the file in `base`: what it was made from')
    return "\n".join(lines) + "\n"
