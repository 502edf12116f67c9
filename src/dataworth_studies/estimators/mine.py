"""MINE (Belghazi et al. 2018): the Donsker–Varadhan bound, maximised by a network f.

    I(A; B) ≥ E_{p(a,b)} f − log E_{p(a)p(b)} e^f

The gradient of the second term, E[e^f ∇f] / E[e^f], is biased when both means are of one batch; the lower one
is a moving average over batches, as in the paper. Pairs of p(a)p(b) are pairs of the sample, shifted.

What is reported is the bound on held-out pairs. On the pairs trained on it grows without limit as the network
learns them by heart.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import log
from typing import Any

from dataworth.arrays import Array

from ..known_mi import KnownPairs
from .base import Guess
from .networks import DEFAULT, Budget, Split, estimate, inputs, train

WIDTH = 1024
MEMORY = 0.01
"""Weight of a new batch in the moving average of E[e^f]."""
SHIFTS = 8
"""Held-out pairs are joined to so many others each for E_{p(a)p(b)}."""


@dataclass(frozen=True)
class Mine:
    """MINE on whole datasets, each one long vector of features and labels."""

    budget: Budget = DEFAULT
    name: str = "MINE"

    def __call__(self, pairs: KnownPairs, seed: int) -> Guess:
        """The bound on held-out pairs, in nats."""
        return mine(*inputs(pairs), seed, self.budget)


def mine(A: Array, B: Array, seed: int = 0, budget: Budget = DEFAULT) -> Guess:
    """I(A; B) in nats from pairs of rows; a lower bound up to noise, which can be below 0.

    >>> import numpy as np
    >>> a, noise = np.random.default_rng(0).normal(size=(2, 2000, 1))
    >>> quick = Budget(epochs=3, rate=1e-3)
    >>> mine(a, a + noise, 0, quick).value > 0.2 > mine(a, noise, 0, quick).value  # truth: 0.35 and 0
    True
    """
    return estimate("MINE", bound, A, B, seed, budget)


def bound(parts: Split, budget: Budget) -> Guess:
    """Train on one part, report on the other; chance is torch's as it stands."""
    import torch

    (a, b), held_out = parts.train, parts.held_out
    network = critic(a.shape[1], b.shape[1])
    average: list[Any] = []

    def loss(rows: Any) -> Any:
        joint, apart = network(a[rows], b[rows], 1)
        now = apart.detach().logsumexp(0) - log(len(apart))
        if average:
            now = torch.logaddexp(average.pop() + log(1.0 - MEMORY), now + log(MEMORY))
        average.append(now)
        return (apart - now).exp().mean() - joint.mean()

    trace = train(network, loss, lambda: -donsker_varadhan(network, *held_out), len(a), budget, budget.rate)
    with torch.no_grad():
        trained = donsker_varadhan(network, a, b, 1)
    details = {"best_epoch": trace.best, "epochs": len(trace.losses) - 1, "training_value": trained}
    return Guess(-trace.losses[trace.best], None, details)


def donsker_varadhan(network: Any, a: Any, b: Any, shifts: int = SHIFTS) -> float:
    """The bound over all given pairs."""
    joint, apart = network(a, b, min(shifts, len(a) - 1))
    return float(joint.mean() - apart.logsumexp(0) + log(len(apart)))


def critic(size_a: int, size_b: int) -> Any:
    """Three layers, ReLU, on [a, b].

    Called as f(a, b, shifts) it gives f of the pairs and of pairs (aᵢ, bᵢ₊ₛ), s = 1 … shifts. The first layer
    is linear in a and in b apart, so that it sees each of them once, however many pairs they form.
    """
    import torch
    from torch import nn

    class Critic(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            whole = nn.Linear(size_a + size_b, WIDTH)
            self.of_a, self.of_b = nn.Linear(size_a, WIDTH), nn.Linear(size_b, WIDTH, bias=False)
            with torch.no_grad():
                self.of_a.weight.copy_(whole.weight[:, :size_a])
                self.of_b.weight.copy_(whole.weight[:, size_a:])
                self.of_a.bias.copy_(whole.bias)
            self.rest = nn.Sequential(nn.ReLU(), nn.Linear(WIDTH, WIDTH), nn.ReLU(), nn.Linear(WIDTH, 1))

        def forward(self, a: Any, b: Any, shifts: int) -> tuple[Any, Any]:
            of_a, of_b = self.of_a(a), self.of_b(b)
            moved = [of_a + of_b.roll(-shift, 0) for shift in range(shifts + 1)]
            out = self.rest(torch.cat(moved)).squeeze(1)
            return out[: len(a)], out[len(a) :]

    return Critic()
