"""What a check finds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Finding:
    """A check's code, whether it fires, the number it rests on, what that means and what to do."""

    code: str
    name: str
    fires: bool
    value: float
    stderr: float | None
    meaning: str
    advice: str

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return dict(vars(self))
