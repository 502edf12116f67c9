"""One batch through a language model: losses, and their gradients projected."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dataworth.arrays import Array
from dataworth.embed.gradients.language_model import LanguageModel
from dataworth.embed.gradients.projections import Tensorised, dense
from dataworth.embed.gradients.template import Tokens

Vectors = NDArray[np.float32]


class TensorisedPass:
    """Hooks on the linear layers, and no gradient of a weight: the graph begins at the first of them."""

    def __init__(self, lm: LanguageModel, layers: Mapping[str, Any], size: int, seed: int) -> None:
        self._lm, self._layers, self._size = lm, layers, size
        self._project = Tensorised(lm.torch, layers, size, seed)

    def __call__(self, batch: Sequence[Tokens]) -> tuple[Vectors, Array]:
        """Vectors, samples × size, and the negative log-likelihoods."""
        torch = self._lm.torch
        total = torch.zeros(len(batch), self._size, device=self._lm.model.device)

        def watch(name: str) -> Any:
            def forward(layer: Any, inputs: tuple[Any, ...], output: Any) -> None:
                if not output.requires_grad:
                    output.requires_grad_(True)
                x = inputs[0].detach()

                def backward(delta: Any) -> None:
                    total.add_(self._project(name, x, delta.detach()))

                output.register_hook(backward)

            return forward

        hooks = [layer.register_forward_hook(watch(name)) for name, layer in self._layers.items()]
        try:
            with torch.enable_grad():
                losses = negative_log_likelihoods(self._lm, batch)
                losses.sum().backward()
        finally:
            for hook in hooks:
                hook.remove()
        return total.cpu().numpy(), losses.detach().double().cpu().numpy()


class DensePass:
    """Every sample alone, its whole gradient, and Π on it: the paper's formula, at the paper's price."""

    def __init__(self, lm: LanguageModel, layers: Mapping[str, Any], size: int, seed: int) -> None:
        self._lm, self._size, self._seed = lm, size, seed
        self._weights = {name: layer.weight for name, layer in layers.items()}

    def gradient(self, tokens: Tokens) -> tuple[dict[str, Vectors], float]:
        """The gradient of one loss by module, flat, and the loss."""
        for weight in self._weights.values():
            weight.requires_grad_(True)
        with self._lm.torch.enable_grad():
            loss = negative_log_likelihoods(self._lm, [tokens])[0]
            found = self._lm.torch.autograd.grad(loss, list(self._weights.values()))
        flat = {name: g.flatten().cpu().numpy() for name, g in zip(self._weights, found, strict=True)}
        return flat, loss.item()

    def __call__(self, batch: Sequence[Tokens]) -> tuple[Vectors, Array]:
        """As the other pass. One sample at a time, so that no neighbour and no padding touches a bit."""
        found = [self.gradient(tokens) for tokens in batch]
        stacked = {name: np.stack([g[name] for g, _ in found]) for name in self._weights}
        vectors = dense(stacked, self._size, self._seed)
        return vectors.astype(np.float32), np.array([loss for _, loss in found])


def negative_log_likelihoods(lm: LanguageModel, batch: Sequence[Tokens]) -> Any:
    """−log p(response | what stands before it) of each; padding stands last, where no token looks."""
    torch, device = lm.torch, lm.model.device
    length = max(len(tokens) for tokens in batch)
    ids = torch.zeros(len(batch), length, dtype=torch.long)
    wanted = torch.full((len(batch), length), -100)
    for row, tokens in enumerate(batch):
        ids[row, : len(tokens)] = torch.tensor(tokens.ids)
        wanted[row, tokens.start : len(tokens)] = ids[row, tokens.start : len(tokens)]
    keep = length - min(tokens.start for tokens in batch) + 1  # the last position predicts nothing we know
    options: dict[str, Any] = {"use_cache": False}
    if "logits_to_keep" in inspect.signature(lm.model.forward).parameters:
        options["logits_to_keep"] = keep
    logits = lm.model(input_ids=ids.to(device), **options).logits[:, -keep:-1]
    flat = torch.nn.functional.cross_entropy(
        logits.flatten(0, 1).float(), wanted[:, 1 - keep :].flatten().to(device), reduction="none"
    )
    return flat.view(len(batch), -1).sum(dim=1)
