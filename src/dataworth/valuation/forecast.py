"""What more rows like these would be worth: values of growing parts of the data, extrapolated by two models.

For k rows and blocks of m test rows, the two curve models are

    logarithm   u(k) = a + b log k
    Gaussian    u(k) = a + ½ D log((1 + λk)(1 + λm) / (1 + λ(k + m))),

the second the information between k and m noisy looks at D Gaussian numbers, which levels off once k is
large. Each is fitted to halves and smaller parts, and predicts the larger ones; the better it does, the more
weight it has in the extrapolation. The range is made of the sampling error (how much parts of one size
differ, told from the smaller ones) and of what further rows are said to add, and widens with every doubling.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Unpack

import numpy as np

from ..arrays import Array
from ..data.dataset import Dataset
from ..errors import DataworthError
from ..measure import Options, Valuing, over_blocks, select, strata, stratified, whole_number
from .blocks import DATA, Blocks
from .entry import measurement
from .result import BlockResult, Replay, nats, tell

HELD_OUT = 0.5
"""Parts larger than this are what curve models are tried on."""
KEPT = 0.7
"""Proportion of what the data are worth beyond the model at their own size that more rows keep."""
WIDE, GAINED = 1.2, 0.6
"""What makes ranges hold nine times in ten, at twice and at four times the rows: settled on six sets (magic,
phoneme, satimage, spambase, splice, ring; six seeds), `dataworth study values` reports others."""
RATES = 10.0 ** np.arange(-4.0, 1.01, 0.25)
"""Of the Gaussian model: what a row tells of each number, in units of what is not known beforehand."""
LEAST_SD = 1e-3
FALLS = 2.0
"""Standard deviations by which all rows must be worth less than half of them."""
FARTHEST = 100


class CurveModel(NamedTuple):
    """u(k) = level + slope · shape(k)."""

    level: float
    slope: float
    rate: float | None

    def __call__(self, rows: Array | float, block: float) -> Array:
        """Nats per block of so many test rows."""
        return np.asarray(self.level + self.slope * shape(rows, self.rate, block))


def shape(rows: Array | float, rate: float | None, block: float) -> Array:
    """The logarithm, or the Gaussian model of a rate."""
    if rate is None:
        return np.asarray(np.log(rows))
    seen, tested = 1.0 + rate * np.asarray(rows, dtype=float), 1.0 + rate * block
    return np.asarray(0.5 * np.log(seen * tested / (seen + tested - 1.0)))


def fitted(sizes: Array, values: Array, weights: Array, block: float, rates: Any) -> CurveModel:
    """Weighted least squares, at the best of some rates; a Gaussian model never falls."""
    best, least = CurveModel(float(np.average(values, weights=weights)), 0.0, None), np.inf
    for rate in rates:
        x = shape(sizes, rate, block)
        centre, level = (float(np.average(part, weights=weights)) for part in (x, values))
        slope = float(weights @ ((x - centre) * (values - level))) / float(weights @ (x - centre) ** 2)
        slope = slope if rate is None else max(slope, 0.0)
        model = CurveModel(level - slope * centre, slope, rate)
        misfit = float(weights @ (values - model(sizes, block)) ** 2)
        if misfit < least:
            best, least = model, misfit
    return best


class Curve(NamedTuple):
    """Sizes of parts in ascending order, all rows last; worth is parts × blocks."""

    sizes: Array
    worth: Array

    @property
    def means(self) -> list[tuple[float, float]]:
        """Each size, and the mean value of its parts."""
        return [(k, float(self.worth[self.sizes == k].mean())) for k in np.unique(self.sizes)]

    @property
    def decreasing(self) -> bool:
        """Whether all rows are worth less than half of them, beyond blocks and sampling error."""
        half = self.worth[np.abs(self.sizes - 0.5 * self.sizes[-1]) < 1.0].mean(axis=0)
        loss = over_blocks(self.worth[-1] - half)
        return loss.negative and -loss.value > FALLS * float(self.sampling_sd(self.sizes[-1:])[0])

    def sampling_sd(self, sizes: Array) -> Array:
        """Standard deviation of what parts of a size are worth, a power of the size told from small parts.

        Parts of one dataset overlap: those of size k of n differ by √(1 − k/n) of what independent ones do.
        """
        n = self.sizes[-1]
        small = [k for k in np.unique(self.sizes) if k <= HELD_OUT * n + 1.0]
        found = [self.worth[self.sizes == k].mean(axis=1).std(ddof=1) / np.sqrt(1.0 - k / n) for k in small]
        x, y = np.log(small), np.log(np.array(found) + LEAST_SD)
        power = float(np.clip(np.polyfit(x, y, 1)[0], -1.0, 0.0))
        return np.asarray(np.exp(np.mean(y - power * x) + power * np.log(sizes)))

    def extrapolate(self, block: float) -> Extrapolation:
        """Both models, fitted to all sizes; each has its say by how it predicted the larger parts."""
        sizes, values = (np.array(part) for part in zip(*self.means, strict=True))
        counts = np.array([(self.sizes == k).sum() for k in sizes])
        weights = np.minimum(counts, np.maximum(sizes[-1] / sizes, 1.0)) / self.sampling_sd(sizes) ** 2
        small = sizes <= HELD_OUT * sizes[-1] + 1.0
        models, misses = [], []
        for rates in ([None], RATES):
            tried = fitted(sizes[small], values[small], weights[small], block, rates)
            misses.append(float(weights[~small] @ (values[~small] - tried(sizes[~small], block)) ** 2))
            models.append(fitted(sizes, values, weights, block, rates))
        gaussian = 1.0 / (1.0 + np.exp(0.5 * np.clip(misses[1] - misses[0], -700.0, 700.0)))
        sd = float(self.sampling_sd(sizes[-1:])[0])
        return Extrapolation(models[0], models[1], float(gaussian), sizes[-1], values[-1], sd, block)


class Extrapolation(NamedTuple):
    """Both models, the Gaussian's weight, the rows and the value that there are, and the error in it."""

    logarithm: CurveModel
    saturating: CurveModel
    gaussian: float
    n_rows: float
    value: float
    sampling_sd: float
    block: float

    def __call__(self, rows: float) -> float:
        """The value of so many rows in all."""
        return float(self._mean(rows) + KEPT * (self.value - self._mean(self.n_rows)))

    def _mean(self, rows: float) -> float:
        told = [float(model(rows, self.block)) for model in (self.logarithm, self.saturating)]
        return (1.0 - self.gaussian) * told[0] + self.gaussian * told[1]

    def range(self, rows: float) -> tuple[float, float]:
        """Where the value lies in nine cases of ten.

        WIDE √log₂(k/n) · √(sd² + (GAINED · gain)²): with every doubling as much again is not known.
        """
        value, doublings = self(rows), float(np.log2(max(rows / self.n_rows, 1.0)))
        half = WIDE * float(np.sqrt(doublings) * np.hypot(self.sampling_sd, GAINED * (value - self.value)))
        return value - half, value + half

    def rows_for(self, target: float) -> int | None:
        """Rows in all that the target takes; None beyond a hundred times what there is."""
        sizes = range(int(self.n_rows), FARTHEST * int(self.n_rows) + 1)
        if self.value >= target:
            return sizes[0]
        return None if self(sizes[-1]) < target else sizes[bisect_left(sizes, target, key=lambda k: self(k))]


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
class Forecast(BlockResult):
    """Values of parts of the data, and with `n_additional` further rows; nats per block of the test set.

    gain: what the further rows add. decreasing: whether the value falls with size, as wrong labels can make
    it. gaussian: the weight of the Gaussian model, beside the logarithm. rows_for_target: rows in all for the
    target; None if a hundred times the rows do not reach it.
    """

    schema: ClassVar[str] = "dataworth/forecast/1"
    question: ClassVar[str] = "What would more rows like these be worth to someone facing this test set?"
    n_additional: int
    n_rows: int
    value: float = nats()
    interval: tuple[float, float] = nats()
    gain: float = nats()
    decreasing: bool
    gaussian: float
    curve: tuple[AtSize, ...]
    rows_for_target: int | None
    target: float | None = nats()

    @property
    def headline(self) -> str:
        """The value with so many more rows, and its range."""
        low, high = self.interval
        return f"with {self.n_additional} more rows {self.value:.3g} nats per block [{low:.3g}, {high:.3g}]"

    def rows(self) -> list[dict[str, Any]]:
        """One record a size, for CSV."""
        return [tell(one, 1.0) for one in self.curve]


