"""`dataworth embed`: a source of images in, a table of vectors out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as parquet

from dataworth.atomic import atomic_write
from dataworth.data.dataset import LabelSummary, summarise_labels
from dataworth.data.io.formats import NPZ_ROLES
from dataworth.embed.tables import Embedded, embed_table
from dataworth.errors import DataworthError
from dataworth.parallel import get_engine
from dataworth.wording import counted, listed

from .files import check_outputs
from .guard import say
from .options import Columns, Embedding
from .progress import listen

SCHEMA = "dataworth/embedding/1"
SUFFIXES = (".parquet", ".npz")


@dataclass(frozen=True)
class Written:
    """What was embedded, and where it was written."""

    source: str
    path: str
    model: str
    rows: int
    features: int
    labels: LabelSummary
    what: str = "image"

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return {"schema": SCHEMA, **vars(self), "labels": self.labels.to_dict()}

    def line(self) -> str:
        """What was done, in one line."""
        size = f"{counted(self.rows, self.what)} × {counted(self.features, 'feature')}"
        return f"{self.path}: {size} by {self.model}, labels {self.labels}"

    def full(self, verbose: bool) -> Any:
        """The same as a sentence."""
        from rich.text import Text

        return Text(f"{self.line()}.")


def engine_of(where: Mapping[str, Any]) -> Any:
    """The engine that was asked for; none, which is this process, if nothing was."""
    return get_engine(where["engine"], where["jobs"], where["address"]) if any(where.values()) else None


def embed_images(
    source: Path, output: Path, options: Embedding, columns: Columns, quiet: bool, engine: Any = None
) -> Written:
    """Embed the images and write the table, whole or not at all."""
    if output.suffix.lower() not in SUFFIXES:
        raise DataworthError(f"{output}: vectors are written as {' or '.join(SUFFIXES)}: give such a name.")
    if options.no_cache and options.cache is not None:
        raise DataworthError("--cache and --no-cache contradict each other: drop one of them.")
    if output.resolve() == source.resolve():
        raise DataworthError(f"{output} holds the images, and would be replaced: write to another file.")
    if options.pca is not None and options.pca < 1:
        raise DataworthError(f"--pca is {options.pca}, but a whole number of at least 1 is expected.")
    check_outputs(output)
    settings = vars(options) | {"cache": options.cache or not options.no_cache}
    settings |= {name: getattr(columns, name) for name in ("label", "group", "attribute", "id", "weights")}
    del settings["no_cache"]
    with listen(quiet, preparing="loading images…") as progress:
        made = embed_table(source, **settings, engine=engine, progress=progress)
    notes = list(made.notes)
    with atomic_write(output) as place:
        if output.suffix.lower() == ".npz":
            dropped = [name for name in made.table.column_names[:-1] if name not in made.roles.values()]
            if dropped:
                notes.append(f"an npz has no place for {listed(dropped)}: .parquet keeps all")
            with place.open("wb") as file:  # a name would be given another suffix
                np.savez(file, X=made.vectors, **{NPZ_ROLES[role]: _array(made, role) for role in made.roles})
        else:
            parquet.write_table(made.table, place, write_page_checksum=True)
    for note in [] if quiet else notes:
        say(note)
    n, d = made.vectors.shape
    return Written(str(source), str(output), options.model, n, d, summarise_labels(_array(made, "label")))


def _array(made: Embedded, role: str) -> Any:
    values = np.array(made.table[made.roles[role]].to_pylist())
    return values.astype(str) if values.dtype == object else values  # dates, which npz would pickle
