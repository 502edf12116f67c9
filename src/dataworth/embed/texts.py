"""`encode`: columns of texts to vectors, by a model of sentence-transformers."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache as once
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dataworth.arrays import Array
from dataworth.data.dataset import Dataset
from dataworth.data.texts import text_columns, with_vectors
from dataworth.embed.cache import vectors_of
from dataworth.embed.networks import fingerprint, quietly
from dataworth.errors import DataworthError
from dataworth.extras import check_installed, needed, short, versions
from dataworth.parallel import Engine
from dataworth.parallel.threads import one_torch_thread
from dataworth.wording import option

TOGETHER = 16
"""Texts that a worker gets at once."""


def encode(
    data: Dataset,
    model: str,
    *,
    cache: bool | str | PathLike[str] = True,
    engine: Engine | None = None,
    progress: Any = None,
) -> Dataset:
    """Vectors in place of a dataset's texts; of a pair of texts the difference of the two.

    Args:
        data: rows with columns of texts, or without any, which stay as they are.
        model: a sentence-transformers model, by its name on the hub or its directory; needs the extra `text`.
        cache: True for the user's cache directory (`DATAWORTH_CACHE` sets another), a path, or False.
        engine: where texts are encoded (`dataworth.parallel.get_engine`), this process by default.
        progress: called with (done, total); or something with such an `update`.

    Returns:
        The dataset with columns `name[0]`, `name[1]`, … in place of each column of texts.

    Raises:
        DataworthError: if the extra is missing, or there is no such model.

    >>> encode(Dataset([[1.0]], [0]), "all-MiniLM-L6-v2")
    Dataset(1 row × 1 feature, labels 0: 1)
    """
    names = text_columns(data)
    if not names:
        return data
    if any(column.kind == "response" for column in data.columns):
        raise DataworthError(
            "a text encoder reads labelled texts; prompts with responses are read by n-grams, whose axes are "
            f"fitted to the test set: leave {option('text_encoder')} out."
        )
    identity = fingerprint(Path(model)) or model
    what = f"dataworth text 2\0{identity}\0{versions('torch', 'sentence-transformers')}"

    def vectors(name: str, texts: Sequence[str]) -> Array:
        options: Any = {"cache": cache, "engine": engine, "progress": progress}
        found = vectors_of(texts, what, _encoded, model, total=len(texts), together=TOGETHER, **options)
        return np.array(found, dtype=np.float64)

    return with_vectors(data, names, vectors)


def _encoded(model: str, texts: Sequence[str]) -> NDArray[np.float32]:
    """Vectors of texts, one after the other: neither neighbours nor their length show in the last bits."""
    with one_torch_thread(needed("torch", "a text encoder", extra="text")):
        found = [_model(model).encode([text], show_progress_bar=False)[0] for text in texts]
    return np.asarray(found, dtype=np.float32)


@once
def _model(name: str) -> Any:
    what = f"text encoder {name!r}"
    check_installed(("torch", "sentence_transformers"), what, extra="text")
    code = needed("sentence_transformers", what, extra="text")
    directory = Path(name).is_dir()
    if directory and not (Path(name) / "config.json").exists():
        raise DataworthError(
            f"the directory {name!r} holds no text encoder: give one of sentence-transformers."
        )
    with quietly(needed("transformers", what, extra="text")):
        try:
            return code.SentenceTransformer(name, device="cpu", local_files_only=directory or None)
        except Exception as error:  # what is wrong with a model's files, libraries raise as they like
            raise DataworthError(
                f"{what} cannot be loaded ({short(error)}…): check the name, download the model elsewhere and"
                " give its directory, or leave --text-encoder out for n-grams."
            ) from error
