"""The curation studies: one set, the zoo of all sets, the map of regimes; pictures of sets, and a summary."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Annotated

import typer

from dataworth.cli.options import command

from .options import Address, Data, Engine, Jobs, Out, Quiet, Seed, Set, option
from .results import check_quick, keep, make_folder, telling


@command
def curation(
    set_name: Set = "digits",
    data: Data = None,
    out: Out = None,
    features: Annotated[
        str | None, option("Such as 'efficientnet-lite0@96' or 'pixels pca 40' (default: the set's own).")
    ] = None,
    repetitions: Annotated[int | None, option("Draws of each group (default: as in the paper).")] = None,
    groups: Annotated[int | None, option("Groups of draws (default: as in the paper).")] = None,
    quick: Annotated[
        bool, option("Embedded digits, few draws, under two minutes.", "--quick", metavar=" ")
    ] = False,
    equal_size: Annotated[
        bool,
        option("Show filtering only cut at random to removal's size.", "--equal-size", metavar=" "),
    ] = False,
    seed: Seed = 0,
    jobs: Jobs = -1,
    engine: Engine = None,
    address: Address = None,
    quiet: Quiet = False,
) -> None:
    """Does the score rise when bad labels go, and fall when rows go to match the test set?

    Example: dataworth study curation --set corrupted-cifar --data DIR --out results/curation
    """
    from dataworth.parallel import get_engine
    from dataworth_studies.curation import study
    from dataworth_studies.curation_tables import COLUMNS, draw_sizes, in_short, to_markdown

    check_quick(quick, set_name != "digits" or data is not None, "--set")
    folder = make_folder(out)
    with telling(quiet, "loading and embedding the images…") as progress:
        found = study(
            set_name,
            data,
            folder,
            features=features,
            repetitions=repetitions,
            groups=groups,
            seed=seed,
            engine=get_engine(engine, jobs, address),
            progress=progress,
        )
    name = set_name if features is None else f"{set_name}-{re.sub('[^a-z0-9]+', '-', features)}"
    keep(folder, name, to_markdown(found, equal_size), found.rows(), COLUMNS, seed)
    if folder is not None and set_name == "stylized-catsdogs":
        draw_sizes(found, folder / f"{name}-sizes.svg")
    print(in_short(found.rows()))


@command
def zoo(
    data: Data = None,
    out: Out = None,
    sets: Annotated[
        str | None, option("Sets, such as 'digits,corrupted-cifar' (default: all that can be had).")
    ] = None,
    seeds: Annotated[int, option("Draws of each set (default: 3).")] = 3,
    jobs: Jobs = -1,
    quiet: Quiet = False,
) -> None:
    """Try every curation on every set: which are called informative, on our yardstick and on plain features?

    Example: dataworth study zoo --sets 'breast cancer' --seeds 1
    """
    from dataworth_studies.zoo import COLUMNS, exam, to_markdown, zoo

    folder = make_folder(out)
    names = None if sets is None else tuple(name.strip() for name in sets.split(","))
    with telling(quiet, "setting up the first set…") as progress:
        found = zoo(
            data,
            folder,
            sets=names,
            seeds=seeds,
            jobs=jobs,
            progress=progress,
        )
    passed = exam(found)
    keep(folder, "zoo", to_markdown(found, passed), found, COLUMNS, 0)
    if folder is not None:
        (folder / "zoo-exam.json").write_text(json.dumps(passed, indent=2, ensure_ascii=False) + "\n")


@command
def regimes(
    data: Data = None,
    out: Out = None,
    repetitions: Annotated[int, option("Draws of each group (default: 40).")] = 40,
    groups: Annotated[int, option("Groups of draws (default: 6).")] = 6,
    seed: Seed = 0,
    jobs: Jobs = -1,
    engine: Engine = None,
    address: Address = None,
    quiet: Quiet = False,
) -> None:
    """Map where removal raises accuracy while the score falls, where it fools the score, and what warned.

    Example: dataworth study regimes --data DIR --out results/curation
    """
    from dataworth.parallel import get_engine
    from dataworth_studies.regimes import COLUMNS, draw_regimes, regimes, to_markdown

    folder = make_folder(out)
    with telling(quiet, "loading and embedding the images…") as progress:
        found = regimes(
            data,
            folder,
            repetitions=repetitions,
            groups=groups,
            seed=seed,
            engine=get_engine(engine, jobs, address),
            progress=progress,
        )
    keep(folder, "regimes", to_markdown(found), found, COLUMNS, seed)
    if folder is not None:
        draw_regimes(found, folder / "regimes.svg")


@command
def samples(
    out: Annotated[Path, option("Picture to write: .png, .svg or .pdf.")],
    set_name: Set = "digits",
    data: Data = None,
    options: Annotated[
        str, option("How the attribute is put in, such as 'severity=5' or 'style=texture,strength=0.8'.")
    ] = "",
    seed: Seed = 0,
) -> None:
    """Draw images of a set, group by group: what the attribute looks like.

    Example: dataworth study samples --set digits --out digits.png
    """
    from dataworth import DataworthError
    from dataworth.cli.files import check_outputs
    from dataworth.cli.guard import say
    from dataworth_studies.samples import draw_samples
    from dataworth_studies.sets import load_set

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


@command
def summary(
    folder: Annotated[Path, typer.Argument(help="The --out of studies that were run.", metavar="DIR")],
) -> None:
    """Sum up the curation studies of a directory: signs, how sure, and whether the guarantee applied.

    Example: dataworth study summary results/curation
    """
    from dataworth_studies.summary import read_studies, summarise, to_markdown

    text = to_markdown(summarise(read_studies(folder)))
    print(text)
    (folder / "summary.md").write_text(text)
