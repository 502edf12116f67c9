"""A source of labelled images as a table with their vectors, which `read` takes as it is."""

from __future__ import annotations

from dataclasses import dataclass
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dataworth.data.io.images import is_table, read_images
from dataworth.data.io.roles import Asked
from dataworth.data.io.tables import with_roles
from dataworth.embed.vectors import embed
from dataworth.embed.vectors import pca as principal_components
from dataworth.errors import DataworthError
from dataworth.wording import option

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
    model: str = "efficientnet-lite0",
    *,
    pca: int | None = None,
    pca_on: str | PathLike[str] | None = None,
    image: str | None = None,
    label: str | None = None,
    group: str | None = None,
    attribute: str | None = None,
    id: str | None = None,
    weights: str | None = None,
    **options: Any,
) -> Embedded:
    """Embed the images of a folder, a zip or a table.

    Args:
        source: as in `dataworth.data.io.read_images`; so are image, label, group, attribute, id and
            weights.
        model: as in `embed`; so are the further options size, batch, cache, engine and progress.
        pca: keep this many principal components,
        pca_on: of the images of this source instead (all data that are compared must have the same).
    """
    if pca is None and pca_on is not None:
        raise DataworthError(
            f"{option('pca_on')} was given without {option('pca')}: say how many components to keep."
        )
    columns: Asked = {"label": label, "group": group, "attribute": attribute, "id": id, "weights": weights}
    found = read_images(source, image, **columns)
    if COLUMN in found.table.column_names:
        raise DataworthError(f"{source}: there is a column {COLUMN!r} already: rename it, or leave it out.")
    notes = list(found.notes)
    vectors = embed(found.images, model, **options)
    if pca is not None:
        base = None
        if pca_on is None:
            notes.append(
                f"the principal components are those of {source}: embed what is compared with it with"
                f" {option('pca_on', str(source))}"
            )
        else:
            other = read_images(pca_on, image, **columns) if is_table(pca_on) else read_images(pca_on)
            base = embed(other.images, model, **options)
        vectors = principal_components(vectors, pca, base).astype(np.float32)
    roles = {**found.roles, "features": COLUMN}
    facts = {"model": str(model), "size": options.get("size"), "pca": pca}
    table = with_roles(with_vectors(found.table, vectors), roles, embedding=facts)
    return Embedded(vectors, table, found.roles, tuple(notes))


def with_vectors(table: Any, vectors: NDArray[np.float32]) -> Any:
    """A pyarrow table with vectors as its column `embedding`."""
    import pyarrow as pa

    flat = pa.array(np.ascontiguousarray(vectors).reshape(-1))
    return table.append_column(COLUMN, pa.FixedSizeListArray.from_arrays(flat, vectors.shape[1]))
