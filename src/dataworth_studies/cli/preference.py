"""The preference study."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from dataworth.cli.options import command

from .options import Quiet, Seed, option
from .results import keep, make_folder, telling


@command
def preference(
    data: Annotated[Path, option("Directory with the files of preference pairs.")],
    out: Annotated[Path, option("Directory for what is found; finished work there is kept.")],
    model: Annotated[str, option("Causal language model: name, directory or GGUF file.")],
    preset: Annotated[str, option("here (the default: 8 × 250 pairs) or paper (10 × 5,000).")] = "here",
    text_encoder: Annotated[str | None, option("Sentence encoder to compare gradients with.")] = None,
    quick: Annotated[bool, option("Sixty pairs, 32 numbers, one epoch.", "--quick", metavar=" ")] = False,
    seed: Seed = 0,
    quiet: Quiet = False,
) -> None:
    """Does the score of preference data follow generalisation, where accuracy does not?

    Example: dataworth study preference --data DIR --out results/preference --model Qwen/Qwen3-1.7B
    """
    from dataworth import DataworthError
    from dataworth.data.io.preferences import read_preferences
    from dataworth_studies.preference import PLANS, SOURCES, study
    from dataworth_studies.preference_tables import agreement, columns, draw, in_short, to_markdown

    if preset not in PLANS:
        raise DataworthError(f"--preset is {preset!r}, but one of here, paper is expected.")
    folder = make_folder(out)
    assert folder is not None
    with telling(quiet, "loading pairs and model…") as progress:
        found = study(
            data,
            folder,
            model,
            plan=PLANS["quick" if quick else preset],
            encoder=text_encoder,
            seed=seed,
            progress=progress,
        )
    shown = {name: read_preferences(data / file) for name, file in SOURCES.items()}
    keep(folder, "preference", to_markdown(found, shown), found, columns(found), seed)
    draw(found, folder / "preference.svg")
    print(in_short(agreement(found)))
