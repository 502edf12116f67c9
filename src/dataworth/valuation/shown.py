"""How every result shows itself: as text, as a figure, in a notebook, as a report.

The room `report` stands above this one, so nothing of it is imported here: it is asked for by name when a
user asks a result to show itself.
"""

from __future__ import annotations

from importlib import import_module
from os import PathLike
from typing import Any

REPORTS = "dataworth.report.views"


class Shown:
    """What every result has for people."""

    def text(self, bits: bool = False, verbose: bool = False) -> str:
        """The result as the command line prints it, without colours.

        Args:
            bits: bits instead of nats.
            verbose: also each arm, the yardstick and every check.
        """
        told: str = import_module(REPORTS).text(self, bits, verbose)
        return told

    def plot(self, path: str | PathLike[str] | None = None, bits: bool = False) -> Any:
        """The result as a matplotlib figure.

        Args:
            path: a file to write it to, too: .png, .svg or .pdf.
            bits: bits instead of nats.
        """
        return import_module(REPORTS).plot(self, path, bits)

    def report(self, path: str | PathLike[str], bits: bool = False) -> None:
        """Write a report: one page for people who were not there, without any row of the data.

        What has to be measured again for it (parts, other priors, sizes and groups) is on it if the result
        kept its rows (`keep=True`).

        Args:
            path: .html (a page that needs nothing else), .md (for a pull request) or .json.
            bits: bits instead of nats.

        Raises:
            DataworthError: if the name ends otherwise.
        """
        import_module(REPORTS).write(self, path, bits)

    def _repr_html_(self) -> str:
        """The short form, for notebooks."""
        told: str = import_module(REPORTS).fragment(self)
        return told
