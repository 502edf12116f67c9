"""`dataworth study …`: reproductions of the paper's experiments, and what goes beyond them."""

from __future__ import annotations

import typer

from . import convergence, curation, mi, preference, values

study = typer.Typer(no_args_is_help=True, rich_markup_mode="rich")


@study.callback()
def about() -> None:
    """Reproduce the paper's experiments, and go beyond them."""


# in the order in which help shows them
for _name, _command in {
    "curation": curation.curation,
    "zoo": curation.zoo,
    "regimes": curation.regimes,
    "mi": mi.mi,
    "mi-error": mi.mi_error,
    "convergence": convergence.convergence,
    "preference": preference.preference,
    "values": values.values,
    "samples": curation.samples,
    "summary": curation.summary,
}.items():
    study.command(_name)(_command)
