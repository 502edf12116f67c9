"""`dataworth embed`: images, or pairs of responses, in; a table of vectors, or of gradients, out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as parquet

from dataworth.atomic import atomic_write
from dataworth.data.dataset import LabelSummary, summarise_labels
from dataworth.data.io.preferences import PREFERRED, read_preferences
from dataworth.data.io.tables import NPZ_ROLES
from dataworth.embed.gradients import LOSSES, embed_gradients, gradient_table
from dataworth.embed.vectors import Embedded, embed_table
from dataworth.errors import DataworthError
from dataworth.report.terminal import tamed
from dataworth.wording import counted, listed

from .files import check_outputs
from .guard import say
from .listings import Told
from .options import Columns, Embedding, Gradients
from .progress import listen

SCHEMA = "dataworth/embedding/1"
SUFFIXES = (".parquet", ".npz")


def written(source: Path, output: Path, model: str, table: Any, labels: LabelSummary) -> Told:
    """What was embedded, and where it was written; `table`: rows, features, and what a row is."""
    rows, features, what = table
    told = {"source": str(source), "path": str(output), "model": model, "rows": rows, "features": features}
    size = f"{counted(rows, what)} × {counted(features, 'feature')}"
    line = f"{output}: {size} by {model}, labels {labels}"
    data = {"schema": SCHEMA, **told, "labels": labels.to_dict(), "what": what}
    return Told(data, line, lambda verbose: tamed(f"{line}."))


def embed_images(
    source: Path, output: Path, options: Embedding, columns: Columns, quiet: bool, engine: Any = None
) -> Told:
    """Embed the images and write the table, whole or not at all."""
    if output.suffix.lower() not in SUFFIXES:
        raise DataworthError(f"{output}: vectors are written as {' or '.join(SUFFIXES)}: give such a name.")
    if output.resolve() == source.resolve():
        raise DataworthError(f"{output} holds the images, and would be replaced: write to another file.")
    if options.pca is not None and options.pca < 1:
        raise DataworthError(f"--pca is {options.pca}, but a whole number of at least 1 is expected.")
    check_outputs(output)
    settings = vars(options) | {"cache": _cache_of(options)}
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
    labels = summarise_labels(_array(made, "label"))
    return written(source, output, options.model, (n, d, "image"), labels)


def _cache_of(options: Embedding) -> Any:
    if options.no_cache and options.cache is not None:
        raise DataworthError("--cache and --no-cache contradict each other: drop one of them.")
    return options.cache or not options.no_cache


def _array(made: Embedded, role: str) -> Any:
    values = np.array(made.table[made.roles[role]].to_pylist())
    return values.astype(str) if values.dtype == object else values  # dates, which npz would pickle


def embed_pairs(
    source: Path, output: Path, options: Embedding, wanted: Gradients, quiet: bool, engine: Any = None
) -> Told:
    """Embed the pairs and write the table; the same command continues one that was interrupted."""
    if output.suffix.lower() != ".parquet":
        raise DataworthError(f"{output}: gradients are written as .parquet: give such a name.")
    if options.model == Embedding.model:
        raise DataworthError(
            "--gradients needs a language model: name it with --model, a causal one of transformers, its"
            " directory, or a GGUF file."
        )
    if wanted.loss not in LOSSES:
        raise DataworthError(f"--loss is {wanted.loss!r}, but one of {', '.join(LOSSES)} is expected.")
    check_outputs(output)
    pairs = read_preferences(source)
    if pairs.dropped and not quiet:
        say(f"{source}: {counted(pairs.dropped, 'pair')} left out, empty or one response twice")
    with listen(quiet, preparing="loading the model…") as progress:
        found = embed_gradients(
            pairs.pairs,
            options.model,
            modules=[name.strip() for name in wanted.modules.split(",")],
            projection=wanted.projection,
            size=wanted.numbers,
            seed=wanted.seed,
            batch=wanted.responses,
            max_tokens=wanted.max_tokens,
            device=wanted.device,
            cache=_cache_of(options),
            engine=engine,
            progress=progress,
        )
    table = gradient_table(found, pairs, wanted.loss, wanted.per_token)
    with atomic_write(output) as place:
        parquet.write_table(table, place, write_page_checksum=True)
    labels = summarise_labels(np.array(table[PREFERRED].to_pylist()))
    return written(source, output, options.model, (len(pairs), wanted.numbers, "pair"), labels)
