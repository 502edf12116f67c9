"""The one exception that users meet."""

from __future__ import annotations


class DataworthError(ValueError):
    """Bad input, in one sentence: what was given, what was expected, what to do.

    The command line prints the sentence and exits with code 2; a library user catches one type.
    """
