"""Designs: which rows of one pool form the data and the test set of each pair.

A draw is pure in (seed, i), so any engine, in any order, after any interruption, makes the same pairs.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from ..arrays import Array, Rows


class Sample(NamedTuple):
    """Rows of the pool, with weights (none: all 1); `targets` stand in for the pool's labels."""

    rows: Rows
    weights: Array | None = None
    targets: Array | None = None


@dataclass(frozen=True)
class Arm:
    """One of the datasets that are compared on the same test rows: its role, a name, and words for people."""

    role: Literal["data", "before", "after", "control", "own", "candidate", "part"]
    name: str | None = None
    words: str | None = field(default=None, compare=False)

    @property
    def label(self) -> str:
        """What it is called in reports."""
        return str(self) if self.words is None else self.words

    def __str__(self) -> str:
        return self.role if self.name is None else self.name


DATA, BEFORE, AFTER, CONTROL = Arm("data"), Arm("before"), Arm("after"), Arm("control")


class Draw(NamedTuple):
    """One pair, or one block, with all its arms."""

    arms: dict[Arm, Sample]
    test: Sample


class Design(Protocol):
    """A way of drawing pairs."""

    @property
    def arms_fixed(self) -> bool:
        """Whether every draw has the same arms, so that they are fitted once."""
        ...

    def draw(self, i: int) -> Draw:
        """The i-th pair; pure in (seed, i)."""
        ...


class Pile(NamedTuple):
    """Rows to draw from: a sample of the pool, the stratum of each row, and which rows belong together."""

    sample: Sample
    strata: Rows
    groups: Rows | None = None

    def some(self, size: int, rng: np.random.Generator, least: int = 1) -> Rows:
        """About `size` places without replacement: stratified, or whole groups, `least` of them or more."""
        if self.groups is None:
            return stratified(self.strata, size, rng)
        return whole_groups(self.groups, size, rng, least)

    def blocks(self, size: int, least: int = 1) -> float:
        """How many disjoint draws of that size there are: of whole groups there may be fewer than of rows."""
        if self.groups is None:
            return len(self.strata) / size
        groups = int(self.groups.max()) + 1
        return groups / max(least, int(np.ceil(size * groups / len(self.groups))))


MAX_UNITS = 1000
"""Draws of the test set that an interval is taken over; of more, its width would hardly be known better."""


@dataclass(frozen=True)
class Whole:
    """Design *whole*: each arm used whole against disjoint blocks of the test set.

    Blocks are a random partition, not stratified: the interval is to cover the sampling of the test set,
    and the proportion of each class is part of that sampling. Rows that belong together (`groups`) stand in
    one block.
    """

    arms: dict[Arm, Sample]
    test: Sample
    blocks: int
    seed: int
    groups: Rows | None = None
    arms_fixed: ClassVar[bool] = True

    def draw(self, i: int) -> Draw:
        """All arms, and the i-th block of the test set."""
        return Draw(self.arms, select(self.test, np.flatnonzero(self._parts(self.blocks) == i)))

    def units(self) -> Rows:
        """What each test row was drawn with: itself or its group; of very many, some are put together."""
        rows = np.arange(len(self.test.rows)) if self.groups is None else self.groups
        return rows if int(rows.max(initial=0)) < MAX_UNITS else self._parts(MAX_UNITS)

    def _parts(self, count: int) -> Rows:
        """The part of each row, of so many of one size as nearly as can be; groups are not split."""
        rng = np.random.default_rng([self.seed, 0xB10C])
        if self.groups is not None:
            return blocks_of_groups(self.groups, count, rng)
        part = np.empty(len(self.test.rows), dtype=np.intp)
        for i, rows in enumerate(np.array_split(rng.permutation(len(part)), count)):
            part[rows] = i
        return part


@dataclass(frozen=True)
class Pairs:
    """Design *pairs* (Algorithm 1): both sets subsampled without replacement, stratified by label.

    `arms` makes all arms of a pair from the rows drawn for its data and its own generator.
    """

    data: Pile
    test: Pile
    data_size: int
    test_size: int
    seed: int
    arms: Callable[[Rows, np.random.Generator], dict[Arm, Sample]]
    arms_fixed: ClassVar[bool] = False

    def draw(self, i: int) -> Draw:
        """The i-th pair: D first, then T, then what the arms need."""
        rng = np.random.default_rng([self.seed, 0xDA7A, i])
        data = self.data.some(self.data_size, rng)
        test = self.test.some(self.test_size, rng)
        return Draw(self.arms(data, rng), select(self.test.sample, test))


@dataclass(frozen=True)
class Prepared:
    """Pairs that were drawn beforehand, because a callable had to see them."""

    draws: tuple[Draw, ...]
    arms_fixed: ClassVar[bool] = False

    def draw(self, i: int) -> Draw:
        """The i-th pair."""
        return self.draws[i]


@dataclass(frozen=True)
class Derived:
    """A design made of another, whose arms change as its do."""

    design: Design

    @property
    def arms_fixed(self) -> bool:
        """As in the design."""
        return self.design.arms_fixed


