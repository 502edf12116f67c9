"""The commands. Nothing heavy is imported before a command runs, so that help is there at once."""

from __future__ import annotations

import os
from dataclasses import replace
from importlib.metadata import entry_points
from pathlib import Path
from typing import Annotated, Any

import typer

from .guard import CHECK_FAILS, VERDICT_FAILS, say
from .options import (
    AuditDrawing,
    Columns,
    Drawing,
    Embedding,
    FailOn,
    Keeping,
    Measuring,
    Modelling,
    Picture,
    Picturing,
    Showing,
    Strict,
    Talking,
    Test,
    Trusting,
    Working,
    command,
)

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)
# commands that other packages bring, such as study
for _found in entry_points(group="dataworth.commands"):
    app.add_typer(_found.load(), name=_found.name)


def _file(help: str, metavar: str = "FILE") -> Any:
    return typer.Argument(help=help, metavar=metavar, show_default=False)


Curate = Annotated[
    list[str] | None,
    typer.Option(
        "--curate",
        help="In place of AFTER: a curation, NAME or NAME:key=value,key=value; see 'dataworth curations'.",
        metavar="NAME",
        show_default=False,
    ),
]
DataFile = Annotated[Path, _file("Data: .csv, .tsv, .jsonl, .parquet, .feather, .arrow or .npz.", "DATA")]


def _print_version(wanted: bool) -> None:
    if wanted:
        from dataworth.version import __version__

        print(__version__)
        raise typer.Exit


@app.callback()
def dataworth(
    version: Annotated[
        bool,
        typer.Option("--version", help="Print the version.", callback=_print_version, is_eager=True),
    ] = False,
) -> None:
    """How much is this data worth, in information rather than in benchmark points?"""


@app.command()
@command
def score(
    context: typer.Context,
    data: DataFile,
    test: Test,
    columns: Columns,
    measuring: Measuring,
    modelling: Modelling,
    drawing: Drawing,
    trusting: Trusting,
    working: Working,
    keeping: Keeping,
    showing: Showing,
    strict: Strict = False,
) -> int:
    """Say what a dataset is worth to someone facing this test set.

    Example: dataworth score data.csv --test test.csv
    """
    from . import show
    from .measure import Job, measure

    groups = (measuring, modelling, drawing, trusting)
    job = Job("score", {"data": data, "test": test}, columns, groups, {"strict": strict})
    found = measure(job, working, keeping, showing, pins=context.obj)
    show.result(found, showing, show.SCORE)
    return failing_checks(found, strict, showing.quiet)


@app.command()
@command
def audit(
    context: typer.Context,
    before: Annotated[Path, _file("The data before curation.", "BEFORE")],
    test: Test,
    columns: Columns,
    measuring: Measuring,
    modelling: Modelling,
    drawing: AuditDrawing,
    trusting: Trusting,
    working: Working,
    keeping: Keeping,
    showing: Showing,
    after: Annotated[Path | None, _file("The data after curation.", "AFTER")] = None,
    curate: Curate = None,
    fail_on: FailOn = None,
    strict: Strict = False,
) -> int:
    """Say whether a curation added information, or only made the data look like the test set.

    Example: dataworth audit raw.csv new.csv --test test.csv --fail-on harmful

    Example: dataworth audit raw.csv --curate match-groups --group colour --test test.csv
    """
    from . import show
    from .measure import Job, audited_files, failing_verdicts, measure, only_curation

    fails = failing_verdicts(fail_on, drawing.design)
    named = only_curation(curate)
    files = audited_files(before, after, named, test)
    groups = (measuring, modelling, drawing, trusting)
    job = Job("audit", files, columns, groups, {"fail_on": fail_on, "strict": strict}, named)
    found = measure(job, working, keeping, showing, pins=context.obj)
    show.result(found, showing, show.AUDIT)
    return VERDICT_FAILS if found.verdict in fails else failing_checks(found, strict, showing.quiet)


