"""One fit of rows that no machine holds: every worker adds up its partitions, wherever the engine runs them.

The pairs of a design are shared out whole. A single fit of a file larger than memory is not: each pass of
Newton's method needs sums over all rows (`inference.partial_sums`), a few numbers from each partition.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..arrays import Array
from ..inference.logistic import Counts
from ..inference.partial_sums import Sums, combined, partial_sums
from .engines import Engine

Read = Callable[[Any], tuple[Array, Counts]]
"""From a partition (a file, some of its row groups) to its rows and the weights of their labels."""


def sums_over(engine: Engine, read: Read, parts: Sequence[Any]) -> Callable[[Array], Sums]:
    """What `partial_sums.find_mode` asks for: the sums at θ over all partitions, one chunk each.

    `read` is called where the partition is worked on, so that rows never meet. Partitions are added in the
    order of `parts`: the result does not depend on which worker was first.

    >>> import numpy as np
    >>> from dataworth.measure.engines import Local
    >>> counts = Counts(np.array([1.0]), np.array([0.0]))
    >>> sums = sums_over(Local(1), lambda part: (np.array([[part]]), counts), [1.0, 2.0, 3.0])
    >>> sums(np.zeros(1)).gradient.tolist()
    [3.0]
    """
    return lambda theta: combined(engine.map(_sums, parts, shared=(read, theta)))


def _sums(shared: tuple[Read, Array], part: Any) -> Sums:
    read, theta = shared
    return partial_sums(theta, *read(part))