@dataclass(frozen=True)
class SomeArms(Derived):
    """A design with some of its arms."""

    arms: tuple[Arm, ...]

    def units(self) -> Rows:
        """As in the design *whole*."""
        assert isinstance(self.design, Whole)
        return self.design.units()

    def draw(self, i: int) -> Draw:
        """The i-th pair of the design, with the arms that are wanted."""
        drawn = self.design.draw(i)
        return Draw({arm: drawn.arms[arm] for arm in self.arms}, drawn.test)


@dataclass(frozen=True)
class Weighed(Derived):
    """A design whose data rows count `factor` times, in some arms otherwise; test rows count as they are."""

    factor: float
    others: Mapping[Arm, float] = field(default_factory=dict)

    def draw(self, i: int) -> Draw:
        """The i-th pair of the design."""
        drawn = self.design.draw(i)
        arms = {arm: reweighed(s, self.others.get(arm, self.factor)) for arm, s in drawn.arms.items()}
        return Draw(arms, drawn.test)


def fingerprint(draws: Iterable[Draw]) -> str:
    """A hash of which rows were drawn."""
    digest = hashlib.sha256()
    for draw in draws:
        for arm, sample in (*draw.arms.items(), ("test", draw.test)):
            digest.update(f"{arm} {len(sample.rows)}".encode() + sample.rows.astype("<i8").tobytes())
            digest.update(weights_of(sample).astype("<f8").tobytes())
            digest.update(b"none" if sample.targets is None else sample.targets.tobytes())
    return digest.hexdigest()


def select(sample: Sample, places: Rows) -> Sample:
    """Some of a sample's rows, by their places in it."""

    some: Any = (None if values is None else values[places] for values in sample)
    return Sample(*some)


def reweighed(sample: Sample, factor: float) -> Sample:
    """A sample whose rows count so many times."""
    return sample if factor == 1.0 else sample._replace(weights=factor * weights_of(sample))


def same_sample(a: Sample, b: Sample) -> bool:
    """Whether two samples hold the same rows, in any order, with the same weights and the pool's labels."""
    if a is b:
        return True
    labelled = a.targets is not None or b.targets is not None
    # sums are cheaper than sorting, and nearly always enough
    if labelled or len(a.rows) != len(b.rows) or a.rows.sum() != b.rows.sum():
        return False
    one, other = (np.stack([s.rows, weights_of(s)])[:, np.argsort(s.rows, kind="stable")] for s in (a, b))
    return np.array_equal(one, other)


def weights_of(sample: Sample) -> Array:
    """A sample's weights, written out."""
    return np.ones(len(sample.rows)) if sample.weights is None else sample.weights


def stratified(strata: NDArray[np.intp], size: int, rng: np.random.Generator) -> Rows:
    """`size` places drawn without replacement, each stratum with its share.

    Shares are rounded by largest remainder. A stratum whose share rounds to nothing still gives one row,
    taken from the largest, as long as `size` has room for one row of each.
    """
    totals = np.bincount(strata)
    exact = totals * (size / len(strata))
    counts = np.floor(exact).astype(int)
    by_remainder = np.argsort(counts - exact, kind="stable")
    counts[by_remainder[: size - counts.sum()]] += 1
    if size >= np.count_nonzero(totals):
        for missing in np.flatnonzero((counts == 0) & (totals > 0)):
            counts[missing] = 1
            counts[counts.argmax()] -= 1
    chosen = [rng.choice(np.flatnonzero(strata == s), c, replace=False) for s, c in enumerate(counts) if c]
    return np.concatenate(chosen) if chosen else np.zeros(0, dtype=np.intp)


def group_codes(groups: NDArray[np.str_] | None) -> Rows | None:
    """Groups as 0, 1, …; None if there are none, or if every row is a group of its own."""
    if groups is None:
        return None
    names, codes = np.unique(groups, return_inverse=True)
    return None if len(names) == len(groups) else codes.astype(np.intp)


def blocks_of_groups(groups: Rows, blocks: int, rng: np.random.Generator) -> Rows:
    """The block of each row: groups in random order, each to the block that has the fewest rows so far."""
    sizes = np.bincount(groups)
    order = rng.permutation(len(sizes))
    order = order[np.argsort(-sizes[order], kind="stable")]  # large ones first: what follows evens them out
    block, filled = np.empty(len(sizes), dtype=np.intp), np.zeros(blocks)
    for group in order:
        block[group] = filled.argmin()
        filled[block[group]] += sizes[group]
    return block[groups]


def whole_groups(groups: Rows, size: int, rng: np.random.Generator, least: int = 1) -> Rows:
    """Places of whole groups, drawn at random until they hold `size` rows or more, and are `least`."""
    sizes = np.bincount(groups)
    order = rng.permutation(len(sizes))
    enough = int(np.searchsorted(np.cumsum(sizes[order]), size)) + 1
    return np.flatnonzero(np.isin(groups, order[: max(enough, least)]))