@measurement("forecast", "D", test="T")
def forecast(
    D: Dataset, T: Dataset, rows: int | None = None, target: float | None = None, **options: Unpack[Valuing]
) -> Forecast:
    """What the data would be worth with more rows of their kind, with a range that holds in 90 of 100.

    Args:
        D: the data, 40 rows or more.
        T: the test set.
        rows: how many more (default: as many as there are).
        target: a value, in nats per block as `dw.score` gives it; says how many rows it would take in all.
        **options: see below.

    Returns:
        A `Forecast`: value and interval with so many more rows, gain, curve, rows_for_target.

    Raises:
        DataworthError: for too few rows, or if data, test set and options do not fit together.

    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(400, 3))
    >>> data = Dataset(X, (X[:, 0] + rng.normal(size=400) > 0).astype(int))
    >>> found = forecast(data.take(range(200)), data.take(range(200, 400)), rows=200)
    >>> found.interval[0] < found.value < found.interval[1], found.decreasing
    (True, False)
    """
    opts = Options.parse("forecast", options)
    blocks = Blocks.of("forecast", {DATA: D}, T, opts)
    prepared, own, whole = blocks.prepared, blocks.prepared.data[DATA], blocks.samples[DATA]
    more = len(own) if rows is None else whole_number(rows, "rows", least=1)
    if target is not None and (isinstance(target, bool) or not isinstance(target, int | float)):
        raise DataworthError(f"target is {target!r}; it must be a number of nats per block.")
    if len(own) < LEAST_ROWS:
        raise DataworthError(f"the data have {len(own)} rows; a forecast needs {LEAST_ROWS} or more.")
    rng, samples = np.random.default_rng([opts.seed, 0x0071]), {}
    for proportion in PROPORTIONS:
        size = max(2, round(proportion * len(own)))
        for k in range(PARTS):
            samples[f"{size} {k}"] = select(whole, stratified(strata(prepared.yardstick, own), size, rng))
    worth, numbered = blocks.asked("all", {**samples, "all": whole}, T, T, [more, target])
    sizes = [len(sample.rows) for sample in (*samples.values(), whole)]
    curve = Curve(np.array(sizes, dtype=float), np.array([*worth.values()]))
    count, wanted = blocks.plan({}).count, len(own) + more
    ahead = curve.extrapolate(len(prepared.test) / count)
    notes = prepared.notes + numbered
    if curve.decreasing:
        notes += ("the value decreases as rows are added: look at the labels first (dataworth values)",)
    ends = sorted({2 * len(own), 4 * len(own), wanted})
    points = [AtSize(rows=int(k), value=float(u), interval=None, measured=True) for k, u in curve.means]
    points += [AtSize(rows=k, value=ahead(k), interval=ahead.range(k), measured=False) for k in ends]
    return Forecast(
        n_additional=more,
        n_rows=len(own),
        value=ahead(wanted),
        interval=ahead.range(wanted),
        gain=ahead(wanted) - float(worth["all"].mean()),
        decreasing=curve.decreasing,
        gaussian=ahead.gaussian,
        curve=tuple(sorted(points, key=lambda one: one.rows)),
        rows_for_target=None if target is None else ahead.rows_for(float(target)),
        target=target,
        test_rows=len(prepared.test),
        blocks=count,
        yardstick=prepared.yardstick,
        notes=notes,
        replay=Replay.of("forecast", {"data": D}, T, opts, rows=rows, target=target),
    )
