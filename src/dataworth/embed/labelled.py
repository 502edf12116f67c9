"""Images with labels: a folder in which `cat/tom.jpg` is a `cat`, or a table with their paths or bytes."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path, PurePosixPath
from typing import Any, Unpack

import pyarrow as pa

from dataworth.data.convert import column_kind
from dataworth.data.io.cells import plain_values, texts_of
from dataworth.data.io.files import SPLITS, part_of
from dataworth.data.io.notes import naming, refuse_all
from dataworth.data.io.roles import Asked, assign_roles, wrong_kinds
from dataworth.data.io.tables import with_columns
from dataworth.errors import DataworthError
from dataworth.wording import counted, listed, option

SUFFIXES = (".jpg", ".jpeg", ".png", ".gif", ".bmp", ".webp", ".tif", ".tiff", ".ppm", ".pgm")


@dataclass(frozen=True)
class ImageTable:
    """Images, read when they are asked for, and a pyarrow table of what else is known of each, with roles."""

    images: Sequence[Any]
    table: Any
    roles: dict[str, str]
    notes: tuple[str, ...] = ()


class NamedImages(list[Any]):
    """Paths or bytes of images, with the names that refusals call them by."""

    def __init__(self, items: Sequence[Any], names: Sequence[str]) -> None:
        super().__init__(items)
        self.names = names


def read_images(source: str | PathLike[str], image: str | None = None, **asked: Unpack[Asked]) -> ImageTable:
    """The images of a folder with a folder per label, or of a table, with what else is known of them.

    image: the table's column of paths relative to its file, or of encoded bytes; guessed if only one can be.
    """
    path = Path(source)
    with naming(source):
        if path.suffix.lower() == ".zip":
            raise DataworthError("a zip is not read: unpack it, and give the folder.")
        if not path.is_dir():
            return _of_table(path, image, **asked)
        for name in [name for name, column in {"image": image, **asked}.items() if column is not None]:
            raise DataworthError(f"--{name} names a column, but this is no table: its folders say labels.")
        return _of_folder(path)


def _of_folder(source: Path) -> ImageTable:
    """The images of a folder, with the labels that its folders say."""
    found = list(_walk(source))
    paths = sorted(filter(_is_image, found), key=str)
    if not paths:
        raise DataworthError(f"there are no images ({' '.join(SUFFIXES)}) here: check the path.")
    labels = [path.parts[0] for path in paths]
    if {label.lower() for label in labels} <= SPLITS:
        raise DataworthError(
            f"the folders {', '.join(sorted(set(labels)))} are parts of a dataset, not labels: name one of"
            f" them, such as {source / min(labels)}."
        )
    for odd in (path for path in paths if len(path.parts) != 2):
        where = "in no label folder" if len(odd.parts) == 1 else "in a folder within a label folder"
        raise DataworthError(
            f"{odd} is {where}: put each image into a folder named by its label, or list the images with"
            " their labels (and groups) in a table."
        )
    items = [source / path for path in paths]
    table = pa.table({"id": list(map(str, paths)), "label": labels})
    ignored = f"{counted(len(found) - len(paths), 'file')} ignored in {source}, hidden or no image"
    notes = (ignored,) if len(found) > len(paths) else ()
    return ImageTable(NamedImages(items, list(map(str, items))), table, {"id": "id", "label": "label"}, notes)


def _is_image(path: PurePosixPath) -> bool:
    hidden = any(part.startswith(".") or part == "__MACOSX" for part in path.parts)
    return not hidden and path.suffix.lower() in SUFFIXES


def _walk(folder: Path) -> Iterator[PurePosixPath]:
    """The files below a folder, as paths relative to it; links to folders are followed, not in circles."""
    seen = set()
    for place, folders, files in os.walk(folder, followlinks=True):
        if (real := os.path.realpath(place)) in seen:
            folders.clear()
            continue
        seen.add(real)
        yield from (PurePosixPath(Path(place, name).relative_to(folder)) for name in files)


def _of_table(path: Path, image: str | None, **asked: Unpack[Asked]) -> ImageTable:
    """A table with a column of paths, of encoded images, or of both as Hugging Face's `datasets` writes."""
    part = part_of(path)
    notes = [f"{note.what} in {path}; {note.choice}" for note in part.notes]
    table = with_columns(part.table, list(map(_plain, part.table.columns)))
    if image is None:
        found = [name for name in table.column_names if _like_images(table[name])]
        if len(found) != 1:
            what = f"{listed(found)} could each hold" if found else "no column seems to hold"
            raise DataworthError(f"{what} {'the ' if found else ''}images: name it with {option('image')}.")
        image = found[0]
        notes.append(f'image column "{image}" guessed in {path}; say {option("image")} to choose')
    # The images are the one feature; what has no role is kept, but not used.
    asked["features"] = [image]
    wrong: list[str] = []
    assigned = assign_roles(table, wrong, **asked)
    refuse_all([*wrong, *wrong_kinds(assigned)])
    used = [role for role in assigned if role.role in ("label", "group", "attribute", "id", "weight")]
    roles = {"weights" if role.role == "weight" else role.role: role.column for role in used}
    for name in (image, *roles.values()):
        if count := table[name].null_count:
            missing = counted(count, "missing value")
            raise DataworthError(f"column {name!r} has {missing}: fill in, or leave the rows out.")
    items = _items(path, table[image], image)
    if isinstance(items[0], Path):
        roles.setdefault("id", image)
    else:
        table = table.drop_columns([image])
    return ImageTable(items, table, roles, tuple(notes))


def _plain(column: Any) -> Any:
    """A column, with numbers and dates as such where a text writes them as programs do."""
    text = column_kind(column) == "categorical" and column.null_count < len(column)
    values = plain_values(texts_of(column)) if text else None
    return column if values is None else values


def _items(path: Path, column: Any, name: str) -> NamedImages:
    values = column.to_pylist()
    rows = [f"{path}, row {i + 1}" for i in range(len(values))]
    if pa.types.is_struct(column.type):
        values = [value.get("bytes") or value.get("path") for value in values]
        for row in [row for value, row in zip(values, rows, strict=True) if not value]:
            raise DataworthError(f"{row} has neither bytes nor a path in {name!r}: fill it in.")
    elif (kind := column_kind(column)) not in ("binary", "categorical"):
        raise DataworthError(
            f"column {name!r} ({kind}) holds no images, which are paths or encoded bytes: name another with"
            f" {option('image')}."
        )
    items = [path.parent / value if isinstance(value, str) else value for value in values]
    names = [str(item) if isinstance(item, Path) else row for item, row in zip(items, rows, strict=True)]
    return NamedImages(items, names)


def _like_images(column: Any) -> bool:
    if pa.types.is_struct(column.type):
        return any(field.name == "bytes" for field in column.type)
    if (kind := column_kind(column)) != "categorical":
        return kind == "binary"
    first = next((str(value) for value in column.to_pylist() if value is not None), "")
    return PurePosixPath(first).suffix.lower() in SUFFIXES
