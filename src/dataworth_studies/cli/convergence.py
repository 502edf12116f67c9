"""The study of the paper's convergence corollary."""

from __future__ import annotations

import json

from dataworth.cli.options import command

from .options import Address, Engine, Jobs, Out, Quiet
from .results import make_folder, telling, versions


@command
def convergence(
    out: Out = None,
    jobs: Jobs = -1,
    engine: Engine = None,
    address: Address = None,
    quiet: Quiet = False,
) -> None:
    """Measure how the error of the mean PMI falls where the information is known, in up to 400 dimensions.

    Example: dataworth study convergence --out results
    """
    from dataworth.parallel import get_engine
    from dataworth_studies.convergence import SEED, STUDIES, convergence_figure
    from dataworth_studies.tables import save_figure

    where = get_engine(engine, jobs, address)
    folder = make_folder(out)
    found = {}
    for name, (study, show) in STUDIES.items():
        with telling(quiet, f"{name}…") as progress:
            found[name] = study(where, progress)
        print(show(found[name]), end="\n\n", flush=True)
    if folder is not None:
        record = {"about": {**versions(), "seed": SEED}, **found}
        (folder / "convergence.json").write_text(json.dumps(record, indent=1) + "\n")
        save_figure(convergence_figure(found), folder / "convergence.svg")
