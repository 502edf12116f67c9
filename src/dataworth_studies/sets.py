"""The image sets of the curation study: two labels, and an attribute that says nothing of them.

Every image gets one of two values of the attribute by a seeded coin, whatever its label; draws then make
attribute and label go together as a setting asks.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dataworth import DataworthError
from dataworth.arrays import Rows

from .attributes import colour_background, corrupt, stylise
from .attributes.colour import COLOURS
from .attributes.corruption import CORRUPTIONS
from .attributes.style import STYLES

Images = NDArray[np.uint8]


@dataclass(frozen=True)
class Part:
    """Images with labels 0 or 1 and attribute 0 or 1; `X` once they are embedded."""

    images: Images
    label: Rows
    attribute: Rows

    def __len__(self) -> int:
        return len(self.label)

    @property
    def group(self) -> Rows:
        """Attribute × label: 00, 01, 10, 11 as 0 … 3."""
        return 2 * self.attribute + self.label


@dataclass(frozen=True)
class ImageSet:
    """Train and test images of one set, with the names of what they show."""

    name: str
    train: Part
    test: Part
    labels: tuple[str, str]
    values: tuple[str, str]
    features: str
    """The model of `dataworth.embed` that stands for the paper's features."""


def load_digits_set(folder: Path | None, seed: int) -> ImageSet:
    """Odd or even, on a coloured ground: scikit-learn's digits, 8×8, which need no file."""
    from sklearn.datasets import load_digits

    digits = load_digits()
    order = np.random.default_rng([seed, 0xD161]).permutation(len(digits.target))
    images = np.rint(digits.images[order] * (255.0 / 16.0)).astype(np.uint8)
    odd = (digits.target[order] % 2).astype(np.intp)
    half = len(odd) // 2
    train = _part(images[:half], odd[:half], seed, 0, colour_background)
    test = _part(images[half:], odd[half:], seed, 1, colour_background)
    return ImageSet("digits", train, test, ("even", "odd"), COLOURS, "pixels")


def load_mnist(folder: Path | None, seed: int) -> ImageSet:
    """Zero or one, on a coloured ground."""
    file = read_arrays(folder, "mnist01.npz")
    train = _part(file["x_train"], file["y_train"], seed, 0, colour_background)
    test = _part(file["x_test"], file["y_test"], seed, 1, colour_background)
    return ImageSet("colored-mnist", train, test, ("0", "1"), COLOURS, "pixels")


def load_cifar(folder: Path | None, seed: int, severity: int = 3, most: int | None = None) -> ImageSet:
    """Airplane or automobile, too bright or too flat; `most` takes so many of the train images only."""
    file = read_arrays(folder, "cifar_airplane_automobile.npz")

    def attribute(images: Images, which: Rows) -> Images:
        return corrupt(images, which, severity)

    train = _part(file["x_train"][:most], file["y_train"][:most], seed, 0, attribute)
    test = _part(file["x_test"], file["y_test"], seed, 1, attribute)
    return ImageSet(
        "corrupted-cifar", train, test, ("airplane", "automobile"), CORRUPTIONS, "efficientnet-lite0"
    )


def load_catsdogs(folder: Path | None, seed: int, style: str = "palette", strength: float = 0.6) -> ImageSet:
    """Cat or dog, in one of two looks."""
    photographs = {
        part: read_photographs(find_file(folder, "cats_dogs_128.zip"), part) for part in ("train", "test")
    }

    def attribute(images: Images, which: Rows) -> Images:
        return stylise(images, which, style, strength)

    train = _part(*photographs["train"], seed, 0, attribute)
    test = _part(*photographs["test"], seed, 1, attribute)
    return ImageSet("stylized-catsdogs", train, test, ("cat", "dog"), STYLES[style], "efficientnet-lite0")


SETS: dict[str, Callable[..., ImageSet]] = {
    "digits": load_digits_set,
    "colored-mnist": load_mnist,
    "corrupted-cifar": load_cifar,
    "stylized-catsdogs": load_catsdogs,
}


def load_set(name: str, folder: Path | None, seed: int, **options: Any) -> ImageSet:
    """A set by name; all but digits are read from `folder`."""
    if name not in SETS:
        raise DataworthError(f"set is {name!r}; known sets: {', '.join(SETS)}.")
    return SETS[name](folder, seed, **options)


def _part(images: Images, label: Any, seed: int, part: int, attribute: Callable[..., Images]) -> Part:
    which = np.random.default_rng([seed, 0xA77, part]).integers(0, 2, len(images))
    return Part(attribute(images, which), np.asarray(label).ravel().astype(np.intp), which)


def find_file(folder: Path | None, name: str) -> Path:
    """A file of the studies' data, or a sentence that says how to give it."""
    if folder is None:
        raise DataworthError(f"this set needs {name}: say where it is with --data DIR (digits needs none).")
    if not (folder / name).is_file():
        raise DataworthError(f"there is no {name} in {str(folder)!r}: give its directory with --data.")
    return folder / name


def read_arrays(folder: Path | None, name: str) -> dict[str, NDArray[Any]]:
    """Images and labels of an npz."""
    path = find_file(folder, name)
    try:
        with np.load(path) as file:
            found = {key: file[key] for key in ("x_train", "y_train", "x_test", "y_test")}
    except (KeyError, OSError, ValueError, zipfile.BadZipFile) as error:
        raise DataworthError(
            f"{path} is damaged or another file: expected x_train, y_train, x_test and y_test in an npz."
        ) from error
    for part in ("train", "test"):
        X, y = found[f"x_{part}"], found[f"y_{part}"]
        numbers = all(a.dtype.kind in "biuf" and np.isfinite(a).all() for a in (X, y))
        if not numbers or len(X) != len(y) or len(y) == 0:
            raise DataworthError(
                f"{path}: x_{part} and y_{part} must be finite numbers, as many of one as of the other."
            )
    return found


def read_photographs(path: Path, part: str) -> tuple[Images, Rows]:
    """The photographs of one part of the zip, cats before dogs, by name."""
    from PIL import Image

    images, labels = [], []
    try:
        with zipfile.ZipFile(path) as file:
            for label, kind in enumerate(("cat", "dog")):
                names = sorted(
                    n for n in file.namelist() if n.startswith(f"{part}/{kind}/") and n.endswith(".jpg")
                )
                for name in names:
                    images.append(np.asarray(Image.open(io.BytesIO(file.read(name))).convert("RGB")))
                    labels.append(label)
    except (OSError, zipfile.BadZipFile) as error:
        raise DataworthError(f"{path} is damaged: expected a zip of photographs.") from error
    if not images:
        raise DataworthError(f"{path} has no {part}/cat/*.jpg and {part}/dog/*.jpg.")
    return np.stack(images), np.array(labels, dtype=np.intp)
