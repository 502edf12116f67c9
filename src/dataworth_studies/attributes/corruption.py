"""Brightness and contrast at the five severities of CIFAR-10-C (Hendrycks & Dietterich 2019)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dataworth import DataworthError
from dataworth.arrays import Rows

CORRUPTIONS = ("brightness", "contrast")
BRIGHTER = (0.05, 0.1, 0.15, 0.2, 0.3)
FLATTER = (0.75, 0.5, 0.4, 0.3, 0.15)


def corrupt(images: NDArray[np.uint8], which: Rows, severity: int = 3) -> NDArray[np.uint8]:
    """Brightness (0): value of HSV raised. Contrast (1): each channel drawn towards its mean.

    >>> grey = np.full((1, 2, 2, 3), 100, dtype=np.uint8)
    >>> corrupt(grey, np.array([0]), 5)[0, 0, 0].tolist(), corrupt(grey, np.array([1]), 5)[0, 0, 0].tolist()
    ([176, 176, 176], [100, 100, 100])
    """
    if severity not in range(1, 6):
        raise DataworthError(f"severity is {severity!r}; give a whole number from 1 to 5.")
    from matplotlib.colors import hsv_to_rgb, rgb_to_hsv

    made = np.empty(images.shape, dtype=np.float64)
    bright, flat = which == 0, which == 1
    if bright.any():  # matplotlib refuses empty arrays
        hsv = rgb_to_hsv(images[bright] / 255.0)
        hsv[..., 2] = np.clip(hsv[..., 2] + BRIGHTER[severity - 1], 0.0, 1.0)
        made[bright] = hsv_to_rgb(hsv)
    x = images[flat] / 255.0
    mean = x.mean(axis=(1, 2), keepdims=True)
    made[flat] = np.clip((x - mean) * FLATTER[severity - 1] + mean, 0.0, 1.0)
    return (255.0 * made).astype(np.uint8)
