"""How much files ask for is said before they are decoded, never too little; what asks too much is refused.

The files of `benchmarks/bombs.py`, smaller.
"""

import json
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import hostile_files as hostile
from dataworth.data.io import describe, read
from dataworth.data.io.files import parquet_batches, size_of
from dataworth.data.io.sizes import unfolded
from dataworth.limits import LIMITS
from worlds import refusal

N = 2000
RNG = np.random.default_rng(0)
WORDS = RNG.choice(["Ulm", "Bonn", "a longer name"], N)
TABLE = pa.table(
    {
        "number": RNG.normal(size=N), "zero": np.zeros(N), "flag": WORDS == "Ulm",
        "small": pa.array(RNG.integers(0, 9, N), pa.int8()), "word": WORDS,
        "code": pa.array(WORDS).dictionary_encode(), "text": [f"{i} " * (i % 40) for i in range(N)],
        "list": [[float(i)] * (i % 5) for i in range(N)],
        "said": [[{"role": "user", "content": word}] * 2 for word in WORDS.tolist()],
        "map": pa.array([[(word, word)] for word in WORDS.tolist()], pa.map_(pa.string(), pa.string())),
        "label": np.arange(N) % 2,
    }
)  # fmt: skip
NUMBERS = ["number", "zero", "flag", "small", "list", "label"]


@pytest.mark.parametrize("packed", ["lz4", "zstd", None])
@pytest.mark.parametrize("kind", ["file", "stream"])
def test_arrow_says_how_large_it_is(tmp_path, kind, packed):
    place = tmp_path / "t.arrow"
    options = pa.ipc.IpcWriteOptions(compression=packed)
    with (pa.ipc.new_file if kind == "file" else pa.ipc.new_stream)(
        place, TABLE.schema, options=options
    ) as out:
        out.write_table(TABLE, max_chunksize=300)
    size = size_of(str(place), ".arrow")
    assert TABLE.nbytes <= size.unpacked <= 3 * TABLE.nbytes
    assert size.columns >= TABLE.num_columns
    assert size.needed == 3 * size.unpacked


def test_parquet_says_how_large_it_is(tmp_path):
    """Each number takes eight bytes in the end, whatever it takes in the file."""
    place = tmp_path / "t.parquet"
    pq.write_table(TABLE.select(NUMBERS), place, row_group_size=300)
    values = N * 5 + sum(i % 5 for i in range(N))
    assert 8 * values <= size_of(str(place), ".parquet").unpacked <= 8 * (values + N)
    pq.write_table(TABLE.select(["text"]), place, use_dictionary=False, compression="zstd")
    assert TABLE["text"].nbytes <= size_of(str(place), ".parquet").unpacked <= 1.1 * TABLE["text"].nbytes
    fixed = pa.array([b"x" * 5000] * N, pa.binary(5000))
    pq.write_table(pa.table({"fixed": fixed}), place)
    assert size_of(str(place), ".parquet").unpacked >= 5000 * N > 100 * place.stat().st_size


@pytest.mark.parametrize("name", ["word", "code", "text", "said"])
def test_what_unfolds_is_measured_while_it_is_folded(name):
    """Texts in dictionaries, within lists too, and behind views: the bytes that all rows have together."""
    plain = TABLE[name].combine_chunks()
    if name == "said":
        kind = pa.list_(pa.struct({n: pa.dictionary(pa.int32(), pa.string()) for n in ("role", "content")}))
        told = [one for row in plain.to_pylist() for said in row for one in said.values()]
        folded = plain.cast(kind)
    else:
        told = plain.to_pylist()
        folded = pa.array([*told, None]).dictionary_encode()
        assert unfolded(pa.array([*told, None]).cast(pa.string_view())[7:]) == sum(map(len, told[7:]))
    assert unfolded(folded) == sum(map(len, told))
    keys = pa.array(map(str, range(len(folded))))
    assert unfolded(pa.MapArray.from_arrays([0, len(folded)], keys, folded)) == sum(map(len, told))
    assert unfolded(TABLE["number"].chunk(0)) == 0


def test_folded_texts_are_read_as_they_are(tmp_path, monkeypatch):
    place = tmp_path / "t.parquet"
    pq.write_table(TABLE, place, row_group_size=700)
    monkeypatch.setattr("dataworth.limits.LIMITS", replace(LIMITS, unpacked=500_000, times=0))
    for together in (None, 300):
        found = pa.Table.from_batches(parquet_batches(str(place), together))
        assert found.schema.equals(pq.read_table(place).schema, check_metadata=True)
        assert found.to_pylist() == TABLE.to_pylist()
    different = pa.table({"said": [[{"content": "x" * 50 + str(i)}] for i in range(N)]})
    pq.write_table(different, place, dictionary_pagesize_limit=1000)  # a dictionary that is soon given up
    assert pa.Table.from_batches(parquet_batches(str(place))).to_pylist() == different.to_pylist()
    monkeypatch.setattr("dataworth.limits.LIMITS", replace(LIMITS, unpacked=1000, times=0))
    assert "shorten the texts that stand in many rows" in refusal(list, parquet_batches(str(place)))


