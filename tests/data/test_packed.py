"""Files that would take all memory are refused before they take it; damaged arrays before room is made."""

import gzip
import os
import zipfile

import numpy as np
import pyarrow as pa
import pyarrow.parquet

import dataworth as dw
from dataworth.data.io import files
from worlds import refusal


def packed_zeros(place, lines):
    """A CSV of which a megabyte packs into a kilobyte."""
    with gzip.open(place, "wb", compresslevel=6) as out:
        out.write(b"a,label\n")
        for _ in range(lines // 1_000_000):
            out.write(b"0,0\n" * 1_000_000)


def test_a_gz_of_a_hundred_megabytes_and_two_hundred_times_its_size_is_refused(tmp_path):
    place = tmp_path / "t.csv.gz"
    packed_zeros(place, 26_000_000)  # 104 MB
    assert place.stat().st_size * 200 < 1e8
    assert "unpacks to over 100,000,000: unpack it" in refusal(dw.read, place)


def test_a_gz_is_refused_beyond_two_hundred_times_its_size(tmp_path, monkeypatch):
    """Zeros pack a thousandfold, and whatever else is in a file makes it less."""
    monkeypatch.setattr(files, "SMALL", 0)
    place = tmp_path / "t.csv.gz"
    words = np.random.default_rng(0).integers(0, 256, 30_000, dtype=np.uint8).tobytes()
    for zeros, refused in ((40_000 * 180, False), (40_000 * 260, True)):
        place.write_bytes(gzip.compress(words + bytes(zeros)))
        times = (len(words) + zeros) / place.stat().st_size
        assert (times > 200) == refused
        if refused:
            assert "unpacks to over" in refusal(files.unpacked_size, place)
        else:
            assert files.unpacked_size(place) == len(words) + zeros


def test_an_npz_is_measured_by_what_it_says_of_itself(tmp_path):
    np.savez_compressed(tmp_path / "t.npz", X=np.zeros((10**7, 2)), y=np.arange(10**7) % 2 == 0)
    assert "unpacks to over" in refusal(dw.read, tmp_path / "t.npz")


def test_an_array_that_is_none_or_larger_than_memory_is_refused(tmp_path):
    """numpy makes room for the shape before it looks for the bytes: 10¹² numbers are 8 TB."""
    place = tmp_path / "t.npz"
    np.savez(tmp_path / "good.npz", X=np.ones((30, 2)), y=np.arange(30) % 2)
    with zipfile.ZipFile(tmp_path / "good.npz") as old, zipfile.ZipFile(place, "w") as new:
        for name in old.namelist():
            content = old.read(name)
            new.writestr(name, content.replace(b"(30, 2), }          ", b"(300000000000, 2), }"))
    assert "more memory than there is" in refusal(dw.read, place)
    with zipfile.ZipFile(place, "w") as new:
        new.writestr("X", b"no array")
        new.writestr("y.npy", b"neither")
    assert "cannot be read as .npz" in refusal(dw.read, place)


def test_a_parquet_file_says_what_memory_it_would_take(tmp_path, monkeypatch):
    """10⁵ equal rows take 2 kB on the disk, 4.8 MB while they are read: four fifths of what is free."""
    place = tmp_path / "t.parquet"
    pa.parquet.write_table(pa.table({"a": np.zeros(10**5), "label": np.arange(10**5) % 2}), place)
    assert len(dw.read(place)) == 10**5
    monkeypatch.setattr("dataworth.data.memory.free_memory", lambda: 5.9e6)
    assert "takes about 0.0 GB" in refusal(dw.read, place)
    monkeypatch.setattr("dataworth.data.memory.free_memory", lambda: 6.1e6)
    assert len(dw.read(place)) == 10**5


def test_pipes_and_devices_are_refused(tmp_path):
    os.mkfifo(tmp_path / "pipe.csv")  # nobody writes: reading it would never end
    (tmp_path / "zeros.csv").symlink_to("/dev/zero")
    for name in ("pipe.csv", "zeros.csv"):
        assert "which may have no end" in refusal(dw.read, tmp_path / name)


def test_numbers_of_sixteen_bits_are_numbers(tmp_path):
    halves = np.arange(40) % 7 / np.float16(2)
    table = pa.table({"a": halves.astype(np.float16), "label": np.arange(40) % 2})
    pa.parquet.write_table(table, tmp_path / "t.parquet")
    assert dw.read(tmp_path / "t.parquet").X[:, 0].tolist() == halves.tolist()


def test_pages_of_parquet_with_checksums_are_checked(tmp_path):
    """A flipped bit in the numbers of a page; without the checksum it would be another number."""
    place = tmp_path / "t.parquet"
    values = np.random.default_rng(0).normal(size=400)
    table = pa.table({"a": values, "label": np.arange(400) % 2})
    pa.parquet.write_table(table, place, write_page_checksum=True, use_dictionary=False, compression="none")
    raw = bytearray(place.read_bytes())
    raw[raw.index(values[200].tobytes()) + 4] ^= 1
    place.write_bytes(raw)
    assert "CRC" in refusal(dw.read, place)
