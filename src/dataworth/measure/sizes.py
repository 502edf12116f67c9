"""How many blocks, how many pairs, and how large: what is decided before rows are drawn."""

from __future__ import annotations

from dataclasses import dataclass

from ..errors import DataworthError
from ..wording import counted
from .options import Size, check_drawing

DEFAULT_PAIRS = 200
MOST_BLOCKS = 20
LEAST_TEST_ROWS = 8
MIN_BLOCKS = 8
"""The default size of a pair leaves this many disjoint blocks in the data and in the test set."""
ONE_GROUP = (
    "all test rows belong to one group, so that nothing shows how groups differ: give a test set of more "
    "groups, or no groups."
)


def block_count(test_rows: int, groups: int | None = None) -> int:
    """Disjoint test blocks of the design *whole*: 20 where rows allow, of 4 rows at least.

    More blocks would hardly narrow the interval (t is within 7 % of normal) and cost as much more. Rows that
    belong together are not split between blocks, so that there are no more blocks than groups.

    >>> [block_count(n) for n in (40, 229, 20_000)], block_count(400, groups=12)
    ([10, 20, 20], 12)
    """
    if test_rows < LEAST_TEST_ROWS:
        raise DataworthError(f"{test_rows} test rows are left; scoring needs at least {LEAST_TEST_ROWS}.")
    if groups is not None and groups < 2:
        raise DataworthError(ONE_GROUP)
    most = MOST_BLOCKS if groups is None else min(MOST_BLOCKS, groups)
    return min(most, max(2, test_rows // 4))


@dataclass(frozen=True)
class PairSizes:
    """Sizes of the pairs, how many, and how many disjoint blocks of that size the data hold."""

    data: int
    test: int
    pairs: int
    blocks: float


def pair_sizes(data_rows: int, test_rows: int, pairs: int | None, size: Size | None) -> PairSizes:
    """Sizes asked for, or the largest that leave eight blocks in the data and in the test set.

    >>> pair_sizes(340, 229, None, None)
    PairSizes(data=28, test=28, pairs=200, blocks=8.178571428571429)
    """
    check_drawing(pairs, size)
    k = DEFAULT_PAIRS if pairs is None else int(pairs)
    if size is None:
        n = min(data_rows, test_rows) // MIN_BLOCKS
        if n < 2:
            raise DataworthError(
                f"{counted(data_rows, 'data row')} and {counted(test_rows, 'test row')} are too few for "
                f"pairs (at least {2 * MIN_BLOCKS} each): use the design whole, or give a size."
            )
        size = n
    data, test = (int(n) for n in (size if isinstance(size, (tuple, list)) else (size, size)))
    for name, n, rows in (("data", data, data_rows), ("test set", test, test_rows)):
        if n > rows:
            raise DataworthError(f"size is {n}, but the {name} has only {rows} rows: give a smaller size.")
    return PairSizes(data, test, k, min(data_rows / data, test_rows / test))
