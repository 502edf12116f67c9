"""How much a file asks for, known or bounded before any of it is decoded.

Text and archives say how many bytes they unpack to; Parquet says how many numbers each column has; packed
Arrow says how long each buffer will be; lines of JSON are looked through for their keys, each of which is a
column. What no count tells, texts that a dictionary holds once and a table in every row, `refuse_unfolded`
looks at while it is still folded.
"""

from __future__ import annotations

import zipfile
from collections.abc import Iterable, Iterator
from itertools import cycle
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dataworth.atomic import parsed_size
from dataworth.limits import most_unpacked, refuse_columns, refuse_unpacked

TIMES_ITS_TEXT, TIMES_ITS_NUMBERS = 5, 3
"""How much more memory a table takes than its text, or its numbers, while it is read."""
CELL, TEXT = 8, 40
"""Bytes of a number, and of a text of Python's."""
STEP, LONGEST_LINE = 1 << 22, 1 << 24
"""Bytes that are looked through together, and of a line of JSON that can be read."""
SEPARATORS = (b",", b";", b"\t", b"|", b"\n")
"""What may end a cell of a text."""
UNPACK = "unpack it yourself, if that is meant"


class Size(NamedTuple):
    """Bytes on the disk, and of texts or numbers once unpacked; columns (1 if not known); memory it takes."""

    stored: int
    unpacked: int
    columns: int
    needed: int


def size_of_text(path: Path) -> Size:
    """Of a text, an archive, or any other file that holds its cells plainly."""
    stored = unpacked = path.stat().st_size
    if path.suffix.lower() == ".gz":
        # an empty cell is a byte of text, and a number in the end
        ends = [(len(piece), sum(map(piece.count, SEPARATORS))) for piece in _pieces(path)]
        unpacked = max(sum(n for n, _ in ends), CELL * sum(cells for _, cells in ends))
    elif path.suffix.lower() in (".npz", ".xlsx") and zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            unpacked = sum(entry.file_size for entry in archive.infolist())
    return Size(stored, unpacked, 1, TIMES_ITS_TEXT * unpacked)


def _pieces(path: Path) -> Iterator[bytes]:
    """A file, unpacked, as far as it may be."""
    left = most_unpacked(path.stat().st_size)
    with pa.input_stream(str(path)) as stream:
        while left >= 0 and (piece := stream.read(STEP)):
            left -= len(piece)
            yield piece


def size_of_lines(path: Path) -> Size:
    """Of lines of JSON, where every key of any line is a column of all."""
    keys: set[bytes] = set()
    size, lines, rest = 0, 1, b""
    for piece in _pieces(path):
        size, lines = size + len(piece), lines + piece.count(b"\n")
        whole, _, rest = (rest + piece).rpartition(b"\n")
        keys |= _keys(whole)
        refuse_columns(len(keys))
        if len(rest) > LONGEST_LINE:  # which the reader will refuse
            break
    keys |= _keys(rest)
    refuse_columns(len(keys))
    stored, unpacked = path.stat().st_size, max(size, CELL * lines * len(keys))
    refuse_unpacked(stored, unpacked, "give every line the same keys" if unpacked > size else UNPACK)
    return Size(stored, unpacked, len(keys), TIMES_ITS_TEXT * unpacked)


def _keys(lines: bytes) -> set[bytes]:
    """Texts that a colon follows."""
    parts = lines.replace(b"\\\\", b"").replace(b'\\"', b"").split(b'"')
    return {text for text, after in zip(parts[1::2], parts[2::2], strict=False) if after.lstrip()[:1] == b":"}


def size_of_json(path: Path) -> Size:
    """Of one value of JSON, which Python parses."""
    stored, raw = path.stat().st_size, path.read_bytes()
    return Size(stored, stored, 1, parsed_size(raw))


