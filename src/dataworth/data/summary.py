"""Labels as text, and what they are in a few words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..wording import and_more
from .vectors import entries, text_keys


@dataclass(frozen=True)
class LabelSummary:
    """The classes and their counts, or (for many numbers) the range."""

    classes: dict[str, int] | None
    low: float | None = None
    high: float | None = None

    def __str__(self) -> str:
        if self.classes is None:
            return f"from {self.low:g} to {self.high:g}"
        shown = [f"{name}: {count}" for name, count in list(self.classes.items())[:5]]
        return ", ".join(shown) + and_more(len(self.classes) - 5) if shown else "none"

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        if self.classes is not None:
            return {"classes": dict(self.classes)}
        return {"low": self.low, "high": self.high}


def summarise_labels(y: NDArray[Any]) -> LabelSummary:
    """Text and at most 20 distinct whole numbers are classes; other numbers have a range.

    >>> print(summarise_labels(np.array([1, 0, 1])))
    0: 1, 1: 2
    >>> print(summarise_labels(np.array([0.5, 2.0])))
    from 0.5 to 2
    """
    values, counts = np.unique(y, return_counts=True)
    if y.dtype.kind in "iuf" and (len(values) > 20 or (values != np.round(values)).any()):
        return LabelSummary(None, float(values[0]), float(values[-1]))
    return LabelSummary(dict(zip(label_keys(values).tolist(), counts.tolist(), strict=True)))


def label_keys(y: Any) -> NDArray[np.str_]:
    """Labels as text, so that 1, 1.0 and True are the same label.

    >>> label_keys([True, False]).tolist(), label_keys([1.0, 2.5, -0.0]).tolist(), label_keys([" a"]).tolist()
    (['1', '0'], ['1', '2.5', '0'], ['a'])
    """
    return text_keys(entries(y, "y", "labels", None))
