"""All checks in the order of their codes: the function of each, and what it needs (`words`: what it says)."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from ..errors import DataworthError
from ..measure import Case
from . import attribute, classes, doubling, numerics, prior, rows, selection, shift, size
from .base import Check, Finding

CHECKS: tuple[Check, ...] = (
    Check("DW001", doubling.doubling, needs="test"),
    Check("DW002", rows.duplicates, needs="rows"),
    Check("DW003", rows.leaks, needs="rows", valid=False),
    Check("DW004", numerics.forms, sealed="sealed data have one form of the score", prior=True),
    Check("DW005", numerics.inference, prior=True),
    Check("DW006", numerics.referee, slow=True, valid=False, prior=True),
    Check(
        "DW007",
        numerics.converged,
        sealed="a sealed file does not say how its posterior was found",
        valid=False,
    ),
    Check("DW008", prior.prior_edge, needs="test", prior=True),
    Check("DW009", prior.prior_range, valid=False, prior=True),
    Check("DW010", size.size, valid=False),
    Check("DW011", classes.classes, needs="rows"),
    Check("DW012", classes.chance, needs="test", valid=False),
    Check("DW013", attribute.attribute, needs="test"),
    Check("DW014", shift.shift, needs="rows"),
    Check("DW015", selection.selection, needs="rows"),
)
CODES = tuple(check.code for check in CHECKS)


def run_checks(case: Case) -> tuple[Finding, ...]:
    """What every check says that is not ignored."""
    ignored = check_codes(case.options.ignore)
    with np.errstate(all="ignore"):  # a check that meets numbers too large for it has seen enough
        return tuple(check(case) for check in CHECKS if check.code not in ignored)


def check_codes(codes: str | Iterable[str] | None) -> frozenset[str]:
    """The codes of some checks, or of `all`; a frozenset is what this function returned."""
    if isinstance(codes, frozenset):
        return codes
    if isinstance(codes, str):
        codes = codes.split(",")
    if not isinstance(codes, Iterable | None):
        raise DataworthError(
            f"ignore is {codes!r}; give codes of checks, such as 'DW002,DW010', or 'all': 'dataworth checks' "
            "lists them."
        )
    # nothing between commas, or in an empty text, ignores nothing
    wanted = [str(code).strip() for code in codes or () if str(code).strip()]
    if {code.upper() for code in wanted} == {"ALL"}:
        return frozenset(CODES)
    for unknown in sorted(code for code in wanted if code.upper() not in CODES):
        raise DataworthError(
            f"there is no check {unknown!r}; the checks are {CODES[0]} to {CODES[-1]}, or all: 'dataworth "
            "checks' lists them."
        )
    return frozenset(code.upper() for code in wanted)
