"""`dataworth study …`: reproductions of the paper's experiments, and what goes beyond them."""

from __future__ import annotations

import json
import platform
import re
import shlex
import sys
from collections.abc import Sequence
from importlib.metadata import version
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any

import typer

from .options import command

study = typer.Typer(no_args_is_help=True, rich_markup_mode="rich")


def _option(help: str, *names: str, **settings: Any) -> Any:
    return typer.Option(*names, help=help, show_default=False, **settings)


Data = Annotated[
    Path | None, _option("Directory with mnist01.npz, cifar_airplane_automobile.npz, cats_dogs_128.zip.")
]
Set = Annotated[
    str, _option("digits (embedded), colored-mnist, corrupted-cifar or stylized-catsdogs.", "--set")
]
Out = Annotated[
    Path | None,
    _option("Directory for what is found (md, csv, some figures); finished cells there are kept."),
]
Seed = Annotated[int, _option("All randomness comes from it (default: 0).")]
Jobs = Annotated[int, _option("Processes (default: all cores).", "--jobs", "-j")]
Quiet = Annotated[bool, _option("No progress.", "--quiet", "-q", metavar=" ")]


@study.callback()
def about() -> None:
    """Reproduce the paper's experiments, and go beyond them."""


@study.command()
@command
def curation(
    set_name: Set = "digits",
    data: Data = None,
    out: Out = None,
    features: Annotated[
        str | None, _option("Such as 'efficientnet-lite0@96' or 'pixels pca 40' (default: the set's own).")
    ] = None,
    repetitions: Annotated[int | None, _option("Draws of each group (default: as in the paper).")] = None,
    groups: Annotated[int | None, _option("Groups of draws (default: as in the paper).")] = None,
    quick: Annotated[
        bool, _option("Embedded digits, few draws, under two minutes.", "--quick", metavar=" ")
    ] = False,
    equal_size: Annotated[
        bool,
        _option("Show filtering only cut at random to removal's size.", "--equal-size", metavar=" "),
    ] = False,
    seed: Seed = 0,
    jobs: Jobs = -1,
    quiet: Quiet = False,
) -> None:
    """Does the score rise when bad labels go, and fall when rows go to match the test set?

    Example: dataworth study curation --set corrupted-cifar --data DIR --out results/curation
    """
    from dataworth.engines import Local
    from dataworth.studies.curation import study
    from dataworth.studies.tables import COLUMNS, draw_sizes, to_markdown

    from .progress import listen

    if quick and (set_name != "digits" or data is not None):
        from dataworth.errors import DataworthError

        raise DataworthError("--quick runs the embedded digits: drop --set and --data, or drop --quick.")
    folder = make_folder(out)
    with listen(quiet, preparing="loading and embedding the images…") as progress:
        found = study(
            set_name,
            data,
            folder,
            features=features,
            repetitions=repetitions,
            groups=groups,
            seed=seed,
            engine=Local(jobs),
            progress=None if progress is None else progress.update,
        )
    name = set_name if features is None else f"{set_name}-{re.sub('[^a-z0-9]+', '-', features)}"
    keep(folder, name, to_markdown(found, equal_size), found.rows(), COLUMNS, seed)
    if folder is not None and set_name == "stylized-catsdogs":
        draw_sizes(found, folder / f"{name}-sizes.svg")


@study.command()
@command
def zoo(
    data: Data = None,
    out: Out = None,
    sets: Annotated[
        str | None, _option("Sets, such as 'digits,corrupted-cifar' (default: all that can be had).")
    ] = None,
    seeds: Annotated[int, _option("Draws of each set (default: 3).")] = 3,
    jobs: Jobs = -1,
    quiet: Quiet = False,
) -> None:
    """Try every curation on every set: which are called informative, on our yardstick and on plain features?

    Example: dataworth study zoo --sets 'breast cancer' --seeds 1
    """
    from dataworth.studies.zoo import COLUMNS, exam, to_markdown, zoo

    from .progress import listen

    folder = make_folder(out)
    names = None if sets is None else tuple(name.strip() for name in sets.split(","))
    with listen(quiet, preparing="setting up the first set…") as progress:
        found = zoo(
            data,
            folder,
            sets=names,
            seeds=seeds,
            jobs=jobs,
            progress=None if progress is None else progress.update,
        )
    passed = exam(found)
    keep(folder, "zoo", to_markdown(found, passed), found, COLUMNS, 0)
    if folder is not None:
        (folder / "zoo-exam.json").write_text(json.dumps(passed, indent=2, ensure_ascii=False) + "\n")


