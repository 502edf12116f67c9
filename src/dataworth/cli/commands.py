"""The commands: each a function whose options are groups (`options`), and whose result is shown (`show`)."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import typer

from .guard import EXIT_CODES
from .options import Command, Showing, command

app = typer.Typer(
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    epilog=f"Exit codes: {', '.join(f'{code} {what}' for code, what in EXIT_CODES.items())}.",
    context_settings={"help_option_names": ["-h", "--help"]},
)


def add_command(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add a command; what it returns is shown, unless that is an exit code."""

    @wraps(function)
    def run(**values: Any) -> int | None:
        found = function(**values)
        if found is None or isinstance(found, int):
            return found
        from .show import result

        result(found, next(value for value in values.values() if isinstance(value, Showing)))
        return None

    return app.command(cls=Command)(command(run))
