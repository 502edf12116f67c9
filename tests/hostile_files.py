"""Small files that ask for much memory or time, as an adversary makes them; sizes are arguments.

`benchmarks/bombs.py` gives them to the command line at full size, tests at a size that takes no time.
"""

import gzip
import io
import json
import zipfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq

from dataworth.data.io.sizes import _Flat

GOOD = "a,b,label\n" + "".join(f"{i % 7}.5,{i % 5}.25,{i % 2}\n" for i in range(60))


def constant_parquet(path: Path, rows: int, **columns: float) -> Path:
    """A table of constants: kilobytes a million rows."""
    step = min(rows, 10**6)
    table = pa.table({name: np.full(step, value) for name, value in columns.items()})
    with pq.ParquetWriter(path, table.schema, compression="zstd") as out:
        for start in range(0, rows, step):
            out.write_table(table.slice(0, rows - start), row_group_size=step)
    return path


def values_file(path: Path, rows: int) -> Path:
    """What looks like the output of 'dataworth values', of any number of rows."""
    constant_parquet(path, rows, value=0.0, loo_log_likelihood=0.0, p_mislabeled=0.0)
    told = {"schema": "dataworth/values-file/1", "yardstick": "0" * 64, "key": "0" * 32}
    told |= {"data": "0" * 64, "test": "0" * 64}
    path.with_name(f"{path.name}.about.json").write_text(json.dumps(told))
    return path


def long_labels_parquet(path: Path, length: int, rows: int, within: int = 0, groups: int = 2) -> Path:
    """Two labels of megabytes, which stand once in a dictionary, and in every row, or list of every row."""
    labels = pa.DictionaryArray.from_arrays(pa.array(np.arange(rows) % 2), ["x" * length, "y" * length])
    if within:
        labels = pa.ListArray.from_arrays(np.arange(0, rows + 1, within), labels)
    table = pa.table({"a": np.arange(len(labels)) + 0.5, "label": labels})
    pq.write_table(table, path, compression="zstd", store_schema=False, row_group_size=rows // groups)
    return path


def commas_gz(path: Path, rows: int) -> Path:
    """Empty cells, a byte each, packed a thousandfold."""
    with gzip.open(path, "wb", 6) as out:
        out.write(",".join([*(f"c{j}" for j in range(64)), "label"]).encode() + b"\n")
        for _ in range(rows // 1000):
            out.write((b"," * 64 + b"1\n") * 1000)
    return path


def many_keys_jsonl(path: Path, keys: int, lines: int) -> Path:
    """Every line has keys of its own, each of which is a column of all."""
    each = keys // lines
    with path.open("w") as out:
        for i in range(lines):
            own = (f'"k{j:07d}":1' for j in range(i * each, (i + 1) * each))
            out.write(f'{{{",".join(own)},"label":{i % 2}}}\n')
    return path


def xlsx(path: Path, sheet: bytes) -> Path:
    """A workbook with this XML as its first sheet."""
    import openpyxl

    made, book = io.BytesIO(), openpyxl.Workbook()
    book.save(made)
    with (
        zipfile.ZipFile(made) as old,
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as new,
    ):
        for entry in old.namelist():
            new.writestr(entry, sheet if entry.endswith("sheet1.xml") else old.read(entry))
    return path


def _sheet(rows: bytes) -> bytes:
    head = b'<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>'
    return head + rows + b"</sheetData></worksheet>"


INLINE = b'<c r="%s" t="inlineStr"><is><t>%s</t></is></c>'
ROWS = (
    b'<row r="1">' + INLINE % (b"A1", b"a") + INLINE % (b"B1", b"label") + b"</row>",
    b'<row r="2"><c r="A2"><v>1</v></c><c r="B2"><v>0</v></c></row>',
)


def far_cell_xlsx(path: Path) -> Path:
    """Two rows, and one cell in the last row and column that a sheet has."""
    return xlsx(path, _sheet(b"".join(ROWS) + b'<row r="1048576"><c r="XFD1048576"><v>1</v></c></row>'))


def many_cells_xlsx(path: Path, rows: int, columns: int) -> Path:
    """Cells that are nearly all alike: a hundred and more times as many bytes as they take on the disk."""
    text = b'<c t="inlineStr"><is><t>%s</t></is></c>'
    head = b"<row>" + b"".join(text % (b"c%d" % j) for j in range(columns - 1)) + text % b"label" + b"</row>"
    row = b"<row><c><v>%d</v></c>" + b"<c><v>1</v></c>" * (columns - 1) + b"</row>"
    firsts = np.random.default_rng(0).integers(0, 10**6, rows).tolist()
    return xlsx(path, _sheet(head + b"".join(row % first for first in firsts)))


def bomb_feather(path: Path, rows: int) -> Path:
    """Zeros, packed ten thousandfold by zstd."""
    table = pa.table({"a": np.zeros(rows), "label": np.zeros(rows)})
    pa.feather.write_feather(table, path, compression="zstd", chunksize=rows)
    return path


def repeated_arrow(path: Path, rows: int, times: int) -> Path:
    """One batch, which the end of the file names many times."""
    batch = pa.record_batch({"a": np.arange(rows) + 0.5, "label": np.arange(rows) % 2})
    with pa.ipc.new_file(path, batch.schema) as out:
        for part in (batch, *[batch.slice(0, 0)] * times):
            out.write_batch(part)
    raw = bytearray(path.read_bytes())
    end = len(raw) - 10
    start = end - int.from_bytes(raw[end : end + 4], "little")
    blocks = start + _Flat.root(bytes(raw[start:end])).to(3).place + 4  # 24 bytes each
    raw[blocks : blocks + 24 * (times + 1)] = raw[blocks : blocks + 24] * (times + 1)
    path.write_bytes(raw)
    return path


def far_cells_xlsx(path: Path, rows: int) -> Path:
    """Rows that each have one cell, in the last column."""
    row = b'<row r="%d"><c r="XFD%d"><v>1</v></c></row>'
    return xlsx(path, _sheet(b"".join(row % (i, i) for i in range(1, rows + 1))))
