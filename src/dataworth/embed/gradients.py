"""A directory of projected gradients that survives `kill -9` and continues where it stopped.

- ``manifest.json``: model, template, modules, seed, row hashes: what the vectors are of; written first;
- ``vectors.npy``: pairs × (chosen, rejected) × size, float32, memory-mapped;
- ``facts.npy``: pairs × (chosen, rejected) × (−log p of the response, its tokens), written after the vectors
  have reached the disk: a response without tokens is still to be done;
- ``lock``: held while a process works there.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from os import PathLike
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from dataworth.arrays import Array, Flags
from dataworth.atomic import atomic_write, parse_json, read_whole
from dataworth.data.io.preferences import LONGER, PREFERRED, PROMPT, Preferences
from dataworth.data.io.tables import with_roles
from dataworth.embed.cache import computed, listener
from dataworth.embed.language_model import (
    LAST,
    TEMPLATE,
    DensePass,
    LanguageModel,
    Reader,
    TensorisedPass,
    Tokens,
    in_batches,
    row_hash,
)
from dataworth.embed.vectors import COLUMN, with_vectors
from dataworth.errors import DataworthError
from dataworth.parallel import Engine

SCHEMA = "dataworth/gradients/1"
Loss = Literal["nll", "bradley-terry", "dpo"]
LOSSES: tuple[Loss, ...] = ("nll", "bradley-terry", "dpo")
OURS = {"vectors.npy", "facts.npy", "lock"}
"""What a store that was killed while it was created leaves behind."""


class Store:
    """The vectors of a directory, finished or not: `done` says which pairs are there."""

    def __init__(self, directory: str | os.PathLike[str]) -> None:
        self.directory = Path(directory)
        try:
            found = parse_json(read_whole(self.directory / "manifest.json"))
            self.manifest = dict(found) if found["schema"] == SCHEMA else {}
        except (OSError, ValueError, KeyError, TypeError):
            self.manifest = {}
        if not self.manifest:
            raise DataworthError(
                f"{self.directory} is no store of gradients that this version knows: make one with 'dataworth"
                " embed --gradients'."
            )
        self._vectors = _mapped(self.directory / "vectors.npy")
        self._facts = _mapped(self.directory / "facts.npy")

    @classmethod
    def create(cls, directory: Path, manifest: Mapping[str, Any]) -> Store:
        """The store in a directory: an empty one, or the one that is there if it is of the same content."""
        wanted = {"schema": SCHEMA, **json.loads(json.dumps(manifest))}
        if (directory / "manifest.json").exists():
            store = cls(directory)
            for name, value in wanted.items():
                there = store.manifest.get(name)
                if there != value:
                    told = "" if isinstance(value, list) else f" ({there} there, {value} now)"
                    raise DataworthError(
                        f"{directory} holds other gradients: its {name} differ{told}; name another directory."
                    )
            return store
        there = {path.name for path in directory.iterdir()} if directory.is_dir() else set()
        if (directory.exists() and not directory.is_dir()) or {n for n in there if n[-4:] != ".tmp"} - OURS:
            raise DataworthError(
                f"{directory} is there, and is no store of gradients: name another directory, or empty it."
            )
        try:
            directory.mkdir(parents=True, exist_ok=True)
            n, size = len(wanted["rows"]), wanted["size"]
            for name, shape, kind in (("vectors", (n, 2, size), "<f4"), ("facts", (n, 2, 2), "<f8")):
                np.lib.format.open_memmap(directory / f"{name}.npy", "w+", np.dtype(kind), shape).flush()
            with atomic_write(directory / "manifest.json") as file:
                file.write_text(json.dumps(wanted, indent=1) + "\n")
        except OSError as error:
            raise DataworthError(
                f"{directory} cannot be written ({error.strerror}): choose another place."
            ) from error
        return cls(directory)

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Alone in the directory."""
        from filelock import FileLock, Timeout

        try:
            with FileLock(self.directory / "lock", timeout=0):
                yield
        except Timeout as error:
            raise DataworthError(
                f"{self.directory} is in use by another process: wait until it has finished."
            ) from error

    def finished(self, places: Sequence[int]) -> bool:
        """Whether all are done; place 2i is the chosen response of pair i, 2i + 1 the rejected one."""
        return bool((self._facts.reshape(-1, 2)[places, 1] > 0).all())

    def put(self, places: Sequence[int], vectors: NDArray[np.float32], facts: Array) -> None:
        """Keep vectors, then the facts that say that they are there."""
        rows, halves = np.divmod(np.asarray(places), 2)
        self._vectors[rows, halves] = vectors
        self._vectors.flush()
        self._facts[rows, halves] = facts
        self._facts.flush()

    def __len__(self) -> int:
        return len(self.manifest["rows"])

    @property
    def done(self) -> Flags:
        """Which pairs have both of their vectors."""
        return np.asarray((self._facts[:, :, 1] > 0).all(axis=1))

    @property
    def nll(self) -> Array:
        """−log p(response | prompt), pairs × (chosen, rejected)."""
        return np.array(self._facts[:, :, 0])

    @property
    def tokens(self) -> Array:
        """Tokens of the responses, pairs × (chosen, rejected)."""
        return np.array(self._facts[:, :, 1])

    def vectors(self, loss: Loss = "nll", per_token: bool = False, beta: float = 0.1) -> NDArray[np.float32]:
        """Projected gradients, pairs × 2 × size, of another loss if one is named.

        Args:
            loss: `nll`, as stored: −log p(r|q) of each response alone. `bradley-terry`: of
                −log σ(m), m = β (log p(chosen) − log p(rejected)), split into the parts of the two responses.
                `dpo`: the same with the model itself as the reference, so that m = 0.
            per_token: log-likelihoods, and their gradients, divided by the tokens of the response.
            beta: β of the two losses of pairs.
        """
        if loss not in LOSSES:
            raise DataworthError(f"loss is {loss!r}, but one of {', '.join(LOSSES)} is expected.")
        each = 1.0 / self.tokens if per_token else np.ones((len(self), 2))
        if loss != "nll":
            worth = -self.nll * each  # log p of the two, or its mean
            margin = beta * (worth[:, 0] - worth[:, 1]) if loss == "bradley-terry" else np.zeros(len(self))
            weight = beta * np.exp(-np.logaddexp(0.0, margin))  # β σ(−m)
            each = each * weight[:, None] * [1.0, -1.0]
        return np.asarray(self._vectors * each[:, :, None].astype(np.float32))


