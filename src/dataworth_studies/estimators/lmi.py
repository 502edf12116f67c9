"""LMI (Gowri et al. 2024): MINE on the latents of a cross-predictive autoencoder.

Encoders z_a = E_a(a), z_b = E_b(b) are trained so that either latent gives both variables back:

    |a − D_aa(z_a)|² + |b − D_ab(z_a)|² + |b − D_bb(z_b)|² + |a − D_ba(z_b)|²   (means over entries)

and I(z_a; z_b) ≤ I(a; b) is estimated. Gowri et al. end with nearest neighbours; the dataworth paper ends
with MINE, and so do we. Both trainings leave the same pairs out, and the bound is reported on those.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from dataworth.arrays import Array

from ..known_mi import KnownPairs
from .base import Guess
from .mine import bound
from .networks import DEFAULT, Budget, Split, estimate, inputs, standardised, train

LATENT = 128
HIDDEN = 128


@dataclass(frozen=True)
class Lmi:
    """LMI on whole datasets, each one long vector of features and labels."""

    budget: Budget = DEFAULT
    name: str = "LMI"

    def __call__(self, pairs: KnownPairs, seed: int) -> Guess:
        """The bound on held-out pairs, in nats."""
        return lmi(*inputs(pairs), seed, self.budget)


def lmi(A: Array, B: Array, seed: int = 0, budget: Budget = DEFAULT) -> Guess:
    """I(A; B) in nats from pairs of rows, by their latents.

    >>> import numpy as np
    >>> a, noise = np.random.default_rng(0).normal(size=(2, 2000, 1))
    >>> quick = Budget(epochs=3, rate=1e-3)
    >>> lmi(a, a + noise, 0, quick).value > 0.2 > lmi(a, noise, 0, quick).value  # truth: 0.35 and 0
    True
    """
    return estimate("LMI", bound_of_latents, A, B, seed, budget)


def bound_of_latents(parts: Split, budget: Budget) -> Guess:
    """Train the autoencoder, then the bound on its latents; chance is torch's as it stands."""
    a, b = parts.train
    network = autoencoder(a.shape[1], b.shape[1])
    trace = train(
        network,
        lambda rows: network(a[rows], b[rows]),
        lambda: float(network(*parts.held_out)),
        len(a),
        budget,
        budget.autoencoder_rate,
    )
    guess = bound(latents(network, parts), budget)
    found = {"autoencoder_best_epoch": trace.best, "autoencoder_losses": trace.losses}
    return guess._replace(details={**guess.details, **found})


def latents(network: Any, parts: Split) -> Split:
    """Both parts encoded, each latent standardised by what is trained on."""
    import torch

    with torch.no_grad():
        codes = [network.encode(*part) for part in parts]
    whole = [torch.cat(sides).numpy() for sides in zip(*codes, strict=True)]
    count = len(parts.train[0])
    a, b = (standardised(values, slice(count)) for values in whole)
    return Split((a[:count], b[:count]), (a[count:], b[count:]))


def autoencoder(size_a: int, size_b: int) -> Any:
    """Two encoders and four decoders of four layers each, LeakyReLU. Called, it gives its loss."""
    from torch import nn

    def layers(size_in: int, size_out: int) -> Any:
        return nn.Sequential(
            nn.Linear(size_in, HIDDEN),
            nn.LeakyReLU(),
            nn.Linear(HIDDEN, HIDDEN),
            nn.LeakyReLU(),
            nn.Linear(HIDDEN, HIDDEN),
            nn.LeakyReLU(),
            nn.Linear(HIDDEN, size_out),
        )

    class Autoencoder(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.of_a, self.of_b = layers(size_a, LATENT), layers(size_b, LATENT)
            self.a_to_a, self.b_to_a = layers(LATENT, size_a), layers(LATENT, size_a)
            self.a_to_b, self.b_to_b = layers(LATENT, size_b), layers(LATENT, size_b)

        def encode(self, a: Any, b: Any) -> tuple[Any, Any]:
            return self.of_a(a), self.of_b(b)

        def forward(self, a: Any, b: Any) -> Any:
            z_a, z_b = self.encode(a, b)
            from_a = (self.a_to_a(z_a) - a).square().mean() + (self.a_to_b(z_a) - b).square().mean()
            from_b = (self.b_to_b(z_b) - b).square().mean() + (self.b_to_a(z_b) - a).square().mean()
            return from_a + from_b

    return Autoencoder()
