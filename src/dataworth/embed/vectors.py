"""`embed`: images in, one vector per image out."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from functools import cache as once
from functools import lru_cache
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dataworth.arrays import Array
from dataworth.embed.cache import Far, computed, key, listener, open_cache
from dataworth.embed.images import Images
from dataworth.embed.networks import NAME, Network, Vectors, efficientnet, in_passes, transformer
from dataworth.errors import DataworthError
from dataworth.parallel import Engine
from dataworth.wording import counted

LARGE = 512
"""Images with a longer side are resized even if all have the same size: networks know no such pictures."""


def embed(
    images: Any,
    model: str = NAME,
    *,
    size: int | None = None,
    batch: int = 64,
    cache: bool | str | PathLike[str] = True,
    engine: Engine | None = None,
    progress: Any = None,
) -> Vectors:
    """Vectors of images, n × d, float32.

    Args:
        images: a uint8 array n × h × w × 3 (or n × h × w, grey), or a sequence of PIL images, uint8 arrays,
            encoded bytes or paths, of any sizes.
        model: `efficientnet-lite0` (1280 features), `efficientnet-lite0:14` (the mean of block 14, of 0 to
            15), `pixels` (the flattened image over 255), or the name or directory of a vision model of
            `transformers`. All but `pixels` need the extra `vision`.
        size: the side of the square that images are resized to (bicubic). By default EfficientNet takes
            images of one size (to 512) as they are, others at 224; a `transformers` model has its own way.
        batch: images that are decoded, and cached, together; the vectors do not depend on it.
        cache: True for the user's cache directory (`DATAWORTH_CACHE` sets another), a path, or False.
        engine: where batches are computed (`dataworth.parallel.get_engine`), this process by default;
            workers load the model themselves, by its name or directory.
        progress: called with (done, total); or something with such an `update`.

    >>> embed(np.full((2, 4, 4), 255, dtype=np.uint8), "pixels")[:, :3].tolist()
    [[1.0, 1.0, 1.0], [1.0, 1.0, 1.0]]
    """
    for name, value in (("batch", batch), *((("size", size),) if size is not None else ())):
        if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
            raise DataworthError(f"{name} is {value!r}, but a whole number of at least 1 is expected.")
    network = _network(model, size)
    source = Images(images)
    side = _side(network, source.sizes(), size)
    store = open_cache(cache) if network.cached else None
    tell = listener(progress)
    load = once(network.load)
    starts = range(0, len(source), batch)
    parts: dict[int, Vectors] = {}
    missing: deque[tuple[int, str]] = deque()

    def keep(start: int, vectors: Vectors) -> None:
        parts[start] = vectors
        tell(sum(map(len, parts.values())), len(source))

    def prepared() -> Iterator[list[NDArray[Any]]]:
        for start in starts:
            rows = range(start, min(start + batch, len(source)))
            images = [network.prepare(source.pixels(i, side)) for i in rows]
            name = key(f"dataworth embed 1\0{network.identity}\0{size}", images) if store else ""
            known = store.get(name, len(rows)) if store else None
            if known is not None:
                keep(start, known)
            else:
                missing.append((start, name))
                yield images

    tell(0, len(source))
    far = None if engine is None else Far(engine, _by_worker, (network.identity, model, size))
    for vectors in computed(prepared(), lambda images: in_passes(load(), images), far):
        start, name = missing.popleft()
        keep(start, vectors)
        if store:
            store.put(name, vectors)
    return np.concatenate([parts[start] for start in starts])


def _by_worker(shared: tuple[str, str, int | None], images: list[NDArray[Any]]) -> Vectors:
    return in_passes(_loaded(*shared), images)


@lru_cache(maxsize=1)
def _loaded(identity: str, model: str, size: int | None) -> Any:
    network = _network(model, size)
    if network.identity != identity:
        raise DataworthError(
            f"a worker has another model {model!r}, or other versions: install there what is installed here."
        )
    return network.load()


def _network(model: str, size: int | None) -> Network:
    if not isinstance(model, str | PathLike) or not str(model):
        raise DataworthError(f"model is {model!r}: give its name, such as {NAME}.")
    name = str(model)
    if name == "pixels":
        return Network("pixels", None, np.asarray, lambda: _flat, cached=False)
    return efficientnet(name) if name.partition(":")[0] == NAME else transformer(name, size)


def _flat(images: Any) -> Vectors:
    flat = images.reshape(len(images), -1).astype(np.float32)
    return np.asarray(flat / np.float32(255), dtype=np.float32)


def _side(network: Network, sizes: list[tuple[int, int]], size: int | None) -> int | None:
    """What images are resized to, None for as they are."""
    distinct = set(sizes)
    if network.identity == "pixels" and size is None and len(distinct) > 1:
        few = " and ".join(f"{h} × {w}" for h, w in sorted(distinct)[:: len(distinct) - 1])
        raise DataworthError(
            f"pixels need images of one size, but these are from {few}: give size (--size), such as 64."
        )
    if size is None and network.side is not None and (len(distinct) > 1 or max(map(max, sizes)) > LARGE):
        return network.side
    return size


def pca(X: Any, k: int, fit_on: Any = None) -> Array:
    """The first k principal components of X, by directions found on `fit_on` (by default X itself).

    Each direction is signed so that its largest entry is positive. Data that are to be compared must share
    `fit_on`: two fits give two coordinate systems.

    >>> pca([[0.0, 0.0], [1.0, 2.0], [2.0, 4.0]], 1).round(3).tolist()
    [[-2.236], [0.0], [2.236]]
    """
    from sklearn.decomposition import PCA

    data = np.asarray(X, dtype=np.float64)
    base = data if fit_on is None else np.asarray(fit_on, dtype=np.float64)
    if data.ndim != 2 or base.ndim != 2 or data.shape[1] != base.shape[1]:
        raise DataworthError(
            f"pca was given shapes {data.shape} and {base.shape}: give rows × features, the same in both."
        )
    if not 1 <= k <= min(base.shape):
        raise DataworthError(
            f"{k} principal components were asked for, but {counted(len(base), 'row')} of"
            f" {counted(base.shape[1], 'feature')} have at most {min(base.shape)}: ask for fewer."
        )
    found = PCA(n_components=int(k), svd_solver="full").fit(base)
    largest = np.abs(found.components_).argmax(axis=1)
    signs = np.sign(found.components_[np.arange(k), largest])
    return np.asarray((data - found.mean_) @ (found.components_ * signs[:, None]).T)
