"""The studies of known mutual information: how estimators order it, how the error of the mean falls."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

from dataworth.cli.options import command

from .options import Address, Data, Engine, Jobs, Quiet, Seed, option
from .results import check_quick, make_folder, telling, write_about


@command
def mi(
    pool: Annotated[str, option("digits (embedded), mnist, cifar or catsdogs.")] = "digits",
    data: Data = None,
    out: Annotated[
        Path | None, option("Directory for what is found (json, md, svg); finished estimates there are kept.")
    ] = None,
    size: Annotated[int | None, option("Rows of each dataset (default: 100).")] = None,
    pairs: Annotated[int | None, option("Pairs of datasets for an estimate (default: 2000).")] = None,
    trials: Annotated[int | None, option("Repetitions of all (default: 20).")] = None,
    estimators: Annotated[
        str | None,
        option(
            "Such as 'evidence,eta' (default: evidence). Also ep, product, centred, monte-carlo, paper, mine,"
            " mine-theta, lmi, proportions."
        ),
    ] = None,
    prior_variances: Annotated[
        str | None,
        option("Such as '1,100,yardstick' (default: the paper's for the pool, and our yardstick's)."),
    ] = None,
    design: Annotated[
        str,
        option("independent draws for every level (the default), or common random numbers across levels."),
    ] = "independent",
    levels: Annotated[
        str | None, option("Mutual informations in bits, such as '0' (default: 0, 0.1 … 1).")
    ] = None,
    intercept: Annotated[
        bool, option("Give the models an intercept, as our yardstick has.", "--intercept", metavar=" ")
    ] = False,
    axes: Annotated[
        int | None, option("Principal components of the features (default: the pool's own).")
    ] = None,
    quick: Annotated[
        bool,
        option("Embedded digits, few pairs, three estimators, under two minutes.", "--quick", metavar=" "),
    ] = False,
    seed: Seed = 0,
    jobs: Jobs = -1,
    engine: Engine = None,
    address: Address = None,
    quiet: Quiet = False,
) -> None:
    """Order dataset pairs by their known mutual information: how well do estimators do it?

    Example: dataworth study mi --quick

    Example: dataworth study mi --pool mnist --data DIR --estimators evidence,eta --out results/mi
    """
    from dataworth.parallel import get_engine
    from dataworth_studies.mi import DEFAULT, QUICK, plans_for, run_plan
    from dataworth_studies.mi_tables import all_tables, in_short, keep_longer, write_result, write_summary
    from dataworth_studies.pools import load_pool

    check_quick(quick, pool != "digits" or data is not None, "--pool")
    usual = QUICK if quick else DEFAULT
    with telling(quiet, "loading and embedding the images…"):
        images = load_pool(pool, data, axes)
    plans = plans_for(
        images,
        usual.estimators if estimators is None else estimators,
        usual.priors if prior_variances is None else prior_variances,
        levels,
        usual.size if size is None else size,
        usual.pairs if pairs is None else pairs,
        usual.trials if trials is None else trials,
        design,
        seed,
        intercept,
    )
    folder = make_folder(out)
    if folder is not None:
        for plan in plans:
            keep_longer(folder / f"{plan.name}.json", plan.trials)
    where = get_engine(engine, jobs, address)
    records = []
    for plan in plans:
        run_dir = None if folder is None else folder / "runs" / plan.name
        with telling(quiet, f"{plan.name}…") as progress:
            found = run_plan(plan, where, run_dir, progress)
        records.append(found.to_dict())
        if folder is not None:
            write_result(records[-1], folder / f"{plan.name}.json")
            write_about(folder, plan.name, seed)
    print(all_tables(records))
    if folder is not None:
        write_summary(folder)
    print(in_short(records))


@command
def mi_error(
    pool: Annotated[str, option("digits (embedded), mnist, cifar or catsdogs.")] = "digits",
    data: Data = None,
    out: Annotated[Path | None, option("Directory for what is found (json, md, svg).")] = None,
    axes: Annotated[
        str | None, option("Numbers of principal components (default: '20,100', for digits '20,50').")
    ] = None,
    size: Annotated[int, option("Rows of each dataset (default: 50).")] = 50,
    prior_variance: Annotated[float, option("Prior variance (default: 1).")] = 1.0,
    pairs: Annotated[int, option("Pairs in all (default: 20000).")] = 20_000,
    seed: Seed = 0,
    jobs: Jobs = -1,
    engine: Engine = None,
    address: Address = None,
    quiet: Quiet = False,
) -> None:
    """Measure how the error of the mean PMI falls with the number of pairs: its slope in log–log.

    Example: dataworth study mi-error --pool mnist --data DIR --out results/mi
    """
    from dataworth.parallel import get_engine
    from dataworth_studies.mi_error import error_curve, error_figure, to_markdown
    from dataworth_studies.pools import load_pool
    from dataworth_studies.tables import save_figure

    where = get_engine(engine, jobs, address)
    given = ("20,50" if pool == "digits" else "20,100") if axes is None else axes
    with telling(quiet, "loading and embedding the images…"):
        pools = [load_pool(pool, data, count) for count in _whole_numbers(given, "--axes")]
    folder = make_folder(out)
    found = []
    for images in pools:
        with telling(quiet, f"{images.X.shape[1]} axes…") as progress:
            found.append(error_curve(images, size, prior_variance, pairs, seed, where, progress))
    print(to_markdown(found))
    if folder is not None:
        name = f"{pool}-error"
        record = {"schema": "dataworth/study-mi-error/1", "curves": found}
        (folder / f"{name}.json").write_text(json.dumps(record, indent=1) + "\n")
        save_figure(error_figure(found), folder / f"{name}.svg")
        (folder / f"{name}.md").write_text(to_markdown(found) + "\n")
        write_about(folder, name, seed)


def _whole_numbers(text: str, name: str) -> list[int]:
    """Numbers between commas."""
    from dataworth import DataworthError

    if not all(word.strip().isdecimal() for word in text.split(",")):
        raise DataworthError(f"{name} is {text!r}; give whole numbers, such as '20,100'.")
    return [int(word) for word in text.split(",")]
