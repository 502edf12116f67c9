"""From a configuration back to a command: the command line itself is what checks it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import typer

from dataworth.curation.names import with_files
from dataworth.errors import DataworthError
from dataworth.measure.runs import Run

from .files import absolute
from .options import Keeping, Showing, Working

REPLAYABLE = ("score", "audit", "rank")
KEYS = ("command", "options", "inputs", "about", "dataworth_run")
FILES = ("data", "before", "after", "test", "yardstick")
UsageError: Any = typer.BadParameter.__mro__[
    1
]  # typer brings click along, or imports it, but does not name it


def read_config(path: Path) -> dict[str, Any]:
    """A configuration from a file; its paths are relative to the file."""
    try:
        config = json.loads(path.read_bytes())
    except ValueError as error:
        raise DataworthError(f"{path} is not JSON ({error}): give a configuration.") from error
    return config if not isinstance(config, dict) else _anchored(config, path.absolute().parent)


def _anchored(config: dict[str, Any], folder: Path) -> dict[str, Any]:
    def anchor(value: Any) -> Any:
        if isinstance(value, list):
            return [anchor(item) for item in value]
        return absolute(folder / value) if isinstance(value, str) else value

    options = config.get("options")
    if isinstance(options, dict):
        options = {name: anchor(value) if name in FILES else value for name, value in options.items()}
        if isinstance(options.get("curate"), str):
            options["curate"] = with_files(options["curate"], anchor)
        config = {**config, "options": options}
    inputs = config.get("inputs")
    if isinstance(inputs, dict):
        config = {**config, "inputs": {anchor(name): value for name, value in inputs.items()}}
    return config


def stored_config(directory: Path) -> dict[str, Any]:
    """The configuration of a run directory."""
    with Run.load(directory) as run:
        return run.config


def replay(
    context: typer.Context,
    config: Any,
    source: Path,
    working: Working,
    keeping: Keeping,
    showing: Showing,
    fail_on: str | None,
    strict: bool,
) -> int:
    """Carry out the command of a configuration, shown as asked for here; return its exit code."""
    command, options, inputs, about = _checked(config, source)
    fail_on = about.get("fail_on") if fail_on is None else fail_on
    strict = strict or about.get("strict") is True
    here = {**vars(working), **vars(keeping), **vars(showing), "fail_on": fail_on, "strict": strict}
    given = options | {name: value for name, value in here.items() if value not in (None, False)}
    group: Any = context.find_root().command
    try:
        arguments = [command, *_words(group.commands[command], given, source)]
        code = group.main(arguments, prog_name="dataworth", standalone_mode=False, obj=inputs)
    except UsageError as error:
        raise DataworthError(f"{source}: {error.format_message()}") from error
    return int(code or 0)


def _checked(config: Any, source: Path) -> tuple[str, dict[str, Any], dict[str, str], dict[str, Any]]:
    """The parts of a configuration, or a sentence about what is wrong with it."""
    if not isinstance(config, dict):
        raise DataworthError(
            f"{source} is no configuration: it must be a JSON object with {_listed(KEYS[:2])}."
        )
    unknown = [key for key in config if key not in KEYS]
    if unknown:
        raise DataworthError(f"{source} has the key {unknown[0]!r}; a configuration has {_listed(KEYS[:4])}.")
    command = config.get("command")
    if command not in REPLAYABLE:
        raise DataworthError(
            f"{source} has the command {command!r}; it must be one of {_listed(REPLAYABLE)}."
        )
    parts = [config.get(key, {}) for key in ("options", "inputs", "about")]
    for key, part in zip(("options", "inputs", "about"), parts, strict=True):
        if not isinstance(part, dict):
            raise DataworthError(f"{source} has {key} that are no JSON object: give names and values.")
    return command, *parts


def _listed(names: tuple[str, ...]) -> str:
    return ", ".join(repr(name) for name in names)


def _words(command: Any, options: Mapping[str, Any], source: Path) -> list[str]:
    """Options by name as words of the command line."""
    parameters = {parameter.name: parameter for parameter in command.params}
    known = [name for name in parameters if name != "help"]
    unknown = [name for name in options if name not in known]
    if unknown:
        raise DataworthError(
            f"{source}: {command.name} has no option {unknown[0]!r}; its options are {', '.join(known)}."
        )
    words, positional = [], []
    for name, parameter in parameters.items():
        value = options.get(name)
        if value is None or value is False:
            continue
        if parameter.param_type_name == "argument":
            positional += [str(item) for item in (value if isinstance(value, list) else [value])]
        elif value is True:
            words.append(parameter.opts[0])
        else:
            text = ",".join(map(str, value)) if isinstance(value, list) else str(value)
            words.append(f"{parameter.opts[0]}={text}")
    return [*words, "--", *positional]
