"""A measurement as the command line, a configuration and a run directory know it: files, columns, options."""

from __future__ import annotations

import hashlib
import json
import os
import shlex
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from importlib import import_module
from pathlib import Path
from typing import Any

from dataworth.atomic import parse_json, read_whole
from dataworth.data.io.inputs import absolute
from dataworth.errors import DataworthError
from dataworth.measure.options import TAKES, Options
from dataworth.valuation.entry import parse_options
from dataworth.valuation.result import versions
from dataworth.yardstick.yardstick import Yardstick

from .files import names_of
from .options import Columns, as_words

ROLES = {"score": ("data", "test"), "audit": ("before", "after", "test"), "rank": ("data", "test")}
ROLES |= {"values": ROLES["score"], "contributions": ROLES["rank"], "forecast": ROLES["score"]}
ROLES |= {"sensitivity": ("data", "after", "test")}
"""Files of each measuring command by their roles, in the order in which its function takes them."""
OWN: dict[str, dict[str, Any]] = {
    "audit": {"curate": None},
    "values": {"source": None, "fdr": 0.1, "cross_fit": None, "sample_splitting": False},
    "forecast": {"rows": None, "target": None},
    "sensitivity": {"priors": None},
}
"""Arguments of one command alone, and their defaults."""
KEYS = ("command", "options", "inputs", "about", "dataworth_run")
NOT_KEPT = (
    "baselines",
    "jobs",
    "engine",
    "address",
    "cache",
    "run_dir",
    "keep_data",
    "progress",
    "committed",
    "key",
)
"""Options that do not determine a result, and a key, which is nobody else's business."""
WRITTEN = ("ladder", "run_dir", "csv", "plot", "report", "output")
"""Options that name what is written."""
FILES = ("yardstick", "values", *WRITTEN)
"""Options that name files."""
TRUSTED = ("model", "text_encoder", "engine", "address")
"""Options by which files can have their code run, or get hold of rows."""


@dataclass(frozen=True, kw_only=True)
class Job:
    """One measurement, wherever its words come from.

    options: those of `measure.options`, as they were given. own: arguments of this command alone. pins: the
    content that files must have, by their absolute paths. words: the command line, as a run was started with.
    """

    command: str
    files: Mapping[str, Path | Sequence[Path]]
    columns: Columns
    options: Mapping[str, Any]
    own: Mapping[str, Any] = field(default_factory=dict)
    fail_on: str | None = None
    strict: bool = False
    pins: Mapping[str, str] = field(default_factory=dict)
    words: str | None = None

    @property
    def what(self) -> str:
        """Whose options it takes: a key of `TAKES`."""
        if self.command == "sensitivity":
            return "audit" if "after" in self.files else "score"
        return self.command if self.own.get("curate") is None else "curate"

    def parsed(self) -> Options:
        """The options, parsed and checked, with the yardstick that a file holds."""
        known = TAKES[self.what].__annotations__
        given = {name: value for name, value in self.options.items() if name in known}
        if self.command == "sensitivity":
            given["ignore"] = "all"
        if ":" in str(given.get("model", "")):
            given["model"] = load_model(given["model"])
        if "size" in given:
            given["size"] = parse_size(given["size"])
        path = given.pop("yardstick", None)
        options = parse_options(self.what, given)
        return options if path is None else replace(options, yardstick=Yardstick.load(path))

    def named_files(self) -> dict[str, str]:
        """The names of files by their roles; several datasets have the names of their files."""
        named: dict[str, str] = {}
        for role, paths in self.files.items():
            several = {role: paths} if isinstance(paths, Path) else zip(names_of(paths), paths, strict=True)
            named |= {name: path.name for name, path in dict(several).items()}
        return named

    def every_file(self, *without: str) -> list[Path]:
        """All files, whatever their roles."""
        given = [paths for role, paths in self.files.items() if role not in without]
        return [path for one in given for path in ([one] if isinstance(one, Path) else one)]

    def command_line(self) -> str:
        """The words that make the same result: what does not determine it is left out."""
        if self.words is not None:
            return self.words
        usual = {one.name: one.default for one in fields(Options)} | {"seed": None}
        own = {n: value for n, value in self.own.items() if value != OWN[self.command][n]}
        given = {n: value for n, value in self.options.items() if str(value) != str(usual.get(n))}
        told = {"test": self.files["test"], **own, **vars(self.columns), **given}
        words = as_words({n: value for n, value in told.items() if n not in NOT_KEPT})
        return shlex.join(["dataworth", self.command, *map(str, self.every_file("test")), *words])

    def resuming(self, directory: Path) -> str:
        """The command that continues a run: what a configuration is not trusted with is said again."""
        code = any(map(is_trusted, TRUSTED, map({**vars(self.columns), **self.options}.get, TRUSTED)))
        more = {"allow_code": code, "ladder": self.options.get("ladder")}
        return shlex.join(["dataworth", "resume", str(directory), *as_words(more)])

    def to_config(self, inputs: Mapping[str, str], options: Options | None = None) -> dict[str, Any]:
        """What replays the job from anywhere: paths are absolute, inputs are known by their content."""
        # defaults too: another version may have others
        parsed, known = options or self.parsed(), TAKES[self.what].__annotations__
        left_out = (*NOT_KEPT, "ignore", "yardstick")
        given = {n: getattr(parsed, n) for n in known if n not in left_out and getattr(parsed, n) is not None}
        raw = {n: self.options.get(n) for n in ("model", "ignore", "yardstick")}  # as they were given
        given |= {n: value for n, value in raw.items() if value is not None}
        columns = {name: one for name, one in vars(self.columns).items() if one not in (None, False, [])}
        files = {
            role: absolute(named) if isinstance(named, Path) else [absolute(path) for path in named]
            for role, named in self.files.items()
        }
        for name in FILES:
            if name in given:
                given[name] = absolute(given[name])
        own = {name: value for name, value in self.own.items() if value is not None}
        if "curate" in own:
            from dataworth.curation.names import with_files

            own["curate"] = with_files(own["curate"], absolute)
        config = {
            "command": self.command,
            "options": {**files, **columns, **given, **own},
            "inputs": dict(inputs),
        }
        about = {"fail_on": self.fail_on, "strict": self.strict}
        words = {"words": self.command_line(), "words_of": _digest(config)}
        return {**config, "about": {**versions(), **about, **words}}


