"""The commands. Nothing heavy is imported before a command runs, so that help is there at once."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from functools import wraps
from importlib.metadata import entry_points
from pathlib import Path
from typing import Annotated, Any

import typer

from .guard import EXIT_CODES, say
from .options import (
    Columns,
    Command,
    Embedding,
    FailOn,
    Gradients,
    Showing,
    Some,
    Strict,
    Takes,
    Talking,
    Test,
    file,
    word,
)
from .options import command as made_command
from .valuing import outlook, split, values

app = typer.Typer(
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    epilog=f"Exit codes: {', '.join(f'{code} {what}' for code, what in EXIT_CODES.items())}.",
    context_settings={"help_option_names": ["-h", "--help"]},
)


Curate = Annotated[
    list[str] | None,
    word(
        "In place of AFTER: a curation, NAME or NAME:key=value,key=value; see 'dataworth curations'.",
        "--curate",
        metavar="NAME",
    ),
]
After = Annotated[Path | None, file("The data after curation.", "AFTER")]
KINDS = (
    "Data: .csv, .tsv, .txt, .xlsx, .json, .jsonl, .parquet, .feather, .arrow or .npz; a directory of these, "
    "a 'pattern*', or hf:NAME:SPLIT."
)
DataFile = Annotated[Path, file(KINDS, "DATA")]


def command(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add a command; what it returns is shown, unless that is an exit code."""

    @wraps(function)
    def run(**values: Any) -> int | None:
        found = function(**values)
        if found is None or isinstance(found, int):
            return found
        from .show import result

        result(found, next(value for value in values.values() if isinstance(value, Showing)))
        return None

    return app.command(cls=Command)(made_command(run))


def measured(showing: Showing, **job: Any) -> int:
    """Carry out a job, and show what came out."""
    from .job import Job
    from .measure import carry_out

    return carry_out(Job(**job), showing)


def _print_version(wanted: bool) -> None:
    if wanted:
        from dataworth.version import __version__

        print(__version__)
        raise typer.Exit


@app.callback()
def dataworth(
    version: Annotated[bool, word("Print the version.", callback=_print_version, is_eager=True)] = False,
) -> None:
    """How much is this data worth, in information rather than in benchmark points?"""


@command
def demo(
    picturing: Annotated[Showing, Some("json", "quiet", "verbose", "bits", "plot")],
    seed: Annotated[int, word("All randomness comes from it (default: 0).")] = 0,
) -> None:
    """Tell seven curations apart, on data that ships with scikit-learn; takes less than a minute.

    Writes a picture, dataworth-demo.png unless --plot names another.

    Example: dataworth demo --plot demo.png
    """
    from dataworth.valuation.demo import demo

    from .files import check_outputs
    from .progress import listen
    from .show import result

    if picturing.plot is None and not (picturing.json or picturing.quiet) and os.access(".", os.W_OK):
        picturing = replace(picturing, plot=Path("dataworth-demo.png"))
    check_outputs(plot=picturing.plot)
    with listen(picturing.quiet, preparing="auditing seven curations…") as progress:
        told = demo(seed=seed, progress=progress)
    result(told, picturing)


@command
def audit(
    before: Annotated[Path, file("The data before curation.", "BEFORE")],
    test: Test,
    columns: Columns,
    options: Annotated[dict[str, Any], Takes("audit")],
    showing: Showing,
    after: After = None,
    curate: Curate = None,
    fail_on: FailOn = None,
    strict: Strict = False,
) -> int:
    """Say whether a curation added information, or only made the data look like the test set.

    Example: dataworth audit raw.csv new.csv --test test.csv --fail-on harmful

    Example: dataworth audit raw.csv --curate match-groups --attribute colour --test test.csv
    """
    from .measure import audited_files, only_curation

    named = only_curation(curate)
    files = audited_files(before, after, named, test)
    about: dict[str, Any] = {"columns": columns, "options": options, "fail_on": fail_on, "strict": strict}
    return measured(showing, command="audit", files=files, curate=named, **about)


