"""Large files: rows drawn from them, and refusals before memory is taken or room is made."""

import gzip
import os
import subprocess
import sys
import zipfile
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy.stats import chi2

from dataworth.data import io
from dataworth.data.io import ReadingWarning, describe, files, inputs, read
from dataworth.limits import LIMITS, TooLarge
from worlds import refusal


def table(n):
    return pa.table({"a": np.arange(n) % 7 + 0.5, "b": np.arange(n), "label": np.arange(n) % 2})


def parquet(path, n, group):
    pq.write_table(table(n), path, row_group_size=group)
    return path


def test_every_row_is_as_likely_as_any_other(monkeypatch):
    """Counts of 100 places over 500 draws of 10: chi-square on 99 degrees; false alarms 1 in 1,000."""
    batches = table(100).to_batches(max_chunksize=9)
    counts = np.zeros(100)
    for seed in range(500):
        monkeypatch.setattr(files, "SEED", seed)
        drawn, total = files.sample_of_batches(batches, 10)
        assert total == 100
        rows = drawn["b"].to_numpy()
        assert (np.diff(rows) > 0).all()  # none twice, and in their order
        counts[rows] += 1
    # without replacement the statistic is smaller by the proportion left: 0.9
    assert ((counts - 50) ** 2 / (50 * 0.9)).sum() < chi2.ppf(0.999, 99)


def test_text_is_sampled_with_its_quotes_and_types(tmp_path):
    path = tmp_path / "a.csv"
    lines = [f'{i},"a, {i}\nb",{"" if i == 3 else i / 2},{i % 2}' for i in range(1000)]
    path.write_text("n,words,half,label\n" + "\n".join(lines) + "\n")
    with pytest.warns(ReadingWarning, match="200 of its 1,000 rows"):
        data = read(path, sample=200, features="n,half", impute=True)
    known = data.X[:, 0] != 3  # whose half is missing
    assert np.isnan(data.X[~known, 1]).all()
    assert (data.X[known, 0] == 2 * data.X[known, 1]).all()
    assert (
        len(read(parquet(tmp_path / "a.parquet", 500, 64), sample=500, features="a")) == 500
    )  # all there are


def test_parquet_on_another_file_system():
    fsspec = pytest.importorskip("fsspec")
    with fsspec.open("memory://big/a.parquet", "wb") as file:
        pq.write_table(table(400), file, row_group_size=100)
    with pytest.warns(ReadingWarning, match="40 of its 400 rows"):
        assert len(read("memory://big/a.parquet", sample=40, features="a,b")) == 40
    assert len(read("memory://big/*.parquet", features="a")) == 400
    assert "only Parquet is read from an address" in refusal(read, "memory://big/a.csv")


def test_rows_that_pairs_are_drawn_from_and_that_describe_a_large_file(tmp_path, monkeypatch):
    assert inputs.rows_for_pairs([parquet(tmp_path / "b.parquet", 100_000, 100_000)], 50) is None
    monkeypatch.setattr(files, "LARGE", 1 << 10)
    path = parquet(tmp_path / "a.parquet", 300, 100)
    assert (inputs.rows_for_pairs([path], 50), inputs.rows_for_pairs([path], 500)) == (20_000, 50_000)
    monkeypatch.setattr(files, "LARGE", 1 << 14)
    monkeypatch.setattr(io, "DESCRIBED", 1000)
    path = parquet(tmp_path / "a.parquet", 3000, 500)
    about = describe(path)
    assert about.rows == 3000
    assert any("1,000 of its 3,000 rows were drawn at random" in note for note in about.notes)
    packed = tmp_path / "a.csv.gz"
    packed.write_bytes(gzip.compress(b"a,label\n" + b"1.5,0\n2.5,1\n" * 3000))
    about = describe(packed)
    assert (about.rows, sum(about.labels.classes.values())) == (6000, 1000)


def test_a_file_that_cannot_fit_is_refused_before_it_is_read(tmp_path, monkeypatch):
    """A text of zeros, packed a thousandfold, and a table, in a machine of 200 kB."""
    monkeypatch.setattr("dataworth.limits.free_memory", lambda: 2e5)
    packed = tmp_path / "a.csv.gz"
    packed.write_bytes(gzip.compress(b"a,label\n" + b"0,0\n" * 1_000_000))
    for path in (packed, parquet(tmp_path / "a.parquet", 20_000, 5000)):
        assert "GB of memory" in refusal(read, path)
    (tmp_path / "parts").mkdir()
    for name in "ab":  # each would fit; together they do not, and are to be streamed
        parquet(tmp_path / "parts" / f"{name}.parquet", 1500, 500)
    with pytest.raises(TooLarge):
        files.part_of(tmp_path / "parts")
    with pytest.warns(ReadingWarning, match="of its 1,000,000 rows"):
        assert len(read(packed, sample=1000, features="a")) == 1000


