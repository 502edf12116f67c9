"""What a report asks beyond a result: its parts, measured now; or why there are none."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..checks.base import quietly
from ..errors import DataworthError
from .result import Result


@dataclass(frozen=True, kw_only=True)
class Further:
    """What was measured again; `left_out` says what was not, and why."""

    parts: Any = None
    left_out: tuple[str, ...] = ()


def further(result: Result) -> Further:
    """The parts of a result that kept its rows."""
    if result.case is None:
        why = "sealed data have no rows" if result.details.form == "sealed" else "measure with keep_data=True"
        why = "data that are read in passes are not measured again" if result.details.passes else why
        return Further(left_out=(f"parts: {why}",))
    try:
        with quietly():
            return Further(parts=result.parts)  # type: ignore[attr-defined]
    except DataworthError as error:
        return Further(left_out=(f"parts: {error}",))
