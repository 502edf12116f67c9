"""`dataworth embed --gradients`: pairs in, a store of projected gradients and a table out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as parquet

from dataworth.data.dataset import summarise_labels
from dataworth.data.io.preferences import LONGER, PREFERRED, PROMPT, read_preferences
from dataworth.data.io.written_roles import with_roles
from dataworth.embed.gradients import Store, embed_gradients
from dataworth.embed.gradients.store import LOSSES
from dataworth.embed.tables import COLUMN, with_vectors
from dataworth.errors import DataworthError
from dataworth.wording import counted

from .embedding import Written
from .files import check_outputs, replacing
from .guard import say
from .options import Embedding, Gradients
from .progress import listen

STORE = ".gradients"
ROLES = {"label": PREFERRED, "group": PROMPT, "attribute": LONGER, "features": COLUMN}


def embed_pairs(source: Path, output: Path, options: Embedding, wanted: Gradients, quiet: bool) -> Written:
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
            progress=progress,
        )
    table = table_of(store, pairs, wanted.loss, wanted.per_token)
    with replacing(output) as place:
        parquet.write_table(table, place)
    labels = summarise_labels(np.array(table[PREFERRED].to_pylist()))
    return Written(str(source), str(output), options.model, len(pairs), wanted.numbers, labels, "pair")


def table_of(store: Store, pairs: Any, loss: Any = "nll", per_token: bool = False) -> Any:
    """A pyarrow table that `read` takes as it is: v(first) − v(second), and which of the two is better."""
    both = store.vectors(loss, per_token)
    signs = np.where(pairs.first, 1.0, -1.0).astype(np.float32)
    columns = {name: values for name, values in pairs.columns().items() if name in ROLES.values()}
    table = with_vectors(pa.table(columns), (both[:, 0] - both[:, 1]) * signs[:, None])
    facts = {**store.manifest, "loss": loss, "per_token": per_token}
    del facts["rows"]
    return with_roles(table, ROLES, differences=[COLUMN], gradients=facts)
