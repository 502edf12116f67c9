"""Projected gradients of a language model on pairs of responses; every batch is kept in the cache."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from os import PathLike
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from dataworth.arrays import Array
from dataworth.data.io.preferences import LONGER, PREFERRED, PROMPT, Preferences
from dataworth.data.io.tables import with_roles
from dataworth.embed.cache import vectors_of
from dataworth.embed.language_model import LAST, TEMPLATE, LanguageModel, Reader, TensorisedPass, Tokens
from dataworth.embed.vectors import COLUMN, with_vectors
from dataworth.errors import DataworthError
from dataworth.parallel import Engine

Loss = Literal["nll", "bradley-terry", "dpo"]
LOSSES: tuple[Loss, ...] = ("nll", "bradley-terry", "dpo")


@dataclass(frozen=True)
class Gradients:
    """Projected gradients of pairs × (chosen, rejected), and `about`: by which model, layers and options.

    `projected` is pairs × 2 × size, `nll` −log p(response | prompt) and `tokens` those of the response.
    """

    projected: NDArray[np.float32]
    nll: Array
    tokens: Array
    about: dict[str, Any]

    def vectors(self, loss: Loss = "nll", per_token: bool = False, beta: float = 0.1) -> NDArray[np.float32]:
        """Projected gradients, pairs × 2 × size, of another loss if one is named.

        Args:
            loss: `nll`: −log p(r|q) of each response alone. `bradley-terry`: of
                −log σ(m), m = β (log p(chosen) − log p(rejected)), split into the parts of the two responses.
                `dpo`: the same with the model itself as the reference, so that m = 0.
            per_token: log-likelihoods, and their gradients, divided by the tokens of the response.
            beta: β of the two losses of pairs.
        """
        if loss not in LOSSES:
            raise DataworthError(f"loss is {loss!r}, but one of {', '.join(LOSSES)} is expected.")
        each = 1.0 / self.tokens if per_token else np.ones_like(self.nll)
        if loss != "nll":
            worth = -self.nll * each  # log p of the two, or its mean
            margin = beta * (worth[:, 0] - worth[:, 1]) if loss == "bradley-terry" else 0.0 * worth[:, 0]
            weight = beta * np.exp(-np.logaddexp(0.0, margin))  # β σ(−m)
            each = each * weight[:, None] * [1.0, -1.0]
        return np.asarray(self.projected * each[:, :, None].astype(np.float32))


WINDOW = 32
"""Batches among which responses are sorted by length: the rows of a window are done one after the other."""


def embed_gradients(
    pairs: Sequence[tuple[str, str, str]],
    model: str,
    *,
    modules: str | Sequence[str] = LAST,
    size: int = 1024,
    seed: int = 0,
    batch: int = 8,
    max_tokens: int = 256,
    device: str = "cpu",
    cache: bool | str | PathLike[str] = True,
    engine: Engine | None = None,
    progress: Any = None,
) -> Gradients:
    """Projected gradients of −log p(response | prompt), of the chosen and the rejected response of each pair.

    The same call continues where it was interrupted; only the batch in flight is computed again.

    Args:
        pairs: (prompt, chosen, rejected).
        model: the name or directory of a causal language model of `transformers`, or a GGUF file.
        modules: which linear layers: `last-quarter` (of the blocks), `all`, or patterns of the shell.
        size: numbers for each response.
        seed: of the random signs.
        batch: responses that go through the model together.
        max_tokens: of template, prompt and response together; prompts are cut first.
        device: `cpu`, `cuda`, `cuda:1`.
        cache: True for the user's cache directory (`DATAWORTH_CACHE` sets another), a path, or False.
        engine: where batches are computed (`dataworth.parallel.get_engine`), this process by default;
            workers load the model themselves, by its name or path.
        progress: called with (done, total); or something with such an `update`.

    Returns:
        The gradients; `vectors()` is pairs × 2 × size.

    Raises:
        DataworthError: what is wrong with the model, the directory or an option, in one sentence.
    """
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
    about: dict[str, Any] = {"model": lm.identity, "template": TEMPLATE, "modules": list(layers)}
    about |= {
        "projection": "tensorised",
        "size": size,
        "seed": seed,
        "batch": batch,
        "max_tokens": max_tokens,
    }
    run = TensorisedPass(lm, layers, size, seed)
    named = tuple([modules] if isinstance(modules, str) else modules)
    batches = _in_batches(tokens, batch)
    found = vectors_of(
        ([tokens[i] for i in places] for places in batches),
        f"dataworth gradients 1\0{json.dumps(about)}",
        _made if engine is None else _made_by_worker,
        run if engine is None else (lm.identity, model, device, named, size, seed),
        total=len(batches),
        together=1,
        cache=cache,
        engine=engine,
        progress=progress,
    )
    every = np.empty((len(tokens), size + 1))
    every[np.concatenate(batches)] = np.concatenate(found)
    counts = np.array([len(one) - one.start for one in tokens], dtype=float)
    projected = every[:, :size].astype(np.float32).reshape(-1, 2, size)
    return Gradients(projected, every[:, size].reshape(-1, 2), counts.reshape(-1, 2), about)


def _in_batches(tokens: Sequence[Tokens], size: int) -> list[list[int]]:
    """Places of tokens in batches of like length, found window by window so that early rows end early."""
    every, window = range(len(tokens)), WINDOW * size
    ordered = [sorted(every[i : i + window], key=lambda i: (len(tokens[i]), i)) for i in every[::window]]
    return [rows[i : i + size] for rows in ordered for i in range(0, len(rows), size)]


def _made(run: TensorisedPass, batches: list[list[Tokens]]) -> list[Array]:
    """Of each batch, its rows of vectors and, last, of negative log-likelihoods."""
    made = [np.column_stack(run(batch)).astype(np.float64) for batch in batches]
    if not all(np.isfinite(one).all() for one in made):
        raise DataworthError("the gradients of this model are not finite: its weights are damaged.")
    return made


def _made_by_worker(shared: tuple[Any, ...], batches: list[list[Tokens]]) -> list[Array]:
    return _made(_loaded(*shared), batches)


@lru_cache(maxsize=1)
def _loaded(
    identity: Any, model: str, device: str, modules: tuple[str, ...], size: int, seed: int
) -> TensorisedPass:
    lm = LanguageModel(model, device)
    if lm.identity != identity:
        raise DataworthError(f"a worker has another model {model}: give all workers the same files.")
    return TensorisedPass(lm, lm.layers(modules), size, seed)


ROLES = {"label": PREFERRED, "group": PROMPT, "attribute": LONGER, "features": COLUMN}


def gradient_table(
    gradients: Gradients, pairs: Preferences, loss: Loss = "nll", per_token: bool = False
) -> Any:
    """A pyarrow table: v(first) − v(second) of every pair, which of the two is better, and its prompt."""
    import pyarrow as pa

    both = gradients.vectors(loss, per_token)
    signs = np.where(pairs.first, 1.0, -1.0).astype(np.float32)
    columns = {name: values for name, values in pairs.columns().items() if name in ROLES.values()}
    table = with_vectors(pa.table(columns), (both[:, 0] - both[:, 1]) * signs[:, None])
    facts = {**gradients.about, "loss": loss, "per_token": per_token}
    return with_roles(table, ROLES, differences=[COLUMN], gradients=facts)
