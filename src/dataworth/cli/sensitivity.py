"""A score or an audit over prior variances, from the words of the command."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dataworth.errors import DataworthError
from dataworth.models.base import positive_number
from dataworth.report import plot
from dataworth.report.text import sensitivity as text
from dataworth.valuation.sensitivity import Sensitivity, sensitivity

from .job import Job
from .measure import measure
from .options import Columns, Showing
from .progress import listen
from .show import View

VIEW = View(text.full, text.line, plot.sensitivity_figure)


def measure_over_priors(
    data: Path,
    after: Path | None,
    test: Path,
    columns: Columns,
    options: Mapping[str, Any],
    priors: str | None,
    showing: Showing,
) -> Sensitivity:
    """Measure once as score and audit do, without checks, then over prior variances."""
    wanted = None if priors is None else numbers(priors)
    files = {"data": data, "test": test} if after is None else {"before": data, "after": after, "test": test}
    command = "score" if after is None else "audit"
    job = Job(command=command, files=files, columns=columns, options={**options, "ignore": "all"})
    found = measure(job, showing, keep=True)
    with listen(showing.quiet, options["jobs"]) as progress:
        return sensitivity(found, wanted, None if progress is None else progress.update)


def numbers(text: str) -> list[float]:
    """Positive numbers between commas, or a sentence.

    >>> numbers("0.1, 1,1e3")
    [0.1, 1.0, 1000.0]
    """
    try:
        found = [float(part) for part in text.split(",")]
    except ValueError:
        raise DataworthError(
            f"--priors is {text!r}; give numbers between commas, such as 0.1,1,10."
        ) from None
    return [positive_number(number, "a prior variance") for number in found]
