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
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from dataworth.arrays import Array, Flags
from dataworth.atomic import parse_json, read_whole
from dataworth.errors import DataworthError

SCHEMA = "dataworth/gradients/1"
Loss = Literal["nll", "bradley-terry", "dpo"]
LOSSES: tuple[Loss, ...] = ("nll", "bradley-terry", "dpo")


class Store:
    """The vectors of a directory.

    Finished or not: `done` says which pairs are there.
    """

    def __init__(self, directory: str | os.PathLike[str]) -> None:
        self.directory = Path(directory)
        self.manifest = _manifest(self.directory)
        self._vectors = _mapped(self.directory / "vectors.npy")
        self._facts = _mapped(self.directory / "facts.npy")

    @classmethod
    def create(cls, directory: Path, manifest: Mapping[str, Any]) -> Store:
        """The store in a directory: an empty one, or the one that is there if it is of the same content."""
        wanted = {"schema": SCHEMA, **json.loads(json.dumps(manifest))}
        if (directory / "manifest.json").exists():
            store = cls(directory)
            _refuse_other(store.manifest, wanted, directory)
            return store
        if directory.exists() and (not directory.is_dir() or any(_foreign(directory))):
            raise DataworthError(
                f"{directory} is there, and is no store of gradients: name another directory, or empty it."
            )
        try:
            directory.mkdir(parents=True, exist_ok=True)
            n, size = len(wanted["rows"]), wanted["size"]
            for name, shape, kind in (("vectors", (n, 2, size), "<f4"), ("facts", (n, 2, 2), "<f8")):
                np.lib.format.open_memmap(directory / f"{name}.npy", "w+", np.dtype(kind), shape).flush()
            _write_whole(directory / "manifest.json", json.dumps(wanted, indent=1) + "\n")
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


def _manifest(directory: Path) -> dict[str, Any]:
    try:
        found = parse_json(read_whole(directory / "manifest.json"))
        if found["schema"] == SCHEMA:
            return dict(found)
    except (OSError, ValueError, KeyError, TypeError):
        pass
    raise DataworthError(
        f"{directory} is no store of gradients that this version knows: make one with 'dataworth embed"
        " --gradients'."
    )


def _mapped(path: Path) -> Any:
    try:
        return np.load(path, mmap_mode="r+", allow_pickle=False)
    except (OSError, ValueError) as error:
        raise DataworthError(f"{path} is missing or damaged: delete the store and make it again.") from error


def _refuse_other(found: Mapping[str, Any], wanted: Mapping[str, Any], directory: Path) -> None:
    for name, value in wanted.items():
        if found.get(name) != value:
            told = "" if isinstance(value, list) else f" ({found.get(name)} there, {value} now)"
            raise DataworthError(
                f"{directory} holds other gradients: its {name} differ{told}; name another directory."
            )


def _foreign(directory: Path) -> list[Path]:
    """What a store that was killed while it was created does not leave behind."""
    ours = {"vectors.npy", "facts.npy", "lock", ".manifest.json.tmp"}
    return [path for path in directory.iterdir() if path.name not in ours]


def _write_whole(path: Path, text: str) -> None:
    temporary = path.with_name(f".{path.name}.tmp")
    with temporary.open("w") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    os.replace(temporary, path)
