"""What an image model is to `embed`: how it wants an image, and what it makes of eight of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dataworth.embed.images import Pixels
from dataworth.extras import needed

Vectors = NDArray[np.float32]
PASS = 8
"""Images that go through a network at once, always: another number chooses other kernels, other last bits."""


@dataclass(frozen=True)
class Network:
    """A model that can be asked for vectors.

    identity: what names the numbers it computes, with all versions that matter. side: what images of
    different sizes are resized to, or None if the model does that itself. prepare: from pixels to what goes
    in. load: the function from at most `PASS` prepared images to vectors, loaded only if it is used.
    """

    identity: str
    side: int | None
    prepare: Callable[[Pixels], NDArray[Any]]
    load: Callable[[], Callable[[NDArray[Any]], Vectors]]
    cached: bool = True


def in_passes(run: Callable[[NDArray[Any]], Vectors], prepared: Sequence[NDArray[Any]]) -> Vectors:
    """Vectors of prepared images, in passes of one shape, so that neighbours do not matter.

    >>> in_passes(lambda images: images.sum(axis=(1, 2)), [np.full((2, 2), i) for i in range(10)]).tolist()
    [0, 4, 8, 12, 16, 20, 24, 28, 32, 36]
    """
    parts = []
    for start in range(0, len(prepared), PASS):
        images = prepared[start : start + PASS]
        padding = [np.zeros_like(images[0])] * (PASS - len(images))
        parts.append(run(np.stack([*images, *padding]))[: len(images)])
    return np.concatenate(parts)


@contextmanager
def one_thread() -> Iterator[Any]:
    """Torch, for inference on one thread: sums in one order on every machine with the same kernels."""
    torch = needed("torch", "this model")
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with torch.inference_mode():
            yield torch
    finally:
        torch.set_num_threads(before)
