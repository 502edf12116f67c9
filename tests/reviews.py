"""Reviews of a small table, made as the command makes them: what several test files share."""

import csv
import struct
import zlib
from pathlib import Path

import numpy as np

from dataworth.cli.options import Columns
from dataworth.cli.reviewing import Wanted, open_session

OPTIONS = {"prior_variance": 1.0, "cache": False}
FLIPPED = 12


def write(path, rows):
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def world(folder, n=120, tested=120, **cells):
    """`raw.csv`, of which some labels are wrong, and `test.csv`; `cells`: further columns by row."""
    rng = np.random.default_rng(11)
    X = rng.normal(size=(n + tested, 2)).round(4)
    right = np.where(X[:, 0] + 0.2 * rng.normal(size=len(X)) > 0, "yes", "no")
    bad = np.isin(np.arange(n + tested), np.argsort(-np.abs(X[:n, 0]))[:FLIPPED])
    given = np.where(bad, np.where(right == "yes", "no", "yes"), right)
    rows = [{"id": f"r{i}", "a": X[i, 0], "b": X[i, 1], "label": given[i]} for i in range(n + tested)]
    write(folder / "test.csv", rows[n:])
    for i, row in enumerate(rows[:n]):
        row |= {"who": "Ann" if i % 3 or bad[i] else "Bo"} | {name: make(i) for name, make in cells.items()}
    write(folder / "raw.csv", rows[:n])
    return right[:n].tolist(), bad[:n]


def begin(folder, output="corrected.csv", columns=None, source="who", options=None):
    """The open session of a folder's files."""
    columns, folder = columns or Columns(features="a,b"), Path(folder)
    wanted = Wanted(None, None, None, source, None, "Dana", 0, False)
    own = {**OPTIONS, **(options or {})}
    return open_session(
        folder / "raw.csv", folder / "test.csv", columns, own, wanted, folder / output, quiet=True
    )


def labels_of(path):
    with open(path, newline="", encoding="utf-8") as file:
        return [row["label"] for row in csv.DictReader(file)]


def png(red, side=24):
    """A small picture of one colour."""
    raw = b"".join(b"\0" + bytes([red, 90, 160]) * side for _ in range(side))

    def chunk(kind, body):
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    size = struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)
    parts = [chunk(b"IHDR", size), chunk(b"IDAT", zlib.compress(raw)), chunk(b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts)
