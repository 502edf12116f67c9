"""The one exception that users meet, and several of them at once."""

from __future__ import annotations

from collections.abc import Sequence


class DataworthError(ValueError):
    """Bad input, in one sentence: what was given, what was expected, what to do.

    The command line prints the sentence and exits with code 2; a library user catches one type.
    """


class Problems(DataworthError):
    """Several things that stand in the way, each in one sentence: `sentences`."""

    def __init__(self, sentences: Sequence[str]) -> None:
        self.sentences = tuple(sentences)
        shown = (f"({i + 1}) {sentence}" for i, sentence in enumerate(sentences))
        super().__init__(f"{len(sentences)} problems: {'; '.join(shown)}")
