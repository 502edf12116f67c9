"""What users call images, as arrays: uint8, height × width × 3. What cannot be one is refused by name."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from io import BytesIO
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dataworth.errors import DataworthError
from dataworth.extras import needed, short

Pixels = NDArray[np.uint8]
TURNED = (5, 6, 7, 8)
"""The EXIF orientations of photographs that lie on their side."""


class Images:
    """Images of any kind, decoded one at a time when they are asked for."""

    def __init__(self, images: Any) -> None:
        self._items = _sequence(images)
        self._names = getattr(images, "names", None)
        if len(self._items) == 0:
            raise DataworthError("there are no images: give at least one.")

    def __len__(self) -> int:
        return len(self._items)

    def sizes(self) -> list[tuple[int, int]]:
        """Height and width of each, from its header alone; unreadable ones are refused here, early."""
        if isinstance(self._items, np.ndarray):
            return [self._items.shape[1:3]] * len(self)
        return [self._size(i, item) for i, item in enumerate(self._items)]

    def pixels(self, i: int, size: int | None = None) -> Pixels:
        """One image, resized (bicubic, to a square) if a size is given."""
        item = self._items[i]
        if isinstance(item, np.ndarray):
            image = _checked(item, self._name(i))
        else:
            with self._open(i, item) as opened:
                image = np.asarray(self._decoded(i, opened))
        if size is None or image.shape[:2] == (size, size):
            return image
        picture = _pillow().fromarray(image).resize((size, size), _pillow().Resampling.BICUBIC)
        return np.asarray(picture)

    def _size(self, i: int, item: Any) -> tuple[int, int]:
        if isinstance(item, np.ndarray):
            return _checked(item, self._name(i)).shape[:2]
        with self._open(i, item) as picture:
            width, height = picture.size
            try:
                turned = picture.getexif().get(0x0112, 1) in TURNED
            except Exception:  # a damaged tag says nothing
                turned = False
            return (width, height) if turned else (height, width)

    def _name(self, i: int) -> str:
        item = self._items[i] if self._names is None else str(self._names[i])
        return str(item) if isinstance(item, str | PathLike) else f"image {i}"

    def _open(self, i: int, item: Any) -> Any:
        """A Pillow image of which only the header is read."""
        if isinstance(item, _pillow().Image):
            return item.copy()  # closing the copy leaves the user's image open
        if not isinstance(item, str | PathLike | bytes | bytearray | memoryview):
            raise DataworthError(
                f"{self._name(i)} is of type {type(item).__name__}: give uint8 arrays, PIL images, encoded"
                " bytes or paths."
            )
        file: Any = os.fspath(item) if isinstance(item, str | PathLike) else BytesIO(item)
        if isinstance(file, str) and os.path.exists(file) and not os.path.isfile(file):
            raise DataworthError(f"{self._name(i)} is no plain file, and may have no end: leave it out.")
        with self._reading(i), warnings.catch_warnings(action="ignore"):
            # beyond Pillow's limit of pixels, where it suspects a bomb, nothing is decoded
            warnings.simplefilter("error", _pillow().DecompressionBombWarning)
            return _pillow().open(file)

    def _decoded(self, i: int, picture: Any) -> Any:
        """The picture upright, in three channels of 8 bits."""
        with self._reading(i):
            upright = needed("PIL.ImageOps", "decoding images").exif_transpose(picture)
            if upright.mode.startswith("I;16"):  # else Pillow would cut at 255 instead of scaling
                upright = _pillow().fromarray((np.asarray(upright).astype(np.uint16) >> 8).astype(np.uint8))
            elif upright.mode in ("I", "F"):
                raise DataworthError(
                    f"{self._name(i)} has 32 bits per pixel, whose range is unknown: save it with 8 bits."
                )
            if upright.mode == "P":
                upright = upright.convert("RGBA")  # Pillow's way for palettes with transparency
            return upright.convert("RGB")

    @contextmanager
    def _reading(self, i: int) -> Iterator[None]:
        """Whatever a damaged file makes Pillow raise, in one sentence."""
        try:
            yield
        except DataworthError:
            raise
        except Exception as error:  # damaged files raise almost anything
            kind = type(error).__name__
            reason = "no known format" if kind == "UnidentifiedImageError" else short(error)
            what = f" cannot be read as an image ({reason}): replace it, or leave it out."
            if isinstance(error, FileNotFoundError):
                what = ": there is no such file: check the path."
            elif kind.startswith("DecompressionBomb"):
                what = " has too many pixels to decode: make it smaller."
            raise DataworthError(self._name(i) + what) from error


def _sequence(images: Any) -> Sequence[Any] | NDArray[Any]:
    if isinstance(images, np.ndarray) and images.dtype != object:
        if images.ndim not in (3, 4):
            raise DataworthError(
                f"images is an array of shape {images.shape}, but n × height × width (× 3) is expected:"
                " reshape it."
            )
        if images.ndim == 3 and images.shape[-1] == 3:
            raise DataworthError(
                f"images has shape {images.shape}, which is one image in colour: give images[None]."
            )
        if len(images):
            _checked(images[0], "images")
        return images
    if isinstance(images, str | bytes | PathLike) or not isinstance(images, Iterable):
        raise DataworthError(
            f"images is of type {type(images).__name__}: give an array n × height × width (× 3), or a list"
            " of images."
        )
    return images if isinstance(images, Sequence) else list(images)


def _checked(image: NDArray[Any], name: str) -> Pixels:
    """The array as height × width × 3; grey is repeated."""
    if image.dtype != np.uint8:
        raise DataworthError(
            f"{name} is of type {image.dtype}, but uint8 (0 to 255) is expected: convert, with 255 * x if x"
            " is in 0 to 1."
        )
    if image.ndim == 2:
        image = image[:, :, None]
    if image.ndim != 3 or image.shape[2] not in (1, 3) or 0 in image.shape:
        raise DataworthError(
            f"{name} has shape {image.shape}, but height × width, or height × width × 3, is expected:"
            " reshape it."
        )
    return np.ascontiguousarray(np.broadcast_to(image, (*image.shape[:2], 3)))


def _pillow() -> Any:
    return needed("PIL.Image", "decoding images")