def _mapped(path: Path) -> Any:
    try:
        return np.load(path, mmap_mode="r+", allow_pickle=False)
    except (OSError, ValueError) as error:
        raise DataworthError(f"{path} is missing or damaged: delete the store and make it again.") from error


PASSES: dict[str, type[TensorisedPass | DensePass]] = {"tensorised": TensorisedPass, "dense": DensePass}
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
    about = {"model": lm.identity, "template": TEMPLATE, "modules": list(layers), "projection": projection}
    numbers = {"size": size, "seed": seed, "batch": batch, "max_tokens": max_tokens}
    store = Store.create(Path(out), {**about, **numbers, "rows": [row_hash(*pair) for pair in pairs]})
    tell = listener(progress)
    run = PASSES[projection](lm, layers, size, seed)
    named = tuple([modules] if isinstance(modules, str) else modules)
    asked = (lm.identity, model, device, named, projection, size, seed)
    with store.locked():
        batches = in_batches(tokens, batch, WINDOW * batch)
        left = [places for places in batches if not store.finished(places)]
        tell(len(batches) - len(left), len(batches))
        done = computed(([tokens[i] for i in places] for places in left), run, engine, _by_worker, asked)
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


ROLES = {"label": PREFERRED, "group": PROMPT, "attribute": LONGER, "features": COLUMN}


def gradient_table(store: Store, pairs: Preferences, loss: Loss = "nll", per_token: bool = False) -> Any:
    """A pyarrow table: v(first) − v(second) of every pair, which of the two is better, and its prompt."""
    import pyarrow as pa

    both = store.vectors(loss, per_token)
    signs = np.where(pairs.first, 1.0, -1.0).astype(np.float32)
    columns = {name: values for name, values in pairs.columns().items() if name in ROLES.values()}
    table = with_vectors(pa.table(columns), (both[:, 0] - both[:, 1]) * signs[:, None])
    facts = {**store.manifest, "loss": loss, "per_token": per_token}
    del facts["rows"]
    return with_roles(table, ROLES, differences=[COLUMN], gradients=facts)
