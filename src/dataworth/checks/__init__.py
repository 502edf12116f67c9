"""Trust checks, one a function: what a score's guarantee rests on, measured instead of assumed."""

from .attribute import check_attribute
from .base import Check, CheckOutcome, Finding
from .doubling import check_doubling
from .registry import CHECKS, check_codes, run_checks

__all__ = [
    "CHECKS",
    "Check",
    "CheckOutcome",
    "Finding",
    "check_attribute",
    "check_codes",
    "check_doubling",
    "run_checks",
]
