"""The options that studies share, each declared once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer


def option(help: str, *names: str, **settings: Any) -> Any:
    """An option of a study; its help says the default."""
    return typer.Option(*names, help=help, show_default=False, **settings)


Data = Annotated[
    Path | None, option("Directory with mnist01.npz, cifar_airplane_automobile.npz, cats_dogs_128.zip.")
]
Set = Annotated[
    str, option("digits (embedded), colored-mnist, corrupted-cifar or stylized-catsdogs.", "--set")
]
Out = Annotated[
    Path | None,
    option("Directory for what is found (md, csv, some figures); finished cells there are kept."),
]
Seed = Annotated[int, option("All randomness comes from it (default: 0).")]
Jobs = Annotated[int, option("Processes (default: all cores).", "--jobs", "-j")]
Engine = Annotated[str | None, option("Where the work runs: local (the default) or ray.")]
Address = Annotated[str | None, option("Address of the Ray cluster.")]
Quiet = Annotated[bool, option("No progress.", "--quiet", "-q", metavar=" ")]
