"""Two looks for photographs: palettes that tint, and stronger ones that take away what the animal is told by.

The paper's style network (AdaIN) has weights that cannot be had offline; these are plain image operations
and are called what they are.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dataworth import DataworthError
from dataworth.arrays import Array, Rows

STYLES = {"palette": ("warm", "cold"), "texture": ("mosaic", "sketch")}
_DARK_TO_LIGHT = {
    "warm": np.array([[40.0, 10.0, 0.0], [200.0, 90.0, 20.0], [255.0, 235.0, 190.0]]),
    "cold": np.array([[0.0, 10.0, 50.0], [30.0, 120.0, 170.0], [220.0, 245.0, 255.0]]),
}
TILE = 8


def stylise(
    images: NDArray[np.uint8], which: Rows, style: str = "palette", strength: float = 0.6
) -> NDArray[np.uint8]:
    """`strength` of the way from the photograph to its first or second look.

    palette: luminance looked up in three colours, warm or cold. texture: mosaic of 8×8 tiles, or a sketch of
    edges on white.

    >>> grey = np.full((2, 8, 8, 3), 0, dtype=np.uint8)
    >>> stylise(grey, np.array([0, 1]), strength=1.0)[:, 0, 0].tolist()
    [[40, 10, 0], [0, 10, 50]]
    """
    if style not in STYLES:
        raise DataworthError(f"style is {style!r}; known styles: {', '.join(STYLES)}.")
    make = {"warm": _tint, "cold": _tint, "mosaic": _mosaic, "sketch": _sketch}
    made = np.empty(images.shape, dtype=np.uint8)
    for value, name in enumerate(STYLES[style]):
        rows = which == value
        plain = images[rows].astype(float)
        made[rows] = np.rint((1.0 - strength) * plain + strength * make[name](plain, name)).astype(np.uint8)
    return made


def _luminance(images: Array) -> Array:
    return np.asarray(images @ np.array([0.299, 0.587, 0.114]))


def _tint(images: Array, name: str) -> Array:
    light = _luminance(images)
    palette = _DARK_TO_LIGHT[name]
    return np.stack([np.interp(light, (0.0, 128.0, 255.0), palette[:, c]) for c in range(3)], axis=-1)


def _mosaic(images: Array, name: str) -> Array:
    n, h, w, _ = images.shape
    tiled = images[:, : h - h % TILE, : w - w % TILE].reshape(n, h // TILE, TILE, w // TILE, TILE, 3)
    coarse = tiled.mean(axis=(2, 4)).repeat(TILE, axis=1).repeat(TILE, axis=2)
    made = images.copy()
    made[:, : coarse.shape[1], : coarse.shape[2]] = coarse
    return made


def _sketch(images: Array, name: str) -> Array:
    light = _luminance(images)
    down, across = np.gradient(light, axis=(1, 2))
    return np.clip(255.0 - 4.0 * np.hypot(down, across), 0.0, 255.0)[..., None].repeat(3, axis=-1)
