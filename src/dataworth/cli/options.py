"""The options of all commands, each declared once; a command takes groups of them."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer

from .guard import end_with_code

FLAG = {"metavar": " "}
"""An option that takes no value: without this, help would name its type."""


def _option(panel: str, help: str, *names: str, **settings: Any) -> Any:
    return typer.Option(*names, help=help, rich_help_panel=panel, show_default=False, **settings)


def _columns(help: str, *names: str, **settings: Any) -> Any:
    return _option("Columns (the same in all files)", help, *names, **settings)


def _measuring(help: str, *names: str) -> Any:
    return _option("Measuring", help, *names)


def _embedding(help: str, *names: str, **settings: Any) -> Any:
    return _option("Embedding", help, *names, **settings)


def _table(help: str) -> Any:
    return _option("Columns (of a table of images)", help)


def _trusting(help: str, *names: str, **settings: Any) -> Any:
    return _option("Checks", help, *names, **settings)


def _working(help: str, *names: str) -> Any:
    return _option("Work", help, *names)


def _showing(help: str, *names: str, **settings: Any) -> Any:
    return _option("Output", help, *names, **settings)


@dataclass(frozen=True)
class Columns:
    """What the columns of the files are used as."""

    label: Annotated[str | None, _columns("Label column; guessed from its name if only one fits.")] = None
    group: Annotated[
        str | None, _columns("Column that says which rows belong together (patient, document).")
    ] = None
    attribute: Annotated[
        str | None, _columns("Column that match-groups, reweight and the attribute check look at.")
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
class Modelling:
    """What a yardstick is made with."""

    model: Annotated[
        str,
        _measuring(
            "auto (the default), logistic (two classes), softmax or its cheaper one-vs-rest (more), "
            "or linear (numeric labels)."
        ),
    ] = "auto"
    inference: Annotated[
        str,
        _measuring(
            "How posteriors are computed: laplace (the default), or ep: slower, closer at wide priors."
        ),
    ] = "laplace"
    prior_variance: Annotated[
        float | None, _measuring("Prior variance (default: chosen on the test set).")
    ] = None
    seed: Annotated[int, _measuring("All randomness comes from it (default: 0).")] = 0


@dataclass(frozen=True)
class Measuring:
    """The yardstick, the form of the score, and what becomes of extreme values."""

    yardstick: Annotated[
        Path | None, _measuring("Yardstick made by 'dataworth yardstick' (default: fitted to the test set).")
    ] = None
    form: Annotated[
        str,
        _measuring(
            "Form of the score: evidence (the default), the paper's eta, product, kl or integral, or sealed."
        ),
    ] = "evidence"
    eta: Annotated[
        str, _measuring("Where the form eta compares posteriors: 0 (the default), joint, data or test.")
    ] = "0"
    truncate: Annotated[
        float | None,
        _measuring("Count PMI beyond ± this many nats as 0, as the paper does (--csv stays raw)."),
    ] = None
    winsorise: Annotated[
        float | None,
        _measuring(
            "Count PMI beyond ± this many nats as ± that (--csv stays raw).", "--winsorise", "--winsorize"
        ),
    ] = None


@dataclass(frozen=True)
class Drawing:
    """Which rows are measured against which."""

    design: Annotated[
        str | None,
        _measuring("whole (the default): the data as they are; pairs: draws of a size."),
    ] = None
    pairs: Annotated[int | None, _measuring("Number of pairs; selects the design pairs.")] = None
    size: Annotated[
        str | None, _measuring("Rows of a pair: N, or N,M for data and test; selects the design pairs.")
    ] = None
    precision: Annotated[
        float | None, _measuring("Draw as many pairs as bring the Monte-Carlo error to this many nats.")
    ] = None


@dataclass(frozen=True)
class AuditDrawing(Drawing):
    """The same for audits, which have designs of their own."""

    design: Annotated[
        str | None,
        _measuring(
            "whole (the default): the data as they are; pairs: draws of a size (also: row, rate, size). With"
            " --curate: method (the default), applied to each draw, or whole (the default of add-rows and"
            " self-label), once to all rows."
        ),
    ] = None


@dataclass(frozen=True)
class Trusting:
    """Which checks of the result are made."""

    ignore: Annotated[
        str | None, _trusting("Checks to leave out, such as 'DW002,DW010', or 'all'; see 'dataworth checks'.")
    ] = None
    thorough: Annotated[bool, _trusting("Run the slow checks too.", "--thorough", **FLAG)] = False


@dataclass(frozen=True)
class Working:
    """Where the work runs."""

    jobs: Annotated[
        int | None, _working("Processes; −1: all cores (default: as many as pay).", "--jobs", "-j")
    ] = None
    engine: Annotated[str, _working("Where the work runs: local (the default).")] = "local"


@dataclass(frozen=True)
class Keeping:
    """Where the work is kept."""

    run_dir: Annotated[
        Path | None, _working("Directory that makes the work resumable: 'dataworth resume DIR'.")
    ] = None


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
Strict = Annotated[bool, _trusting("Exit with code 3 if a check fires.", "--strict", **FLAG)]
Test = Annotated[Path, typer.Option("--test", help="Test set that the data are measured on.", metavar="FILE")]


def command(function: Callable[..., int | None]) -> Callable[..., None]:
    """Make a command of a function: option groups become single options, exceptions become sentences."""
    hints = get_type_hints(function, include_extras=True)
    groups = {name: kind for name, kind in hints.items() if is_dataclass(kind) and isinstance(kind, type)}
    parameters = []
    for name, parameter in inspect.signature(function).parameters.items():
        alone = parameter.replace(annotation=hints[name], kind=inspect.Parameter.KEYWORD_ONLY)
        parameters += _parameters_of(groups[name]) if name in groups else [alone]

    @wraps(function)
    def run(**values: Any) -> None:
        verbose = values.get("verbose", False)
        for name, kind in groups.items():
            values[name] = kind(**{field.name: values.pop(field.name) for field in fields(kind)})
        end_with_code(lambda: function(**values), verbose)

    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return run


def _parameters_of(group: type) -> list[inspect.Parameter]:
    hints = get_type_hints(group, include_extras=True)
    return [
        inspect.Parameter(
            field.name, inspect.Parameter.KEYWORD_ONLY, default=field.default, annotation=hints[field.name]
        )
        for field in fields(group)
    ]
