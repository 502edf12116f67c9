"""Draws of the curation study: data and test of given group sizes, with the paper's curations as arms."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from dataworth import DataworthError
from dataworth.arrays import Rows
from dataworth.measure.designs import Arm, Draw, Prepared, Sample

GROUPS = 4
METHODS = {
    "filtering": ("noisy", "filtered"),
    "filtering to equal size": ("noisy", "filtered to size"),
    "removal": ("clean", "removed"),
    "removal, noisy labels": ("noisy", "noisy removed"),
    "random removal": ("clean", "random"),
}
"""Each method of the study: the arm before and the arm after it."""


@dataclass(frozen=True)
class Setting:
    """Rows of each group (attribute × label: 00, 01, 10, 11), label noise, and which methods are compared.

    Removal, and what is cut to its size, goes by the ratios of `target`: the test set's, if none is given.
    """

    data: tuple[int, int, int, int]
    test: tuple[int, int, int, int]
    methods: tuple[str, ...] = tuple(METHODS)
    noise: float = 0.1
    target: tuple[int, int, int, int] | None = None

    @property
    def kept(self) -> tuple[int, ...]:
        """Rows of each group in the largest part of the data that has the target's ratios."""
        target = self.target or self.test
        most = min(d / t for d, t in zip(self.data, target, strict=True) if t)
        return tuple(int(most * t + 1e-9) for t in target)

    @property
    def name(self) -> str:
        """Sizes in short."""
        data, test = (
            f"{rows[0]}×4" if len(set(rows)) == 1 else ",".join(map(str, rows))
            for rows in (self.data, self.test)
        )
        return f"{data} / {test}"


@dataclass(frozen=True)
class GroupDraws:
    """Pairs from a pool of train rows, the same rows with the other label, and test rows.

    Row r of the train part has its label flipped at r + `flipped`; the test part begins at `held`. A draw
    is pure in (seed, i).
    """

    setting: Setting
    train: tuple[Rows, ...]
    test: tuple[Rows, ...]
    flipped: int
    held: int
    seed: int
    arms_fixed: ClassVar[bool] = False

    @classmethod
    def of(cls, setting: Setting, train_group: Rows, test_group: Rows, seed: int) -> GroupDraws:
        """Draws from pools whose rows belong to these groups."""
        n = len(train_group)
        train = tuple(np.flatnonzero(train_group == g) for g in range(GROUPS))
        test = tuple(np.flatnonzero(test_group == g) for g in range(GROUPS))
        for what, rows, wanted in (("train", train, setting.data), ("test", test, setting.test)):
            short = [g for g in range(GROUPS) if len(rows[g]) < wanted[g]]
            if short:
                raise DataworthError(
                    f"the {what} images have {len(rows[short[0]])} rows of group {short[0]}, "
                    f"but a draw takes {wanted[short[0]]}: ask for smaller draws or give more images."
                )
        return cls(setting, train, test, n, 2 * n, seed)

    def draw(self, i: int) -> Draw:
        """The i-th pair: D, its flipped labels, T, and every arm that a method needs."""
        rng = np.random.default_rng([self.seed, 0xC02A, i])
        setting = self.setting
        drawn = [rng.choice(rows, n, replace=False) for rows, n in zip(self.train, setting.data, strict=True)]
        data = np.concatenate(drawn)
        bad = np.isin(np.arange(len(data)), rng.permutation(len(data))[: round(setting.noise * len(data))])
        test = np.concatenate(
            [rng.choice(rows, m, replace=False) for rows, m in zip(self.test, setting.test, strict=True)]
        )
        keep = _first_of_each(setting.data, setting.kept)
        noisy = np.where(bad, data + self.flipped, data)
        good = data[~bad]
        rows = {
            "clean": data,
            "noisy": noisy,
            "filtered": good,
            "filtered to size": rng.permutation(good)[: keep.sum()],
            "removed": data[keep],
            "noisy removed": noisy[keep],
            "random": rng.permutation(data)[: keep.sum()],
        }
        wanted = dict.fromkeys(arm for method in setting.methods for arm in METHODS[method])
        return Draw(
            {Arm("part", arm): Sample(np.sort(rows[arm])) for arm in wanted},
            Sample(self.held + np.sort(test)),
        )


def compact(draws: list[Draw]) -> tuple[Rows, Prepared]:
    """The rows that some draws take, and the draws by their places among them.

    A pool of thousands need not be measured for a handful of draws.

    >>> from dataworth.measure.designs import DATA
    >>> rows, made = compact([Draw({DATA: Sample(np.array([7, 9]))}, Sample(np.array([20])))])
    >>> rows.tolist(), made.draw(0).arms[DATA].rows.tolist(), made.draw(0).test.rows.tolist()
    ([7, 9, 20], [0, 1], [2])
    """
    samples = [sample.rows for draw in draws for sample in (*draw.arms.values(), draw.test)]
    rows = np.unique(np.concatenate(samples))

    def place(sample: Sample) -> Sample:
        return Sample(np.searchsorted(rows, sample.rows))

    made = (Draw({arm: place(s) for arm, s in draw.arms.items()}, place(draw.test)) for draw in draws)
    return rows, Prepared(tuple(made))


def _first_of_each(drawn: tuple[int, ...], kept: tuple[int, ...]) -> NDArray[np.bool_]:
    """Of each group's rows, which stand in random order, the first few."""
    return np.concatenate([np.arange(n) < k for n, k in zip(drawn, kept, strict=True)])
