"""How results are shown: as text, as a figure, in a notebook, and as a report by a file's ending.

A new kind of result adds a line to `DOCUMENTS`: its document is what all of these show.
"""

from __future__ import annotations

import json
import math
import os
from dataclasses import replace
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from typing import Any

from dataworth.atomic import atomic_write
from dataworth.errors import DataworthError
from dataworth.valuation.result import Result
from dataworth.valuation.supplementary import Further, further

from . import page, terminal
from . import plot as figures
from .document import Document
from .documents import shared
from .markdown import markdown
from .numbers import unit_of

ENDINGS = (".html", ".md", ".json")
COLUMNS = 100
NO_PARTS = "\nwhy: left out, for the parts that could be measured do not add up to the score."
DOCUMENTS = {
    "Score": "worth.score_document",
    "Audit": "audit.document",
    "Ranking": "worth.ranking_document",
    "Demo": "demo.document",
    "Sensitivity": "sensitivity.document",
    "Values": "values.document",
    "Contributions": "worth.contributions_document",
    "Forecast": "worth.forecast_document",
    "Public": "public.document",
    "Description": "description.document",
    "Yardstick": "shared.yardstick_document",
}
"""Functions in `documents/`; each is imported with what it needs when such a result is shown."""


def document(result: Any, bits: bool = False, found: Further | None = None) -> Document:
    """What a result says; `found` is what was measured again for a report."""
    kind, name = DOCUMENTS[type(result).__name__].split(".")
    maker = getattr(import_module(f".documents.{kind}", __package__), name)
    made: Document = maker(result, found or Further(), unit_of(bits))
    if not hasattr(result, "replay"):
        return made
    source = shared.source(result.replay, " → " if made.kind == "Audit" else ", ")
    alarm = shared.alarm(result) if isinstance(result, Result) else ""
    return replace(made, question=made.question or result.question, source=source, alarm=alarm)


def in_bits(result: Any) -> bool:
    """Whether a result counts nats, which can be told in bits."""
    return type(result).__name__ in DOCUMENTS.keys() - {"Description", "Yardstick"}


def line(result: Any, bits: bool = False) -> str:
    """A result in one line; what is not listed above knows its own."""
    told: str = document(result, bits).line if type(result).__name__ in DOCUMENTS else result.line()
    return told


def full(result: Any, bits: bool = False, verbose: bool = False) -> Any:
    """A result as rich renders it; what is not listed above knows how."""
    if type(result).__name__ in DOCUMENTS:
        return terminal.render(document(result, bits), verbose)
    return result.full(verbose)


def why(result: Any, bits: bool = False) -> Any:
    """What a value, or its change, is made of, as rich renders it; measured now."""
    found = shared.parts_table(result, unit_of(bits))
    return NO_PARTS if found is None else terminal.table(found)


def text(result: Any, bits: bool = False, verbose: bool = False) -> str:
    """A result as plain text."""
    from rich.console import Console

    console = Console(width=COLUMNS, highlight=False, color_system=None, force_jupyter=False)
    with console.capture() as captured:
        console.print(full(result, bits, verbose))
    return "\n".join(line.rstrip() for line in captured.get().splitlines()) + "\n"


def plot(result: Any, path: str | os.PathLike[str] | None = None, bits: bool = False) -> Any:
    """A result as a matplotlib figure, which is also written if a path is given."""
    made = figures.figure(document(result, bits))
    if path is not None:
        made.savefig(path, dpi=150)
    return made


def fragment(result: Any) -> str:
    """A result in a notebook."""
    return page.fragment(document(result))


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
    kept = vars(result)
    if isinstance(result, Result) and "_further" not in kept:
        kept["_further"] = further(result)
    found: Further = kept.get("_further", Further())
    if kind == ".json":
        told = result.to_dict(**({"bits": bits} if in_bits(result) else {}))
        if isinstance(result, Result):
            told = result.to_dict(bits, parts=found.parts is not None)
            told["further"] = {"left_out": list(found.left_out)}
        return json.dumps(finite(told), indent=2, allow_nan=False) + "\n"
    written = {".html": page.page, ".md": markdown}[kind]
    return written(document(result, bits, found), datetime.now(UTC).date().isoformat())


def finite(value: Any) -> Any:
    """The same data with null for what JSON has no number for."""
    if isinstance(value, dict):
        return {key: finite(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
