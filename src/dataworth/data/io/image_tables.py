"""A table with a column of image paths, of encoded images, or of both as Hugging Face's `datasets` writes."""

from __future__ import annotations

from os import PathLike
from pathlib import Path, PurePosixPath
from typing import Any, Unpack

from dataworth.data.convert import column_kind
from dataworth.data.io.images import SUFFIXES, ImageTable, NamedImages, read_image_folder, split_zip
from dataworth.data.io.notes import naming, refuse_all
from dataworth.data.io.roles import Asked, assign_roles, of_kinds
from dataworth.data.io.schema import plain_table
from dataworth.data.io.sources import part_of
from dataworth.errors import DataworthError
from dataworth.wording import counted, listed, option


def read_images(source: str | PathLike[str], image: str | None = None, **asked: Unpack[Asked]) -> ImageTable:
    """The images of a folder, of (part of) a zip, or of a table, with the labels and what else is known.

    Args:
        source: a folder or zip with a folder per label (see `dataworth.data.io.images`), or a table.
        image: the table's column of images: paths relative to the table's file, or encoded bytes; guessed if
            only one can be.
        asked: label, group, attribute, id, weights: columns of the table, as in `read`. Without an id, a path
            serves as one.
    """
    path = Path(source)
    if not is_table(path):
        named = [name for name, column in {"image": image, **asked}.items() if column is not None]
        if named:
            raise DataworthError(
                f"{source}: --{named[0]} names a column, but this is no table: its folders say the labels."
            )
        with naming(source):
            return read_image_folder(path)
    with naming(source):
        part = part_of(path)
        notes = [f"{note.what} in {path}; {note.choice}" for note in part.notes]
        return _of_table(path, plain_table(part), image, notes, **asked)


def is_table(source: str | PathLike[str]) -> bool:
    """Whether images are listed in a file, not laid out in folders."""
    path = Path(source)
    return not path.is_dir() and split_zip(path) is None


def _of_table(
    path: Path, table: Any, image: str | None, notes: list[str], **asked: Unpack[Asked]
) -> ImageTable:
    if image is None:
        image = _guessed(table)
        notes.append(f'image column "{image}" guessed in {path}; say {option("image")} to choose')
    # The images are the one feature; what has no role is kept, but not used.
    asked["features"] = [image]
    assigned = assign_roles(table, **asked)
    refuse_all(of_kinds(assigned))
    used = [role for role in assigned if role.role in ("label", "group", "attribute", "id", "weight")]
    roles = {"weights" if role.role == "weight" else role.role: role.column for role in used}
    for column in (image, *roles.values()):
        if count := table[column].null_count:
            raise DataworthError(
                f"column {column!r} has {counted(count, 'missing value')}: fill in, or leave the rows out."
            )
    items, names = _items(path, table[image], image)
    if isinstance(items[0], Path):
        roles.setdefault("id", image)
    else:
        table = table.drop_columns([image])
    return ImageTable(NamedImages(items, names), table, roles, tuple(notes))


def _items(path: Path, column: Any, name: str) -> tuple[list[Any], list[str]]:
    import pyarrow as pa

    values = column.to_pylist()
    rows = [f"{path}, row {i + 1}" for i in range(len(values))]
    if pa.types.is_struct(column.type):
        values = [value.get("bytes") or value.get("path") for value in values]
        for value, row in zip(values, rows, strict=True):
            if not value:
                raise DataworthError(f"{row} has neither bytes nor a path in {name!r}: fill it in.")
    elif column_kind(column) not in ("binary", "categorical"):
        raise DataworthError(
            f"column {name!r} ({column_kind(column)}) holds no images, which are paths or encoded bytes: name"
            f" another with {option('image')}."
        )
    items = [path.parent / value if isinstance(value, str) else value for value in values]
    names = [str(item) if isinstance(item, Path) else row for item, row in zip(items, rows, strict=True)]
    return items, names


def _guessed(table: Any) -> str:
    found = [name for name in table.column_names if _like_images(table[name])]
    if len(found) != 1:
        what = f"{listed(found)} could each hold the images" if found else "no column seems to hold images"
        raise DataworthError(f"{what}: name it with {option('image')}.")
    return found[0]


def _like_images(column: Any) -> bool:
    import pyarrow as pa

    if pa.types.is_struct(column.type):
        return any(field.name == "bytes" for field in column.type)
    kind = column_kind(column)
    if kind == "categorical":
        first = next((str(value) for value in column.to_pylist() if value is not None), "")
        return PurePosixPath(first).suffix.lower() in SUFFIXES
    return kind == "binary"
