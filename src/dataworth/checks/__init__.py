"""Trust checks: one file each; what a score's guarantee rests on, measured instead of assumed."""

from .attribute import check_attribute
from .base import Finding
from .doubling import check_doubling

__all__ = ["Finding", "check_attribute", "check_doubling"]
