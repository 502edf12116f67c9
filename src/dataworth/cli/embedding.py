"""`dataworth embed`: images, or pairs of responses, in; a table of vectors, or of gradients, out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as parquet

from dataworth.atomic import atomic_write
from dataworth.data.dataset import summarise_labels
from dataworth.data.io.preferences import PREFERRED, read_preferences
from dataworth.embed.gradients import LOSSES, embed_gradients, gradient_table
from dataworth.embed.vectors import embed_table
from dataworth.errors import DataworthError
from dataworth.report.terminal import tamed
from dataworth.wording import counted

from .files import check_outputs
from .guard import say
from .listings import Told
from .options import Columns, Embedding, Gradients
from .progress import listen

SCHEMA = "dataworth/embedding/1"


def check_output(source: Path, output: Path) -> None:
    """Refuse a file that cannot be written, or that holds what is read."""
    if output.suffix.lower() != ".parquet":
        raise DataworthError(f"{output}: vectors are written as .parquet: give such a name.")
    if output.resolve() == source.resolve():
        raise DataworthError(f"{output} is read, and would be replaced: write to another file.")
    check_outputs(output)


def written(source: Path, output: Path, model: str, table: Any, label: str, features: int, what: str) -> Told:
    """Write the table, whole or not at all; say what was embedded, and where it is."""
    with atomic_write(output) as place:
        parquet.write_table(table, place, write_page_checksum=True)
    values = np.array(table[label].to_pylist())
    labels = summarise_labels(values.astype(str) if values.dtype == object else values)  # dates
    told = {"source": str(source), "path": str(output), "model": model, "rows": len(table)}
    size = f"{counted(len(table), what)} × {counted(features, 'feature')}"
    line = f"{output}: {size} by {model}, labels {labels}"
    data = {"schema": SCHEMA, **told, "features": features, "labels": labels.to_dict(), "what": what}
    return Told(data, line, lambda verbose: tamed(f"{line}."))


def embed_images(
    source: Path, output: Path, options: Embedding, columns: Columns, quiet: bool, engine: Any = None
) -> Told:
    """Embed the images and write the table."""
    check_output(source, output)
    settings = vars(options) | {"cache": _cache_of(options)}
    settings |= {name: getattr(columns, name) for name in ("label", "group", "attribute", "id", "weights")}
    del settings["no_cache"]
    with listen(quiet, preparing="loading images…") as progress:
        made = embed_table(source, **settings, engine=engine, progress=progress)
    for note in [] if quiet else made.notes:
        say(note)
    features = made.vectors.shape[1]
    return written(source, output, options.model, made.table, made.roles["label"], features, "image")


def _cache_of(options: Embedding) -> Any:
    if options.no_cache and options.cache is not None:
        raise DataworthError("--cache and --no-cache contradict each other: drop one of them.")
    return options.cache or not options.no_cache


def embed_pairs(
    source: Path, output: Path, options: Embedding, wanted: Gradients, quiet: bool, engine: Any = None
) -> Told:
    """Embed the pairs and write the table; the same command continues one that was interrupted."""
    check_output(source, output)
    if options.model == Embedding.model:
        raise DataworthError(
            "--gradients needs a language model: name it with --model, a causal one of transformers, its"
            " directory, or a GGUF file."
        )
    if wanted.loss not in LOSSES:
        raise DataworthError(f"--loss is {wanted.loss!r}, but one of {', '.join(LOSSES)} is expected.")
    pairs = read_preferences(source)
    if pairs.dropped and not quiet:
        say(f"{source}: {counted(pairs.dropped, 'pair')} left out, empty or one response twice")
    with listen(quiet, preparing="loading the model…") as progress:
        found = embed_gradients(
            pairs.pairs,
            options.model,
            modules=[name.strip() for name in wanted.modules.split(",")],
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
    return written(source, output, options.model, table, PREFERRED, wanted.numbers, "pair")
