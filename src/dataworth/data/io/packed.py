"""Packed files that unpack to far more than they are: refused before anything is unpacked into memory."""

from __future__ import annotations

import os
import zipfile
from math import prod
from pathlib import Path

import numpy as np

from dataworth.errors import DataworthError

SMALL = 100_000_000
"""Bytes that any file may unpack to."""
EXPANDED = 200
"""How many times its own size a file may unpack to beyond that: tables of text take 3 to 50."""
PIECE = 1 << 22
HEADERS = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}


def refuse_bomb(path: Path) -> None:
    """A sentence if a .gz, .npz or .xlsx unpacks to more than SMALL bytes and EXPANDED times its size."""
    size = path.stat().st_size
    most = max(SMALL, EXPANDED * size)
    if path.suffix.lower() == ".gz" and size * 1032 > most:  # deflate packs no more than that
        unpacked = _size_of_gz(path, most)
    elif path.suffix.lower() in (".npz", ".xlsx") and zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            unpacked = sum(entry.file_size for entry in archive.infolist())
    else:
        return
    if unpacked > most:
        raise DataworthError(
            f"it has {size:,} bytes and unpacks to over {most:,}: unpack it yourself, if that is meant"
        )


def need_memory(needed: int) -> None:
    """A sentence if a table would take more bytes than this machine has."""
    here = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else needed
    if needed > here:
        raise DataworthError(
            f"it would take {needed / 1e9:,.1f} GB of memory, and this machine has {here / 1e9:,.1f} GB: give"
            " fewer rows or columns"
        )


def _size_of_gz(path: Path, most: int) -> int:
    """How many bytes it unpacks to, counted piece by piece until they are more than `most`."""
    import pyarrow as pa

    count = 0
    with pa.input_stream(str(path)) as stream:
        while piece := stream.read(PIECE):
            count += len(piece)
            if count > most:
                break
    return count


def check_array(archive: zipfile.ZipFile, name: str) -> None:
    """A sentence if an array of an npz is none, or has not as many bytes as its shape says.

    numpy would make room for that shape before it finds the bytes missing.
    """
    label = name.removesuffix(".npy")
    if name not in archive.namelist():
        raise DataworthError(f"{label} is no array: save it with numpy.savez(file, X=X, y=y)")
    with archive.open(name) as member:
        version = np.lib.format.read_magic(member)
        if version not in HEADERS:
            raise DataworthError(f"{label} is no array of plain numbers or texts: save it as one")
        shape, _, kind = HEADERS[version](member)
        size = archive.getinfo(name).file_size - member.tell()
    if kind.hasobject:
        raise DataworthError(
            f"{label} holds Python objects, not numbers or texts: save it as an array of those"
        )
    if prod(shape) * kind.itemsize != size or min(shape, default=0) < 0:
        raise DataworthError(f"{label} has {size:,} bytes, but not those of its shape {shape}: save it again")