def size_of_arrow(path: Path) -> Size:
    """Of record batches, by their own account: the length of each column and of each unpacked buffer."""
    stored = path.stat().st_size
    numbers = buffers = columns = 0
    with pa.memory_map(str(path)) as source:
        for batch, body in _batches(source.read_buffer()):
            lengths = batch.lengths()
            numbers, buffers = numbers + CELL * sum(lengths), buffers + sum(batch.unpacked(body))
            columns = max(columns, len(lengths))
            refuse_unpacked(stored, max(numbers, buffers), UNPACK)  # at once: a batch may be named often
    return Size(stored, max(numbers, buffers), columns, TIMES_ITS_NUMBERS * max(numbers, buffers))


MARK = b"ARROW1"
BLOCK = np.dtype([("start", "<i8"), ("head", "<i4"), ("", "<i4"), ("body", "<i8")])
PAIR = np.dtype([("first", "<i8"), ("second", "<i8")])
BATCHES = {"dictionary": True, "record batch": False}


def _batches(content: Any) -> Iterator[tuple[_Flat, Any]]:
    """Record batches, of dictionaries too, with their buffers: where a file's end says, or in a stream."""
    raw = memoryview(content)
    if bytes(raw[:6]) != MARK:
        for message in pa.ipc.MessageReader.open_stream(content):
            if message.type in BATCHES:
                yield _batch_of(message.metadata, BATCHES[message.type]), message.body
        return
    end = len(raw) - 4 - len(MARK)
    footer = _Flat.root(raw[end - _number(raw, end, "<i4") : end])
    for slot in (2, 3):
        for start, head, _, size in footer.items(slot, BLOCK):
            begin = start + (8 if _number(raw, start, "<i4") == -1 else 4)
            yield _batch_of(raw[begin : start + head], slot == 2), raw[start + head : start + head + size]


def _batch_of(message: Any, dictionary: bool) -> _Flat:
    found = _Flat.root(message).to(2)
    return found.to(1) if dictionary else found


class _Flat(NamedTuple):
    """A table of a flatbuffer: the little of the format that tells how large a batch is.

    https://arrow.apache.org/docs/format/Columnar.html: Message(version, type, header …), header one of
    RecordBatch(length, nodes, buffers, compression …) and DictionaryBatch(id, data …); a file ends with
    Footer(version, schema, dictionaries, record batches …).
    """

    raw: Any
    place: int

    @classmethod
    def root(cls, raw: Any) -> _Flat:
        """The table that a buffer begins with."""
        return cls(raw, _number(raw, 0, "<u4"))

    def _at(self, slot: int) -> int | None:
        """Where a field of the table stands; None if it is left out."""
        known = self.place - _number(self.raw, self.place, "<i4")
        inside = 4 + 2 * slot < _number(self.raw, known, "<u2")
        offset = _number(self.raw, known + 4 + 2 * slot, "<u2") if inside else 0
        return self.place + offset if offset else None

    def to(self, slot: int) -> _Flat:
        """What a field points to."""
        place = self._at(slot)
        if place is None:
            raise ValueError("a batch without its parts")
        return _Flat(self.raw, place + _number(self.raw, place, "<u4"))

    def items(self, slot: int, kind: Any = PAIR) -> list[Any]:
        """A vector of fixed entries; none if it is left out."""
        if self._at(slot) is None:
            return []
        place = self.to(slot).place
        found: list[Any] = np.frombuffer(self.raw, kind, _number(self.raw, place, "<u4"), place + 4).tolist()
        return found

    def lengths(self) -> list[int]:
        """Of all columns, and of those within them."""
        return [abs(length) for length, _ in self.items(1)]

    def unpacked(self, body: Any) -> list[int]:
        """Bytes of every buffer: a packed one begins with them, or with −1 if it is none."""
        packed, buffers = self._at(3) is not None, self.items(2)
        begin = [_number(body, start, "<i8") if packed and n > 0 else -1 for start, n in buffers]
        return [abs(n if said == -1 else said) for said, (_, n) in zip(begin, buffers, strict=True)]


