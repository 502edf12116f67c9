"""How each kind of result is shown: in full, in a line, as a figure, and as a report by a file's ending.

A new kind of result adds a line to `VIEWS`: its `document` is what reports and notebooks show of it.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable
from datetime import UTC, datetime
from html import escape
from pathlib import Path
from typing import Any, NamedTuple

from dataworth.atomic import atomic_write
from dataworth.errors import DataworthError
from dataworth.evidence.pair import NATS_PER_BIT
from dataworth.valuation.further import Further, further
from dataworth.valuation.result import Result

from . import plot as figures
from . import plot_values
from .content import audit as audit_content
from .content import outlook as outlook_content
from .content import ranking as ranking_content
from .content import score as score_content
from .content import split as split_content
from .content import values as values_content
from .document import Document
from .html.fragment import fragment as html_fragment
from .html.page import page
from .markdown import markdown
from .text import audit, demo, description, outlook, ranking, score, sensitivity, split, values, yardstick

ENDINGS = (".html", ".md", ".json")
COLUMNS = 100


class View(NamedTuple):
    """How one kind of result is shown: in full, in a line, as a figure, a report; whether it counts nats."""

    full: Callable[..., Any]
    line: Callable[..., str]
    figure: Callable[..., Any] | None = None
    document: Callable[[Any, Further, bool], Document] | None = None
    in_bits: bool = True


VIEWS = {
    "Score": View(score.full, score.line, figures.score_figure, score_content.document),
    "Audit": View(audit.full, audit.line, figures.audit_figure, audit_content.document),
    "Ranking": View(ranking.full, ranking.line, figures.ranking_figure, ranking_content.document),
    "Demo": View(demo.full, demo.line, figures.demo_figure),
    "Sensitivity": View(sensitivity.full, sensitivity.line, figures.sensitivity_figure),
    "Values": View(values.full, values.line, plot_values.values_figure, values_content.document),
    "Split": View(split.full, split.line, plot_values.split_figure, split_content.document),
    "Outlook": View(outlook.full, outlook.line, plot_values.outlook_figure, outlook_content.document),
    "Description": View(description.full, description.line, in_bits=False),
    "Yardstick": View(yardstick.full, yardstick.line, in_bits=False),
}


def view_of(result: Any) -> View:
    """How a result is shown; what is not listed above knows how it is shown."""
    kind = type(result)
    return VIEWS[kind.__name__] if kind.__name__ in VIEWS else View(kind.full, kind.line, in_bits=False)


def text(result: Any, bits: bool = False, verbose: bool = False) -> str:
    """A result as plain text."""
    from rich.console import Console

    console = Console(width=COLUMNS, highlight=False, color_system=None, force_jupyter=False)
    with console.capture() as captured:
        console.print(view_of(result).full(result, bits=bits, verbose=verbose))
    return "\n".join(line.rstrip() for line in captured.get().splitlines()) + "\n"


def plot(result: Any, path: str | os.PathLike[str] | None = None, bits: bool = False) -> Any:
    """A result as a figure, which is also written if a path is given."""
    draw = view_of(result).figure
    assert draw is not None
    figure = draw(result, bits=bits)
    if path is not None:
        figure.savefig(path, dpi=150)
    return figure


def fragment(result: Any) -> str:
    """A result in a notebook; one that has no report yet is shown as text."""
    make = view_of(result).document
    return (
        f"<pre>{escape(text(result))}</pre>"
        if make is None
        else html_fragment(make(result, Further(), False))
    )


def write(result: Any, path: str | os.PathLike[str], bits: bool = False) -> None:
    """A report to a file."""
    told = report(result, ending(path), bits)
    with atomic_write(Path(path)) as place:
        place.write_text(told, encoding="utf-8")


def ending(path: str | os.PathLike[str]) -> str:
    """The ending that says what kind of report it is."""
    found = Path(path).suffix.lower()
    if found not in ENDINGS:
        raise DataworthError(f"{path}: a report is one of {' '.join(ENDINGS)}: give it such a name.")
    return found


def report(result: Any, kind: str, bits: bool = False) -> str:
    """A report as text of a kind; what has to be measured again for it is measured now."""
    make = view_of(result).document
    if make is None:
        raise DataworthError(
            f"there is no report of a {type(result).__name__}: use text(), plot() or to_dict()."
        )
    found = measured_again(result) if isinstance(result, Result) else Further()
    if kind == ".json":
        unit = NATS_PER_BIT if bits else 1.0
        told = result.to_dict(bits)
        if isinstance(result, Result):
            told = result.to_dict(bits, parts=found.parts is not None) | {"further": found.to_dict(unit)}
        return json.dumps(finite(told), indent=2, allow_nan=False) + "\n"
    written = {".html": page, ".md": markdown}[kind]
    return written(make(result, found, bits), datetime.now(UTC).date().isoformat())


def measured_again(result: Any) -> Further:
    """What a report asks beyond a result; once, however many are written."""
    kept = vars(result)
    if "_further" not in kept:
        kept["_further"] = further(result)
    found: Further = kept["_further"]
    return found


def finite(value: Any) -> Any:
    """The same data with null for what JSON has no number for."""
    if isinstance(value, dict):
        return {key: finite(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