WIDE = [f"c{j}" for j in range(140_000)]


def write(place, text):
    place.write_text(text)


def wide_npz(place):
    np.savez_compressed(place, X=np.zeros((2, len(WIDE))), y=[0, 1])


COLUMNS, UNPACKS = "it has more than 131,072 columns", "unpacks to over"
SMALL = {
    "labels.parquet": (lambda p: hostile.long_labels_parquet(p, 200_000, 1000), "shorten the texts"),
    "groups.parquet": (lambda p: hostile.long_labels_parquet(p, 20_000, 10_000, groups=200), "shorten"),
    "lists.parquet": (lambda p: hostile.long_labels_parquet(p, 200_000, 1000, 2), "shorten the texts"),
    "rows.parquet": (lambda p: hostile.constant_parquet(p, 10**7, a=0.0, label=1.0), "read some rows, with"),
    "keys.jsonl": (lambda p: hostile.many_keys_jsonl(p, 140_000, 10), COLUMNS),
    "keys.json": (lambda p: hostile.many_keys_jsonl(p, 140_000, 10), COLUMNS),
    "own.jsonl": (lambda p: hostile.many_keys_jsonl(p, 5000, 5000), "give every line the same keys"),
    "first.json": (lambda p: write(p, json.dumps([dict.fromkeys(WIDE[:9999], 1), *[{}] * 9999])), UNPACKS),
    "lists.json": (lambda p: write(p, json.dumps({name: [1] for name in WIDE})), COLUMNS),
    "commas.csv.gz": (lambda p: hostile.commas_gz(p, 200_000), UNPACKS),
    "header.csv": (lambda p: write(p, ",".join(WIDE)), COLUMNS),
    "wide.npz": (wide_npz, COLUMNS),
    "zeros.feather": (lambda p: hostile.bomb_feather(p, 10**7), UNPACKS),
    "again.arrow": (lambda p: hostile.repeated_arrow(p, 10_000, 700), UNPACKS),
    "rows.xlsx": (lambda p: hostile.far_cells_xlsx(p, 200), "delete what stands far from the table"),
    "name.csv": (lambda p: write(p, f"a,label\n1,0\n2,{'x' * 100_001}\n"), "100,000 are too many for a name"),
}


@pytest.mark.parametrize("name", SMALL)
def test_what_asks_for_too_much_is_refused_before_it_is_had(tmp_path, name):
    """A hundred megabytes each, or more than so many columns."""
    make, words = SMALL[name]
    make(tmp_path / name)
    before = pa.total_allocated_bytes()
    told = refusal(read, tmp_path / name)
    assert words in told
    assert told.startswith(str(tmp_path / name))
    assert pa.total_allocated_bytes() - before < 1e7


def test_a_batch_of_nothing_has_rows_all_the_same(tmp_path):
    """A column of the type null has a length, and no bytes."""
    with pa.ipc.new_file(tmp_path / "t.arrow", pa.schema({"a": pa.null(), "label": pa.null()})) as out:
        out.write_batch(pa.record_batch({"a": pa.nulls(10**8), "label": pa.nulls(10**8)}))
    assert "unpacks to over" in refusal(read, tmp_path / "t.arrow")


def test_what_a_sheet_says_of_its_size_counts_for_nothing(tmp_path):
    """By what it says, two rows would be a million of 16,384 cells. In the last of a million rows and
    16,384 columns."""
    sheet = hostile._sheet(b"".join(hostile.ROWS))
    said = sheet.replace(b"<sheetData>", b'<dimension ref="A1:XFD1048576"/><sheetData>')
    assert describe(hostile.xlsx(tmp_path / "t.xlsx", said)).rows == 1
    place = hostile.far_cell_xlsx(tmp_path / "t.xlsx")
    about = describe(place)
    assert about.rows == 2
    assert [role.column for role in about.roles][:2] == ["a", "label"]


def test_keys_are_counted_as_json_has_them(tmp_path):
    """Colons within texts, quotes behind backslashes, spaces around colons; the last line without its end."""
    rows = [{"a": 'x": 1, "y', 'b"': "\\", "c d": {"e": [":"]}}, {"a": '\\":', 'b"': "z", "f": 1}]
    place = tmp_path / "t.jsonl"
    for separators in ((",", ":"), (" , ", " : ")):
        place.write_text("\n".join(json.dumps(row, separators=separators) for row in rows))
        assert size_of(str(place), ".jsonl").columns == len({"a", 'b"', "c d", "e", "f"})
