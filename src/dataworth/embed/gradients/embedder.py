"""`embed_gradients`: pairs of responses in, a store of projected gradients out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from dataworth.embed.gradients.language_model import LAST, LanguageModel
from dataworth.embed.gradients.passes import DensePass, TensorisedPass
from dataworth.embed.gradients.store import Store
from dataworth.embed.gradients.template import TEMPLATE, Reader, Tokens, in_batches, row_hash
from dataworth.embed.sharing import Far, computed
from dataworth.errors import DataworthError
from dataworth.parallel import Engine

PASSES: dict[str, type[TensorisedPass] | type[DensePass]] = {"tensorised": TensorisedPass, "dense": DensePass}
WINDOW = 32
"""Batches among which responses are sorted by length: the rows of a window are done one after the other."""


def embed_gradients(
    pairs: Sequence[tuple[str, str, str]],
    model: str,
    out: str | PathLike[str],
    *,
    modules: str | Sequence[str] = LAST,
    projection: str = "tensorised",
    size: int = 1024,
    seed: int = 0,
    batch: int = 8,
    max_tokens: int = 256,
    device: str = "cpu",
    engine: Engine | None = None,
    progress: Any = None,
) -> Store:
    """Projected gradients of −log p(response | prompt), of the chosen and the rejected response of each pair.

    The same call continues a store that was interrupted; only the batch in flight is computed again.

    Args:
        pairs: (prompt, chosen, rejected).
        model: the name or directory of a causal language model of `transformers`, or a GGUF file.
        out: the directory of the store.
        modules: which linear layers: `last-quarter` (of the blocks), `all`, or patterns of the shell.
        projection: `tensorised` (from hooks, fast) or `dense` (of the whole gradient, as printed).
        size: numbers for each response.
        seed: of the random signs.
        batch: responses that go through the model together.
        max_tokens: of template, prompt and response together; prompts are cut first.
        device: `cpu`, `cuda`, `cuda:1`.
        engine: where batches are computed (`dataworth.parallel.get_engine`), this process by default;
            workers load the model themselves, by its name or path. Only this process writes the store.
        progress: called with (done, total); or something with such an `update`.

    Returns:
        The store; `store.vectors()` is pairs × 2 × size.

    Raises:
        DataworthError: what is wrong with the model, the directory or an option, in one sentence.
    """
    if projection not in PASSES:
        raise DataworthError(f"projection is {projection!r}, but one of {', '.join(PASSES)} is expected.")
    for name, value in (("size", size), ("batch", batch), ("max_tokens", max_tokens)):
        if value < 1:
            raise DataworthError(f"{name} is {value}, but a whole number of at least 1 is expected.")
    if not pairs:
        raise DataworthError("there are no pairs: give at least one.")
    lm = LanguageModel(model, device)
    layers = lm.layers(modules)
    read = Reader(lm.tokenizer, max_tokens)
    tokens = [read(prompt, response) for prompt, *responses in pairs for response in responses]
    if empty := sum(len(one) == one.start for one in tokens):
        raise DataworthError(f"{empty} of {len(tokens)} responses have no tokens: leave their pairs out.")
    store = Store.create(
        Path(out),
        {
            "model": lm.identity,
            "template": TEMPLATE,
            "modules": list(layers),
            "projection": projection,
            "size": size,
            "seed": seed,
            "batch": batch,
            "max_tokens": max_tokens,
            "rows": [row_hash(*pair) for pair in pairs],
        },
    )
    tell: Callable[[int, int], Any] = getattr(progress, "update", progress) or (lambda done, total: None)
    run = PASSES[projection](lm, layers, size, seed)
    asked = (lm.identity, model, device, tuple([modules] if isinstance(modules, str) else modules))
    far = None if engine is None else Far(engine, _by_worker, (*asked, projection, size, seed))
    with store.locked():
        batches = in_batches(tokens, batch, WINDOW * batch)
        left = [places for places in batches if not store.finished(places)]
        tell(len(batches) - len(left), len(batches))
        done = computed(([tokens[i] for i in places] for places in left), run, far)
        for number, (places, (vectors, losses)) in enumerate(zip(left, done, strict=True)):
            if not np.isfinite(vectors).all():
                raise DataworthError(f"the gradients of {model} are not finite: its weights are damaged.")
            counts = [len(tokens[i]) - tokens[i].start for i in places]
            store.put(places, vectors, np.column_stack([losses, counts]))
            tell(len(batches) - len(left) + number + 1, len(batches))
    return store


def _by_worker(shared: tuple[Any, ...], tokens: list[Tokens]) -> tuple[Any, Any]:
    return _loaded(*shared)(tokens)


@lru_cache(maxsize=1)
def _loaded(
    identity: Any, model: str, device: str, modules: tuple[str, ...], projection: str, size: int, seed: int
) -> TensorisedPass | DensePass:
    lm = LanguageModel(model, device)
    if lm.identity != identity:
        raise DataworthError(f"a worker has another model {model}: give all workers the same files.")
    return PASSES[projection](lm, lm.layers(modules), size, seed)
