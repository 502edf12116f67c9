"""`embed`: images in, one vector per image out; `embed_table`: the same for a folder or a table."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dataworth.arrays import Array
from dataworth.data.io.roles import Asked
from dataworth.data.io.tables import with_roles
from dataworth.embed.cache import vectors_of
from dataworth.embed.images import Images
from dataworth.embed.labelled import read_images
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
        batch: images that are decoded together; the vectors do not depend on it.
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
    found = vectors_of(
        (network.prepare(source.pixels(i, side)) for i in range(len(source))),
        f"dataworth embed 2\0{network.identity}\0{size}",
        _made,
        (network.identity, str(model), size),
        total=len(source),
        together=batch,
        cache=cache if network.cached else False,
        engine=engine,
        progress=progress,
    )
    return np.stack(found)


def _made(shared: tuple[str, str, int | None], images: list[NDArray[Any]]) -> Vectors:
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
    return np.asarray(images.reshape(len(images), -1).astype(np.float32) / np.float32(255))


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


# --- a source of labelled images as a table with their vectors, which `read` takes as it is -----------------

COLUMN = "embedding"


@dataclass(frozen=True)
class Embedded:
    """Vectors, the pyarrow table that has them as its column `embedding`, and what a user should know."""

    vectors: NDArray[np.float32]
    table: Any
    roles: dict[str, str]
    notes: tuple[str, ...]


def embed_table(
    source: str | PathLike[str],
    model: str = NAME,
    *,
    image: str | None = None,
    label: str | None = None,
    group: str | None = None,
    attribute: str | None = None,
    id: str | None = None,
    weights: str | None = None,
    **options: Any,
) -> Embedded:
    """Embed the images of a folder or a table.

    Args:
        source: as in `dataworth.embed.labelled.read_images`; so are image, label, group, attribute, id and
            weights.
        model: as in `embed`; so are the further options size, batch, cache, engine and progress.
    """
    columns: Asked = {"label": label, "group": group, "attribute": attribute, "id": id, "weights": weights}
    found = read_images(source, image, **columns)
    if COLUMN in found.table.column_names:
        raise DataworthError(f"{source}: there is a column {COLUMN!r} already: rename it, or leave it out.")
    vectors = embed(found.images, model, **options)
    roles = {**found.roles, "features": COLUMN}
    facts = {"model": str(model), "size": options.get("size")}
    table = with_roles(with_vectors(found.table, vectors), roles, embedding=facts)
    return Embedded(vectors, table, found.roles, tuple(found.notes))


def with_vectors(table: Any, vectors: NDArray[np.float32]) -> Any:
    """A pyarrow table with vectors as its column `embedding`."""
    import pyarrow as pa

    flat = pa.array(np.ascontiguousarray(vectors).reshape(-1))
    return table.append_column(COLUMN, pa.FixedSizeListArray.from_arrays(flat, vectors.shape[1]))
