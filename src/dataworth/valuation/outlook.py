"""What more rows like these would be worth: values of growing parts of the data, and two laws for the rest.

For k rows and blocks of m test rows, the two laws are

    logarithm   u(k) = a + b log k
    Gaussian    u(k) = a + ½ D log((1 + λk)(1 + λm) / (1 + λ(k + m))),

the second the information between k and m noisy looks at D Gaussian numbers, which levels off once k is
large. Each is fitted to halves and smaller parts, and forecasts the larger ones; the better it does, the more
it has to say of what lies beyond. The range is made of luck (how much parts of one size differ, told from the
smaller ones) and of what the further rows are said to add, and widens with every doubling.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Unpack

import numpy as np

from ..data.dataset import Dataset
from ..errors import DataworthError
from ..measure.designs import select, stratified
from ..measure.options import Options, Valuing, whole_number
from ..measure.prepare import Pool, prepare, strata
from ..yardstick.yardstick import Yardstick
from .coalitions import measure_arms
from .entry import measurement
from .growth import Curve
from .replay import Replay
from .result import Told, nats, tell

QUESTION = "What would more rows like these be worth to someone facing this test set?"
LEAST_ROWS = 40
PROPORTIONS, PARTS = (0.0625, 0.125, 0.25, 0.35, 0.5, 0.75), 8
"""Sizes of parts, as proportions of all rows; random parts of each."""


@dataclass(frozen=True, kw_only=True)
class AtSize:
    """What a part of the data is worth, or all of them with more like them: nats per block, and a range."""

    rows: int
    value: float = nats()
    interval: tuple[float, float] | None = nats()
    measured: bool


@dataclass(frozen=True, kw_only=True, repr=False)
class Outlook(Told):
    """Values of parts of the data, and the forecast with `more` further rows; nats per block of the test set.

    gain: what the further rows add. falls: whether the value is seen to fall with size, as wrong labels can
    make it. gaussian: the proportion that the Gaussian law has in the forecast, beside the logarithm. needed:
    rows in all for the target; None if it is not reached with a hundred times the rows.
    """

    schema: ClassVar[str] = "dataworth/outlook/1"
    question: ClassVar[str] = QUESTION
    more: int
    have: int
    value: float = nats()
    interval: tuple[float, float] = nats()
    gain: float = nats()
    falls: bool
    gaussian: float
    curve: tuple[AtSize, ...]
    needed: int | None
    target: float | None = nats()
    test_rows: int
    blocks: int
    yardstick: Yardstick
    notes: tuple[str, ...]
    replay: Replay

    @property
    def headline(self) -> str:
        """The value with so many more rows, and its range."""
        low, high = self.interval
        return f"with {self.more} more rows {self.value:.3g} nats per block [{low:.3g}, {high:.3g}]"

    def rows(self) -> list[dict[str, Any]]:
        """One record a size, for CSV."""
        return [tell(one, 1.0) for one in self.curve]


@measurement("outlook", "D", test="T")
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
    whole, samples = pool.samples["the data"], {}
    rng = np.random.default_rng([opts.seed, 0x0071])
    for proportion in PROPORTIONS:
        size = max(2, round(proportion * len(own)))
        for k in range(PARTS):
            samples[f"{size} {k}"] = select(whole, stratified(strata(prepared.yardstick, own), size, rng))
    samples[f"{len(own)} 0"] = whole
    table, pmi = measure_arms(prepared, pool, samples, pool.samples["test"])
    curve = Curve.of({name: len(sample.rows) for name, sample in samples.items()}, pmi)
    law = curve.laws(float(table.test_rows.mean()))
    notes = prepared.notes
    if curve.falls:
        notes += ("the value falls as rows are added: look at the labels first (dataworth values)",)
    wanted = len(own) + more
    ends = sorted({2 * len(own), 4 * len(own), wanted})
    points = [AtSize(rows=int(k), value=float(u), interval=None, measured=True) for k, u in curve.means]
    points += [AtSize(rows=k, value=law(k), interval=law.range(k), measured=False) for k in ends]
    return Outlook(
        more=more,
        have=len(own),
        value=law(wanted),
        interval=law.range(wanted),
        gain=law(wanted) - float(curve.worth[-1].mean()),
        falls=curve.falls,
        gaussian=law.gaussian,
        curve=tuple(sorted(points, key=lambda one: one.rows)),
        needed=None if target is None else law.rows_for(float(target), len(own)),
        target=target,
        test_rows=len(prepared.test),
        blocks=len(table),
        yardstick=prepared.yardstick,
        notes=notes,
        replay=Replay.of("outlook", {"data": D}, T, opts, rows=rows, target=target),
    )
