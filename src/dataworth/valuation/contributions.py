"""What each of several vendors adds to the others, and what several of them have.

    U(all, T) = Σ_i [U(all, T) − U(all without i, T)] + redundant,

in nats per block of the test set. What each adds is I(D_i; T | all others). Information given the rest is
submodular: who comes under two names adds no more in sum than under one, copies add nothing to their
originals, and labels of one's own making tell nothing new. What is redundant, two or more vendors have alike.

So vendors are paid for what they add, and nobody by name for what is redundant: no rule can share that out in
full, treat equal data alike, and not reward a second name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, TypeVar, Unpack

import numpy as np

from ..arrays import Array
from ..data.chance import Tally
from ..data.dataset import Dataset
from ..data.rows import same_rows
from ..errors import DataworthError
from ..measure import LEVEL, Estimate, Measurement, Options, Valuing, over_blocks, select
from ..measure.prepare import prepare
from ..wording import counted, option
from ..yardstick.yardstick import Yardstick
from .blocks import Blocks, joined
from .entry import measurement
from .result import BlockResult, Replay, nats, tell
from .sealed import Sealed, measure_sealed, seal_with

QUESTION = "What does each of these datasets add to the others, for someone facing this test set?"
ALL = "all"
P = TypeVar("P")


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
    question: ClassVar[str] = QUESTION
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
    candidates: Mapping[str, Dataset | Sealed], test: Dataset, **options: Unpack[Valuing]
) -> Contributions:
    """What each dataset adds to all the others, and what is redundant among them.

    Args:
        candidates: datasets of two vendors or more, by name; sealed ones (`dw.seal`) are put together by
            their posteriors.
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
    measured = _sealed if any(isinstance(one, Sealed) for one in candidates.values()) else _open
    prepared, worth, rows, notes = measured(candidates, test, opts)
    level = 1.0 - (1.0 - LEVEL) / len(rows)
    marginal = {name: worth[ALL] - worth[f"without {name}"] for name in rows}
    total = over_blocks(worth[ALL])
    for name, gain in marginal.items():
        if over_blocks(gain, level).negative:
            notes += (f"without {name} the others are worth more: look at its labels (dataworth values)",)
    vendors = [
        Vendor(
            name=name,
            rows=rows[name],
            marginal=over_blocks(marginal[name], level),
            standalone=over_blocks(worth[f"standalone {name}"], level),
            fraction=float(marginal[name].mean()) / total.value if total.value > 0 else None,
        )
        for name in rows
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


Measured = tuple[Measurement, dict[str, Array], dict[str, int], tuple[str, ...]]
"""What was prepared, what all, each alone and all without each are worth, rows of each, and notes."""


def _asked(parts: Mapping[str, P], together: Callable[[list[P]], P]) -> dict[str, P]:
    """All parts, all without each, and each alone."""
    found = {ALL: together(list(parts.values()))}
    for name, own in parts.items():
        others = [one for other, one in parts.items() if other != name]
        found |= {f"without {name}": together(others), f"standalone {name}": own}
    return found


def _open(candidates: Mapping[str, Any], test: Dataset, options: Options) -> Measured:
    """Rows in memory, each counted once, whoever brings it.

    A copy has the same features and label, where features tell rows apart; else no row is another's copy.
    """
    blocks = Blocks.of("contributions", candidates, test, options)
    prepared, columns = blocks.prepared, blocks.prepared.yardstick.recipe.columns
    *codes, own = same_rows(*(d.select(columns) for d in (*prepared.data.values(), prepared.test)))
    every = np.concatenate(codes)
    if not Tally.of(own, np.unique(every)).identify(0.0):
        every = np.arange(len(every))
    labels = np.unique(blocks.pool.y[: len(every)], return_inverse=True)[1]
    copies = every * (int(labels.max(initial=0)) + 1) + labels
    asked = {}
    for name, sample in _asked(blocks.samples, joined).items():
        first = np.sort(np.unique(copies[sample.rows], return_index=True)[1])
        asked[name] = select(sample, first)
    rows = {name: len(data) for name, data in prepared.data.items()}
    twice = sum(rows.values()) - len(asked[ALL].rows)
    note = () if not twice else (f"{counted(twice, 'row')} that stand in the data already: counted once",)
    return prepared, blocks.worth(asked), rows, prepared.notes + note


def _sealed(candidates: Mapping[str, Any], test: Dataset, options: Options) -> Measured:
    """Sealed vendors: what sites add to the prior's precision and shift adds up over vendors."""
    yardstick = options.yardstick
    if yardstick is None:
        raise DataworthError(f"sealed data were made for a yardstick: give it with {option('yardstick')}.")
    opened = {name: one for name, one in candidates.items() if isinstance(one, Dataset)}
    prepared = prepare("contributions", opened, test, options)
    sealed = {
        name: seal_with(prepared.data[name], yardstick) if name in opened else one
        for name, one in candidates.items()
    }
    asked = _asked(sealed, lambda parts: together(parts, yardstick))
    case = measure_sealed("rank", asked, test, options)
    worth = {name: case.table.column("pmi", name) for name in asked}
    notes = (*case.notes, "posteriors were put together, not rows: copies are not seen")
    return prepared, worth, {name: len(one) for name, one in sealed.items()}, notes


def together(parts: list[Sealed], yardstick: Yardstick) -> Sealed:
    """The posterior of all rows of several sealed datasets: P = ΣP_a − (k − 1) I/C, Pμ = ΣP_a μ_a."""
    precision = sum(one.precision for one in parts)
    precision = precision - (len(parts) - 1.0) / yardstick.model.prior_variance * np.eye(len(parts[0].mean))
    mean: Array = np.linalg.solve(precision, sum(one.precision @ one.mean for one in parts)).astype(float)
    counts = None
    if parts[0].counts is not None:
        counts = {key: sum((one.counts or {}).get(key, 0) for one in parts) for key in parts[0].counts}
    rows, weight = sum(one.rows for one in parts), sum(one.weight for one in parts)
    return replace(parts[0], mean=mean, precision=precision, rows=rows, weight=weight, counts=counts)