def _digest(config: Mapping[str, Any]) -> str:
    told = [config.get(name) for name in ("command", "inputs", "options")]
    return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()


def words_of(
    config: Any, source: Path, folder: Path, now: Mapping[str, Any], allow_code: bool
) -> tuple[list[str], dict[str, Any]]:
    """The command that a configuration stands for, and what else its job has: pins, and words if it has them.

    Paths are relative to the folder. What is said `now`, on the command line, goes first, and is trusted: a
    configuration is data, of which somebody else may be the author. It names no code, unless that is allowed,
    and writes nowhere but in its folder.

    Raises: DataworthError for what is no configuration, or reaches further.
    """
    if not isinstance(config, dict) or (unknown := [key for key in config if key not in KEYS]):
        replay = config.get("replay") if isinstance(config, dict) else None
        if isinstance(replay, dict) and "command" in replay:
            how = f"it was made by: {replay['command']}"
            raise DataworthError(f"{source} is a result, and no configuration to run: {how}.")
        what = f"has the key {unknown[0]!r}" if isinstance(config, dict) else "is no JSON object"
        raise DataworthError(f"{source} {what}: a configuration has {', '.join(map(repr, KEYS[:4]))}.")
    command = config.get("command")
    if command not in tuple(ROLES):
        known = ", ".join(map(repr, ROLES))
        raise DataworthError(f"{source} has the command {command!r}; it must be one of {known}.")
    for key in KEYS[1:4]:
        if not isinstance(config.get(key, {}), dict):
            raise DataworthError(f"{source} has {key} that are no JSON object: give names and values.")
    given, pins, about = (dict(config.get(key, {})) for key in KEYS[1:4])
    now = {name: value for name, value in now.items() if value not in (None, False, [], Options.model)}
    given = {name: value for name, value in given.items() if name not in now}
    strict = {"fail_on": about.get("fail_on"), "strict": about.get("strict")}

    def place(path: Any) -> Any:
        if isinstance(path, list):
            return [place(one) for one in path]
        name = str(path)
        return name if absolute(name) == name else absolute(folder / name)

    for name in (*ROLES[command], *FILES):
        if given.get(name) is not None:
            if not all(isinstance(one, str) for one in _each(given[name])):
                raise DataworthError(
                    f"{source} has {name} {given[name]!r}: give the path of a file, as a text."
                )
            given[name] = place(given[name])
    if isinstance(given.get("curate"), str):
        from dataworth.curation.names import with_files

        given["curate"] = with_files(given["curate"], place)
    if not allow_code:
        refuse_code(given, source)
    refuse_outside(given, source, folder.resolve())
    positional = [given.pop(role, None) for role in ROLES[command] if role != "test"]
    files = [path for one in positional if one for path in (one if isinstance(one, list) else [one])]
    more: dict[str, Any] = {"pins": {place(path): value for path, value in pins.items()}}
    if about.get("words_of") == _digest(config) and _is_command(words := str(about.get("words")), command):
        more["words"] = words  # else it was changed since
    return [command, *as_words({**given, **strict, **now}), "--", *files], more


