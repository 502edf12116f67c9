"""Labels that differ only in case or spaces are one label, in the spelling of the test set."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from numpy.typing import NDArray


def spellings(labels: Sequence[NDArray[Any]]) -> dict[str, str]:
    """What each label that is spelled in several ways is to be: as the first array has it most often.

    Labels of one letter are left alone: a and A may well be two.

    >>> import numpy as np
    >>> spellings([np.array(["yes", "yes", "YES", "no"]), np.array(["No", "a", "A"])])
    {'YES': 'yes', 'No': 'no'}
    """
    chosen: dict[str, str] = {}
    said: dict[str, str] = {}
    for array in labels:
        if array.dtype.kind != "U":
            continue
        for text, _ in Counter(array.tolist()).most_common():
            if len(text.strip()) > 1:
                as_chosen = chosen.setdefault(" ".join(text.split()).casefold(), text.strip())
                if text != as_chosen:
                    said[text] = as_chosen
    return said