def _number(raw: Any, place: int, kind: str) -> int:
    return int(np.frombuffer(raw, kind, 1, place)[0])


def size_of_parquet(stored: int, metadata: Any) -> Size:
    """Of a Parquet file: numbers by their count, texts by the bytes of their pages."""
    numbers = 0
    widths = [max(CELL, metadata.schema.column(j).length) for j in range(metadata.num_columns)]
    for chunk, width in zip(chunks(metadata), cycle(widths), strict=False):
        texts = chunk.physical_type == "BYTE_ARRAY"
        numbers += max(width * chunk.num_values, chunk.total_uncompressed_size if texts else 0)
    numbers = max(numbers, CELL * metadata.num_rows * metadata.num_columns)
    return Size(stored, numbers, max(1, metadata.num_columns), TIMES_ITS_NUMBERS * numbers)


def chunks(metadata: Any) -> Iterator[Any]:
    """Every column of every row group."""
    for group in map(metadata.row_group, range(metadata.num_row_groups)):
        yield from map(group.column, range(group.num_columns))


class Folded(NamedTuple):
    """Paths of columns of texts that stand in dictionaries, and of those within lists and the like."""

    flat: list[str]
    nested: list[str]


def folded_columns(stored: int, metadata: Any) -> Folded:
    """All, if together they may unfold to more than a file may: a long text stands once, and rows name it."""
    texts = (chunk for chunk in chunks(metadata) if chunk.physical_type == "BYTE_ARRAY")
    coded = [chunk for chunk in texts if any("DICTIONARY" in one for one in chunk.encodings)]
    most = sum(chunk.num_values * chunk.total_uncompressed_size for chunk in coded)
    found = {chunk.path_in_schema for chunk in coded} if most > most_unpacked(stored) else set()
    every = [metadata.schema.column(j) for j in range(metadata.num_columns)]
    known = [column for column in every if column.path in found]
    flat = [column.path for column in known if column.path == column.name]
    return Folded(flat, [column.path for column in known if column.path != column.name])


VIEWS = ("string_view", "binary_view")
LISTS = ("list<", "large_list<", "fixed_size_list<")


def refuse_unfolded(stored: int, tables: Iterable[Any]) -> None:
    """A sentence, if the texts of tables that are still folded unfold to more than their file may."""
    found = 0
    for table in tables:
        found += sum(unfolded(one) for column in table.columns for one in column.chunks)
        refuse_unpacked(stored, found, "shorten the texts that stand in many rows")


def unfolded(array: Any) -> int:
    """Bytes of texts that stand in a dictionary, or that views point to, once every row has its own.

    >>> unfolded(pa.DictionaryArray.from_arrays([0, 0, 1, None], ["long", "er"]))
    10
    """
    name = str(array.type)
    if pa.types.is_dictionary(array.type):
        texts = _lengths(array.dictionary)
        return int(texts[array.indices.drop_null().to_numpy()].sum()) if len(texts) else 0
    if name in VIEWS:
        return int(_lengths(array).sum())
    if name.startswith(("struct<", "map<")):
        parts = [array.keys, array.items] if name.startswith("map<") else array.flatten()
        return sum(map(unfolded, parts))
    return unfolded(array.flatten()) if name.startswith(LISTS) else 0


def _lengths(texts: Any) -> Any:
    """Bytes of each text of an array; nothing of other arrays."""
    if str(texts.type) in VIEWS:  # of 16 bytes, which begin with the length
        views = np.frombuffer(texts.buffers()[1] or b"", "<i4").reshape(-1, 4)
        return views[texts.offset : texts.offset + len(texts), 0].astype(np.int64)
    plain = str(texts.type).removeprefix("large_") in ("string", "binary")
    return pc.binary_length(texts).fill_null(0).to_numpy().astype(np.int64) if plain else np.zeros(0)
