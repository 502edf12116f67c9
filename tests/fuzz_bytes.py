"""Bytes and plain data with something done to them, and well-made strange content, for `fuzz.py`."""

import io
import json
import zipfile

import numpy as np
import pyarrow as pa

ODD = (
    b"NaN", b"inf", b"-inf", b"1e999", b"-1e-400", b"5e-324", b"9" * 400, b"0x1F", b"1_000", b"\0",
    b"\xff\xfe",
    b"\xef\xbb\xbf", b"\xc3\x28", b"\x1b[31m", b'"', b'""', b"'", b",", b";", b"\t", b"\r", b"\n", b"\r\n",
    b"{", b"[" * 3000,
    b'{"a":' * 3000, b"null", b"true", b"[]", b"{}", b"-0", b"1/2", b"31.02.2021", b"99:99", b"\xe2\x80\xae",
    b"=1+1", b"sep=,\n", b"x" * 70_000, b"A" * 2_000_000, "é€".encode("cp1252"), "ä,b\n".encode("utf-16"),
    b"../../etc/passwd",
    b"18446744073709551616", b"-9223372036854775809", b"1e308", b"%s%n", b"${HOME}", b" ", b"\xc2\xa0",
    b"__proto__",
)  # fmt: skip
VALUES = (
    None, True, -1, 0, 1.5, 1e308, -1e308, 5e-324, float("nan"), float("inf"), 10**30, "", "a", "NaN",
    "\x1b[31m", "x" * 5000,
    [], {}, [1, [2]], {"a": {"b": None}}, "\u202e", "\0", [None], "1,5", "2021-02-30", -0.0, 2**53 + 1,
)  # fmt: skip


def mutate(raw: bytes, rng: np.random.Generator) -> bytes:
    """Bytes with one to four things done to them."""
    for _ in range(rng.choice([1, 1, 1, 2, 4])):
        raw = once(raw, rng)
    return raw


def once(raw: bytes, rng: np.random.Generator) -> bytes:
    kind = int(rng.integers(12))
    i, j = sorted(int(n) for n in rng.integers(0, len(raw) + 1, 2))
    content = bytearray(raw)
    if kind <= 1 and raw:
        for place in rng.integers(0, len(raw), rng.integers(1, 6)):
            content[place] ^= 1 << int(rng.integers(8))
    elif kind == 2:
        del content[i:]
    elif kind == 3:
        del content[i : min(j, i + 40)]
    elif kind == 4:
        content[i:i] = content[i:j]
    elif kind == 5:
        content[i : min(j, i + 60)] = rng.bytes(min(j, i + 60) - i)
    elif kind == 6:
        content[i:j] = bytes(j - i)
    elif kind == 7 and raw:
        k = int(rng.integers(len(raw)))
        content[i:j], content[k : k + j - i] = content[k : k + j - i], content[i:j]
    elif kind <= 9:
        content[i:i] = ODD[rng.integers(len(ODD))]
    elif kind == 10:
        return rng.bytes(int(rng.integers(0, 300))) if rng.random() < 0.3 else raw[: i + 1] * 3
    else:  # a number somewhere becomes another
        digits = [k for k, byte in enumerate(raw[:20_000]) if 48 <= byte <= 57]
        if digits:
            k = digits[rng.integers(len(digits))]
            content[k : k + 1] = ODD[rng.integers(7)] if rng.random() < 0.3 else b"%d" % rng.integers(10**9)
    return bytes(content)


def repacked(raw: bytes, rng: np.random.Generator) -> bytes:
    """A zip with one of its members changed, under a checksum that fits."""
    made = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(raw)) as old, zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as new:
        names = old.namelist()
        chosen = names[rng.integers(len(names))]
        for name in names:
            content = old.read(name)
            odd = name == chosen
            new.writestr(str(mutate(name.encode(), rng)[:200]) if odd and rng.random() < 0.1 else name,
                         mutate(content, rng) if odd else content)  # fmt: skip
    return made.getvalue()


def changed_json(value: object, rng: np.random.Generator) -> object:
    """Plain data with one entry gone, odd, repeated or in another's place."""
    places = list(_places(value))
    if not places:
        return VALUES[rng.integers(len(VALUES))]
    parent, key = places[rng.integers(len(places))]
    kind = rng.integers(4)
    if kind == 0:
        del parent[key]
    elif kind == 1 and isinstance(parent, dict):
        parent[f"{key}x"] = parent[key]
    elif kind == 2:
        other, there = places[rng.integers(len(places))]
        parent[key] = json.loads(json.dumps(other[there]))
    else:
        parent[key] = VALUES[rng.integers(len(VALUES))]
    return value


def _places(value: object):
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, entry in list(inside)[:50]:
        yield value, key
        yield from _places(entry)


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
        pa.array(np.arange(n) % 2), pa.array(["a", None] * n)[:n], pa.array([float("nan")] * n),
        columns["list"],
    ]  # fmt: skip
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
