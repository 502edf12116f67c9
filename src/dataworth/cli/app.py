"""The measuring commands, and all others. Nothing heavy is imported before a command runs: help is quick."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import replace
from functools import wraps
from importlib import import_module
from importlib.metadata import entry_points
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer

from dataworth.measure.options import TAKES

from .options import PANELS, Columns, DataFile, FailOn, Showing, Some, Strict, Takes, Test, app, file, word
from .options import add_command as command

__all__ = ["app"]
After = Annotated[Path | None, file("The data after curation.", "AFTER")]
Shown = Annotated[Showing, Some("json", "quiet", "verbose", "bits", "public", "csv", "plot", "report")]
CURATE = "In place of AFTER: a curation, NAME or NAME:key=value,key=value; see 'dataworth curations'."
SOURCE = "Column that says where a row comes from, such as annotator or vendor: sources are valued too."
ANNOTATOR = "Column that says who labelled a row: shown beside it, with how often each errs."
CROSS_FIT = "Parts of the test set: leave out labels that the other parts doubt, and measure on each part."
SPLITTING = "Value by half of the test set, and leave the other half to audit what is changed by the values."
FILES = ("data", "before", "after")
Where = ("jobs", "engine", "address")
Now = ("model", "ladder")
ALLOW_CODE = "Trust the code that the configuration names: a model of its author's, an encoder, an engine."
AllowCode = Annotated[bool, word(ALLOW_CODE, "--allow-code", metavar=" ")]
REPLAYED: ContextVar[dict[str, Any]] = ContextVar("REPLAYED", default={})  # noqa: B039
"""What the job of a configuration has beside its words: the content of its files, its first command line."""


def measuring(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add a measuring command: files and arguments of its own, a test set, columns, options and output.

    The function only declares them; it may refuse some, and return what saves the result.
    """
    name, own = function.__name__, inspect.signature(function).parameters
    own_hints = get_type_hints(function, include_extras=True)
    takes = Annotated[dict[str, Any], Takes(name if name in TAKES else "audit")]
    groups = {"test": Test, "columns": Columns, "options": takes, "showing": Showing}

    @wraps(function)
    def run(**given: Any) -> int:
        from .job import OWN, ROLES, Job
        from .measure import carry_out

        save = function(**{one: given[one] for one in own})
        job = Job(
            command=name,
            files={role: given[role] for role in ROLES[name] if given[role] is not None},
            own={one: _only(given[one]) for one in OWN.get(name, ())},
            **{one: given[one] for one in ("columns", "options", "fail_on", "strict") if one in given},
            **REPLAYED.get(),
        )
        return carry_out(job, given["showing"], save)

    files = {one: hint for one, hint in own_hints.items() if one in FILES}
    others = {one: hint for one, hint in own_hints.items() if one not in FILES}
    run.__annotations__ = {**files, **groups, **others}
    added = [inspect.Parameter(one, inspect.Parameter.KEYWORD_ONLY) for one in groups if one not in own]
    run.__signature__ = inspect.Signature([*own.values(), *added])  # type: ignore[attr-defined]
    return command(run)


def _only(value: Any) -> Any:
    """The one that is given; a list is asked for where a second one is to be noticed."""
    return value if not isinstance(value, list) else value[0] if value else None


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


@measuring
def audit(
    before: Annotated[Path, file("The data before curation.", "BEFORE")],
    after: After = None,
    curate: Annotated[list[str] | None, word(CURATE, "--curate", metavar="NAME")] = None,
    fail_on: FailOn = None,
    strict: Strict = False,
) -> None:
    """Say whether a curation added information, or only made the data look like the test set.

    Example: dataworth audit raw.csv new.csv --test test.csv --fail-on harmful

    Example: dataworth audit raw.csv --curate match-groups --attribute colour --test test.csv
    """
    from dataworth.errors import DataworthError

    if curate and len(curate) > 1:
        raise DataworthError(
            "--curate is given more than once: give one, or chain them in Python, in a function for curate=."
        )
    if (after is None) == (not curate):
        raise DataworthError(
            "give either AFTER (the data after curation) or --curate (a curation's name), not both or none."
        )