def test_a_header_longer_than_the_beginning_is_read_whole(tmp_path):
    names = [f"a_column_with_a_long_name_{j:06d}" for j in range(11_000)]
    path = tmp_path / "wide.csv"
    rows = "\n".join(",".join([f"{(i + j) % 5}.5" for j in range(11_000)] + [str(i % 2)]) for i in range(4))
    path.write_text(",".join([*names, "label"]) + "\n" + rows + "\n")
    data = read(path)
    assert data.n_features == 11_000
    assert data.X[3, 10_501] == (3 + 10_501) % 5 + 0.5


def test_memory_does_not_grow_with_the_file(tmp_path):
    """A sample of 1,000 rows of 40 MB of text takes less than 30 MB above what imports take."""
    path = tmp_path / "a.csv"
    line = ",".join(["0.123456789"] * 8)
    path.write_text("a,b,c,d,e,f,g,h,label\n" + f"{line},0\n{line},1\n" * 200_000)
    code = (
        "import resource, warnings; warnings.simplefilter('ignore'); import pyarrow.csv;"
        "from dataworth.data.io import read;"
        "used = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024;"
        f"before = used(); read({str(path)!r}, sample=1000, features='b'); print(used() - before)"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert float(found.stdout) < 30


def test_a_gz_of_a_hundred_megabytes_and_two_hundred_times_its_size_is_refused(tmp_path):
    place = tmp_path / "t.csv.gz"
    with gzip.open(place, "wb", compresslevel=6) as out:
        out.write(b"a,label\n")
        for _ in range(26):  # 104 MB
            out.write(b"0,0\n" * 1_000_000)
    assert place.stat().st_size * 200 < 1e8
    assert "unpacks to over 100,000,000: unpack it" in refusal(read, place)


def test_a_gz_is_refused_beyond_two_hundred_times_its_size(tmp_path, monkeypatch):
    """Zeros pack a thousandfold, and whatever else is in a file makes it less."""
    monkeypatch.setattr("dataworth.limits.LIMITS", replace(LIMITS, unpacked=0))
    place = tmp_path / "t.csv.gz"
    words = np.random.default_rng(0).integers(0, 256, 30_000, dtype=np.uint8).tobytes()
    for zeros, refused in ((40_000 * 180, False), (40_000 * 260, True)):
        place.write_bytes(gzip.compress(words + bytes(zeros)))
        times = (len(words) + zeros) / place.stat().st_size
        assert (times > 200) == refused
        if refused:
            assert "unpacks to over" in refusal(files.size_of, str(place), ".csv.gz")
        else:
            assert files.size_of(str(place), ".csv.gz").unpacked == len(words) + zeros


def test_an_npz_that_unpacks_to_too_much_or_says_so_is_refused(tmp_path):
    """numpy makes room for the shape before it looks for the bytes: 10¹² numbers are 8 TB."""
    np.savez_compressed(tmp_path / "z.npz", X=np.zeros((10**7, 2)), y=np.arange(10**7) % 2 == 0)
    assert "unpacks to over" in refusal(read, tmp_path / "z.npz")
    place = tmp_path / "t.npz"
    np.savez(tmp_path / "good.npz", X=np.ones((30, 2)), y=np.arange(30) % 2)
    with zipfile.ZipFile(tmp_path / "good.npz") as old, zipfile.ZipFile(place, "w") as new:
        for name in old.namelist():
            content = old.read(name)
            new.writestr(name, content.replace(b"(30, 2), }          ", b"(300000000000, 2), }"))
    assert "more memory than there is" in refusal(read, place)
    with zipfile.ZipFile(place, "w") as new:
        new.writestr("X", b"no array")
        new.writestr("y.npy", b"neither")
    assert "cannot be read as .npz" in refusal(read, place)


def test_a_parquet_file_says_what_memory_it_would_take(tmp_path, monkeypatch):
    """10⁵ equal rows take 2 kB on the disk, 4.8 MB while they are read: four fifths of what is free."""
    place = tmp_path / "t.parquet"
    pq.write_table(pa.table({"a": np.zeros(10**5), "label": np.arange(10**5) % 2}), place)
    assert len(read(place)) == 10**5
    monkeypatch.setattr("dataworth.limits.free_memory", lambda: 5.9e6)
    assert "takes about 0.0 GB" in refusal(read, place)
    monkeypatch.setattr("dataworth.limits.free_memory", lambda: 6.1e6)
    assert len(read(place)) == 10**5


def test_pipes_and_devices_are_refused(tmp_path):
    os.mkfifo(tmp_path / "pipe.csv")  # nobody writes: reading it would never end
    (tmp_path / "zeros.csv").symlink_to("/dev/zero")
    for name in ("pipe.csv", "zeros.csv"):
        assert "which may have no end" in refusal(read, tmp_path / name)


def test_pages_of_parquet_with_checksums_are_checked(tmp_path):
    """A flipped bit in the numbers of a page; without the checksum it would be another number."""
    place = tmp_path / "t.parquet"
    values = np.random.default_rng(0).normal(size=400)
    table = pa.table({"a": values, "label": np.arange(400) % 2})
    pq.write_table(table, place, write_page_checksum=True, use_dictionary=False, compression="none")
    raw = bytearray(place.read_bytes())
    raw[raw.index(values[200].tobytes()) + 4] ^= 1
    place.write_bytes(raw)
    assert "CRC" in refusal(read, place)
