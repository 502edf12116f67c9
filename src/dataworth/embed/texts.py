"""`encode`: columns of texts to vectors, by a model of sentence-transformers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache as once
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from dataworth.arrays import Array
from dataworth.data.dataset import Dataset
from dataworth.data.texts import text_columns, with_vectors
from dataworth.embed.cache import key, open_cache
from dataworth.embed.extra import check_installed, needed, short, versions
from dataworth.embed.network import one_thread
from dataworth.embed.pretrained import fingerprint, quietly
from dataworth.errors import DataworthError


def encode(
    data: Dataset, model: str, *, cache: bool | str | PathLike[str] = True, progress: Any = None
) -> Dataset:
    """Vectors in place of a dataset's texts; of a pair of texts the difference of the two.

    Args:
        data: rows with columns of texts, or without any, which stay as they are.
        model: a sentence-transformers model, by its name on the hub or its directory; needs the extra `text`.
        cache: True for the user's cache directory (`DATAWORTH_CACHE` sets another), a path, or False.
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
    store = open_cache(cache)
    identity = fingerprint(Path(model)) or model
    what = f"dataworth text 1\0{identity}\0{versions('torch', 'sentence-transformers')}"
    tell: Callable[[int, int], Any] = getattr(progress, "update", progress) or (lambda done, total: None)

    def vectors(name: str, texts: Sequence[str]) -> Array:
        found = []
        for i, text in enumerate(texts):
            place = key(f"{what}\0{text}", []) if store else ""
            known = store.get(place, 1) if store else None
            if known is None:
                # alone, so that neither its neighbours nor their length show in its last bits
                with one_thread():
                    known = np.asarray(
                        _model(model).encode([text], show_progress_bar=False), dtype=np.float32
                    )
                if store:
                    store.put(place, known)
            found.append(known[0])
            tell(i + 1, len(texts))
        return np.array(found, dtype=np.float64)

    return with_vectors(data, names, vectors)


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
