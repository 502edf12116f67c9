"""All checks, in the order of their codes."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

import numpy as np

from ..errors import DataworthError
from ..measure import Case
from .base import Check, Finding

FILES = [import_module(f".{file.name}", __package__) for file in iter_modules([str(Path(__file__).parent)])]
CHECKS: tuple[Check, ...] = tuple(
    sorted((file.CHECK for file in FILES if hasattr(file, "CHECK")), key=lambda check: check.code)
)
"""The `CHECK` of every file in this folder that has one: a new check is a new file."""
CODES = tuple(check.code for check in CHECKS)


def run_checks(case: Case) -> tuple[Finding, ...]:
    """What every check says that is not ignored."""
    ignored = check_codes(case.options.ignore)
    with np.errstate(all="ignore"):  # a check that meets numbers too large for it has seen enough
        return tuple(check(case) for check in CHECKS if check.code not in ignored)


def check_codes(codes: str | Iterable[str] | None) -> frozenset[str]:
    """The codes of some checks, or of `all`; a sentence if there is no such check.

    A frozenset is what this function returned.

    >>> sorted(check_codes("DW001, dw013"))
    ['DW001', 'DW013']
    """
    if isinstance(codes, frozenset):
        return codes
    if isinstance(codes, str):
        codes = codes.split(",")
    if not isinstance(codes, Iterable | None):
        raise DataworthError(
            f"ignore is {codes!r}; give codes of checks, such as 'DW002,DW010', or 'all': 'dataworth checks' "
            "lists them."
        )
    wanted = {str(code).strip().upper(): str(code).strip() for code in codes or ()}
    wanted.pop("", None)  # nothing between commas, or in an empty text, ignores nothing
    if wanted.keys() == {"ALL"}:
        return frozenset(CODES)
    unknown = sorted(wanted.keys() - set(CODES))
    if unknown:
        raise DataworthError(
            f"there is no check {wanted[unknown[0]]!r}; the checks are {CODES[0]} to {CODES[-1]}, or all: "
            "'dataworth checks' lists them."
        )
    return frozenset(wanted)
