"""What a row shows to people: its texts, its image, its columns, and the rows like it that say otherwise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from dataworth.arrays import Array
from dataworth.embed.labelled import SUFFIXES

MAX_COLUMNS, MAX_TEXT, MAX_CELL = 40, 20_000, 200
"""Columns of a row, characters of a text, and of a cell beside it, that are shown."""
BRIEF = 6
"""Cells of a row that is shown beside another."""
LONG = 60
"""Characters from which a cell is a text to be read."""
NEAREST, LIKE_IT = 10, 3
"""Rows that are asked what they say, and of those that say otherwise how many are shown."""
LOOKED_AT = 50
"""Rows by which columns of images are found."""
MAX_IMAGE = 30_000_000
"""Bytes of an image."""
MAGIC = {
    b"\x89PNG": "image/png",
    b"\xff\xd8\xff": "image/jpeg",
    b"GIF8": "image/gif",
    b"BM": "image/bmp",
    b"RIFF": "image/webp",
}
"""How images that browsers show begin; what begins otherwise is not sent."""


@dataclass(frozen=True)
class Rows:
    """A table as it is shown, and the features by which rows are near one another.

    hidden: columns that are shown elsewhere, such as the label. folders: where paths of images start.
    """

    table: Any
    hidden: tuple[str, ...]
    features: Array
    labels: Sequence[str]
    folders: tuple[Path, ...]

    @cached_property
    def columns(self) -> list[str]:
        """Columns that are shown, texts first."""
        names = [name for name in self.table.column_names if name not in self.hidden]
        long = {name for name in names if self._is_long(name)}
        return sorted(names, key=lambda name: name not in long)

    def _is_long(self, name: str) -> bool:
        return any(len(cell) > LONG for cell in self.table[name][:200].to_pylist() if isinstance(cell, str))

    def shown(self, row: int) -> dict[str, Any]:
        """A row's texts and cells, as text; whether it has an image."""
        texts, cells = [], []
        for name in self.columns[:MAX_COLUMNS]:
            text = as_text(self.table[name][row].as_py())
            if len(text) > LONG:
                texts.append({"name": name, "text": cut(text, MAX_TEXT)})
            elif text:
                cells.append([name, text])
        more = len(self.columns) - MAX_COLUMNS
        return {"texts": texts, "cells": cells, "more": max(0, more), "image": self.image(row) is not None}

    def brief(self, row: int) -> list[str]:
        """The first cells of a row, each in one line."""
        shown = [as_text(self.table[name][row].as_py()) for name in self.columns[:BRIEF]]
        return [cut(" ".join(one.split()), MAX_CELL) for one in shown if one]

    def why(self, row: int) -> dict[str, Any]:
        """What the nearest rows are labelled, and the nearest of those that say otherwise."""
        square = ((self.features - self.features[row]) ** 2).sum(axis=1)
        square[row] = np.inf
        near = np.argpartition(square, min(NEAREST, len(square) - 1))[:NEAREST]
        near = near[np.isfinite(square[near])]
        near = near[np.argsort(square[near], kind="stable")]
        own = self.labels[row]
        otherwise = [int(one) for one in near if self.labels[one] != own]
        return {"near": len(near), "otherwise": len(otherwise), "rows": otherwise[:LIKE_IT]}

    @cached_property
    def _pictures(self) -> tuple[str, bool] | None:
        """The column of images, and whether they are paths."""
        for name in self.table.column_names:
            first = [cell for cell in self.table[name][:LOOKED_AT].to_pylist() if cell is not None]
            if any(type_of(bytes_of(cell)) for cell in first):
                return name, False
            if any(self._place(cell) for cell in first):
                return name, True
        return None

    def _place(self, cell: Any) -> Path | None:
        """Where the file of an image is, if the cell names one."""
        if not isinstance(cell, str) or Path(cell).suffix.lower() not in SUFFIXES:
            return None
        return next((place for folder in self.folders if (place := folder / cell).is_file()), None)

    def image(self, row: int) -> bytes | None:
        """The image of a row, if it has one that a browser shows."""
        if self._pictures is None:
            return None
        name, paths = self._pictures
        cell = self.table[name][row].as_py()
        place, found = (self._place(cell), None) if paths else (None, bytes_of(cell))
        if place is not None and place.stat().st_size <= MAX_IMAGE:
            found = place.read_bytes()
        return found if found is not None and type_of(found) else None


def bytes_of(cell: Any) -> bytes | None:
    """The bytes of an image in a cell: as they are, or as Hugging Face's `datasets` writes them."""
    found = cell.get("bytes") if isinstance(cell, dict) else cell
    return found if isinstance(found, bytes) and len(found) <= MAX_IMAGE else None


def type_of(image: bytes | None) -> str | None:
    """The media type of an image that browsers show."""
    return next(
        (kind for start, kind in MAGIC.items() if image is not None and image.startswith(start)), None
    )


def as_text(cell: Any) -> str:
    """A cell as people read it."""
    if cell is None:
        return ""
    if isinstance(cell, bytes) or (isinstance(cell, dict) and isinstance(cell.get("bytes"), bytes)):
        return ""
    if isinstance(cell, float):
        return f"{cell:.6g}"
    if isinstance(cell, list) and cell and isinstance(cell[0], int | float):
        return f"{len(cell)} numbers"
    return str(cell).strip()


def cut(text: str, most: int) -> str:
    """A text, its end left out if it is too long."""
    return text if len(text) <= most else f"{text[:most]}…"
