"""What the neural estimators share: one budget, standardised inputs, and early stopping that restores.

Training ends when the loss on held-out pairs has not fallen for `patience` epochs; the network is then set
back to its best epoch. That state must be a copy: a state_dict refers to the weights, which go on changing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from math import inf
from typing import Any, NamedTuple

import numpy as np

from dataworth import DataworthError
from dataworth.arrays import Array
from dataworth.embed import pca
from dataworth.wording import needs_extra

from ..known_mi import KnownPairs
from .base import Guess, as_vectors

WIDE, COLUMNS = 128, 100
"""A pool of more features than the first is given to networks as so many principal components."""


@dataclass(frozen=True)
class Budget:
    """What each training may cost, the same for all neural estimators.

    held_out: the proportion of pairs that is not trained on. It says when to stop, and what is reported.
    """

    epochs: int = 5
    patience: int = 2
    batch: int = 256
    rate: float = 3e-4
    autoencoder_rate: float = 1e-3
    held_out: float = 0.2
    threads: int = 1


DEFAULT = Budget()


class Trace(NamedTuple):
    """A training: its loss on held-out pairs before it and after each epoch; the network is at the least."""

    losses: list[float]

    @property
    def best(self) -> int:
        """The epoch that the network was set back to; 0 is the network as drawn.

        >>> Trace([3.0, 1.0, 2.0]).best
        1
        """
        return int(np.argmin(self.losses))


def torch_for(what: str) -> Any:
    """torch, or the sentence that says how to get it."""
    try:
        import torch
    except ImportError as error:
        raise DataworthError(needs_extra(what, "neural")) from error
    return torch


@contextmanager
def seeded(torch: Any, seed: int, threads: int) -> Iterator[None]:
    """All of torch's chance from the seed, on so many threads; both as they were afterwards."""
    before = torch.get_num_threads()
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        torch.set_num_threads(threads)
        try:
            yield
        finally:
            torch.set_num_threads(before)


def train(
    network: Any,
    loss: Callable[[Any], Any],
    held_out: Callable[[], float],
    count: int,
    budget: Budget,
    rate: float,
) -> Trace:
    """Adam on `loss` of batches of rows 0 … count−1, set back to the epoch of the least loss held out.

    A held-out loss that is not a number counts as infinite.
    """
    import torch

    def measure() -> float:
        with torch.no_grad():
            value = held_out()
        return value if np.isfinite(value) else inf

    def copy() -> dict[str, Any]:
        return {name: weights.clone() for name, weights in network.state_dict().items()}

    batch = min(budget.batch, count)
    optimiser = torch.optim.Adam(network.parameters(), lr=rate, fused=True)
    trace, state = Trace([measure()]), copy()
    while len(trace.losses) <= budget.epochs and len(trace.losses) - 1 - trace.best < budget.patience:
        order = torch.randperm(count)
        for start in range(0, count - batch + 1, batch):  # a last, smaller batch would have a noisier bound
            optimiser.zero_grad()
            loss(order[start : start + batch]).backward()
            optimiser.step()
        trace.losses.append(measure())
        if trace.best == len(trace.losses) - 1:
            state = copy()
    network.load_state_dict(state)
    return trace


class Split(NamedTuple):
    """Pairs as float32 tensors: what is trained on, and what is held out."""

    train: tuple[Any, Any]
    held_out: tuple[Any, Any]


def split(A: Array, B: Array, budget: Budget) -> Split:
    """Pairs at random into two parts, each column standardised by what is trained on."""
    import torch

    if len(A) != len(B):
        raise DataworthError(f"{len(A)} and {len(B)} rows are no pairs: give as many of both.")
    aside = round(budget.held_out * len(A))
    if aside < 2 or len(A) - aside < 2:
        raise DataworthError(
            f"{len(A)} pairs leave {aside} held out and {len(A) - aside} to train on; give more pairs."
        )
    order = torch.randperm(len(A)).numpy()
    parts = [standardised(values, order[aside:]) for values in (A, B)]
    first, rest = torch.from_numpy(order[:aside]), torch.from_numpy(order[aside:])
    return Split((parts[0][rest], parts[1][rest]), (parts[0][first], parts[1][first]))


def estimate(
    what: str, bound: Callable[[Split, Budget], Guess], A: Array, B: Array, seed: int, budget: Budget
) -> Guess:
    """A bound on I(A; B) in nats from pairs of rows: trained on a part of them, reported on the rest."""
    with seeded(torch_for(what), seed, budget.threads):
        return bound(split(A, B, budget), budget)


def standardised(values: Array, rows: Any) -> Any:
    """Columns of mean 0 and variance 1 over `rows`, as a float32 tensor; a constant column is 0 on them."""
    import torch

    values = np.asarray(values, dtype=np.float32)
    seen = values[rows]
    spread = seen.std(axis=0)
    return torch.from_numpy((values - seen.mean(axis=0)) / np.where(spread > 0.0, spread, np.float32(1.0)))


def inputs(pairs: KnownPairs) -> tuple[Array, Array]:
    """Datasets as vectors for networks: of wide features only the first principal components of the pool.

    100 rows of 1,280 features in either set would need 262 million weights in the first layer alone.

    >>> pool = np.random.default_rng(0).normal(size=(120, 300))
    >>> rows = np.zeros((4, 10), dtype=np.intp)
    >>> pairs = KnownPairs(pool, np.repeat([0.0, 1.0], 60), rows, rows, np.zeros(4), np.zeros(4))
    >>> inputs(pairs)[0].shape
    (4, 1010)
    """
    if pairs.X.shape[1] <= WIDE:
        return as_vectors(pairs)
    reduced = pca(pairs.X, min(COLUMNS, *pairs.X.shape))
    return as_vectors(KnownPairs(reduced, pairs.y, pairs.data, pairs.test, pairs.rate_data, pairs.rate_test))