def is_trusted(name: str, value: Any) -> bool:
    """Whether the value of one of these options names code, or who gets rows."""
    return value is not None and (name != "model" or ":" in str(value))


def refuse_code(given: Mapping[str, Any], source: object) -> None:
    """A sentence, if a configuration asks to run code of its author's choice, or to send rows there."""
    for name in TRUSTED:
        if is_trusted(name, value := given.get(name)):
            raise DataworthError(
                f"{source} names the {name} {value!r}, which may run code that is not dataworth's: say "
                "--allow-code if you know where it comes from."
            )


def refuse_outside(given: Mapping[str, Any], source: object, folder: Path) -> None:
    """A sentence, if a configuration would write anything but plain files in its own folder."""
    for name in WRITTEN:
        for path in _each(given.get(name)):
            place = Path(str(path)).resolve()
            inside = place.relative_to(folder).parts if place.is_relative_to(folder) else ()
            if not inside or any(part.startswith(".") for part in inside):
                flag = f"--{name.replace('_', '-')}"
                raise DataworthError(
                    f"{source} would write {name} to {path}, and a configuration writes only plain files in "
                    f"its own directory: name one there, or give {flag} on the command line."
                )


def _each(given: Any) -> list[Any]:
    """The values of an option, none or more."""
    return given if isinstance(given, list) else [] if given is None else [given]


def _is_command(words: str, command: str) -> bool:
    """Whether words are this command to a shell, and nothing else: people copy them from reports."""
    try:
        parts = shlex.split(words)
    except ValueError:
        return False
    return parts[:2] == ["dataworth", command] and shlex.join(parts) == words


def read_config(path: Path) -> Any:
    """A configuration from a file."""
    try:
        return parse_json(read_whole(path))
    except ValueError as error:
        raise DataworthError(f"{path} is not JSON ({error}): give a configuration.") from error


def load_model(name: str) -> Any:
    """The object that module:object names, from the current directory or an installed package."""
    module, _, attribute = str(name).partition(":")
    sys.path.insert(0, os.getcwd())
    try:
        return getattr(import_module(module), attribute)
    except (ImportError, AttributeError, ValueError) as error:
        raise DataworthError(
            f"model is {name!r}, but there is no such object ({error}): give module:object."
        ) from None
    finally:
        sys.path.pop(0)


def parse_size(given: str | None) -> int | tuple[int, int] | None:
    """N, or N,M."""
    if given is None:
        return None
    parts = given.split(",")
    if len(parts) > 2 or not all(part.strip().isdecimal() for part in parts):
        raise DataworthError(f"size is {given!r}; give N, or N,M for the rows of data and test in a pair.")
    sizes = [int(part) for part in parts]
    return sizes[0] if len(sizes) == 1 else (sizes[0], sizes[1])


def failing_verdicts(fail_on: str | None, design: str | None) -> frozenset[str]:
    """The verdicts in --fail-on."""
    if fail_on is None:
        return frozenset()
    from dataworth.valuation.audit.verdict import VERDICTS

    words = [word.strip() for word in str(fail_on).split(",")]
    unknown = [word for word in words if word not in VERDICTS]
    if unknown:
        raise DataworthError(
            f"--fail-on {unknown[0]!r} is no verdict; the verdicts are {', '.join(VERDICTS)}."
        )
    if design == "equal-size":
        raise DataworthError(
            "the design equal-size gives no verdict, so --fail-on would never fail: drop one of them."
        )
    return frozenset(words)
