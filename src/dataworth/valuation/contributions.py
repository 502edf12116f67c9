"""What each of several vendors adds to the others, and what several of them have.

    U(all, T) = Σ_i [U(all, T) − U(all without i, T)] + redundant,

in nats per block of the test set. What each adds is I(D_i; T | all others). Information given the rest is
submodular: who comes under two names adds no more in sum than under one, copies add nothing to their
originals, and labels of one's own making tell nothing new. What is redundant, two or more vendors have alike.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Unpack

import numpy as np

from ..arrays import Array, Rows
from ..data.chance import Tally
from ..data.dataset import Dataset
from ..data.rows import same_rows
from ..errors import DataworthError
from ..measure import LEVEL, Estimate, Options, Sample, Valuing, over_blocks, select
from ..wording import counted
from .blocks import Blocks, joined
from .entry import measurement
from .result import BlockResult, Replay, nats, tell

ALL = "all"


@dataclass(frozen=True, kw_only=True)
class Vendor:
    """One vendor, in nats per block of the test set: what it adds to all others, and what it is worth alone.

    fraction: what it adds, as a proportion of what all are worth together; None if that is nothing.
    """

    name: str
    rows: int
    marginal: Estimate = nats()
    standalone: Estimate = nats()
    fraction: float | None


@dataclass(frozen=True, kw_only=True, repr=False)
class Contributions(BlockResult):
    """Vendors, the one that adds most first; the total; and what two or more of them have."""

    schema: ClassVar[str] = "dataworth/contributions/1"
    question: ClassVar[str] = (
        "What does each of these datasets add to the others, for someone facing this test set?"
    )
    vendors: tuple[Vendor, ...]
    total: Estimate = nats()
    redundant: Estimate = nats()
    per_block: Mapping[str, Array] = field(metadata={"told": False})
    """What each adds (and `all` are worth together), block by block."""

    @property
    def headline(self) -> str:
        """What each adds."""
        told = ", ".join(f"{one.name} {one.marginal.value:.3g}" for one in self.vendors)
        return f"of {self.total.value:.3g} nats: {told}, redundant {self.redundant.value:.3g}"

    def rows(self) -> list[dict[str, Any]]:
        """One record a vendor, for CSV."""
        return [tell(one, 1.0) for one in self.vendors]


@measurement("contributions", "candidates", test="test")
def contributions(
    candidates: Mapping[str, Dataset], test: Dataset, **options: Unpack[Valuing]
) -> Contributions:
    """What each dataset adds to all the others, and what is redundant among them.

    Args:
        candidates: datasets of two vendors or more, by name.
        test: the test set that all are measured on.
        **options: see below.

    Returns:
        `Contributions`: `vendors` (marginal, standalone, fraction), `total`, `redundant`; intervals hold for
        all vendors at once.

    Raises:
        DataworthError: if there are fewer than two, or if data, test set and options do not fit together.

    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 2))
    >>> data = Dataset(X, (X[:, 0] + 0.3 * rng.normal(size=300) > 0).astype(int))
    >>> a, b, T = data.take(range(40)), data.take(range(40, 140)), data.take(range(140, 300))
    >>> found = contributions({"a": a, "b": b, "copy of a": a}, T)
    >>> {one.name: round(one.fraction, 2) for one in found.vendors}
    {'b': 0.11, 'a': 0.0, 'copy of a': 0.0}
    """
    opts = Options.parse("contributions", options)
    names = list(candidates) if isinstance(candidates, Mapping) else []
    if len(names) < 2 or not all(isinstance(name, str) for name in names):
        raise DataworthError(
            "contributions takes a dict of names and Datasets, with two or more: {'a': A, 'b': B}; "
            "dw.score says what one is worth."
        )
    blocks = Blocks.of("contributions", candidates, test, opts)
    prepared, copies, parts = blocks.prepared, copies_of(blocks), blocks.samples
    asked = {ALL: joined(parts.values())}
    for name, sample in parts.items():
        rest = [other for one, other in parts.items() if one != name]
        asked |= {f"without {name}": joined(rest), f"standalone {name}": sample}
    once = {name: each_once(sample, copies) for name, sample in asked.items()}
    worth, numbered = blocks.asked(ALL, once, test, test, None)
    notes = prepared.notes + numbered
    if twice := len(asked[ALL].rows) - len(once[ALL].rows):
        notes += (f"{counted(twice, 'row')} that stand in the data already: counted once",)
    level, total = 1.0 - (1.0 - LEVEL) / len(parts), over_blocks(worth[ALL])
    marginal = {name: worth[ALL] - worth[f"without {name}"] for name in parts}
    for name, gain in marginal.items():
        if over_blocks(gain, level).negative:
            notes += (f"without {name} the others are worth more: look at its labels (dataworth values)",)
    vendors = [
        Vendor(
            name=name,
            rows=len(prepared.data[name]),
            marginal=over_blocks(gain, level),
            standalone=over_blocks(worth[f"standalone {name}"], level),
            fraction=float(gain.mean()) / total.value if total.value > 0 else None,
        )
        for name, gain in marginal.items()
    ]
    return Contributions(
        vendors=tuple(sorted(vendors, key=lambda one: -one.marginal.value)),
        total=total,
        redundant=over_blocks(worth[ALL] - sum(marginal.values())),
        test_rows=len(prepared.test),
        blocks=len(worth[ALL]),
        yardstick=prepared.yardstick,
        notes=notes,
        replay=Replay.of("contributions", candidates, test, opts),
        per_block={ALL: worth[ALL], **marginal},
    )


def copies_of(blocks: Blocks) -> Rows:
    """A number for each row of the data, the same for copies, whoever brings them.

    A copy has the same features and label, where features tell rows apart; else no row is another's copy.
    """
    prepared, columns = blocks.prepared, blocks.prepared.yardstick.recipe.columns
    *codes, own = same_rows(*(d.select(columns) for d in (*prepared.data.values(), prepared.test)))
    every = np.concatenate(codes)
    if not Tally.of(own, np.unique(every)).identify(0.0):
        every = np.arange(len(every))
    labels = np.unique(blocks.pool.y[: len(every)], axis=0, return_inverse=True)[1].ravel()
    return np.asarray(every * (int(labels.max(initial=0)) + 1) + labels)


def each_once(sample: Sample, copies: Rows) -> Sample:
    """The first row of each number."""
    return select(sample, np.sort(np.unique(copies[sample.rows], return_index=True)[1]))
