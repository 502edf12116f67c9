"""Small good files of every kind, and well-made files of strange content, for `fuzz.py`."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet

import dataworth as dw
from fuzz_outcome import command, quiet


def make_seeds(folder: Path) -> None:
    """Small good files of every kind, and a run, a ledger, values: what cases are made from."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    table = {
        "a": X[:, 0], "b": X[:, 1], "city": rng.choice(["Ulm", "Bonn", "Köln"], 60),
        "day": [f"2021-0{1 + i % 9}-1{i % 10}" for i in range(60)], "label": (X[:, 0] > 0).astype(int),
    }  # fmt: skip
    frame = pa.table(table)
    pa.csv.write_csv(frame, folder / "t.csv")
    text = (folder / "t.csv").read_bytes()
    (folder / "t.tsv").write_bytes(text.replace(b",", b"\t"))
    (folder / "t.txt").write_bytes(text.replace(b",", b" "))
    (folder / "t.csv.gz").write_bytes(gzip.compress(text))
    rows = frame.to_pylist()
    lines = "".join(json.dumps(row) + "\n" for row in rows).encode()
    (folder / "t.jsonl").write_bytes(lines)
    (folder / "t.jsonl.gz").write_bytes(gzip.compress(lines))
    (folder / "t.json").write_text(json.dumps(rows))
    pa.parquet.write_table(frame, folder / "t.parquet")
    pa.feather.write_feather(frame, folder / "t.feather")
    with pa.ipc.new_stream(folder / "t.arrow", frame.schema) as sink:
        sink.write_table(frame)
    np.savez(folder / "t.npz", X=X, y=table["label"], groups=np.arange(60) % 7)
    _workbook(rows, folder / "t.xlsx")
    _images(folder / "i")
    pairs = [{"prompt": f"p{i}", "chosen": f"good {i}", "rejected": "bad " * (i % 5)} for i in range(30)]
    (folder / "p.jsonl").write_text("".join(json.dumps(one) + "\n" for one in pairs))
    pa.csv.write_csv(frame.select(["a", "b", "label"]), folder / "good.csv")
    Z = rng.normal(size=(60, 2))
    pa.csv.write_csv(pa.table({"a": Z[:, 0], "b": Z[:, 1], "label": (Z[:, 0] > 0) * 1}), folder / "test.csv")
    with quiet():
        test = dw.read(folder / "test.csv")
        yard = dw.Yardstick.fit(test, prior_variance=1.0)
        yard.published(test, "a key of our own").save(folder / "y.json")
        dw.seal(dw.read(folder / "good.csv"), yard).save(folder / "v.safetensors")
        for words in (
            ["score", *SMALL, "--run-dir", "run", "--ledger", "ledger.json"],
            ["values", "-o", "values.csv", "--prior-variance", "1"],
        ):
            code, _, told = command([words[0], "good.csv", "--test", "test.csv", *words[1:]], folder)
            assert code == 0, told
    (folder / "ledger.json.lock").unlink(missing_ok=True)


SMALL = ["--pairs", "4", "--size", "10", "--prior-variance", "1", "--ignore", "all"]


def _workbook(rows: list[dict], path: Path) -> None:
    import openpyxl

    book = openpyxl.Workbook()
    book.active.append(list(rows[0]))
    for row in rows:
        book.active.append(list(row.values()))
    book.save(path)


def _images(path: Path) -> None:
    from PIL import Image

    for i, kind in enumerate(("png", "jpeg", "gif", "bmp", "tiff", "webp")):
        place = path / "ab"[i % 2] / f"{i}.{kind}"
        place.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(np.full((6, 5, 3), 40 * i, dtype=np.uint8)).save(place, kind)


def strange_table(rng: np.random.Generator) -> pa.Table:
    """Columns of any type that arrow has."""
    n = int(rng.choice([0, 1, 2, 30]))
    columns = {
        "null": pa.nulls(n), "decimal": pa.array([None] * n, pa.decimal128(38, 10)),
        "binary": pa.array([b"\xff\0"] * n), "list": pa.array([[1.0, None]] * n),
        "struct": pa.array([{"x": 1}] * n),
        "time": pa.array([2**62] * n, pa.timestamp("ns", "Europe/Berlin")),
        "span": pa.array([5] * n, pa.duration("us")),
        "long": pa.array(["x" * 10_000] * n),
        "words": pa.array(["\x1b[2J", None] * n)[:n].dictionary_encode(),
        "map": pa.array([[("k", 1)]] * n, pa.map_(pa.string(), pa.int8())),
        "half": pa.array(np.full(n, np.inf, np.float16)),
        "u64": pa.array([2**64 - 1] * n, pa.uint64()),
        "bad": pa.array([float("nan"), 1e308, -1e308, 5e-324] * n)[:n],
        "date": pa.array([-(2**30)] * n, pa.date32()), "clock": pa.array([1] * n, pa.time64("ns")),
        "bool": pa.array([True] * n),
    }  # fmt: skip
    some = list(rng.permutation(list(columns)))[: rng.integers(1, 7)]
    labels = [
        pa.array(np.arange(n) % 2),
        pa.array(["a", None] * n)[:n],
        pa.array([float("nan")] * n),
        columns["list"],
    ]
    return pa.table({**{name: columns[name] for name in some}, "label": labels[rng.integers(len(labels))]})


def strange_array(rng: np.random.Generator) -> np.ndarray:
    """An array of any type and shape that a file can hold."""
    n = int(rng.choice([0, 1, 3, 30]))
    kinds = [
        np.full((n, 2), np.nan), np.full((n, 2), 1e308), np.zeros((n, 2, 2)), np.array(1.0), np.zeros((n, 0)),
        np.arange(n) % 2, np.array(["a", "b"] * n)[:n], np.zeros(n, "M8[ns]"), np.zeros((n, 2), complex),
        np.zeros(n, "S3"),
        np.zeros(n, [("x", float)]), np.zeros((n, 2), bool), np.full((n, 2), 2**63, np.uint64),
        np.zeros((2, n), np.float16),
        np.array([5e-324, 1e-300] * n), np.zeros((n, 2), "V4"), np.longdouble("1e4000") * np.ones((n, 2)),
    ]  # fmt: skip
    return kinds[rng.integers(len(kinds))]