@study.command()
@command
def regimes(
    data: Data = None,
    out: Out = None,
    repetitions: Annotated[int, _option("Draws of each group (default: 40).")] = 40,
    groups: Annotated[int, _option("Groups of draws (default: 6).")] = 6,
    seed: Seed = 0,
    jobs: Jobs = -1,
    quiet: Quiet = False,
) -> None:
    """Map where removal raises accuracy while the score falls, where it fools the score, and what warned.

    Example: dataworth study regimes --data DIR --out results/curation
    """
    from dataworth.engines import Local
    from dataworth.studies.regimes import COLUMNS, draw_regimes, regimes, to_markdown

    from .progress import listen

    folder = make_folder(out)
    with listen(quiet, preparing="loading and embedding the images…") as progress:
        found = regimes(
            data,
            folder,
            repetitions=repetitions,
            groups=groups,
            seed=seed,
            engine=Local(jobs),
            progress=None if progress is None else progress.update,
        )
    keep(folder, "regimes", to_markdown(found), found, COLUMNS, seed)
    if folder is not None:
        draw_regimes(found, folder / "regimes.svg")


@study.command()
@command
def mi(
    pool: Annotated[str, _option("digits (embedded), mnist, cifar or catsdogs.")] = "digits",
    data: Data = None,
    out: Out = None,
    size: Annotated[int, _option("Rows of each dataset (default: 100).")] = 100,
    pairs: Annotated[int, _option("Pairs of datasets for an estimate (default: 2000).")] = 2000,
    trials: Annotated[int, _option("Repetitions of all (default: 20).")] = 20,
    estimators: Annotated[
        str,
        _option(
            "Such as 'evidence,eta' (default: evidence). Also ep, product, centred, monte-carlo, paper, mine,"
            " mine-theta, lmi."
        ),
    ] = "evidence",
    prior_variances: Annotated[
        str | None,
        _option("Such as '1,100,yardstick' (default: the paper's for the pool, and our yardstick's)."),
    ] = None,
    design: Annotated[
        str,
        _option("independent draws for every level (the default), or common random numbers across levels."),
    ] = "independent",
    levels: Annotated[
        str | None, _option("Mutual informations in bits, such as '0' (default: 0, 0.1 … 1).")
    ] = None,
    intercept: Annotated[
        bool, _option("Give the models an intercept, as our yardstick has.", "--intercept", metavar=" ")
    ] = False,
    axes: Annotated[
        int | None, _option("Principal components of the features (default: the pool's own).")
    ] = None,
    quick: Annotated[
        bool, _option("Embedded digits, few pairs, under two minutes.", "--quick", metavar=" ")
    ] = False,
    seed: Seed = 0,
    jobs: Jobs = -1,
    quiet: Quiet = False,
) -> None:
    """Order dataset pairs by their known mutual information: how well do estimators do it?

    Example: dataworth study mi --quick

    Example: dataworth study mi --pool mnist --data DIR --estimators evidence,eta --out results/mi
    """
    from dataworth.engines import Local
    from dataworth.errors import DataworthError
    from dataworth.studies.mi import QUICK, plans_for, run_plan
    from dataworth.studies.mi_tables import to_markdown as table
    from dataworth.studies.mi_tables import write_result, write_summary
    from dataworth.studies.pools import load_pool

    from .progress import listen

    if quick and (pool != "digits" or data is not None):
        raise DataworthError("--quick runs the embedded digits: drop --pool and --data, or drop --quick.")
    if quick:
        size, pairs, trials = QUICK
        estimators = "evidence,eta,centred" if estimators == "evidence" else estimators
        prior_variances = "1,yardstick" if prior_variances is None else prior_variances
    folder = make_folder(out)
    with listen(quiet, preparing="loading and embedding the images…"):
        images = load_pool(pool, data, axes)
    plans = plans_for(
        images, estimators, prior_variances, levels, size, pairs, trials, design, seed, intercept
    )
    records = []
    for plan in plans:
        run_dir = None if folder is None else folder / "runs" / plan.name
        with listen(quiet, preparing=f"{plan.name}…") as progress:
            found = run_plan(plan, Local(jobs), run_dir, None if progress is None else progress.update)
        records.append(found.to_dict())
        if folder is not None:
            write_result(records[-1], folder / f"{plan.name}.json")
            write_about(folder, plan.name, seed)
    print(table(records))
    if folder is not None:
        write_summary(folder)