@app.command()
@command
def rank(
    context: typer.Context,
    data: Annotated[list[Path], _file("The datasets.", "DATA...")],
    test: Test,
    columns: Columns,
    measuring: Measuring,
    modelling: Modelling,
    trusting: Trusting,
    working: Working,
    keeping: Keeping,
    showing: Showing,
    strict: Strict = False,
) -> int:
    """Order datasets by what they are worth, best first.

    Example: dataworth rank a.parquet b.parquet --test test.parquet
    """
    from . import show
    from .measure import Job, measure

    groups = (measuring, modelling, trusting)
    job = Job("rank", {"data": data, "test": test}, columns, groups, {"strict": strict})
    found = measure(job, working, keeping, showing, pins=context.obj)
    show.result(found, showing, show.RANKING)
    return failing_checks(found, strict, showing.quiet)


@app.command()
@command
def sensitivity(
    data: Annotated[Path, _file("The data, or the data before curation.", "DATA")],
    test: Test,
    columns: Columns,
    measuring: Measuring,
    modelling: Modelling,
    drawing: AuditDrawing,
    working: Working,
    showing: Picture,
    after: Annotated[Path | None, _file("The data after curation.", "AFTER")] = None,
    priors: Annotated[
        str | None,
        typer.Option(
            help="Prior variances, such as '0.1,1,10' (default: two decades around the chosen one).",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Say how a score, or a verdict, depends on the prior variance.

    Example: dataworth sensitivity raw.csv --test test.csv

    Example: dataworth sensitivity raw.csv new.csv --test test.csv --plot priors.svg
    """
    from . import show
    from .sensitivity import VIEW, measure_over_priors

    groups = (measuring, modelling, drawing)
    found = measure_over_priors(data, after, test, columns, groups, priors, working, showing)
    show.result(found, showing, VIEW)


def failing_checks(found: Any, strict: bool, quiet: bool) -> int:
    """The exit code that checks ask for; that some of sealed data cannot be made does not fail."""
    left = sum(finding.fires is None for finding in found.checks)
    if strict and found.case is None and left and not quiet:
        say(f"{left} of {len(found.checks)} checks could not be made: sealed data have no rows (-v says why)")
    return CHECK_FAILS if strict and any(finding.fires for finding in found.checks) else 0


@app.command()
@command
def checks(
    talking: Talking,
    codes: Annotated[
        list[str] | None, _file("Some checks, in full (default: a list of all).", "CODES...")
    ] = None,
) -> None:
    """List the checks that are made of every result: what each means if it fires, what to do.

    Example: dataworth checks -v

    Example: dataworth checks DW002 DW010
    """
    from . import show
    from .checks import LISTING, Checks

    show.result(Checks.named(codes), talking, LISTING)


@app.command()
@command
def curations(talking: Talking) -> None:
    """List the curations that 'dataworth audit --curate' knows; -v says why each is strategic or not.

    Example: dataworth curations -v
    """
    from . import show
    from .curations import LISTING, Curations

    show.result(Curations(), talking, LISTING)


@app.command()
@command
def describe(
    file: Annotated[Path, _file("Data: .csv, .tsv, .jsonl, .parquet, .feather, .arrow or .npz.")],
    columns: Columns,
    talking: Talking,
) -> None:
    """Say what of a file would be used as what, and why.

    Example: dataworth describe data.csv
    """
    from dataworth.data.io import describe

    from . import show

    show.result(describe(file, **vars(columns)), talking, show.DESCRIPTION)


@app.command()
@command
def yardstick(
    test: Annotated[Path, _file("The test set.", "TEST")],
    columns: Columns,
    modelling: Modelling,
    talking: Talking,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", help="File to save it to, as JSON.", metavar="FILE", show_default=False
        ),
    ] = None,
) -> None:
    """Fit the yardstick of a test set, to measure any data with later.

    Example: dataworth yardstick test.csv -o yardstick.json
    """
    from . import show
    from .measure import make_yardstick

    made = make_yardstick(test, columns, modelling, output, talking.quiet)
    if output is not None:
        show.announce("yardstick", output, talking.quiet)
    elif not (talking.quiet or talking.json):
        say("nothing was saved: -o FILE saves the yardstick")
    show.result(made, talking, show.YARDSTICK)


@app.command()
@command
def seal(
    data: DataFile,
    yardstick: Annotated[
        Path,
        typer.Option("--yardstick", help="The buyer's yardstick.", metavar="FILE", show_default=False),
    ],
    output: Annotated[
        Path,
        typer.Option(
            "--output", "-o", help="File to send: .safetensors.", metavar="FILE", show_default=False
        ),
    ],
    columns: Columns,
    talking: Talking,
    force: Annotated[
        bool, typer.Option("--force", help="Replace a file that exists.", show_default=False, metavar=" ")
    ] = False,
) -> None:
    """Seal data for a buyer, who can then score and rank them without seeing a row.

    Example: dataworth seal data.csv --yardstick yardstick.json -o data.safetensors
    """
    from . import show
    from .seal import VIEW, seal_file

    show.result(seal_file(data, yardstick, output, columns, talking.quiet, force), talking, VIEW)


@app.command()
@command
def embed(
    source: Annotated[
        Path,
        _file("A folder or zip with a folder of images per label, or a table that lists images.", "SOURCE"),
    ],
    output: Annotated[
        Path,
        typer.Option(
            "--output", "-o", help="Table to write: .parquet or .npz.", metavar="FILE", show_default=False
        ),
    ],
    embedding: Embedding,
    talking: Talking,
) -> None:
    """Make vectors of images, to measure with the other commands.

    Example: dataworth embed photos.zip/train -o train.parquet
    """
    from . import show
    from .embedding import VIEW, embed_images

    show.result(embed_images(source, output, embedding, talking.quiet), talking, VIEW)


@app.command()
@command
def run(
    context: typer.Context,
    config: Annotated[
        Path, _file("A configuration: the config.json of a run directory, or one like it.", "CONFIG")
    ],
    working: Working,
    keeping: Keeping,
    showing: Showing,
    fail_on: FailOn = None,
    strict: Strict = False,
) -> int:
    """Replay a configuration: a JSON object with the command and its options.

    Example: dataworth run config.json --json
    """
    from .replay import read_config, replay

    return replay(context, read_config(config), config, working, keeping, showing, fail_on, strict)


@app.command()
@command
def resume(
    context: typer.Context,
    directory: Annotated[Path, _file("The --run-dir of the interrupted run.", "DIR")],
    working: Working,
    showing: Showing,
    fail_on: FailOn = None,
    strict: Strict = False,
) -> int:
    """Continue an interrupted run from its directory alone.

    Example: dataworth resume my-run
    """
    from .replay import replay, stored_config

    stored = stored_config(directory)
    return replay(context, stored, directory, working, Keeping(directory), showing, fail_on, strict)


@app.command()
@command
def demo(
    picturing: Picturing,
    seed: Annotated[
        int, typer.Option(help="All randomness comes from it (default: 0).", show_default=False)
    ] = 0,
) -> None:
    """Tell six curations apart, on data that ships with scikit-learn; takes less than a minute.

    Writes a picture, dataworth-demo.png unless --plot names another.

    Example: dataworth demo --plot demo.png
    """
    from dataworth.valuation.demo import demo

    from . import show
    from .files import check_outputs
    from .progress import listen

    if picturing.plot is None and not (picturing.json or picturing.quiet) and os.access(".", os.W_OK):
        picturing = replace(picturing, plot=Path("dataworth-demo.png"))
    check_outputs(plot=picturing.plot)
    with listen(picturing.quiet, preparing="auditing six curations…") as progress:
        told = demo(seed=seed, progress=progress)
    show.result(told, picturing, show.DEMO)
