"""What more rows like these would be worth: values of growing parts of the data, and two laws for the rest.

For k rows and blocks of m test rows, the two laws are

    logarithm   u(k) = a + b log k
    Gaussian    u(k) = a + ½ D log((1 + λk)(1 + λm) / (1 + λ(k + m))),

the second the information between k and m noisy looks at D Gaussian numbers, which levels off at
½ D log(1 + λm) once k is large. Each predicts the largest parts from the smaller ones; their forecasts are
averaged by how well they did. The range covers the sampling of the test set (by forecasting from blocks drawn
again), of the rows in each part, and how far the laws disagree.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar, Unpack

import numpy as np

from ..arrays import Array
from ..data.dataset import Dataset
from ..errors import DataworthError
from ..evidence.pair import NATS_PER_BIT
from ..measure.designs import Sample, select
from ..measure.intervals import Estimate, over_blocks
from ..measure.options import Options, Valuing, takes_options, whole_number
from ..measure.prepare import Pool, prepare, strata
from ..yardstick.yardstick import Yardstick
from .coalitions import measure_arms
from .result import nats, tell

QUESTION = "What would more rows like these be worth to someone facing this test set?"
LEAST_ROWS = 40
STEPS, PARTS = 5, 4
"""Sizes halve so many times from all rows down; so many parts of each size below it."""
LEVEL = 0.90
DRAWN = 200
FALLS = 2.0
"""Standard errors by which the last doubling must lose for the value to be said to fall with size."""
SCALES = 10.0 ** np.arange(-4.0, 1.01, 0.25)


@dataclass(frozen=True, kw_only=True)
class AtSize:
    """What a part of the data is worth, or all of them with more like them: nats per block, and a range."""

    rows: int
    value: float = nats()
    interval: tuple[float, float] | None = nats()
    measured: bool


@dataclass(frozen=True, kw_only=True, repr=False)
class Outlook:
    """Values of parts of the data, and the forecast of data with `rows` further rows (and of twice, four times).

    gain: what the further rows add. falls: whether the value is seen to fall with size, as wrong labels can
    make it. law: the proportion that the Gaussian law has in the forecast, beside the logarithm.
    """

    schema: ClassVar[str] = "dataworth/outlook/1"
    question: ClassVar[str] = QUESTION
    rows: int
    have: int
    value: float = nats()
    interval: tuple[float, float] = nats()
    gain: float = nats()
    gain_interval: tuple[float, float] = nats()
    falls: bool
    law: float
    curve: tuple[AtSize, ...]
    needed: int | None
    target: float | None = nats()
    test_rows: int
    blocks: int
    yardstick: Yardstick
    notes: tuple[str, ...]
    forecast: Callable[[Array], Array] = field(metadata={"told": False})
    """From numbers of rows to the forecast, once for each draw of blocks (draws × sizes)."""

    @property
    def headline(self) -> str:
        """The value with so many more rows, and its range."""
        low, high = self.interval
        return f"with {self.rows} more rows {self.value:.3g} nats per block [{low:.3g}, {high:.3g}]"

    def __repr__(self) -> str:
        return f"Outlook({self.headline})"

    def table_rows(self) -> list[dict[str, Any]]:
        """One record a size, for CSV."""
        return [tell(one, 1.0) for one in self.curve]

    def to_dict(self, bits: bool = False) -> dict[str, Any]:
        """Plain data for JSON, in nats or in bits."""
        unit = NATS_PER_BIT if bits else 1.0
        return {"schema": self.schema, "unit": "bits" if bits else "nats", **tell(self, unit)}


@takes_options("outlook")
def outlook(
    D: Dataset, T: Dataset, rows: int | None = None, target: float | None = None, **options: Unpack[Valuing]
) -> Outlook:
    """What the data would be worth with more rows of their kind, with a range that holds in 90 of 100.

    Args:
        D: the data, 40 rows or more.
        T: the test set.
        rows: how many more (default: as many as there are).
        target: a value, in nats per block as `dw.score` gives it; says how many rows it would take in all.
        **options: see below.

    Returns:
        An `Outlook`: value and interval with so many more rows, gain, curve, needed.

    Raises:
        DataworthError: for too few rows, or if data, test set and options do not fit together.

    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(400, 3))
    >>> data = Dataset(X, (X[:, 0] + rng.normal(size=400) > 0).astype(int))
    >>> found = outlook(data.take(range(200)), data.take(range(200, 400)), rows=200)
    >>> found.interval[0] < found.value < found.interval[1], found.falls
    (True, False)
    """
    opts = Options.parse("outlook", options)
    prepared = prepare("outlook", {"the data": D}, T, opts)
    own = prepared.data["the data"]
    more = len(own) if rows is None else whole_number(rows, "rows", least=1)
    if target is not None and (isinstance(target, bool) or not isinstance(target, int | float)):
        raise DataworthError(f"target is {target!r}; it must be a number of nats per block.")
    if len(own) < LEAST_ROWS:
        raise DataworthError(f"the data have {len(own)} rows; an outlook needs {LEAST_ROWS} or more.")
    pool = Pool.build(prepared.yardstick, {"the data": own, "test": prepared.test})
    parts = growing(pool.samples["the data"], strata(prepared.yardstick, own), opts.seed)
    table, pmi = measure_arms(prepared, pool, {name: part for name, (_, part) in parts.items()}, pool.samples["test"])
    sizes = np.array([size for size, _ in parts.values()], dtype=float)
    worth = np.array([pmi(name) for name in parts])  # parts × blocks
    block = float(table.test_rows.mean())
    rng = np.random.default_rng([opts.seed, 0x0071])
    draws = [np.arange(worth.shape[1]), *(rng.integers(worth.shape[1], size=worth.shape[1]) for _ in range(DRAWN))]
    laws = [Laws.fitted(sizes, worth[:, drawn].mean(axis=1), block, rng if k else None) for k, drawn in enumerate(draws)]

    def forecast(at: Array) -> Array:
        return np.array([law(at) for law in laws])

    return told(prepared, sizes, worth, more, target, laws[0], forecast)
