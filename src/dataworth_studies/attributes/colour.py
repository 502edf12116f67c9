"""Background colour, as in Colored MNIST: white digits on blue or on green."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dataworth.arrays import Rows

COLOURS = ("blue", "green")
_RGB = np.array([[0.0, 0.0, 255.0], [0.0, 255.0, 0.0]])


def colour_background(images: NDArray[np.uint8], which: Rows) -> NDArray[np.uint8]:
    """Grey images on a coloured ground: ink p of 0…1 gives (1 − p)·colour + p·white.

    >>> blank = np.zeros((2, 1, 1), dtype=np.uint8)
    >>> colour_background(blank, np.array([0, 1])).reshape(2, 3).tolist()
    [[0, 0, 255], [0, 255, 0]]
    """
    ink = images[..., None] / 255.0
    ground = _RGB[which][:, None, None, :]
    return np.rint(ground + ink * (255.0 - ground)).astype(np.uint8)
