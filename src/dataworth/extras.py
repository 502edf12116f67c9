"""What is installed only with an extra."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from importlib.metadata import distributions
from importlib.util import find_spec
from typing import Any

from dataworth.errors import DataworthError
from dataworth.wording import needs_extra


def needed(module: str, what: str, extra: str = "vision") -> Any:
    """The module, or the sentence that says how to get it."""
    try:
        return import_module(module)
    except ImportError as error:
        raise DataworthError(needs_extra(what, extra)) from error


def check_installed(modules: Sequence[str], what: str, extra: str = "vision") -> None:
    """Refuse early and cheaply: finding a module does not import it."""
    found = False
    with suppress(ImportError, ValueError):
        found = all(find_spec(module) is not None for module in modules)
    if not found:
        raise DataworthError(needs_extra(what, extra))


def short(error: Exception) -> str:
    """What another library says, in one line that fits a sentence."""
    return " ".join(str(error).split())[:100]


def versions(*packages: str) -> str:
    """The installed versions, without importing anything: part of the name of what is cached."""
    found = ((package, next(iter(distributions(name=package)), None)) for package in packages)
    return ", ".join(f"{package} {known.version if known else 'none'}" for package, known in found)