@measuring
def score(data: DataFile, strict: Strict = False) -> None:
    """Say what a dataset is worth to someone facing this test set.

    Example: dataworth score data.csv --test test.csv
    """


@measuring
def rank(data: Annotated[list[Path], file("The datasets.", "DATA...")], strict: Strict = False) -> None:
    """Order datasets by what they are worth, best first.

    Example: dataworth rank a.parquet b.parquet --test test.parquet
    """


@measuring
def values(
    data: DataFile,
    columns: Annotated[Columns, Some(without=("group",))],
    showing: Annotated[Showing, Some("json", "quiet", "verbose", "bits", "plot", "report")],
    source: Annotated[str | None, word(SOURCE, "--source", panel=PANELS["Columns"])] = None,
    fdr: Annotated[float, word("Expected proportion of false entries on the list (default: 0.1).")] = 0.1,
    cross_fit: Annotated[int | None, word(CROSS_FIT, "--cross-fit", metavar="K")] = None,
    sample_splitting: Annotated[bool, word(SPLITTING, "--sample-splitting", metavar=" ")] = False,
    output: Annotated[
        Path | None, word("File for all rows: .parquet or .csv.", "--output", "-o", metavar="FILE")
    ] = None,
) -> Any:
    """Say which rows carry the information, which labels to look at again, and what sources add (--source).

    Example: dataworth values data.csv --test test.csv --sample-splitting -o values.parquet

    Example: dataworth values data.csv --test test.csv --source annotator
    """
    from dataworth.errors import DataworthError
    from dataworth.valuation.values.guard import SUFFIXES, save_values

    from .files import check_outputs
    from .show import announce

    if output is None:
        return None
    if output.suffix not in SUFFIXES:
        raise DataworthError(f"{output}: values are written as {' '.join(SUFFIXES)}: give it such a name.")
    check_outputs(output)

    def save(found: Any) -> None:
        save_values(found, output)
        announce("values", output, showing.quiet)

    return save


@measuring
def contributions(
    data: Annotated[list[Path], file("The datasets of two vendors or more.", "DATA...")], showing: Shown
) -> None:
    """Say what each vendor's data add to all the others', so that nothing is paid twice.

    Example: dataworth contributions a.csv b.csv c.csv --test test.csv
    """
    from dataworth.errors import DataworthError

    if len(data) < 2:
        raise DataworthError(
            f"contributions takes the data of two vendors or more, and {data[0]} is given alone: name the "
            "others too; 'dataworth score' says what one file is worth."
        )


@measuring
def forecast(
    data: DataFile,
    showing: Shown,
    rows: Annotated[int | None, word("Further rows (default: as many as there are).")] = None,
    target: Annotated[float | None, word("A value, nats per block: how many rows would it take?")] = None,
) -> None:
    """Say what more rows like these would be worth, with a range.

    Example: dataworth forecast data.csv --test test.csv --rows 2000
    """


@measuring
def sensitivity(
    data: Annotated[Path, file("The data, or the data before curation.", "DATA")],
    options: Annotated[dict[str, Any], Takes("audit", without=("ignore", "slow_checks"))],
    showing: Annotated[Showing, Some("json", "quiet", "verbose", "bits", "csv", "plot")],
    after: After = None,
    priors: Annotated[
        str | None, word("Prior variances: '0.1,1,10' (default: around the chosen one).")
    ] = None,
) -> None:
    """Say how a score, or a verdict, depends on the prior variance.

    Example: dataworth sensitivity raw.csv --test test.csv

    Example: dataworth sensitivity raw.csv new.csv --test test.csv --plot priors.svg
    """


