"""`dataworth embed --gradients`: pairs in, a store of projected gradients and a table out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as parquet

from dataworth.atomic import atomic_write
from dataworth.data.dataset import summarise_labels
from dataworth.data.io.preferences import PREFERRED, read_preferences
from dataworth.embed.gradients import LOSSES, embed_gradients, gradient_table
from dataworth.errors import DataworthError
from dataworth.wording import counted

from .embedding import Written
from .files import check_outputs
from .guard import say
from .options import Embedding, Gradients
from .progress import listen

STORE = ".gradients"


def embed_pairs(
    source: Path, output: Path, options: Embedding, wanted: Gradients, quiet: bool, engine: Any = None
) -> Written:
    """Embed the pairs into a store beside the table, which is written when all are done.

    The same command continues a store that was interrupted.
    """
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
        store = embed_gradients(
            pairs.pairs,
            options.model,
            output.with_suffix(STORE),
            modules=[name.strip() for name in wanted.modules.split(",")],
            projection=wanted.projection,
            size=wanted.numbers,
            seed=wanted.seed,
            batch=wanted.responses,
            max_tokens=wanted.max_tokens,
            device=wanted.device,
            engine=engine,
            progress=progress,
        )
    table = gradient_table(store, pairs, wanted.loss, wanted.per_token)
    with atomic_write(output) as place:
        parquet.write_table(table, place, write_page_checksum=True)
    labels = summarise_labels(np.array(table[PREFERRED].to_pylist()))
    return Written(str(source), str(output), options.model, len(pairs), wanted.numbers, labels, "pair")
