"""A picture of what the sets show: a row for each group, attribute × label."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from .sets import ImageSet

ACROSS = 8


def draw_samples(pictures: ImageSet, path: Path) -> None:
    """The first few train images of every group."""
    from matplotlib.figure import Figure

    part = pictures.train
    figure = Figure(figsize=(ACROSS, 4.4), layout="constrained")
    axes = figure.subplots(4, ACROSS)
    for g in range(4):
        name = f"{pictures.values[g // 2]}\n{pictures.labels[g % 2]}"
        for j, row in enumerate(np.flatnonzero(part.group == g)[:ACROSS]):
            axes[g, j].imshow(part.images[row], interpolation="nearest")
            axes[g, j].set(xticks=[], yticks=[])
        axes[g, 0].set_ylabel(name, rotation=0, ha="right", va="center", fontsize=9)
    figure.savefig(path, dpi=60)