def replay(config: Any, source: Path, folder: Path, now: dict[str, Any], allow_code: bool) -> int | None:
    """Run the command of a configuration by its words, and by those that are given now."""
    from dataworth.errors import DataworthError

    from .job import words_of

    words, kept = words_of(config, source, folder, now, allow_code)
    known = REPLAYED.set(kept)
    try:
        found: int | None = typer.main.get_command(app).main(
            words, prog_name="dataworth", standalone_mode=False
        )
        return found
    except Exception as error:  # click's, which some versions of typer bring under another name
        if not hasattr(error, "format_message"):
            raise
        raise DataworthError(f"{source}: {error.format_message()}") from None
    finally:
        REPLAYED.reset(known)


@command
def run(
    config: Annotated[
        Path, file("A configuration: the config.json of a run directory, or one like it.", "CONFIG")
    ],
    options: Annotated[dict[str, Any], Takes("rank", *Where, *Now, "run_dir")],
    showing: Showing,
    fail_on: FailOn = None,
    strict: Strict = False,
    allow_code: AllowCode = False,
) -> int | None:
    """Replay a configuration: a JSON object with the command and its options.

    A configuration writes files in its own directory only, and names no code unless that is allowed.

    Example: dataworth run config.json --json
    """
    from .job import read_config

    told = {**options, **vars(showing), "fail_on": fail_on, "strict": strict}
    return replay(read_config(config), config, config.absolute().parent, told, allow_code)


@command
def resume(
    directory: Annotated[Path, file("The --run-dir of the interrupted run.", "DIR")],
    options: Annotated[dict[str, Any], Takes("rank", *Where, *Now)],
    showing: Showing,
    fail_on: FailOn = None,
    strict: Strict = False,
    allow_code: AllowCode = False,
) -> int | None:
    """Continue an interrupted run from its directory alone.

    Example: dataworth resume my-run
    """
    from dataworth.parallel.runs import Run

    with Run.load(directory) as stored:
        config = stored.config
    told = {**options, **vars(showing), "fail_on": fail_on, "strict": strict, "run_dir": directory}
    return replay(config, directory, directory.absolute(), told, allow_code)


@command
def review(
    data: DataFile,
    test: Test,
    columns: Annotated[Columns, Some(without=("group", "weights", "sample", "stream"))],
    options: Annotated[dict[str, Any], Takes("values", without=("run_dir",))],
    talking: Annotated[Showing, Some("quiet", "verbose")],
    source: Annotated[str | None, word(ANNOTATOR, "--source", panel=PANELS["Columns"])] = None,
    output: Annotated[
        Path | None, word("File of the corrected data.", "--output", "-o", metavar="FILE")
    ] = None,
    out: Annotated[
        Path | None, word("Write the list to a spreadsheet instead: .xlsx.", metavar="FILE")
    ] = None,
    read: Annotated[
        Path | None, word("Read a spreadsheet of --out back, with its right labels.", metavar="FILE")
    ] = None,
    images: Annotated[
        Path | None, word("Folder that paths of images start from (default: the data's).", metavar="DIR")
    ] = None,
    who: Annotated[str | None, word("Who reviews, for the log (default: the user's name).")] = None,
    port: Annotated[int, word("Port of the page (default: a free one).")] = 0,
    no_browser: Annotated[bool, word("Open no browser.", "--no-browser", metavar=" ")] = False,
) -> int:
    """Show the labels that are most likely wrong, one by one, to be corrected: a page on this machine alone.

    Half of the test set makes the list; the other half judges the corrections. Run it again to go on.

    Example: dataworth review raw.csv --test test.csv -o corrected.csv

    Example: dataworth review raw.csv --test test.csv --out review.xlsx
    """
    from .reviewing import Wanted
    from .reviewing import review as begin

    wanted = Wanted(output, out, read, source, images, who, port, not no_browser)
    return begin(data, test, columns, options, wanted, talking.quiet)


# in the order in which help shows them; then commands that other packages bring, such as study
import_module(".tools", __package__)
for _found in entry_points(group="dataworth.commands"):
    app.add_typer(_found.load(), name=_found.name)