@command
def score(
    data: DataFile,
    test: Test,
    columns: Columns,
    options: Annotated[dict[str, Any], Takes("score")],
    showing: Showing,
    strict: Strict = False,
) -> int:
    """Say what a dataset is worth to someone facing this test set.

    Example: dataworth score data.csv --test test.csv
    """
    files = {"data": data, "test": test}
    return measured(showing, command="score", files=files, columns=columns, options=options, strict=strict)


@command
def rank(
    data: Annotated[list[Path], file("The datasets.", "DATA...")],
    test: Test,
    columns: Columns,
    options: Annotated[dict[str, Any], Takes("rank")],
    showing: Showing,
    strict: Strict = False,
) -> int:
    """Order datasets by what they are worth, best first.

    Example: dataworth rank a.parquet b.parquet --test test.parquet
    """
    files = {"data": data, "test": test}
    return measured(showing, command="rank", files=files, columns=columns, options=options, strict=strict)


for _valuing in (values, split, outlook):
    command(_valuing)


@command
def sensitivity(
    data: Annotated[Path, file("The data, or the data before curation.", "DATA")],
    test: Test,
    columns: Columns,
    options: Annotated[dict[str, Any], Takes("audit", without=("ignore", "thorough", "run_dir"))],
    showing: Annotated[Showing, Some("json", "quiet", "verbose", "bits", "csv", "plot")],
    after: After = None,
    priors: Annotated[
        str | None, word("Prior variances, such as '0.1,1,10' (default: two decades around the chosen one).")
    ] = None,
) -> object:
    """Say how a score, or a verdict, depends on the prior variance.

    Example: dataworth sensitivity raw.csv --test test.csv

    Example: dataworth sensitivity raw.csv new.csv --test test.csv --plot priors.svg
    """
    from .measure import measure_over_priors

    return measure_over_priors(data, after, test, columns, options, priors, showing)


@command
def checks(
    talking: Talking,
    codes: Annotated[
        list[str] | None, file("Some checks, in full (default: a list of all).", "CODES...")
    ] = None,
) -> object:
    """List the checks that are made of every result: what each means if it fires, what to do.

    Example: dataworth checks -v

    Example: dataworth checks DW002 DW010
    """
    from .listings import list_checks

    return list_checks(codes)


@command
def curations(talking: Talking) -> object:
    """List the curations that 'dataworth audit --curate' knows; -v says why each is strategic or not.

    Example: dataworth curations -v
    """
    from .listings import list_curations

    return list_curations()


@command
def describe(
    file: Annotated[Path, file(KINDS)],
    columns: Annotated[Columns, Some(without=("stream", "text_encoder"))],
    talking: Talking,
) -> object:
    """Say what of a file would be used as what, and why.

    Example: dataworth describe data.csv
    """
    from dataworth.data.io import describe

    return describe(file, **columns.roles)


@command
def yardstick(
    test: Annotated[Path, file("The test set.", "TEST")],
    columns: Columns,
    options: Annotated[dict[str, Any], Takes("rank", "model", "inference", "prior_variance", "seed")],
    talking: Talking,
    output: Annotated[
        Path | None,
        word("File to publish it in; its key is kept beside it.", "--output", "-o", metavar="FILE"),
    ] = None,
    verify: Annotated[
        Path | None, word("A published one: was it of this test set?", "--verify", metavar="FILE")
    ] = None,
) -> object:
    """Fit the yardstick of a test set, to measure any data with later.

    Example: dataworth yardstick test.csv -o yardstick.json
    """
    from .measure import key_file, make_yardstick, verify_yardstick
    from .show import announce

    if verify is not None:
        return verify_yardstick(test, verify, columns, talking.quiet)
    made = make_yardstick(test, columns, options, output, talking.quiet)
    if output is not None:
        announce("yardstick", output, talking.quiet)
        announce("its key, which stays with you,", key_file(output), talking.quiet)
    elif not (talking.quiet or talking.json):
        say("nothing was saved: -o FILE saves the yardstick")
    return made


