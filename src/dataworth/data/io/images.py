"""Images with labels: a folder or zip of label folders, or a table with a column of paths or of bytes.

In a folder or zip, `cat/tom.jpg` is an image with the label `cat`, and `cat/tom/1.jpg` one of the group
`cat/tom`. A part of it is named by its path, also within a zip: `photos.zip/train`. Nothing is unpacked.
"""

from __future__ import annotations

import lzma
import os
import struct
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from dataworth.errors import DataworthError
from dataworth.wording import counted

SUFFIXES = (".jpg", ".jpeg", ".png", ".gif", ".bmp", ".webp", ".tif", ".tiff", ".ppm", ".pgm")
SPLITS = {"train", "training", "test", "testing", "val", "valid", "validation", "dev"}
UNPACKING_ERRORS = (
    OSError, RuntimeError, ValueError, EOFError, zipfile.BadZipFile, zlib.error, lzma.LZMAError, struct.error,
)  # fmt: skip
LARGEST_FILE = 1 << 28
"""Bytes that an image in a zip may unpack to."""


@dataclass(frozen=True)
class ImageTable:
    """Images, read when they are asked for, and a pyarrow table of what else is known of each.

    `roles` says which columns of the table are label, group, id and weights; `notes` what a user should know.
    """

    images: Sequence[Any]
    table: Any
    roles: dict[str, str]
    notes: tuple[str, ...] = ()


class NamedImages(Sequence[Any]):
    """Images with the names that refusals call them by; those in a zip are unpacked when asked for."""

    def __init__(
        self, items: Sequence[Any], names: Sequence[str], archive: zipfile.ZipFile | None = None
    ) -> None:
        self._items, self.names, self._archive = items, names, archive

    def __len__(self) -> int:
        return len(self._items)

    def __getitem__(self, i: Any) -> Any:
        try:
            return self._items[i] if self._archive is None else self._archive.read(self._items[i])
        except UNPACKING_ERRORS as error:
            raise DataworthError(
                f"{self.names[i]} cannot be unpacked ({' '.join(str(error).split())[:80]}): pack it again,"
                " without a password."
            ) from error


def split_zip(source: Path) -> tuple[Path, PurePosixPath] | None:
    """The zip that a path leads into, and the path within; None if it leads into none.

    >>> split_zip(Path("photos/cat"))
    """
    for archive in (source, *source.parents):
        if archive.suffix.lower() == ".zip" and archive.is_file():
            return archive, PurePosixPath(source.relative_to(archive).as_posix())
    return None


def holds_images(source: Path) -> bool:
    """Whether this is a folder with an image in it, or (part of) a zip."""
    if source.is_dir():
        return any(_is_image(PurePosixPath(name)) for name in _walk(source))
    return split_zip(source) is not None


def read_image_folder(source: Path) -> ImageTable:
    """The images of a folder, or of (a part of) a zip, with the labels that their folders say."""
    import pyarrow as pa

    inside = split_zip(source)
    found = {PurePosixPath(p): source / p for p in _walk(source)} if inside is None else _entries(*inside)
    paths = sorted((path for path in found if _is_image(path)), key=str)
    _check_layout(source, paths)
    items: list[Any] = [found[path] for path in paths]
    archive = None if inside is None else zipfile.ZipFile(inside[0])
    names = [str(item) if inside is None else f"{inside[0]}/{item.filename}" for item in items]
    columns = {"id": [str(path) for path in paths], "label": [path.parts[0] for path in paths]}
    roles = {"label": "label", "id": "id"}
    if any(len(path.parts) > 2 for path in paths):
        # An image beside the groups belongs to none: it is a group of its own.
        columns["group"] = [str(path.parent if len(path.parts) > 2 else path) for path in paths]
        roles["group"] = "group"
    notes = []
    if ignored := len(found) - len(paths):
        notes.append(f"{counted(ignored, 'file')} ignored in {source}, hidden or no image")
    if "group" in columns and len(set(columns["label"])) == 1:
        only = columns["label"][0]
        notes.append(f"all images are {only!r}: if its folders are the labels, give {source / only}")
    return ImageTable(NamedImages(items, names, archive), pa.table(columns), roles, tuple(notes))


def _check_layout(source: Path, paths: Sequence[PurePosixPath]) -> None:
    if not paths:
        raise DataworthError(f"there are no images ({' '.join(SUFFIXES)}) here: check the path.")
    loose = [path for path in paths if len(path.parts) == 1]
    if loose:
        raise DataworthError(
            f"{loose[0]} is in no label folder: put each image into a folder named by its label, or list the"
            " images with their labels in a table."
        )
    labels = sorted({path.parts[0] for path in paths})
    if {label.lower() for label in labels} <= SPLITS:
        raise DataworthError(
            f"the folders {', '.join(labels)} are parts of a dataset, not labels: name one of them, such as"
            f" {source / labels[0]}."
        )


def _is_image(path: PurePosixPath) -> bool:
    hidden = any(part.startswith(".") or part == "__MACOSX" for part in path.parts)
    return not hidden and path.suffix.lower() in SUFFIXES


def _walk(folder: Path) -> Iterator[str]:
    """The files below a folder, as paths relative to it; links to folders are followed, not in circles."""
    seen = set()
    for place, folders, files in os.walk(folder, followlinks=True):
        known = os.stat(place)
        if (known.st_dev, known.st_ino) in seen:
            folders.clear()
            continue
        seen.add((known.st_dev, known.st_ino))
        for name in files:
            yield Path(place, name).relative_to(folder).as_posix()


def _entries(archive: Path, within: PurePosixPath) -> dict[PurePosixPath, Any]:
    """The files of a zip below a folder in it, by their paths relative to that."""
    try:
        with zipfile.ZipFile(archive) as opened:
            entries = [entry for entry in opened.infolist() if not entry.is_dir()]
    except UNPACKING_ERRORS as error:
        raise DataworthError(f"this cannot be read as a zip ({error}): pack it again.") from error
    found = {}
    for entry in entries:
        path = PurePosixPath(entry.filename)
        if path.is_absolute() or ".." in path.parts:
            raise DataworthError(
                f"the zip has an entry {entry.filename!r}, which leads out of it: pack it again."
            )
        if not path.is_relative_to(within):
            continue
        if _is_image(path) and entry.file_size > LARGEST_FILE:
            raise DataworthError(
                f"{entry.filename} unpacks to {entry.file_size:.1e} bytes, too many for an image: drop it."
            )
        found[path.relative_to(within)] = entry
    if not found:
        raise DataworthError(f"the zip has no folder {str(within)!r}: check the path.")
    return found
