"""Numbers as people want to read them: as many digits as the error supports, and a real minus sign."""

from __future__ import annotations

import math
from collections.abc import Sequence

Interval = Sequence[float] | None


ROUNDING = 1e-9
"""Half-widths of intervals, and values, up to this are what arithmetic leaves of nothing."""


def decimals(scale: float) -> int:
    """Digits after the point that show two significant digits of `scale`.

    >>> decimals(0.034), decimals(2.1), decimals(140.0)
    (3, 1, 0)
    """
    if not math.isfinite(scale) or scale <= 0:
        return 2
    return min(6, max(0, 1 - math.floor(math.log10(scale))))


def digits_for(value: float, interval: Interval = None) -> int:
    """Digits that suit a value: by half the width of its interval, or three significant ones.

    >>> digits_for(1.234, (1.0, 1.5)), digits_for(1.234), digits_for(-1e-12, (-2e-12, 1e-12))
    (2, 2, 2)
    """
    if interval is not None and interval[1] - interval[0] > 2 * ROUNDING:
        return decimals((interval[1] - interval[0]) / 2)
    return min(4, decimals(abs(value)) + 1) if abs(value) > ROUNDING else 2


def number(value: float, digits: int, sign: bool = False) -> str:
    """A number with fixed digits.

    >>> number(-1.234, 2), number(0.5, 1, sign=True), number(-0.001, 1, sign=True)
    ('−1.23', '+0.5', '0.0')
    """
    if not math.isfinite(value):
        return "–"
    value = round(value, digits) + 0.0  # −0.0 + 0.0 is 0.0
    text = f"{value:{'+' if sign and value else ''}.{digits}f}"
    return text.replace("-", "−")


def bounds(interval: Interval, digits: int) -> str:
    """An interval in brackets.

    >>> bounds((-0.2, 1.0), 1)
    '[−0.2, 1.0]'
    """
    if interval is None:
        return "no interval"
    return f"[{number(interval[0], digits)}, {number(interval[1], digits)}]"


def with_interval(
    value: float, interval: Interval, unit: str = "", sign: bool = False, digits: int | None = None
) -> str:
    """A value, its unit and its interval, with digits that suit them unless given.

    >>> with_interval(1.2345, (0.9, 1.6), "nats", sign=True)
    '+1.23 nats [0.90, 1.60]'
    """
    digits = digits_for(value, interval) if digits is None else digits
    shown = f"{number(value, digits, sign)} {unit}".strip()
    return f"{shown} {bounds(interval, digits)}"


def scaled(interval: Interval, factor: float) -> tuple[float, float] | None:
    """An interval in another unit."""
    return None if interval is None else (interval[0] * factor, interval[1] * factor)