@command
def seal(
    data: DataFile,
    yardstick: Annotated[Path, word("The buyer's yardstick.", "--yardstick", metavar="FILE")],
    output: Annotated[Path, word("File to send: .safetensors.", "--output", "-o", metavar="FILE")],
    columns: Columns,
    talking: Talking,
    force: Annotated[bool, word("Replace a file that exists.", "--force", metavar=" ")] = False,
) -> object:
    """Seal data for a buyer, who can then score and rank them without seeing a row.

    Example: dataworth seal data.csv --yardstick yardstick.json -o data.safetensors
    """
    from .seal import seal_file

    return seal_file(data, yardstick, output, columns, talking.quiet, force)


@command
def commit(
    data: DataFile,
    columns: Columns,
    talking: Talking,
    key: Annotated[str | None, word("A key, 16 characters or more (default: a random one).", "--key")] = None,
) -> object:
    """Commit to data without showing them: a keyed hash, which 'dataworth audit --committed' verifies.

    Example: dataworth commit raw.csv
    """
    from .seal import commit_file

    return commit_file(data, columns, key, talking.quiet)


@command
def embed(
    source: Annotated[
        Path,
        file(
            "A folder or zip with a folder of images per label, or a table that lists images or pairs.",
            "SOURCE",
        ),
    ],
    output: Annotated[Path, word("Table to write: .parquet or .npz.", "--output", "-o", metavar="FILE")],
    embedding: Embedding,
    columns: Annotated[Columns, Some("label", "group", "attribute", "id", "weights")],
    wanted: Gradients,
    where: Annotated[dict[str, Any], Takes("rank", "jobs", "engine", "address")],
    talking: Talking,
    gradients: Annotated[
        bool, word("Gradients of a language model on pairs of responses.", "--gradients", metavar=" ")
    ] = False,
) -> object:
    """Make vectors of images, or of preference pairs, to measure with the other commands.

    Example: dataworth embed photos.zip/train -o train.parquet

    Example: dataworth embed pairs.jsonl --gradients --model Qwen/Qwen3-1.7B -o pairs.parquet
    """
    from .embedding import embed_images, engine_of

    engine = engine_of(where)
    if gradients:
        from .gradients import embed_pairs

        return embed_pairs(source, output, embedding, wanted, talking.quiet, engine)
    return embed_images(source, output, embedding, columns, talking.quiet, engine)


@command
def run(
    config: Annotated[
        Path, file("A configuration: the config.json of a run directory, or one like it.", "CONFIG")
    ],
    options: Annotated[dict[str, Any], Takes("rank", "jobs", "engine", "address", "run_dir")],
    showing: Showing,
    fail_on: FailOn = None,
    strict: Strict = False,
) -> int:
    """Replay a configuration: a JSON object with the command and its options.

    Example: dataworth run config.json --json
    """
    from .job import Job, read_config
    from .measure import carry_out

    job = Job.from_config(read_config(config), config, config.absolute().parent)
    return carry_out(job.with_words(options, fail_on, strict), showing)


@command
def resume(
    directory: Annotated[Path, file("The --run-dir of the interrupted run.", "DIR")],
    options: Annotated[dict[str, Any], Takes("rank", "jobs", "engine", "address")],
    showing: Showing,
    fail_on: FailOn = None,
    strict: Strict = False,
) -> int:
    """Continue an interrupted run from its directory alone.

    Example: dataworth resume my-run
    """
    from dataworth.parallel.runs import Run

    from .job import Job
    from .measure import carry_out

    with Run.load(directory) as stored:
        job = Job.from_config(stored.config, directory)
    return carry_out(job.with_words({**options, "run_dir": directory}, fail_on, strict), showing)


# commands that other packages bring, such as study
for _found in entry_points(group="dataworth.commands"):
    app.add_typer(_found.load(), name=_found.name)