@study.command("mi-error")
@command
def mi_error(
    pool: Annotated[str, _option("digits (embedded), mnist, cifar or catsdogs.")] = "digits",
    data: Data = None,
    out: Out = None,
    axes: Annotated[str, _option("Numbers of principal components (default: '20,100').")] = "20,100",
    size: Annotated[int, _option("Rows of each dataset (default: 50).")] = 50,
    prior_variance: Annotated[float, _option("Prior variance (default: 1).")] = 1.0,
    pairs: Annotated[int, _option("Pairs in all (default: 20000).")] = 20_000,
    seed: Seed = 0,
    jobs: Jobs = -1,
    quiet: Quiet = False,
) -> None:
    """Measure how the error of the mean PMI falls with the number of pairs: its slope in log–log.

    Example: dataworth study mi-error --pool mnist --data DIR --out results/mi
    """
    from dataworth.engines import Local
    from dataworth.studies.mi_error import error_curve, to_markdown
    from dataworth.studies.pools import load_pool

    from .progress import listen

    folder = make_folder(out)
    found = []
    for count in _whole_numbers(axes, "--axes"):
        with listen(quiet, preparing=f"{count} axes…") as progress:
            update = None if progress is None else progress.update
            images = load_pool(pool, data, count)
            found.append(error_curve(images, size, prior_variance, pairs, seed, Local(jobs), update))
    print(to_markdown(found))
    if folder is not None:
        name = f"{pool}-error"
        (folder / f"{name}.json").write_text(json.dumps(found, indent=1) + "\n")
        (folder / f"{name}.md").write_text(to_markdown(found))
        write_about(folder, name, seed)


@study.command()
@command
def samples(
    out: Annotated[Path, _option("Picture to write: .png, .svg or .pdf.")],
    set_name: Set = "digits",
    data: Data = None,
    options: Annotated[
        str, _option("How the attribute is put in, such as 'severity=5' or 'style=texture,strength=0.8'.")
    ] = "",
    seed: Seed = 0,
) -> None:
    """Draw images of a set, group by group: what the attribute looks like.

    Example: dataworth study samples --set digits --out digits.png
    """
    from dataworth.errors import DataworthError
    from dataworth.studies.samples import draw_samples
    from dataworth.studies.sets import load_set

    from .files import check_outputs
    from .guard import say

    check_outputs(plot=out)
    given = dict(pair.partition("=")[::2] for pair in options.split(",") if pair)
    kinds = {"severity": int, "style": str, "strength": float}
    try:
        chosen = {name: kinds[name](value) for name, value in given.items()}
        pictures = load_set(set_name, data, seed, **chosen)
    except DataworthError:
        raise
    except (KeyError, ValueError, TypeError):
        raise DataworthError(
            f"--options {options!r} does not fit: corrupted-cifar takes severity=1…5, stylized-catsdogs "
            "style=palette|texture and strength=0…1, the others none."
        ) from None
    draw_samples(pictures, out)
    say(f"wrote {out}")


@study.command()
@command
def summary(
    folder: Annotated[Path, typer.Argument(help="The --out of studies that were run.", metavar="DIR")],
) -> None:
    """Sum up the curation studies of a directory: signs, how sure, and whether the guarantee applied.

    Example: dataworth study summary results/curation
    """
    from dataworth.studies.summary import read_studies, summarise, to_markdown

    text = to_markdown(summarise(read_studies(folder)))
    print(text)
    (folder / "summary.md").write_text(text)


def _whole_numbers(text: str, name: str) -> list[int]:
    """Numbers between commas."""
    from dataworth.errors import DataworthError

    if not all(word.strip().isdecimal() for word in text.split(",")):
        raise DataworthError(f"{name} is {text!r}; give whole numbers, such as '20,100'.")
    return [int(word) for word in text.split(",")]


def keep(
    folder: Path | None, name: str, text: str, rows: Sequence[Any], columns: Sequence[str], seed: int
) -> None:
    """Print the text; keep it with the rows and what made them, if there is where."""
    from dataworth.studies.tables import write_csv

    print(text)
    if folder is not None:
        (folder / f"{name}.md").write_text(text)
        write_csv(rows, columns, folder / f"{name}.csv")
        write_about(folder, name, seed)


def make_folder(out: Path | None) -> Path | None:
    """The directory for results, made if it is not there."""
    from dataworth.errors import DataworthError

    if out is None:
        return None
    if out.exists() and not out.is_dir():
        raise DataworthError(f"--out {str(out)!r} is a file: give a directory.")
    out.mkdir(parents=True, exist_ok=True)
    return out


def write_about(out: Path, name: str, seed: int) -> None:
    """What made the results: command, seed, versions; directories are this machine's business."""
    from .measure import PACKAGES

    # where this machine keeps its data is no part of a result
    words = [
        "DIR" if Path(word).is_absolute() or before == "--data" else word
        for before, word in pairwise(sys.argv)
    ]
    versions = {"python": platform.python_version(), **{p: version(p) for p in PACKAGES}}
    record = {"command": shlex.join(["dataworth", *words]), "seed": seed, "versions": versions}
    (out / f"{name}.about.json").write_text(json.dumps(record, indent=2, ensure_ascii=False) + "\n")
