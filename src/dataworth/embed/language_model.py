"""Causal language models: what they read, their layers, and the projected gradients of a batch."""

from __future__ import annotations

import hashlib
import inspect
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dataworth.arrays import Array
from dataworth.embed.networks import fetched, fingerprint, quietly
from dataworth.errors import DataworthError
from dataworth.extras import check_installed, needed, versions

TEMPLATE = (
    "Given a user query and a response, generate an embedding that represents the quality and helpfulness of"
    " the response.\nQuery: {q}\nResponse: {r}"
)
"""As the paper prints it."""
RESPONSE = 96
"""Tokens of a response that are kept, whatever the prompt's length."""


@dataclass(frozen=True)
class Tokens:
    """Token ids; those from `start` on are the response, whose likelihood counts."""

    ids: tuple[int, ...]
    start: int

    def __len__(self) -> int:
        return len(self.ids)


class Reader:
    """Turns prompts and responses into tokens.

    The prompt is cut before the response is, from its beginning, for a response answers its end; at least
    `RESPONSE` tokens of the response stay.
    """

    def __init__(self, tokenizer: Any, longest: int) -> None:
        head, rest = TEMPLATE.split("{q}")
        ends = {tokenizer.eos_token_id, getattr(tokenizer, "sep_token_id", None)}
        first = list(tokenizer(head)["input_ids"])  # with what the model wants to see first, if anything
        self._head = first[:-1] if first[-1] in ends else first
        self._tokenizer = tokenizer
        self._middle = self._plain(rest.removesuffix("{r}"))
        self._room = longest - len(self._head) - len(self._middle)
        if self._room < RESPONSE:
            least = RESPONSE + longest - self._room
            raise DataworthError(
                f"max_tokens (--max-tokens) is {longest}, but the template and {RESPONSE} tokens of response"
                f" take {least}: give at least {least}."
            )

    def __call__(self, prompt: str, response: str) -> Tokens:
        """The tokens of one prompt with one response."""
        query, answer = self._plain(prompt), self._plain(response)
        said = min(len(answer), max(RESPONSE, self._room - len(query)))
        kept = min(len(query), self._room - said)
        ids = [*self._head, *query[len(query) - kept :], *self._middle]
        return Tokens((*ids, *answer[:said]), len(ids))

    def _plain(self, text: str) -> list[int]:
        return list(self._tokenizer(text, add_special_tokens=False, verbose=False)["input_ids"])


PACKAGES = ("torch", "transformers")
TOKENIZERS = ("tokenizer.json", "tokenizer.model", "vocab.json", "vocab.txt")
LAST = "last-quarter"
ALL = "all"


