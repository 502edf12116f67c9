"""The words of all commands: options of measurements (`measure.options`), and those of columns and output."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, is_dataclass
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, get_args, get_type_hints

import typer
from typer.core import TyperCommand

from dataworth.measure.options import RARE, TAKES, Options, option
from dataworth.wording import on_the_command_line

from .guard import EXIT_CODES, end_with_code

PANELS = {"Columns": "Columns (the same in all files)", "Showing": "Output", "Options": "Measuring"}
"""Headings of groups of options in `--help`, where it is not their name."""
WRITTEN = "How files are written"
KEYWORD = inspect.Parameter.KEYWORD_ONLY
SHORT: dict[str, tuple[str, ...]] = {"dayfirst": ("--dayfirst/--no-dayfirst",)}
SHORT |= {"jobs": ("--jobs", "-j"), "quiet": ("--quiet", "-q"), "verbose": ("--verbose", "-v")}
SHORT |= {"winsorise": ("--winsorise", "--winsorize"), "slices": ("--slice", "--slices")}
NO_CACHE = (" /--no-cache",)
REPEATED = ("na_values", "report")
"""Options that are given once for each of several values; several of the others stand between commas."""
TRISTATE = ("dayfirst",)
"""Switches of which no says something else than nothing."""
WORDS: dict[str, Any] = {"yardstick": Path | None, "run_dir": Path | None, "size": str | None, "eta": str}
WORDS |= {"ignore": str | None, "slices": str | None, "engine": str | None, "model": str}
WORDS |= {"ladder": Path | None, "values": Path | None, "cache": bool}
"""Options of measurements (`measure.options`) that the command line takes in another form."""
UNLOADED = dict.fromkeys(("Yardstick", "Model", "Engine", "Run"), Any)
"""Types of options that are not imported for help."""
SELDOM = {"text_encoder", "categorical", "numeric", "decimal", "dayfirst", "no_label_normalization", "sep"}
SELDOM |= {
    "no_rows",
    "encoding",
    "header",
    "sheet",
    "na_values",
    "sample",
    "stream",
    "bits",
    "public",
    "task",
}
"""Options about columns and output that `--help-all` shows and `--help` does not."""


@dataclass(frozen=True)
class Columns:
    """What the columns of the files are used as."""

    label: str | None = option(None, "Label column; guessed from its name if only one fits.")
    group: str | None = option(None, "Column of rows that belong together: patient, document, prompt.")
    attribute: str | None = option(None, "Column that should not matter, for match-groups and a check.")
    id: str | None = option(None, "Column that names rows; guessed from its name.")
    features: str | None = option(
        None, "Feature columns: names or patterns: 'age,emb_*' (default: all others)."
    )
    exclude: str | None = option(None, "Columns to leave out: names or patterns, such as 'when,raw_*'.")
    weights: str | None = option(None, "Column that says how often a row counts; in files without it, once.")
    task: str | None = option(None, "pairs, documents or labels: what rows are (default: by their columns).")
    impute: bool = option(False, "Fill in missing feature values instead of refusing them.")
    text_encoder: str | None = option(
        None, "Sentence-transformers model for texts (default: hashed n-grams)."
    )
    categorical: str | None = option(None, "Columns to keep as text, though they look like numbers.", WRITTEN)
    numeric: str | None = option(None, "Columns of numbers, though they look like codes (007).", WRITTEN)
    decimal: str | None = option(None, "Decimal mark, . or , where 1,234 could be either number.", WRITTEN)
    dayfirst: bool | None = option(None, "Whether 03/04/2021 is in April, where it could be either.", WRITTEN)
    no_label_normalization: bool = option(
        False, "Keep labels apart that differ only in case or spaces.", WRITTEN
    )
    sep: str | None = option(None, "Separator of text files: ';', tab, space, … (default: found).", WRITTEN)
    encoding: str | None = option(None, "Encoding of text files, such as cp1252 (default: found).", WRITTEN)
    header: str | None = option(None, "yes or no: the first row names the columns (default: yes).", WRITTEN)
    sheet: str | None = option(None, "Sheet of an .xlsx (default: the first with rows).", WRITTEN)
    na_values: list[str] | None = option(None, "Text for a missing value: -999; can be repeated.", WRITTEN)
    sample: int | None = option(None, "Rows of data files to draw at random (default: all).", WRITTEN)
    stream: bool = option(False, "Read data in passes (score, seal), as is done with large files.", WRITTEN)

    @property
    def roles(self) -> dict[str, Any]:
        """What reading a file takes."""
        return {name: value for name, value in vars(self).items() if name != "text_encoder"}


@dataclass(frozen=True)
class Showing:
    """What is made of a result."""

    json: bool = option(False, "The result alone, as JSON, on stdout.")
    quiet: bool = option(False, "One line only.")
    verbose: bool = option(False, "Also each arm, the yardstick, parts of a score; tracebacks of bugs.")
    bits: bool = option(False, "Bits instead of nats.")
    public: bool = option(
        False, "Only what a vendor may see: the answer, and numbers rounded outwards; needs --ladder."
    )
    csv: Path | None = option(None, "Write the table: every block or pair and arm, in nats, unclipped.")
    plot: Path | None = option(None, "Draw the result: .png, .svg or .pdf.")
    report: list[Path] | None = option(None, "Write a report: .html, .md or .json; can be repeated.")
    no_rows: bool = option(False, "No rows of the data in reports (of audits: examples of what changed).")


@dataclass(frozen=True)
class Embedding:
    """How images become vectors."""

    model: str = option(
        "efficientnet-lite0",
        "efficientnet-lite0 (the default), efficientnet-lite0:14 (its block 14, of 0 to 15), pixels, or"
        " the name or directory of a vision model of transformers.",
    )
    size: int | None = option(None, "Side to resize images to (default: only if they differ in size).")
    batch: int = option(64, "Images that are decoded and cached together (default: 64).")
    cache: Path | None = option(None, "Directory to keep vectors in (default: the user's cache directory).")
    no_cache: bool = option(False, "Keep no vectors.")
    image: str | None = option(None, "Column of images, paths or bytes; guessed if only one can be.")


@dataclass(frozen=True)
class Gradients:
    """How pairs of responses become gradients of a language model, with --gradients."""

    modules: str = option("last-quarter", "Linear layers: last-quarter, all, or patterns: '*.down_proj'.")
    loss: str = option("nll", "nll (of each response, the default), bradley-terry or dpo (of the pair).")
    per_token: bool = option(False, "Losses divided by the tokens of their response.")
    numbers: int = option(1024, "Numbers of a projected gradient (default: 1024).")
    max_tokens: int = option(256, "Tokens of template, prompt and response; prompts are cut first (256).")
    responses: int = option(8, "Responses that go through the model together (default: 8).")
    device: str = option("cpu", "cpu (the default), cuda, cuda:1.")
    seed: int = option(0, "Of the random signs (default: 0).")


class Some:
    """Some options of a group, by name, or all but some."""

    def __init__(self, *names: str, without: tuple[str, ...] = ()) -> None:
        self.names, self.without = names, without

    def __call__(self, group: Any) -> list[str]:
        """Their names."""
        every = self.names or [one.name for one in fields(group)]
        return [name for name in every if name not in self.without]


class Takes(Some):
    """The options that a measurement takes; a command gets them as a dict."""

    def __init__(self, what: str, *only: str, without: tuple[str, ...] = ()) -> None:
        super().__init__(
            *(only or TAKES[what].__annotations__), without=(*without, "keep_data", "progress", "baselines")
        )


app = typer.Typer(
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    epilog=f"Exit codes: {', '.join(f'{code} {what}' for code, what in EXIT_CODES.items())}.",
    context_settings={"help_option_names": ["-h", "--help"]},
)
HELD_OUT = (
    "It is a file of labelled rows that the data are measured on, and that stand in no other file. If there"
    " is none: take a fifth of the rows out of the data, at random, before anything is curated by them (all"
    " rows of one customer or document, not some), and write them to a file of their own."
)


class Command(TyperCommand):
    """A command that says of a test set that is missing what it is, and how to get one. `--help` shows the
    options that most need, `--help-all` all of them."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """The arguments, or what is missing."""
        try:
            return super().parse_args(ctx, args)
        except Exception as error:  # click's, which some versions of typer bring under another name
            wrong: Any = error
            if type(error).__name__ == "MissingParameter" and getattr(wrong.param, "name", None) == "test":
                wrong.message = HELD_OUT
            raise


def as_words(given: Mapping[str, Any]) -> list[str]:
    """Options as the command line takes them."""
    words = []
    for name, value in given.items():
        flag = f"--{name.replace('_', '-')}"
        if value is True:
            words.append(flag)
        elif value is False and name in TRISTATE:
            words.append(flag.replace("--", "--no-", 1))
        elif value is not None and value is not False:
            several = value if isinstance(value, list | tuple) else [value]
            each = several if name in REPEATED else [",".join(map(str, several))]
            words += [word for one in each for word in (flag, str(one))]
    return words


def word(help: str, *names: str, panel: str | None = None, **settings: Any) -> Any:
    """An option of one command."""
    return typer.Option(*names, help=help, rich_help_panel=panel, show_default=False, **settings)


def file(help: str, metavar: str = "FILE") -> Any:
    """An argument that names a file."""
    return typer.Argument(help=help, metavar=metavar, show_default=False)


def _help_all(context: typer.Context, wanted: bool) -> None:
    if wanted:
        for one in context.command.params:
            one.hidden = False  # type: ignore[attr-defined]
        typer.echo(context.get_help())
        raise typer.Exit


HELP_ALL = inspect.Parameter(
    "help_all",
    KEYWORD,
    default=False,
    annotation=Annotated[
        bool, word("Show all options.", "--help-all", callback=_help_all, is_eager=True, metavar=" ")
    ],
)
FORMATS = (
    "Data: .csv, .tsv, .txt, .xlsx, .json, .jsonl, .parquet, .feather, .arrow or .npz; a directory of these, "
    "or a 'pattern*'."
)
DataFile = Annotated[Path, file(FORMATS, "DATA")]
FAIL_ON = "Exit with code 1 on these verdicts, such as 'strategic,harmful'."
FailOn = Annotated[str | None, word(FAIL_ON, panel=PANELS["Showing"])]
Strict = Annotated[bool, word("Exit with code 3 if a check fails.", "--strict", panel="Checks", metavar=" ")]
Test = Annotated[Path, word("Test set that the data are measured on.", "--test", metavar="FILE")]
Talking = Annotated[Showing, Some("json", "quiet", "verbose")]


def command(function: Callable[..., int | None]) -> Callable[..., None]:
    """Make a command of a function: option groups become single options, exceptions become sentences."""
    groups: dict[str, tuple[Any, list[str]]] = {}
    parameters: list[inspect.Parameter] = []
    for name, hint in get_type_hints(function, include_extras=True).items():
        kind, some = get_args(hint)[:2] if hasattr(hint, "__metadata__") else (hint, None)
        if isinstance(some, Takes):
            groups[name] = dict, some(Options)
            parameters += parameters_of(Options, groups[name][1])
        elif is_dataclass(kind):
            groups[name] = kind, (some if isinstance(some, Some) else Some())(kind)
            parameters += parameters_of(kind, groups[name][1])
        elif name != "return":
            alone = inspect.signature(function).parameters[name]
            parameters.append(alone.replace(annotation=hint, kind=KEYWORD))

    if any(get_args(one.annotation)[1].hidden for one in parameters if len(get_args(one.annotation)) > 1):
        parameters.append(HELP_ALL)

    @wraps(function)
    def run(**values: Any) -> None:
        values.pop(HELP_ALL.name, None)
        verbose = values.get("verbose", False)
        for name, (kind, names) in groups.items():
            values[name] = kind(**{one: values.pop(one) for one in names})
        with on_the_command_line():
            end_with_code(lambda: function(**values), verbose)

    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return run


def add_command(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add a command; what it returns is shown, unless that is an exit code."""

    @wraps(function)
    def run(**values: Any) -> int | None:
        found = function(**values)
        if found is None or isinstance(found, int):
            return found
        from .show import result

        result(found, next(value for value in values.values() if isinstance(value, Showing)))
        return None

    return app.command(cls=Command)(command(run))


def parameters_of(group: Any, names: list[str]) -> list[inspect.Parameter]:
    """Fields of a group as what the command line asks for; one that takes no value does not name its type."""
    made = []
    hints = get_type_hints(group, localns=UNLOADED) | (WORDS if group is Options else {})
    for one in (one for one in fields(group) if one.name in names):
        kind = hints[one.name]
        flags: tuple[str, ...] = SHORT.get(one.name, (f"--{one.name.replace('_', '-')}",))
        settings: dict[str, Any] = {"metavar": " "} if kind is bool else {}
        settings["hidden"] = one.name in (RARE if group is Options else SELDOM)
        panel = one.metadata["panel"] or PANELS.get(group.__name__, group.__name__)
        told, default = one.metadata["help"], "0" if one.name == "eta" else one.default
        if group is Options and one.name == "cache":  # from Python only if it is asked for
            told, default, flags = "Fit the yardstick of the test set anew, and keep none.", True, NO_CACHE
        asked = word(told, *flags, panel=panel, **settings)
        made.append(inspect.Parameter(one.name, KEYWORD, default=default, annotation=Annotated[kind, asked]))
    return made
