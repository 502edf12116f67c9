"""`dataworth values`, `split` and `outlook`: which rows, which sources, how much more."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

from .options import PANELS, Columns, Showing, Some, Takes, Test, file, word

Shown = Annotated[Showing, Some("json", "quiet", "verbose", "bits", "csv", "plot", "report")]


def values(
    data: Annotated[Path, file("The data.", "DATA")],
    test: Test,
    columns: Annotated[Columns, Some(without=("group",))],
    options: Annotated[dict[str, Any], Takes("values")],
    showing: Annotated[Showing, Some("json", "quiet", "verbose", "bits", "plot", "report")],
    source: Annotated[
        str | None,
        word(
            "Column of the data that says where a row comes from, such as annotator or vendor: sources are"
            " valued too.",
            "--source",
            "--group",
            panel=PANELS["Columns"],
        ),
    ] = None,
    kind: Annotated[
        str, word("rest: given all other rows (the default); alone: with no other data; or shapley.")
    ] = "rest",
    fdr: Annotated[
        float, word("Expected proportion of false entries on the list of rows (default: 0.1).")
    ] = 0.1,
    cross_fit: Annotated[
        int | None,
        word(
            "Parts of the test set: leave out labels that the other parts doubt, and measure on each part.",
            "--cross-fit",
            metavar="K",
        ),
    ] = None,
    output: Annotated[
        Path | None,
        word("File for all rows: .parquet, .csv or .json.", "--output", "-o", metavar="FILE"),
    ] = None,
) -> object:
    """Say which rows carry the information, which labels to look at again, and what sources add (--source).

    Example: dataworth values data.csv --test test.csv -o values.parquet

    Example: dataworth values data.csv --test test.csv --source annotator
    """
    from dataworth.errors import DataworthError
    from dataworth.valuation.values.guard import SUFFIXES, save_values
    from dataworth.valuation.values.values import check_kind
    from dataworth.valuation.values.values import values as value_rows

    from .files import check_outputs
    from .show import announce

    check_kind(kind, fdr)
    if output is not None and output.suffix not in SUFFIXES:
        raise DataworthError(f"{output}: values are written as {' '.join(SUFFIXES)}: give it such a name.")
    check_outputs(output)
    found = asked(
        "values", {"D": data, "T": test}, columns, options, showing, value_rows,
        source, kind=kind, fdr=fdr, cross_fit=cross_fit,
    )  # fmt: skip
    if output is not None:
        save_values(found, output)
        announce("values", output, showing.quiet)
    return found


def split(
    data: Annotated[list[Path], file("The datasets of two vendors or more.", "DATA...")],
    test: Test,
    columns: Columns,
    options: Annotated[dict[str, Any], Takes("split")],
    showing: Shown,
) -> object:
    """Say what each vendor's data add to the others', and split what all are worth without paying twice.

    Example: dataworth split a.csv b.csv c.csv --test test.csv
    """
    from dataworth.valuation.split import split as split_total

    return asked("split", {"candidates": data, "test": test}, columns, options, showing, split_total)


def outlook(
    data: Annotated[Path, file("The data.", "DATA")],
    test: Test,
    columns: Columns,
    options: Annotated[dict[str, Any], Takes("outlook")],
    showing: Shown,
    rows: Annotated[int | None, word("Further rows (default: as many as there are).", "--rows")] = None,
    target: Annotated[
        float | None, word("A value, nats per block: how many rows would it take?", "--target")
    ] = None,
) -> object:
    """Say what more rows like these would be worth, with a range.

    Example: dataworth outlook data.csv --test test.csv --rows 2000
    """
    from dataworth.valuation.outlook import outlook as look_ahead

    return asked(
        "outlook", {"D": data, "T": test}, columns, options, showing, look_ahead, rows=rows, target=target
    )


def asked(
    what: str,
    files: Mapping[str, Path | Sequence[Path]],
    columns: Columns,
    options: Mapping[str, Any],
    showing: Showing,
    function: Callable[..., Any],
    source: str | None = None,
    **own: Any,
) -> Any:
    """Read the files, check that they fit together, and ask the library; `source`: the sources' column."""
    from dataworth.data.io.given import refuse_sampled_rows
    from dataworth.data.io.sealed import is_sealed
    from dataworth.errors import DataworthError
    from dataworth.measure.options import Options
    from dataworth.parallel import get_engine
    from dataworth.valuation.sealed import Sealed
    from dataworth.yardstick.yardstick import Yardstick

    from .files import Inputs, check_outputs
    from .job import command_line
    from .measure import FITTING, check_fit, every, names_of
    from .progress import listen

    check_outputs(showing.csv, plot=showing.plot, reports=showing.report or ())
    Options.parse(what, {**options, "yardstick": None})
    yardstick = None if options["yardstick"] is None else Yardstick.load(options["yardstick"])
    closed = [path for path in every(files) if is_sealed(path)]
    if closed and what != "split":
        raise DataworthError(
            f"{closed[0]} is sealed, but {what} needs rows: only score, rank and split take it."
        )
    refuse_sampled_rows(columns.sample, what == "values")
    *own_files, test = every(files)
    words = command_line(what, own_files, {"test": test, **vars(columns), "source": source, **own}, options)
    sources = None
    if source is not None:  # the test set need not have that column
        (held,) = every({"D": files["D"]})
        sources = Inputs(replace(columns, group=source), quiet=True).read([held])(held).groups
        columns = replace(columns, exclude=",".join(filter(None, (columns.exclude, source))))
    opened = [path for path in every(files) if path not in closed]
    known = () if yardstick is None else yardstick.columns
    engine = get_engine(options.get("engine"), options.get("jobs"), options.get("address"))
    read = Inputs(columns, showing.quiet, engine).read(opened, opened[-1], known)
    roles = {"test" if role in ("T", "test") else role: given for role, given in files.items()}
    check_fit(roles, read, yardstick)

    def data(given: Path | Sequence[Path]) -> Any:
        if isinstance(given, Path):
            return Sealed.load(given) if given in closed else read(given)
        return dict(zip(names_of(given), map(data, given), strict=True))

    arguments = {role: data(given) for role, given in files.items()}
    if sources is not None:
        arguments["D"] = arguments["D"]._with(groups=sources)
    fitting = FITTING if yardstick is None else None
    with listen(showing.quiet, options["jobs"], preparing=fitting) as progress:
        found = function(**arguments, **own, **{**options, "yardstick": yardstick, "progress": progress})
    told = dict(zip(found.replay.data, (path.name for path in own_files), strict=True))
    return replace(found, replay=found.replay.by(words, told, test.name))