class LanguageModel:
    """A causal language model with its tokenizer, in float32 and frozen."""

    def __init__(self, name: str, device: str = "cpu") -> None:
        self.name = name
        what = f"model {name!r}"
        check_installed(PACKAGES, what, extra="llm")
        self.torch = needed("torch", what, extra="llm")
        code = needed("transformers", what, extra="llm")
        place, options = Path(name), dict[str, Any]()
        if place.suffix == ".gguf":  # named inside its directory
            place, options = place.parent, {"gguf_file": place.name}
            check_installed(("gguf", "accelerate"), f"{what}, a GGUF file,", extra="llm")
        elif place.is_dir() and not any((place / file).exists() for file in TOKENIZERS):
            raise DataworthError(
                f"the directory {name!r} has no tokenizer ({', '.join(TOKENIZERS)}): save the model's"
                " tokenizer there too."
            )
        with quietly(code):
            self.tokenizer = fetched(code.AutoTokenizer, str(place), "tokenizer", **options)
            options["dtype"] = self.torch.float32
            model = fetched(code.AutoModelForCausalLM, str(place), "causal language model", **options)
        try:
            self.torch.empty(0, device=device)
        except (RuntimeError, AssertionError) as error:
            raise DataworthError(
                f"device (--device) is {device!r}, which torch cannot use here: give cpu, or cuda on a"
                " machine that has it."
            ) from error
        self.model = model.eval().requires_grad_(False).to(device)
        version = getattr(self.model.config, "_commit_hash", None) or fingerprint(Path(name))
        self.identity = f"{version or name} ({versions(*PACKAGES)})"

    def layers(self, modules: str | Sequence[str] = LAST) -> dict[str, Any]:
        """Linear layers by name: those of the last quarter of the blocks, all, or those that patterns name.

        A pattern is one of the shell: `*.down_proj`, `model.layers.2?.*`.
        """
        linear = self._modules(self.torch.nn.Linear)
        patterns = [modules] if isinstance(modules, str) else list(modules)
        if patterns == [LAST]:
            name, blocks = max(self._modules(self.torch.nn.ModuleList).items(), key=lambda one: len(one[1]))
            patterns = [f"{name}.{i}.*" for i in range(len(blocks))[-max(1, len(blocks) // 4) :]]
        elif patterns == [ALL]:
            patterns = ["*"]
        for pattern in patterns:
            if not any(fnmatchcase(name, pattern) for name in linear):
                some = ", ".join(list(linear)[:3])
                raise DataworthError(
                    f"modules (--modules) {pattern!r} is no linear layer of {self.name}, which has {some}, …:"
                    f" give such a name, a pattern, {ALL} or {LAST}."
                )
        return {name: one for name, one in linear.items() if any(fnmatchcase(name, p) for p in patterns)}

    def _modules(self, kind: Any) -> dict[str, Any]:
        return {name: module for name, module in self.model.named_modules() if isinstance(module, kind)}


WORD = 64
COUNTER = 4
"""Words that Philox makes of one value of its counter."""


def signs(seed: int, name: str, rows: int, columns: int) -> Array:
    """The matrix of ±1 that belongs to a seed and a name: from Philox, the same on every machine."""
    counters = -(-columns // (WORD * COUNTER))  # of a row, which begins with a counter of its own
    number = int.from_bytes(hashlib.blake2b(name.encode(), digest_size=8).digest(), "little")
    generator = np.random.Philox(key=np.array([seed, number], dtype=np.uint64))
    words = generator.random_raw(rows * counters * COUNTER).astype("<u8", copy=False)
    bits = np.unpackbits(words.view(np.uint8).reshape(rows, -1), axis=1, count=columns)
    return 2.0 * bits.astype(np.float64) - 1.0


def side(size: int) -> int:
    """Rows and columns of the small products that a vector of a size is made of."""
    return next(k for k in (4, 2, 1) if size % (k * k) == 0)


class Tensorised:
    """Projects the gradients of linear layers from what goes in and what comes back, a random matrix a layer.

    The gradient is Σ_t δ_t x_tᵀ, and v = Σ_t (P_in x_t)(P_out δ_t)ᵀ / √d needs no gradient of the weights at
    all, where the paper's Πᵀg / √d does. v is made of d / 16 such products of 4 × 4, each with signs of its
    own: gradients share directions of their inputs, and in one product of 32 × 32 every entry would meet the
    same few signs (correlation with true cosines on 48 responses 0.89; so 0.92; the paper's formula 0.93).
    """

    def __init__(self, torch: Any, layers: Mapping[str, Any], size: int, seed: int) -> None:
        self._side, self._scale = side(size), 1.0 / math.sqrt(size)
        width = size // self._side

        def matrix(name: str, rows: int, like: Any) -> Any:
            made = torch.from_numpy(signs(seed, name, rows, width).astype(np.float32))
            return made.to(device=like.device, dtype=like.dtype)

        self._pairs = {
            name: (
                matrix(f"{name}/in", layer.in_features, layer.weight),
                matrix(f"{name}/out", layer.out_features, layer.weight),
            )
            for name, layer in layers.items()
        }

    def __call__(self, name: str, x: Any, delta: Any) -> Any:
        """One layer's part of the vectors: samples × size from samples × tokens × features."""
        inner, outer = (
            self._split(part @ signs) for part, signs in zip((x, delta), self._pairs[name], strict=True)
        )
        return (inner.transpose(2, 3) @ outer).flatten(1).float() * self._scale

    def _split(self, projected: Any) -> Any:
        """Samples × products × tokens × side."""
        return projected.unflatten(2, (-1, self._side)).transpose(1, 2)


class TensorisedPass:
    """Hooks on the linear layers, and no gradient of a weight: the graph begins at the first of them."""

    def __init__(self, lm: LanguageModel, layers: Mapping[str, Any], size: int, seed: int) -> None:
        self._lm, self._layers, self._size = lm, layers, size
        self._project = Tensorised(lm.torch, layers, size, seed)

    def __call__(self, batch: Sequence[Tokens]) -> tuple[NDArray[np.float32], Array]:
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
