"""Trust checks, one a file: what a score's guarantee rests on, measured instead of assumed."""

from .attribute import check_attribute
from .base import Check, Finding, Seen
from .doubling import check_doubling
from .registry import CHECKS, check_codes, run_checks

__all__ = [
    "CHECKS",
    "Check",
    "Finding",
    "Seen",
    "check_attribute",
    "check_codes",
    "check_doubling",
    "run_checks",
]
