"""The options of all commands, each declared once; a command takes groups of them."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer

from dataworth.measure.options import TAKES, Options

from .guard import end_with_code

FLAG = {"metavar": " "}
"""An option that takes no value: without this, help would name its type."""


def _option(panel: str, help: str, *names: str, **settings: Any) -> Any:
    return typer.Option(*names, help=help, rich_help_panel=panel, show_default=False, **settings)


def _columns(help: str, *names: str, **settings: Any) -> Any:
    return _option("Columns (the same in all files)", help, *names, **settings)


def _embedding(help: str, *names: str, **settings: Any) -> Any:
    return _option("Embedding", help, *names, **settings)


def _table(help: str) -> Any:
    return _option("Columns (of a table of images)", help)


def _showing(help: str, *names: str, **settings: Any) -> Any:
    return _option("Output", help, *names, **settings)


@dataclass(frozen=True)
class Columns:
    """What the columns of the files are used as."""

    label: Annotated[str | None, _columns("Label column; guessed from its name if only one fits.")] = None
    group: Annotated[
        str | None, _columns("Column that says which rows belong together: patient, document, prompt.")
    ] = None
    attribute: Annotated[
        str | None, _columns("Column with what should not matter, for match-groups, reweight and a check.")
    ] = None
    id: Annotated[str | None, _columns("Column that names rows; guessed from its name.")] = None
    features: Annotated[
        str | None, _columns("Feature columns: names or patterns, such as 'age,emb_*' (default: all others).")
    ] = None
    exclude: Annotated[
        str | None, _columns("Columns to leave out: names or patterns, such as 'when,raw_*'.")
    ] = None
    weights: Annotated[str | None, _columns("Column that says how often a row counts.")] = None
    impute: Annotated[
        bool, _columns("Fill in missing feature values instead of refusing them.", "--impute", **FLAG)
    ] = False


@dataclass(frozen=True)
class Talking:
    """How much is said."""

    json: Annotated[bool, _showing("The result alone, as JSON, on stdout.", "--json", **FLAG)] = False
    quiet: Annotated[bool, _showing("One line only.", "--quiet", "-q", **FLAG)] = False
    verbose: Annotated[
        bool, _showing("Also each arm and the yardstick; tracebacks of bugs.", "--verbose", "-v", **FLAG)
    ] = False


@dataclass(frozen=True)
class Showing(Talking):
    """What is made of the result of a measurement."""

    bits: Annotated[bool, _showing("Bits instead of nats.", "--bits", **FLAG)] = False
    csv: Annotated[
        Path | None, _showing("Write every block or pair and arm to this file, in nats, unclipped.")
    ] = None
    plot: Annotated[Path | None, _showing("Draw the result: .png, .svg or .pdf.")] = None
    explain: Annotated[
        bool, _showing("Also why: the parts that the value, or its change, is made of.", "--explain", **FLAG)
    ] = False


@dataclass(frozen=True)
class Picture(Talking):
    """What is made of a result over prior variances."""

    bits: Annotated[bool, _showing("Bits instead of nats.", "--bits", **FLAG)] = False
    csv: Annotated[Path | None, _showing("Write a row for every prior variance to this file, in nats.")] = (
        None
    )
    plot: Annotated[Path | None, _showing("Draw the result: .png, .svg or .pdf.")] = None


@dataclass(frozen=True)
class Picturing(Talking):
    """What is made of the result of the demo."""

    bits: Annotated[bool, _showing("Bits instead of nats.", "--bits", **FLAG)] = False
    plot: Annotated[Path | None, _showing("Draw the result: .png, .svg or .pdf.")] = None


@dataclass(frozen=True)
class Embedding:
    """How images become vectors, and which columns of a table of images are what."""

    model: Annotated[
        str,
        _embedding(
            "efficientnet-lite0 (the default), efficientnet-lite0:14 (its block 14, of 0 to 15), pixels, or"
            " the name or directory of a vision model of transformers."
        ),
    ] = "efficientnet-lite0"
    size: Annotated[
        int | None,
        _embedding("Side to resize images to (default: as they are if all are alike, else the model's)."),
    ] = None
    batch: Annotated[int, _embedding("Images that are decoded and cached together (default: 64).")] = 64
    pca: Annotated[int | None, _embedding("Keep this many principal components.")] = None
    pca_on: Annotated[
        Path | None, _embedding("Images whose principal components to use (default: those embedded).")
    ] = None
    cache: Annotated[
        Path | None, _embedding("Directory to keep vectors in (default: the user's cache directory).")
    ] = None
    no_cache: Annotated[bool, _embedding("Keep no vectors.", "--no-cache", **FLAG)] = False
    image: Annotated[str | None, _table("Column of images, paths or bytes; guessed if only one can be.")] = (
        None
    )
    label: Annotated[str | None, _table("Label column; guessed from its name if only one fits.")] = None
    group: Annotated[
        str | None, _table("Column that says which rows belong together (patient, document).")
    ] = None
    attribute: Annotated[
        str | None, _table("Column that match-groups, reweight and the attribute check look at.")
    ] = None
    id: Annotated[str | None, _table("Column that names rows; guessed from its name.")] = None
    weights: Annotated[str | None, _table("Column that says how often a row counts.")] = None


FailOn = Annotated[
    str | None, _showing("Exit with code 1 on these verdicts, such as 'strategic,harmful'.", "--fail-on")
]
Strict = Annotated[bool, _option("Checks", "Exit with code 3 if a check fires.", "--strict", **FLAG)]
Test = Annotated[Path, typer.Option("--test", help="Test set that the data are measured on.", metavar="FILE")]

KINDS: dict[str, Any] = {"str": str, "int": int, "bool": bool, "str | None": str | None}
KINDS |= {"int | None": int | None, "float | None": float | None}
NAMES = {"jobs": ("--jobs", "-j"), "winsorise": ("--winsorise", "--winsorize"), "thorough": ("--thorough",)}
WORDS = {"yardstick": Path | None, "run_dir": Path | None, "size": str | None, "ignore": str | None}
WORDS |= {"eta": str, "engine": str}
"""Options of measurements (`measure.options`) that the command line takes in another form."""


class Takes:
    """Options of a measurement, as `measure.options` declares them; a command gets them as a dict."""

    def __init__(self, what: str, *only: str) -> None:
        self.names = [
            name for name in only or TAKES[what].__annotations__ if name not in ("keep", "progress")
        ]

    def parameters(self) -> list[inspect.Parameter]:
        """What the command line asks for."""
        made = []
        for one in (one for one in fields(Options) if one.name in self.names):
            kind: Any = WORDS.get(one.name) or KINDS[str(one.type)]
            flag = FLAG if kind is bool else {}
            option = _option(one.metadata["panel"], one.metadata["help"], *NAMES.get(one.name, ()), **flag)
            default = "0" if one.name == "eta" else one.default
            keyword = inspect.Parameter.KEYWORD_ONLY
            made.append(
                inspect.Parameter(one.name, keyword, default=default, annotation=Annotated[kind, option])
            )
        return made


def command(function: Callable[..., int | None]) -> Callable[..., None]:
    """Make a command of a function: option groups become single options, exceptions become sentences."""
    hints = get_type_hints(function, include_extras=True)
    groups = {name: kind for name, kind in hints.items() if is_dataclass(kind) and isinstance(kind, type)}
    taken = {name: kind.__metadata__[0] for name, kind in hints.items() if _takes(kind)}
    parameters: list[inspect.Parameter] = []
    for name, parameter in inspect.signature(function).parameters.items():
        if name in groups:
            parameters += _parameters_of(groups[name])
        elif name in taken:
            parameters += taken[name].parameters()
        else:
            alone = parameter.replace(annotation=hints[name], kind=inspect.Parameter.KEYWORD_ONLY)
            parameters.append(alone)

    @wraps(function)
    def run(**values: Any) -> None:
        verbose = values.get("verbose", False)
        for name, kind in groups.items():
            values[name] = kind(**{field.name: values.pop(field.name) for field in fields(kind)})
        for name, takes in taken.items():
            values[name] = {option: values.pop(option) for option in takes.names}
        end_with_code(lambda: function(**values), verbose)

    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return run


def _takes(kind: Any) -> bool:
    return isinstance(getattr(kind, "__metadata__", (None,))[0], Takes)


def _parameters_of(group: type) -> list[inspect.Parameter]:
    hints = get_type_hints(group, include_extras=True)
    return [
        inspect.Parameter(
            field.name, inspect.Parameter.KEYWORD_ONLY, default=field.default, annotation=hints[field.name]
        )
        for field in fields(group)
    ]
